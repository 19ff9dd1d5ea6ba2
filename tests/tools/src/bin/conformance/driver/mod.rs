//! Runs a case of the conformance data (`tests/vectors/README.md`) through an object of the crate.
//!
//! [`answer`] returns the fields of the case's `expect`, as the crate computes them. [`VIAS`] lists the objects.

mod dialect;
mod encode;
mod objects;
pub(crate) mod websocket;

use serde_json::{Map, Value, json};

use utf8_codec::decoder::Status;
use utf8_codec::lines::{Delimiter, Line, LineError};
use utf8_codec::{BomPolicy, ErrorMode, Utf8Decoder, Utf8Error, Utf8ErrorKind, Utf8Options};

pub(crate) use objects::{Gives, VIAS, Via};
use objects::{LineSettings, Piece, Subject};

/// How detailed an answer is, and where strict decoding ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// At the first error.
    FirstError,
    /// At the end of the stream. The answer has the details of errors, steps for single chunks too, and how
    /// the stream began. For cases whose `expect` has `bom_seen`.
    EveryError,
}

/// Answers `case` with the fields of `expect` that the object can compute, or with `skip` if the object
/// does not apply. The case's own `expect` is ignored.
///
/// Cases of lines run through `Utf8Lines` if `via` is `stream` or `reader`, otherwise through
/// `Utf8LinesCodec`; those of `encode` and `encode_into` through every object that encodes; those of a
/// dialect through the dialect's decoder and encoder.
///
/// # Errors
///
/// If the case is malformed.
pub(crate) fn answer(case: &Value, via: &Via, form: Form) -> Result<Map<String, Value>, String> {
    if let Some(answer) = dialect::answer(case)? {
        return Ok(answer);
    }
    let op = str_of(case, "op")?;
    match op {
        "table" => return table(case, via),
        "encode" => return encode::encode(case),
        "encode_into" => return encode::encode_into(case),
        "decode_callback" | "concat" | "lossy_utf8" | "digest" => {
            return Ok(skip(format!("operation {op}")));
        }
        _ => {}
    }
    let mode = mode(str_of(case, "policy")?)?;
    let setup = Setup { via, options: options(case)?, mode, form };
    match op {
        "decode" => Ok(setup.decode(&chunks(case)?)),
        "websocket" => Ok(setup.websocket(&chunks(case)?)),
        "reuse" => setup.reuse(case),
        "lines" => lines(case, via, setup.options, mode),
        "decode_into" => decode_into(case, mode),
        _ => Err(format!("there is no operation {op}")),
    }
}

fn skip(why: String) -> Map<String, Value> {
    object(json!({ "skip": why }))
}

// ---- operations ---------------------------------------------------------------------------------

struct Setup<'a> {
    via: &'a Via,
    options: Utf8Options,
    mode: ErrorMode,
    form: Form,
}

/// What came out of one stream.
#[derive(Default)]
struct Run {
    steps: Vec<String>,
    held: Vec<usize>,
    errors: Vec<Utf8Error>,
    fail_step: Option<usize>,
}

impl Setup<'_> {
    fn subject(&self) -> Box<dyn Subject> {
        (self.via.new)(self.options, self.mode)
    }

    fn decode(&self, chunks: &[Vec<u8>]) -> Map<String, Value> {
        let mut subject = self.subject();
        let mut answer = self.stream(&mut *subject, chunks);
        let facts = subject.facts();
        if !self.stops() {
            answer.insert("error_count".into(), facts.error_count.into());
        }
        answer.insert("first_error".into(), json!(facts.first_error.map(|e| described(&e))));
        answer
    }

    /// The chunks are the pieces of the data frames. Control frames between them are not text.
    fn websocket(&self, chunks: &[Vec<u8>]) -> Map<String, Value> {
        let mut answer = self.decode(chunks);
        if let Some(text) = answer.get("out") {
            let ws = match answer["first_error"] {
                Value::Null => json!({"echo": text, "close": 1000}),
                _ => json!({"echo": null, "close": 1007}),
            };
            answer.insert("ws".into(), ws);
        }
        answer
    }

    fn reuse(&self, case: &Value) -> Result<Map<String, Value>, String> {
        let mut subject = self.subject();
        let mut runs = Vec::new();
        for text in of_type(case, "chunks", Value::as_array)? {
            runs.push(self.stream(&mut *subject, &byte_strings(text)?));
            subject.reset();
        }
        Ok(object(json!({ "runs": runs })))
    }

    /// Runs a stream through `subject` and returns the outcome in the form of an `expect`.
    fn stream(&self, subject: &mut dyn Subject, chunks: &[Vec<u8>]) -> Map<String, Value> {
        let every = self.form == Form::EveryError;
        let in_steps = every || chunks.len() > 1;
        let gives_text = self.via.gives != Gives::Verdict;
        let run = self.run(subject, chunks);
        let facts = subject.facts();
        let decided_by = self.decided_by(&chunks.concat());
        let errors = match self.via.gives {
            Gives::Tally if self.mode == ErrorMode::Fatal => Some(run.errors),
            Gives::Tally if facts.error_count < 2 => Some(facts.first_error.into_iter().collect()),
            Gives::Tally => None,
            Gives::Verdict | Gives::Everything => Some(run.errors),
        };

        let mut answer = Map::new();
        let mut report = |name: &str, value: Value| answer.insert(name.to_owned(), value);
        if gives_text {
            report("out", run.steps.concat().into());
        }
        if gives_text && in_steps {
            report("steps", run.steps.into());
        }
        if in_steps {
            report("held", run.held.into());
        }
        if self.mode == ErrorMode::Fatal {
            report("fail_step", json!(run.fail_step));
        }
        report("fail_fast_at", json!(decided_by.first().copied().flatten()));
        if every {
            report("bom_seen", facts.bom_seen.into());
            report("skipped", facts.skipped.into());
        }
        // Whether the stream ended inside a character: the first error shows it, or the last of a full list.
        let last = match (every, &errors) {
            (false, _) => Some(facts.first_error),
            (true, Some(errors)) => Some(errors.last().copied()),
            (true, None) => None,
        };
        if let Some(last) = last {
            let incomplete = last.is_some_and(|error| error.kind() == Utf8ErrorKind::Incomplete);
            report("incomplete_at_eof", incomplete.into());
        }
        if let Some(errors) = errors {
            let described = errors.iter().enumerate().map(|(n, error)| match self.form {
                Form::FirstError => described(error),
                Form::EveryError => detailed(error, decided_by.get(n).copied().flatten()),
            });
            report("errors", described.collect());
        }
        answer
    }

    fn run(&self, subject: &mut dyn Subject, chunks: &[Vec<u8>]) -> Run {
        let mut run = Run::default();
        for (n, chunk) in chunks.iter().map(Some).chain([None]).enumerate() {
            let pieces = match chunk {
                Some(chunk) => subject.push(chunk),
                None => subject.finish(),
            };
            let mut text = String::new();
            for piece in pieces {
                match piece {
                    Piece::Text(piece) => text += &piece,
                    Piece::Error(error) => {
                        run.fail_step.get_or_insert(n);
                        run.errors.push(error);
                        if self.stops() {
                            break;
                        }
                    }
                }
            }
            run.steps.push(hex(text.as_bytes()));
            if self.stops() && run.fail_step.is_some() {
                break;
            }
            if chunk.is_some() {
                run.held.push(subject.facts().held);
            }
        }
        run
    }

    /// For each error, in order, the index of the byte that decided it; `None` for the end.
    ///
    /// Pushes the bytes one by one and watches the number of errors.
    fn decided_by(&self, bytes: &[u8]) -> Vec<Option<usize>> {
        let mut subject = self.subject();
        let mut decided_by = Vec::new();
        for (index, byte) in bytes.iter().enumerate() {
            subject.push(&[*byte]);
            decided_by.resize(subject.facts().error_count as usize, Some(index));
        }
        subject.finish();
        decided_by.resize(subject.facts().error_count as usize, None);
        decided_by
    }

    fn stops(&self) -> bool {
        self.mode == ErrorMode::Fatal && self.form == Form::FirstError
    }
}

/// Decodes single bytes, each ill-formed, in the mode that repairs them by the table.
fn table(case: &Value, via: &Via) -> Result<Map<String, Value>, String> {
    let (options, mode) = (Utf8Options::new(), mode(str_of(case, "name")?)?);
    let setup = Setup { via, options, mode, form: Form::FirstError };
    let steps = setup.run(&mut *setup.subject(), &chunks(case)?).steps;
    Ok(match via.gives {
        Gives::Verdict => skip("gives no text".into()),
        _ => object(json!({ "out": steps.concat() })),
    })
}

fn lines(
    case: &Value,
    via: &Via,
    options: Utf8Options,
    mode: ErrorMode,
) -> Result<Map<String, Value>, String> {
    let limit = usize_of(case, "limit")?;
    let settings = LineSettings { options, mode, delimiter: delimiter(case)?, limit };
    let mut subject = objects::lines(via, settings);
    let chunks = chunks(case)?;
    let mut steps: Vec<_> = chunks.iter().map(|chunk| subject.push(chunk)).collect();
    steps.push(subject.finish());
    let described =
        |items: Vec<_>| items.into_iter().map(|line| described_line(line, limit)).collect();
    let steps: Vec<Value> = steps.into_iter().map(described).collect();
    Ok(object(json!({ "items": steps })))
}

fn described_line(item: Result<Line, LineError>, set_limit: usize) -> Value {
    match item {
        Ok(line) => json!({
            "line": hex(line.text.as_bytes()), "number": line.number, "offset": line.offset,
            "terminated": line.is_terminated(),
        }),
        Err(LineError::Utf8 { number, offset, error, .. }) => json!({
            "error": "utf8", "number": number, "offset": offset,
            "at": error.valid_up_to(), "len": error.bytes().len(), "detail": detail(error.kind()),
        }),
        Err(LineError::TooLong { number, offset, max_length: limit, .. }) => {
            assert_eq!(limit, set_limit);
            json!({"error": "too_long", "number": number, "offset": offset})
        }
        Err(error) => panic!("the vectors have no name for this: {error}"),
    }
}

fn decode_into(case: &Value, mode: ErrorMode) -> Result<Map<String, Value>, String> {
    let mut buffer = vec![0; usize_of(case, "dst_cap")?];
    let mut decoder = Utf8Decoder::new().with_options(options(case)?);
    let mut progress = decoder.push_to_slice(&chunks(case)?.concat(), mode, &mut buffer);
    if of_type(case, "at_eof", Value::as_bool)? && progress.status == Status::Done {
        let end = decoder.finish_to_slice(mode, &mut buffer[progress.written..]);
        progress.written += end.written;
        progress.status = end.status;
        if end.status == Status::Done {
            progress.held = 0;
        }
    }
    let status = match progress.status {
        Status::Done if progress.held > 0 => "need_more",
        Status::Done => "done",
        Status::Full | Status::TooSmall { .. } => "dst_full",
        status => return Err(format!("no status is for {status:?}")),
    };
    let written = hex(&buffer[..progress.written]);
    let read = progress.read - progress.held;
    Ok(object(json!({"read": read, "written": written, "status": status})))
}

// ---- words of the vectors -----------------------------------------------------------------------

fn described(error: &Utf8Error) -> Value {
    let kind = match error.kind() {
        kind @ (Utf8ErrorKind::Incomplete
        | Utf8ErrorKind::ForbiddenBom
        | Utf8ErrorKind::MissingBom
        | Utf8ErrorKind::Noncharacter
        | Utf8ErrorKind::Forbidden) => detail(kind),
        _ if error.next_byte().is_some() => "invalid_continuation",
        _ => "invalid_start",
    };
    json!({"offset": error.valid_up_to(), "len": error.bytes().len(), "kind": kind})
}

fn detailed(error: &Utf8Error, decided_by: Option<usize>) -> Value {
    let mut value = described(error);
    value["detail"] = detail(error.kind()).into();
    value["next"] = json!(error.next_byte().map(|byte| hex(&[byte])));
    value["decided_by"] = json!(decided_by);
    value
}

fn detail(kind: Utf8ErrorKind) -> &'static str {
    match kind {
        Utf8ErrorKind::UnexpectedContinuation => "unexpected_continuation",
        Utf8ErrorKind::Overlong => "overlong",
        Utf8ErrorKind::Surrogate => "surrogate",
        Utf8ErrorKind::TooLarge => "too_large",
        Utf8ErrorKind::InvalidByte => "invalid_byte",
        Utf8ErrorKind::Truncated => "truncated",
        Utf8ErrorKind::Incomplete => "incomplete",
        Utf8ErrorKind::ForbiddenBom => "forbidden_bom",
        Utf8ErrorKind::MissingBom => "missing_bom",
        Utf8ErrorKind::Noncharacter => "noncharacter",
        Utf8ErrorKind::Forbidden => "forbidden",
        kind => panic!("the vectors have no name for this: {kind}"),
    }
}

fn mode(policy: &str) -> Result<ErrorMode, String> {
    Ok(match policy {
        "strict" => ErrorMode::Fatal,
        "replace" => ErrorMode::Replacement,
        "ignore" => ErrorMode::Skip,
        "backslashreplace" => ErrorMode::Escape,
        "latin1" => ErrorMode::Latin1,
        "windows-1252" => ErrorMode::Windows1252,
        _ => return Err(format!("there is no policy {policy}")),
    })
}

fn options(case: &Value) -> Result<Utf8Options, String> {
    let options = rejecting(case)?;
    Ok(match case.get("start").map(Value::as_str) {
        None => options.with_bom(bom(case)?),
        Some(Some("mid")) => options.with_mid_stream_start(),
        Some(_) => return Err(format!("there is no start {}", case["start"])),
    })
}

fn bom(case: &Value) -> Result<BomPolicy, String> {
    Ok(match str_of(case, "bom")? {
        "keep" => BomPolicy::Keep,
        "strip" => BomPolicy::Strip,
        "require" => BomPolicy::Require,
        "forbid" => BomPolicy::Forbid,
        bom => return Err(format!("there is no BOM policy {bom}")),
    })
}

/// The options that reject what a case rejects.
fn rejecting(case: &Value) -> Result<Utf8Options, String> {
    let mut options = Utf8Options::new();
    if case.get("strict").is_some() {
        for rejected in of_type(case, "strict", Value::as_array)? {
            options = match rejected.as_str() {
                Some("noncharacters") => options.reject_noncharacters(),
                Some("nul") => options.reject_nul(),
                Some("controls") => options.reject_controls(),
                Some("controls-except-whitespace") => options.reject_controls_except_whitespace(),
                _ => return Err(format!("there is no strictness about {rejected}")),
            };
        }
    }
    Ok(options)
}

fn delimiter(case: &Value) -> Result<Delimiter, String> {
    let value = &case["delimiter"];
    let text = || str::from_utf8(&unhex(&value["str"])?).ok().and_then(Delimiter::text);
    match value.as_str() {
        Some("lf") => Some(Delimiter::lf()),
        Some("any") => Some(Delimiter::any_newline()),
        Some("nul") => Some(Delimiter::nul()),
        _ => text(),
    }
    .ok_or_else(|| format!("there is no delimiter {value}"))
}

fn chunks(case: &Value) -> Result<Vec<Vec<u8>>, String> {
    byte_strings(&case["chunks"])
}

fn byte_strings(value: &Value) -> Result<Vec<Vec<u8>>, String> {
    let strings = value.as_array().map(|all| all.iter().map(unhex).collect());
    strings.flatten().ok_or_else(|| format!("not a list of byte strings: {value}"))
}

fn str_of<'a>(case: &'a Value, name: &str) -> Result<&'a str, String> {
    of_type(case, name, Value::as_str)
}

fn usize_of(case: &Value, name: &str) -> Result<usize, String> {
    of_type(case, name, |value| value.as_u64()?.try_into().ok())
}

fn of_type<'a, T>(
    case: &'a Value,
    name: &str,
    read: impl Fn(&'a Value) -> Option<T>,
) -> Result<T, String> {
    case.get(name)
        .and_then(read)
        .ok_or_else(|| format!("`{name}` is missing or not what it should be"))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        value => unreachable!("{value} was written as an object"),
    }
}

fn unhex(value: &Value) -> Option<Vec<u8>> {
    let digit = |digit: u8| Some(char::from(digit).to_digit(16)? as u8);
    let (pairs, []) = value.as_str()?.as_bytes().as_chunks::<2>() else { return None };
    pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
