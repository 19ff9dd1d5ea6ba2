//! Runs cases of encoding through every object that encodes UTF-8. All have to agree.

use std::io;
use std::mem;

use futures::FutureExt;
use serde_json::{Map, Value, json};

use utf8_codec::decoder::Status;
use utf8_codec::stream::Utf8Writer;
use utf8_codec::utf16::{Utf16Decoder, Utf16Error};
use utf8_codec::{ErrorMode, Utf8Encoder};

use super::{hex, object, of_type, skip, str_of, usize_of};

/// Answers a case of the operation `encode`.
pub(super) fn encode(case: &Value) -> Result<Map<String, Value>, String> {
    let mode = match mode(case)? {
        Ok(mode) => mode,
        Err(why) => return Ok(skip(why)),
    };
    let input = input(case)?;
    let encoder = match str_of(case, "bom")? {
        "none" => Utf8Encoder::new(),
        "emit" => Utf8Encoder::new().with_bom(),
        bom => return Err(format!("there is no BOM policy {bom}")),
    };
    let mut answers = Vec::new();
    for buffer in [None, Some(8), Some(9), Some(64)] {
        answers.push(run(&input, mode, &mut ByCore::new(encoder.clone(), mode, buffer)));
    }
    // The writer continues after an error within the chunk, so it cannot stop there. It joins any two
    // surrogates that follow each other.
    if mode != ErrorMode::Fatal && matches!(input, Input::Units(_)) {
        answers.push(run(&input, mode, &mut ByWriter::new(encoder, mode)));
    }
    let answer = answers.pop().ok_or("there is no object that encodes")?;
    match answers.iter().all(|other| *other == answer) {
        true => Ok(answer),
        false => Err(format!("the objects do not agree: {answers:?} {answer:?}")),
    }
}

/// Answers a case of the operation `encode_into`.
pub(super) fn encode_into(case: &Value) -> Result<Map<String, Value>, String> {
    let mode = match mode(case)? {
        Ok(mode) => mode,
        Err(why) => return Ok(skip(why)),
    };
    let Input::Units(chunks) = input(case)? else { return Ok(skip("code points".into())) };
    let mut buffer = vec![0; usize_of(case, "dst_cap")?];
    let mut decoder = Utf16Decoder::new();
    let mut progress = decoder.push_to_slice(&chunks.concat(), mode, &mut buffer);
    if progress.status == Status::Done {
        let end = decoder.finish_to_slice(mode, &mut buffer[progress.written..]);
        progress.written += end.written;
        if end.status == Status::Done {
            progress.held = 0;
        }
    }
    let written = hex(&buffer[..progress.written]);
    Ok(object(json!({"read": progress.read - progress.held, "written": written})))
}

/// The input, in chunks.
enum Input {
    Units(Vec<Vec<u16>>),
    /// Two surrogates are never a pair.
    CodePoints(Vec<Vec<CodePoint>>),
}

#[derive(Clone, Copy)]
enum CodePoint {
    Char(char),
    Surrogate(u16),
}

/// An object that encodes. It returns bytes and errors immediately.
trait Encode {
    fn units(&mut self, units: &[u16]) -> Out;
    fn char(&mut self, c: char) -> Out;
    fn finish(&mut self) -> Out;
    fn error_count(&self) -> u64;
}

/// In [`ErrorMode::Fatal`] the bytes are those before the error.
type Out = (Vec<u8>, Option<Utf16Error>);

/// Encodes all chunks, up to the first error that `object` returns.
fn run(input: &Input, mode: ErrorMode, object: &mut dyn Encode) -> Map<String, Value> {
    let mut steps: Vec<Vec<u8>> = Vec::new();
    let mut failed = None;
    let mut errors = Vec::new();
    match input {
        Input::Units(chunks) => {
            let mut all = Utf16Decoder::new();
            for chunk in chunks {
                errors.extend(lone(&mut all, chunk));
                let (bytes, error) = object.units(chunk);
                steps.push(bytes);
                failed = error.map(|error| error.offset());
                if failed.is_some() {
                    break;
                }
            }
            errors.extend(all.finish().err().map(|error| error.offset()));
        }
        Input::CodePoints(chunks) => {
            let mut offset = 0;
            for chunk in chunks {
                // The BOM belongs to the step of the first chunk.
                let mut step = object.units(&[]).0;
                for &code_point in chunk {
                    let (bytes, error) = match code_point {
                        CodePoint::Char(c) => object.char(c),
                        CodePoint::Surrogate(unit) => {
                            errors.push(offset);
                            let (mut bytes, error) = object.units(&[unit]);
                            let (more, at_end) = object.finish();
                            bytes.extend(more);
                            (bytes, error.or(at_end))
                        }
                    };
                    step.extend(bytes);
                    if error.is_some() {
                        failed = Some(offset);
                        break;
                    }
                    offset += 1;
                }
                steps.push(step);
                if failed.is_some() {
                    break;
                }
            }
        }
    }
    let mut fail_step = failed.map(|_| steps.len() - 1);
    if failed.is_none() {
        let (bytes, error) = object.finish();
        fail_step = error.map(|_| steps.len());
        failed = error.map(|error| error.offset());
        steps.push(bytes);
    }
    if mode == ErrorMode::Fatal {
        assert_eq!(errors.first(), failed.as_ref());
        errors.truncate(1);
    }
    assert_eq!(object.error_count(), errors.len() as u64);
    let described = |&offset: &u64| json!({"offset": offset, "len": 1, "kind": "lone_surrogate"});
    let mut answer = object_of(&steps);
    answer.insert("errors".into(), errors.iter().map(described).collect());
    if mode == ErrorMode::Fatal {
        answer.insert("fail_step".into(), json!(fail_step));
    }
    answer
}

fn object_of(steps: &[Vec<u8>]) -> Map<String, Value> {
    let steps_in_hex: Vec<_> = steps.iter().map(|step| hex(step)).collect();
    object(json!({"out": steps_in_hex.concat(), "steps": steps_in_hex}))
}

/// The offsets of unpaired surrogates, one by one.
fn lone(decoder: &mut Utf16Decoder, units: &[u16]) -> Vec<u64> {
    let mut offsets = Vec::new();
    let mut units = units;
    loop {
        let mut text = String::new();
        let progress = decoder.push_to_string(units, ErrorMode::Fatal, &mut text);
        let Status::IllFormed(error) = progress.status else { return offsets };
        offsets.push(error.offset());
        units = &units[progress.read..];
    }
}

/// `Utf8Encoder` and `Utf16Decoder`, into a `String` or a buffer of this many bytes.
struct ByCore {
    encoder: Utf8Encoder,
    decoder: Utf16Decoder,
    mode: ErrorMode,
    buffer: Option<usize>,
}

impl ByCore {
    fn new(encoder: Utf8Encoder, mode: ErrorMode, buffer: Option<usize>) -> Self {
        Self { encoder, decoder: Utf16Decoder::new(), mode, buffer }
    }
}

impl Encode for ByCore {
    fn units(&mut self, mut units: &[u16]) -> Out {
        let mut out = self.encoder.push("").concat();
        let Some(size) = self.buffer else {
            let mut text = String::new();
            let progress = self.decoder.push_to_string(units, self.mode, &mut text);
            out.extend(text.bytes());
            return (out, ill_formed(progress.status));
        };
        let mut buffer = vec![0; size];
        loop {
            let progress = self.decoder.push_to_slice(units, self.mode, &mut buffer);
            out.extend(&buffer[..progress.written]);
            units = &units[progress.read..];
            if progress.status != Status::Full {
                return (out, ill_formed(progress.status));
            }
        }
    }

    fn char(&mut self, c: char) -> Out {
        let Some(size) = self.buffer else {
            return (self.encoder.push(c.encode_utf8(&mut [0; 4])).concat(), None);
        };
        let mut buffer = vec![0; size];
        let progress = self.encoder.push_chars_to_slice(&[c], &mut buffer);
        assert_eq!(progress.status, Status::Done);
        buffer.truncate(progress.written);
        (buffer, None)
    }

    fn finish(&mut self) -> Out {
        let Some(size) = self.buffer else {
            let mut text = String::new();
            let error = self.decoder.finish_to_string(self.mode, &mut text).err();
            return (text.into_bytes(), error);
        };
        let mut buffer = vec![0; size];
        let progress = self.decoder.finish_to_slice(self.mode, &mut buffer);
        buffer.truncate(progress.written);
        (buffer, ill_formed(progress.status))
    }

    fn error_count(&self) -> u64 {
        self.decoder.error_count()
    }
}

fn ill_formed(status: Status<Utf16Error>) -> Option<Utf16Error> {
    match status {
        Status::Done => None,
        Status::IllFormed(error) => Some(error),
        status => panic!("{status:?}, with room for any repair"),
    }
}

/// A writer of text, flushed each time.
struct ByWriter(Utf8Writer<Vec<u8>>);

impl ByWriter {
    fn new(encoder: Utf8Encoder, mode: ErrorMode) -> Self {
        Self(Utf8Writer::new(Vec::new()).with_encoder(encoder).with_surrogate_mode(mode))
    }

    fn flushed(&mut self, result: Option<io::Result<()>>) -> Out {
        assert!(matches!(result, Some(Ok(()))), "writing to memory succeeds: {result:?}");
        assert!(matches!(self.0.flush().now_or_never(), Some(Ok(()))));
        (mem::take(self.0.get_mut()), None)
    }
}

impl Encode for ByWriter {
    fn units(&mut self, units: &[u16]) -> Out {
        let result = self.0.write_utf16(units).now_or_never();
        self.flushed(result)
    }

    fn char(&mut self, c: char) -> Out {
        let result = self.0.write_char(c).now_or_never();
        self.flushed(result)
    }

    fn finish(&mut self) -> Out {
        let result = self.0.close().now_or_never();
        self.flushed(result)
    }

    fn error_count(&self) -> u64 {
        self.0.utf16().error_count()
    }
}

// ---- words of the vectors -----------------------------------------------------------------------

/// The error mode of a case, or why the case does not apply to an encoder of UTF-8.
fn mode(case: &Value) -> Result<Result<ErrorMode, String>, String> {
    Ok(Ok(match (str_of(case, "dialect")?, str_of(case, "policy")?) {
        ("utf-8", "strict") => ErrorMode::Fatal,
        ("utf-8", "replace") => ErrorMode::Replacement,
        ("utf-8", "ignore") => ErrorMode::Skip,
        ("utf-8", "backslashreplace") => ErrorMode::Escape,
        (
            "utf-8",
            policy @ ("replace?" | "xmlcharrefreplace" | "surrogateescape" | "surrogatepass"),
        ) => {
            return Ok(Err(format!("policy {policy}")));
        }
        ("utf-8", policy) => return Err(format!("there is no policy {policy}")),
        (dialect, _) => return Ok(Err(format!("dialect {dialect}"))),
    }))
}

fn input(case: &Value) -> Result<Input, String> {
    let chunks = of_type(case, "input", Value::as_array)?;
    let numbers = chunks.iter().map(|chunk| {
        let numbers = chunk.as_array()?.iter().map(Value::as_u64);
        numbers.map(|number| u32::try_from(number?).ok()).collect::<Option<Vec<u32>>>()
    });
    let chunks: Option<Vec<_>> = numbers.collect();
    let chunks = chunks.ok_or("`input` is not a list of lists of numbers")?;
    let unit = |number: &u32| u16::try_from(*number).ok();
    let code_point = |number: &u32| match char::from_u32(*number) {
        Some(c) => Some(CodePoint::Char(c)),
        None => unit(number).map(CodePoint::Surrogate),
    };
    let read = match str_of(case, "units")? {
        "u16" => each(&chunks, unit).map(Input::Units),
        "cps" => each(&chunks, code_point).map(Input::CodePoints),
        units => return Err(format!("there are no units {units}")),
    };
    read.ok_or_else(|| "a number in `input` is too large".into())
}

fn each<T>(chunks: &[Vec<u32>], read: impl Fn(&u32) -> Option<T>) -> Option<Vec<Vec<T>>> {
    chunks.iter().map(|chunk| chunk.iter().map(&read).collect()).collect()
}
