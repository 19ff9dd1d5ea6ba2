//! Runs the cases of the dialects: decoding, encoding, digests and the one error handler. The policies
//! `surrogateescape` and `surrogatepass` of Python are dialects here.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use utf8_codec::decoder::Status;
use utf8_codec::dialect::{Dialect, DialectDecoder, DialectEncoder, DialectError};
use utf8_codec::{
    BomPolicy, ErrorMode, Utf8Decoder, Utf8Encoder, Utf8Error, Utf8ErrorKind, Utf8Options,
};

use super::{
    bom, byte_strings, chunks, described, hex, mode, object, of_type, str_of, unhex, usize_of,
};

/// Answers `case` if it is about a dialect.
///
/// # Errors
///
/// If the case is malformed.
pub(super) fn answer(case: &Value) -> Result<Option<Map<String, Value>>, String> {
    Ok(match (str_of(case, "op")?, rules(case)?) {
        ("decode", Some(rules)) => Some(decode(case, rules)?),
        ("encode", Some(rules)) => Some(encode(case, rules)?),
        ("concat", Some(rules)) => Some(concat(case, rules)?),
        ("lossy_utf8", Some(rules)) => Some(lossy_utf8(case, rules)?),
        ("digest", _) => Some(digest(case)?),
        ("decode_callback", _) => Some(decode_callback(case)?),
        _ => None,
    })
}

/// A dialect and its settings.
#[derive(Clone, Copy)]
struct Rules {
    dialect: Dialect,
    bom: BomPolicy,
    /// Whether unpaired surrogates are accepted.
    unpaired: bool,
}

fn decoder(rules: Rules) -> DialectDecoder {
    let decoder = DialectDecoder::new(rules.dialect).with_bom(rules.bom);
    if rules.unpaired { decoder.with_unpaired_surrogates() } else { decoder }
}

fn encoder(rules: Rules) -> DialectEncoder {
    let encoder = DialectEncoder::new(rules.dialect);
    if rules.unpaired { encoder.with_unpaired_surrogates() } else { encoder }
}

// ---- decoding -----------------------------------------------------------------------------------

/// What came out of one stream.
#[derive(Default)]
struct Run {
    steps: Vec<Vec<u32>>,
    held: Vec<usize>,
    errors: Vec<DialectError>,
    fail_step: Option<usize>,
}

fn decode(case: &Value, rules: Rules) -> Result<Map<String, Value>, String> {
    let (chunks, mode) = (chunks(case)?, error_mode(case)?);
    let run = run(&chunks, rules, mode);
    let mut answer = Map::new();
    let mut report = |name: &str, value: Value| answer.insert(name.to_owned(), value);

    let is_text =
        run.steps.iter().flatten().all(|&code_point| char::from_u32(code_point).is_some());
    let name = |name: &str| if is_text { name.to_owned() } else { format!("{name}_cps") };
    report(&name("out"), written(&run.steps.concat(), is_text));
    if chunks.len() > 1 {
        report(&name("steps"), run.steps.iter().map(|step| written(step, is_text)).collect());
        report("held", run.held.into());
    }
    let (errors, decided_by) = match rules.dialect {
        // It has no errors: what it escapes is what is an error in UTF-8.
        Dialect::Utf8b => {
            let (errors, decided_by) = errors_in_utf8(&chunks.concat(), bom(case)?);
            (errors.iter().map(described).collect(), decided_by)
        }
        _ => {
            let errors: Vec<_> = run.errors.iter().map(described_in_dialect).collect();
            (errors, decided_by(&chunks.concat(), rules))
        }
    };
    report("errors", errors.into());
    report("fail_fast_at", json!(decided_by.unwrap_or_default()));
    report("incomplete_at_eof", (decided_by == Some(None)).into());
    if matches!(str_of(case, "policy")?, "strict" | "surrogatepass") {
        report("fail_step", json!(run.fail_step));
    }
    Ok(answer)
}

fn run(chunks: &[Vec<u8>], rules: Rules, mode: ErrorMode) -> Run {
    let decoder = decoder(rules);
    let mut decoder = match mode {
        ErrorMode::Fatal => decoder,
        _ => decoder.with_whole_errors(),
    };
    let mut run = Run::default();
    for (n, chunk) in chunks.iter().map(Some).chain([None]).enumerate() {
        let mut step = Vec::new();
        let pieces: Vec<_> = match chunk {
            Some(chunk) => until_error(
                decoder.push(chunk).map(|piece| piece.map(|piece| piece.code_points().collect())),
                mode,
            ),
            None => until_error(
                std::iter::from_fn(|| decoder.finish().transpose())
                    .map(|piece| piece.map(|code_point| vec![code_point])),
                mode,
            ),
        };
        for piece in pieces {
            match piece {
                Ok(code_points) => step.extend(code_points),
                Err(error) => {
                    run.errors.push(error);
                    let Some(repair) = error.repair(mode) else {
                        run.fail_step = Some(n);
                        break;
                    };
                    step.extend(repair.chars().map(u32::from));
                }
            }
        }
        run.steps.push(step);
        if run.fail_step.is_some() {
            break;
        }
        if chunk.is_some() {
            run.held.push(decoder.incomplete().len());
        }
    }
    run
}

/// The pieces up to the first error that the mode does not repair.
fn until_error(
    pieces: impl Iterator<Item = Result<Vec<u32>, DialectError>>,
    mode: ErrorMode,
) -> Vec<Result<Vec<u32>, DialectError>> {
    let mut taken = Vec::new();
    for piece in pieces {
        let is_last = piece.is_err() && mode == ErrorMode::Fatal;
        taken.push(piece);
        if is_last {
            break;
        }
    }
    taken
}

/// The index of the byte that decides the first error, if there is one; `Some(None)` for the end.
fn decided_by(bytes: &[u8], rules: Rules) -> Option<Option<usize>> {
    let mut decoder = decoder(rules);
    for (index, byte) in bytes.iter().enumerate() {
        if decoder.push(&[*byte]).any(|piece| piece.is_err()) {
            return Some(Some(index));
        }
    }
    std::iter::from_fn(|| decoder.finish().transpose()).any(|piece| piece.is_err()).then_some(None)
}

fn errors_in_utf8(bytes: &[u8], bom: BomPolicy) -> (Vec<Utf8Error>, Option<Option<usize>>) {
    let mut decoder = Utf8Decoder::new().with_options(Utf8Options::new().with_bom(bom));
    let (mut errors, mut decided_by) = (Vec::new(), None);
    for (index, byte) in bytes.iter().enumerate() {
        errors.extend(decoder.push(&[*byte]).filter_map(Result::err));
        if !errors.is_empty() {
            decided_by.get_or_insert(Some(index));
        }
    }
    errors.extend(decoder.finish().err());
    if !errors.is_empty() {
        decided_by.get_or_insert(None);
    }
    (errors, decided_by)
}

/// Code points as hexadecimal UTF-8, or, where some are not text, as numbers.
fn written(code_points: &[u32], is_text: bool) -> Value {
    if is_text {
        let text: String =
            code_points.iter().filter_map(|&code_point| char::from_u32(code_point)).collect();
        return hex(text.as_bytes()).into();
    }
    code_points.iter().copied().map(Value::from).collect()
}

fn described_in_dialect(error: &DialectError) -> Value {
    let kind = match error.kind() {
        Utf8ErrorKind::Incomplete => "incomplete",
        Utf8ErrorKind::ForbiddenBom => "forbidden_bom",
        Utf8ErrorKind::MissingBom => "missing_bom",
        Utf8ErrorKind::UnpairedSurrogate if error.next_byte().is_none() => "lone_surrogate",
        Utf8ErrorKind::SurrogatePair if error.next_byte().is_none() => "surrogate_pair",
        _ if error.next_byte().is_some() => "invalid_continuation",
        _ => "invalid_start",
    };
    json!({"offset": error.offset(), "len": error.bytes().len(), "kind": kind})
}

/// Decodes each string separately, and encodes all of them as one stream.
fn concat(case: &Value, rules: Rules) -> Result<Map<String, Value>, String> {
    let (mut encoder, mut out) = (encoder(rules), Vec::new());
    for string in chunks(case)? {
        let mut code_points = Vec::new();
        let (mut decoder, mode) = (decoder(rules), ErrorMode::Fatal);
        let progress = decoder.push_to_code_points(&string, mode, &mut code_points);
        if let Status::IllFormed(error) = progress.status {
            return Err(error.to_string());
        }
        let ended = decoder.finish_to_code_points(mode, &mut code_points);
        ended.map_err(|error| error.to_string())?;
        let pushed = encoder.push_code_points_to_vec(&code_points, &mut out);
        pushed.map_err(|error| error.to_string())?;
    }
    encoder.finish_to_vec(&mut out).map_err(|error| error.to_string())?;
    Ok(object(json!({ "out": hex(&out) })))
}

fn lossy_utf8(case: &Value, rules: Rules) -> Result<Map<String, Value>, String> {
    let (mut decoder, mode) = (decoder(rules), ErrorMode::Replacement);
    let mut text = String::new();
    for string in chunks(case)? {
        let progress = decoder.push_to_string(&string, mode, &mut text);
        assert_eq!(progress.status, Status::Done);
    }
    decoder.finish_to_string(mode, &mut text).map_err(|error| error.to_string())?;
    Ok(object(json!({ "out": hex(text.as_bytes()) })))
}

/// The handler replaces `C0 80` with U+0000: two bytes, of which the decoder reports one. It fails otherwise.
fn decode_callback(case: &Value) -> Result<Map<String, Value>, String> {
    let bytes = byte_strings(&case["chunks"])?.concat();
    let mut decoder = Utf8Decoder::new();
    let (mut text, mut rest, mut taken) = (String::new(), &bytes[..], 0);
    let mut fail_at = None;
    'pushes: while !rest.is_empty() && fail_at.is_none() {
        let mut pieces = decoder.push(rest);
        while let Some(piece) = pieces.next() {
            match piece {
                Ok(piece) => text.push_str(piece),
                Err(error) if (error.bytes(), pieces.rest().first()) == (b"\xC0", Some(&0x80)) => {
                    text.push('\0');
                    rest = &pieces.rest()[1..];
                    taken += 1;
                    continue 'pushes;
                }
                Err(error) => {
                    fail_at = Some(error.valid_up_to() + taken);
                    break;
                }
            }
        }
        rest = &[];
    }
    if let Err(error) = decoder.finish() {
        fail_at.get_or_insert(error.valid_up_to() + taken);
    }
    Ok(object(json!({"out": hex(text.as_bytes()), "fail_at": fail_at})))
}

// ---- encoding -----------------------------------------------------------------------------------

fn encode(case: &Value, rules: Rules) -> Result<Map<String, Value>, String> {
    let policy = str_of(case, "policy")?;
    let mut encoder = encoder(rules).with_error_mode(error_mode(case)?);
    if str_of(case, "bom")? == "emit" {
        encoder = encoder.with_bom();
    }
    let input = of_type(case, "input", Value::as_array)?;
    let (mut steps, mut errors) = (Vec::new(), Vec::<DialectError>::new());
    let mut fail_step = None;
    for (n, units) in input.iter().map(Some).chain([None]).enumerate() {
        let mut bytes = Vec::new();
        let pushed = match (units, str_of(case, "units")?) {
            (None, _) => encoder.finish_to_vec(&mut bytes),
            (Some(units), "u16") => encoder.push_utf16_to_vec(&numbers(units)?, &mut bytes),
            (Some(units), "cps") => encoder.push_code_points_to_vec(&numbers(units)?, &mut bytes),
            (_, units) => return Err(format!("there are no units {units}")),
        };
        steps.push(hex(&bytes));
        if let Err(error) = pushed {
            errors.push(error);
            fail_step = Some(n);
            break;
        }
    }
    let mut answer = object(json!({ "out": steps.concat() }));
    if input.len() > 1 {
        answer.insert("steps".into(), steps.into());
    }
    // It reports the number of repaired errors and the first one.
    if encoder.error_count() < 2 {
        let described = encoder
            .first_error()
            .map(|error| json!({"offset": error.offset(), "len": 1, "kind": "lone_surrogate"}));
        answer.insert("errors".into(), described.into_iter().collect());
    }
    if matches!(policy, "strict" | "surrogateescape") {
        answer.insert("fail_step".into(), json!(fail_step));
    }
    Ok(answer)
}

fn numbers<N: TryFrom<u64>>(values: &Value) -> Result<Vec<N>, String> {
    let number = |value: &Value| N::try_from(value.as_u64()?).ok();
    let numbers = values.as_array().and_then(|values| values.iter().map(number).collect());
    numbers.ok_or_else(|| format!("not a list of numbers: {values}"))
}

// ---- digests ------------------------------------------------------------------------------------

/// Hashes the outcomes of a series of runs.
fn digest(case: &Value) -> Result<Map<String, Value>, String> {
    let mut hash = Sha256::new();
    let rule = str_of(case, "rule")?;
    if rule == "all_scalars" {
        let bytes = all_scalars(str_of(case, "dialect")?, rules(case)?)?;
        hash.update(&bytes);
        return Ok(object(json!({"bytes": bytes.len(), "sha256": hex(&hash.finalize())})));
    }
    if (str_of(case, "dialect")?, str_of(case, "policy")?) != ("utf-8", "replace") {
        return Err("this digest is of UTF-8 with replacement".into());
    }
    let alphabet = match str_of(case, "alphabet")? {
        "all256" => (0..=0xFF).collect(),
        _ => unhex(&case["alphabet"]).ok_or("an alphabet is hexadecimal")?,
    };
    let mut places = vec![0; usize_of(case, "len")?];
    loop {
        let string: Vec<u8> = places.iter().map(|&place| alphabet[place]).collect();
        hash.update(match rule {
            "all_strings" => whole(&string),
            "all_strings_bytewise" => bytewise(&string),
            _ => return Err(format!("there is no rule {rule}")),
        });
        // The next string, in the order of the alphabet.
        let Some(last) = places.iter().rposition(|&place| place + 1 < alphabet.len()) else {
            break;
        };
        places[last] += 1;
        places[last + 1..].fill(0);
    }
    Ok(object(json!({ "sha256": hex(&hash.finalize()) })))
}

fn all_scalars(dialect: &str, rules: Option<Rules>) -> Result<Vec<u8>, String> {
    let text: String = ('\0'..=char::MAX).collect();
    let Some(rules) = rules else {
        assert_eq!(dialect, "utf-8");
        return Ok(Utf8Encoder::new().push(&text).concat());
    };
    let mut bytes = Vec::new();
    let mut encoder = encoder(rules);
    encoder.push_to_vec(&text, &mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

fn whole(string: &[u8]) -> Vec<u8> {
    let (mut decoder, mut text) = (Utf8Decoder::new(), String::new());
    let mode = ErrorMode::Replacement;
    let _progress = decoder.push_to_string(string, mode, &mut text);
    let ended = decoder.finish_to_string(mode, &mut text);
    ended.expect("the mode repairs");
    [text.as_bytes(), b"\xFF"].concat()
}

fn bytewise(string: &[u8]) -> Vec<u8> {
    let (mut decoder, mut record) = (Utf8Decoder::new(), Vec::new());
    let mode = ErrorMode::Replacement;
    for byte in string {
        let mut text = String::new();
        let _progress = decoder.push_to_string(&[*byte], mode, &mut text);
        record.extend_from_slice(text.as_bytes());
        record.push(0xFE);
    }
    let mut text = String::new();
    decoder.finish_to_string(mode, &mut text).expect("the mode repairs");
    record.extend_from_slice(text.as_bytes());
    record.push(0xFF);
    record
}

// ---- words of the vectors -----------------------------------------------------------------------

/// The dialect that a case is about; `None` for plain UTF-8.
fn rules(case: &Value) -> Result<Option<Rules>, String> {
    let policy = case["policy"].as_str().unwrap_or("strict");
    let dialect = match (case["dialect"].as_str(), policy) {
        (None, _) => return Ok(None),
        (Some("utf-8"), "surrogateescape") => Dialect::Utf8b,
        (Some("utf-8"), "surrogatepass") => Dialect::SurrogatePass,
        (Some("utf-8"), _) => return Ok(None),
        (Some("rfc2279"), _) => Dialect::Rfc2279,
        (Some("cesu-8"), _) => Dialect::Cesu8,
        (Some("mutf-8"), _) => Dialect::ModifiedUtf8,
        (Some("wtf-8"), _) => Dialect::Wtf8,
        (Some(dialect), _) => return Err(format!("there is no dialect {dialect}")),
    };
    let bom = match str_of(case, "op")? {
        "decode" => bom(case)?,
        _ => BomPolicy::Keep,
    };
    Ok(Some(Rules { dialect, bom, unpaired: policy == "surrogatepass" }))
}

fn error_mode(case: &Value) -> Result<ErrorMode, String> {
    match str_of(case, "policy")? {
        "surrogateescape" | "surrogatepass" => Ok(ErrorMode::Fatal),
        policy => mode(policy),
    }
}
