//! Fallbacks, the detector, the terminal decoder, boundaries.

#[path = "../fallback.rs"]
mod fallback_model;

use crate::lists::detector::{Answer, answer, kind, so_far};
use arbitrary::Arbitrary;
#[cfg(feature = "encoding_rs")]
use encoding_rs::Encoding;
use fallback_model::{Extent, decode, lines, model_lines, model_of, push_all, run, stream};
use utf8_codec::codec::{Utf8Codec, Utf8LinesCodec};
use utf8_codec::detect::{Detector, StreamKind};
use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
use utf8_codec::terminal::TerminalDecoder;
use utf8_codec::{Utf8Error, boundary};

use super::input::{Bytes, Many};
use super::lines::delimiter_of;
use super::streams::Settings;
use crate::support::reference::{self, Delimiter, Mode};
use crate::support::{Atom, PLAIN, atoms, delimiter, options};

// ---- fallback -----------------------------------------------------------------------------------

#[derive(Arbitrary, Clone, Debug)]
pub struct FallbackPlan {
    encoding: u8,
    extent: u8,
    limit: u8,
    settings: Settings,
    delimiter: u8,
    chunks: Many<Chunk>,
}

#[derive(Arbitrary, Clone, Debug)]
enum Chunk {
    Bytes(Bytes<60>),
    /// Pieces of characters in legacy encodings.
    Legacy(Many<u8>),
}

const LEGACY: [&[u8]; 8] =
    [b"\x81", b"\x30", b"\x81\x30\x81\x30", b"\xB0\xA1", b"\x8F\xA2\xB7", b"\x8E", b"\n", b"\xFF"];

impl Chunk {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Bytes(bytes) => bytes.0.clone(),
            Self::Legacy(parts) => {
                parts.iter().flat_map(|part| LEGACY[usize::from(part % 8)]).copied().collect()
            }
        }
    }
}

/// An encoding, and the error mode or label that corresponds to it.
fn legacy(number: u8) -> (LegacyEncoding, Result<Mode, &'static str>) {
    #[cfg(feature = "encoding_rs")]
    if let Some(label) = crate::encodings::LABELS.get(usize::from(number / 4)) {
        let encoding = Encoding::for_label(label.as_bytes()).expect("one of the standard");
        let legacy = LegacyEncoding::whatwg(encoding);
        assert_eq!(legacy.is_some(), encoding.is_ascii_compatible(), "{label}");
        if let Some(legacy) = legacy {
            assert_eq!(legacy.name(), encoding.name());
            return (legacy, Err(label));
        }
    }
    match number % 2 {
        0 => (LegacyEncoding::latin1(), Ok(Mode::Latin1)),
        _ => (LegacyEncoding::windows_1252(), Ok(Mode::Windows1252)),
    }
}

/// The text of these bytes, and the number of U+FFFD for unmapped bytes in it.
fn read(known: Result<Mode, &str>, bytes: &[u8]) -> (String, u64) {
    match known {
        Ok(mode) => (byte_by_byte(mode, bytes), 0),
        #[cfg(feature = "encoding_rs")]
        Err(label) => {
            let words = crate::encodings::whole(label, bytes);
            let is_error = |word: &&String| word.chars().count() > 1;
            let errors = words.iter().filter(is_error).count();
            let text = words.iter().map(|word| if is_error(&word) { "\u{FFFD}" } else { word });
            (text.collect(), errors as u64)
        }
        #[cfg(not(feature = "encoding_rs"))]
        Err(label) => panic!("there is no {label}"),
    }
}

fn byte_by_byte(mode: Mode, bytes: &[u8]) -> String {
    let bytes = bytes.to_vec();
    let kind = reference::Kind::InvalidByte;
    let error = reference::Error { offset: 0, bytes, kind, next: None, decided_by: None };
    reference::repair(mode, &error, PLAIN).expect("the mode is lossy")
}

/// The decoder, the codec and the stream yield the same text at every split and, if nothing is
/// rejected, that of the model; so does the lines codec.
pub fn fallback(plan: &FallbackPlan) {
    let (encoding, known) = legacy(plan.encoding);
    let limit = (plan.limit < 100).then(|| usize::from(plan.limit));
    let extent = match plan.extent % 4 {
        0 => Extent::Part,
        1 => Extent::Rest,
        3 => Extent::WithoutBom,
        _ => Extent::Line(limit.unwrap_or(FallbackDecoder::DEFAULT_MAX_LENGTH)),
    };
    let fallback = extent.decoder(encoding);
    let config = match plan.settings.choice % 2 {
        0 => PLAIN,
        _ => plan.settings.config(),
    };
    let (options, (of_model, mode)) = (options(config), plan.settings.mode());
    let chunks: Vec<_> = plan.chunks.iter().map(Chunk::bytes).collect();
    let chunks = chunks.iter().map(|chunk| &chunk[..]);
    let cut: Vec<&[u8]> = [plan.settings.bom_bytes()].into_iter().chain(chunks).collect();
    let bytes = cut.concat();
    let cuts = [vec![&bytes[..]], cut.clone(), bytes.chunks(1).collect()];

    let mut decoder = fallback.clone().with_options(options);
    let mut codec = Utf8Codec::new()
        .with_options(options)
        .with_error_mode(mode)
        .with_fallback(fallback.clone());
    let of_lines = Utf8LinesCodec::new().with_options(options).with_error_mode(mode);
    let of_lines = of_lines.with_delimiter(delimiter(&delimiter_of(plan.delimiter)));
    let of_lines = of_lines.with_max_length(limit.unwrap_or(Utf8LinesCodec::DEFAULT_MAX_LENGTH));
    let mut of_lines = of_lines.with_fallback(fallback.clone());
    let mut whole = None;
    let context = || format!("{encoding:?}, {extent:?}, {config:?}, {mode:?}: {bytes:02x?}");
    for cut in cuts {
        let read = decode(&mut decoder, mode, cut.iter().copied());
        let counted = (decoder.error_count(), decoder.first_error(), decoder.bom_seen());
        let of_codec = run(&mut codec, cut.iter().copied());
        let inner = codec.decoder();
        let counted_by_codec = (inner.error_count(), inner.first_error(), inner.bom_seen());
        assert_eq!((&of_codec, counted_by_codec), (&read, counted), "{}", context());
        let uses = decoder.fallback_uses();
        assert_eq!(codec.fallback_uses(), uses, "{}", context());
        let of_stream = stream(cut.iter().copied(), |texts| {
            texts.with_options(options).with_error_mode(mode).with_fallback(fallback.clone())
        });
        assert_eq!(of_stream, read, "{}", context());
        let lines = lines(&mut of_lines, cut.iter().copied());
        let outcome = (read, counted, uses, lines);
        assert_eq!(whole.get_or_insert_with(|| outcome.clone()), &outcome, "{}", context());
        decoder.reset();
        codec.reset();
        of_lines.reset();
    }

    let (found, _, uses, (lines, _)) = whole.expect("there are cuts");
    let expected = model_of(&bytes, extent, (config, of_model), |bytes| read(known, bytes).0);
    assert_eq!(found, expected, "{}", context());
    let replaced: u64 = expected.legacy.iter().map(|bytes| read(known, bytes).1).sum();
    assert_eq!(uses.replaced, replaced, "{}", context());
    let read = |bytes: &[u8]| read(known, bytes).0;
    if config != PLAIN {
        return;
    }
    let is_utf8_by_bom = extent == Extent::WithoutBom && bytes.starts_with(b"\xEF\xBB\xBF");
    if delimiter_of(plan.delimiter) == Delimiter::Lf && limit.is_none() && !is_utf8_by_bom {
        assert_eq!(lines, model_lines(&bytes, extent, read), "{}", context());
    }
    let most = match extent {
        Extent::Part => 6,
        // After the limit it is decoded in parts.
        Extent::Line(limit) => (limit + 3).max(6),
        Extent::Rest | Extent::WithoutBom => 3,
    };
    for chunk in cut {
        push_all(&mut decoder, chunk, mode, &mut String::new(), |_, error| {
            assert!(is_utf8_by_bom, "{error}");
        });
        assert!(decoder.incomplete().len() <= most, "{}: {:02x?}", context(), decoder.incomplete());
    }
    if is_utf8_by_bom {
        return;
    }
    // After the end a new line starts, but what turned stays what it is.
    decode(&mut decoder, mode, []);
    let again = decode(&mut decoder, mode, [&bytes[..]]);
    let turned = matches!(extent, Extent::Rest | Extent::WithoutBom) && found.runs > 0;
    assert_eq!(again.text, if turned { read(&bytes) } else { found.text }, "{}", "a second call");
}

// ---- detection ----------------------------------------------------------------------------------

/// The answer is the same at every split, is consistent with earlier answers, and follows the rules.
pub fn detector(chunks: &Many<Bytes<60>>) {
    let mut detector = Detector::new();
    let (mut bytes, mut before) = (Vec::new(), vec![answer(&detector)]);
    for chunk in chunks.iter() {
        let pushed = detector.push(&chunk.0);
        let now = answer(&detector);
        bytes.extend_from_slice(&chunk.0);
        before.push(now);
        assert_eq!(pushed, now.0);
        assert_eq!(now, so_far(&bytes), "{bytes:02x?}");
        let kept = |before: &&Answer| before.0 == now.0 || before.1.contains(&now.0);
        let broken = before.iter().find(|before| !kept(before));
        assert_eq!(broken, None, "became {now:?} by {bytes:02x?}");
        let mut at_once = Detector::new();
        at_once.push(&bytes);
        assert_eq!(answer(&at_once), now, "{bytes:02x?}");
        assert_eq!(at_once.finish(), kind(&bytes), "{bytes:02x?}");
        assert_eq!(detector.is_certain(), now.1.is_empty());
        let names: Vec<_> = now.1.iter().map(StreamKind::to_string).collect();
        let expected = match &names[..] {
            [] => now.0.to_string(),
            [.., last] => {
                let list = names.join(", ").replace(&format!(", {last}"), &format!(" or {last}"));
                format!("{} so far; may become {list}", now.0)
            }
        };
        assert_eq!(detector.to_string(), expected);
    }
    assert_eq!(detector.position(), bytes.len() as u64);
    assert_eq!(detector.finish(), kind(&bytes), "{bytes:02x?}");
    assert_eq!(detector.push(b"\xFF\0"), kind(&bytes), "bytes after the end are ignored");
    assert!(detector.is_certain());
    assert_eq!(detector.finish(), kind(&bytes), "{bytes:02x?}");
    detector.reset();
    assert_eq!(detector.finish(), StreamKind::Empty);

    #[cfg(feature = "chardetng")]
    guesser(chunks, &bytes);
}

/// Legacy input has a guess, the same at every split.
#[cfg(feature = "chardetng")]
fn guesser(chunks: &Many<Bytes<60>>, bytes: &[u8]) {
    let guess = |chunks: &[&[u8]]| {
        let mut guesser = Detector::new().with_guesser();
        for chunk in chunks {
            guesser.push(chunk);
        }
        let kind = guesser.finish();
        assert_eq!(guesser.guess(None).is_some(), kind == StreamKind::Legacy, "{bytes:02x?}");
        (kind, guesser.guess(None), guesser.guess(Some("jp")))
    };
    let whole = guess(&[bytes]);
    assert_eq!(whole.0, kind(bytes), "{bytes:02x?}");
    let cut: Vec<&[u8]> = chunks.iter().map(|chunk| &chunk.0[..]).collect();
    assert_eq!(guess(&cut), whole, "{bytes:02x?}");
}

// ---- terminals ----------------------------------------------------------------------------------

#[derive(Arbitrary, Clone, Debug)]
pub struct TerminalPlan {
    starts_in_utf8: bool,
    chunks: Many<Bytes<60>>,
}

/// The output after each chunk is the model's output for the bytes so far.
pub fn terminal(plan: &TerminalPlan) {
    let start = plan.starts_in_utf8;
    let mut decoder = TerminalDecoder::new();
    if start {
        decoder = decoder.with_utf8_start();
    }
    let bytes: Vec<u8> = plan.chunks.iter().flat_map(|chunk| chunk.0.iter().copied()).collect();
    let (mut atoms, mut end) = (Vec::new(), 0);
    for chunk in plan.chunks.iter() {
        atoms.extend(by_pieces(decoder.push(&chunk.0)));
        end += chunk.0.len();
        let found = (&atoms, decoder.is_utf8());
        let expected = of_terminal(&bytes[..end], start, false);
        assert_eq!(found, (&expected.0, expected.1), "{:02x?}", &bytes[..end]);
        assert_eq!(decoder.position(), end as u64);
    }
    atoms.extend(by_pieces(decoder.finish().transpose()));
    assert_eq!(decoder.finish(), Ok(None), "a second end");
    let (expected, is_utf8) = of_terminal(&bytes, start, true);
    assert_eq!((&atoms, decoder.is_utf8()), (&expected, is_utf8), "{bytes:02x?}");
    let is_error = |atom: &&Atom| matches!(atom, Atom::Error(_));
    assert_eq!(decoder.error_count(), atoms.iter().filter(is_error).count() as u64);

    // Stops after every piece, on a decoder whose other stream has ended.
    let (mut again, mut rest) = (Vec::new(), &bytes[..]);
    loop {
        let mut pieces = decoder.push(rest);
        let Some(piece) = pieces.next() else { break };
        again.extend(by_pieces([piece]));
        drop(pieces);
        rest = &bytes[(decoder.position() - end as u64) as usize..];
    }
    again.extend(by_pieces(decoder.finish().transpose()));
    let (mut expected, is_utf8) = of_terminal(&bytes, is_utf8, true);
    expected.iter_mut().for_each(|atom| go_on(atom, bytes.len()));
    assert_eq!((again, decoder.is_utf8()), (expected, is_utf8), "{bytes:02x?}");

    decoder.reset();
    let mut bytewise = Vec::new();
    for byte in bytes.chunks(1) {
        bytewise.extend(by_pieces(decoder.push(byte)));
    }
    bytewise.extend(by_pieces(decoder.finish().transpose()));
    assert_eq!(bytewise, atoms, "{bytes:02x?}");
}

fn by_pieces<'a>(pieces: impl IntoIterator<Item = Result<&'a str, Utf8Error>>) -> Vec<Atom> {
    let mut atoms = Vec::new();
    for piece in pieces {
        match piece {
            Ok(text) => {
                assert!(!text.is_empty(), "pieces are never empty");
                atoms.extend(text.chars().map(Atom::Char));
            }
            Err(error) => atoms.push(Atom::from(&error)),
        }
    }
    atoms
}

/// Moves an error by this many bytes.
fn go_on(atom: &mut Atom, bytes: usize) {
    if let Atom::Error(error) = atom {
        error.offset += bytes as u64;
    }
}

/// The output for the bytes, which start in UTF-8 or in Latin-1, and whether they end in UTF-8: part by part between
/// the switches, by the model of UTF-8.
fn of_terminal(bytes: &[u8], starts_in_utf8: bool, ended: bool) -> (Vec<Atom>, bool) {
    let (mut out, mut is_utf8, mut at) = (Vec::new(), starts_in_utf8, 0);
    loop {
        let rest = &bytes[at..];
        let switch = rest.windows(3).position(|part| part == b"\x1B%G" || part == b"\x1B%@");
        let mut escapes = [&b"\x1B%"[..], b"\x1B"].into_iter();
        let held = escapes.find(|escape| !ended && rest.ends_with(escape));
        // An escape that is not part of the text still ends an incomplete sequence.
        let escape = switch.or(held.map(|held| rest.len() - held.len()));
        let part = &rest[..escape.map_or(rest.len(), |escape| escape + 1)];
        let mut atoms = match is_utf8 {
            false => part.iter().map(|byte| Atom::Char((*byte).into())).collect(),
            true => atoms(&reference::decode_prefix(part, PLAIN, ended).events),
        };
        if escape.is_some() {
            assert_eq!(atoms.pop(), Some(Atom::Char('\x1B')));
        }
        atoms.iter_mut().for_each(|atom| go_on(atom, at));
        out.extend(atoms);
        let Some(switch) = switch else { return (out, is_utf8) };
        is_utf8 = rest[switch + 2] == b'G';
        at += switch + 3;
    }
}

// ---- boundaries ---------------------------------------------------------------------------------

/// Boundaries are those between the parts that std finds. Text is split at boundaries only.
pub fn boundaries(bytes: &Bytes<200>) {
    let bytes = &bytes.0[..];
    let mut ends = vec![0];
    let mut at = 0;
    for chunk in bytes.utf8_chunks() {
        let lens = chunk.valid().chars().map(char::len_utf8).chain([chunk.invalid().len()]);
        for len in lens.filter(|len| *len > 0) {
            at += len;
            ends.push(at);
        }
    }
    for index in 0..bytes.len() + 3 {
        let floor = ends.iter().copied().rfind(|end| *end <= index).expect("0 is one");
        let ceil = ends.iter().copied().find(|end| *end >= index).unwrap_or(bytes.len());
        assert_eq!(boundary::floor(bytes, index), floor, "{bytes:02x?} at {index}");
        assert_eq!(boundary::ceil(bytes, index), ceil, "{bytes:02x?} at {index}");
        assert_eq!(
            boundary::is_boundary(bytes, index),
            ends.contains(&index),
            "{bytes:02x?} at {index}"
        );
    }
    let text = String::from_utf8_lossy(bytes);
    for limit in boundary::MIN_LIMIT..20 {
        let pieces: Vec<_> = boundary::at_most(&text, limit).collect();
        assert_eq!(pieces.concat(), text);
        assert!(pieces.iter().all(|piece| (1..=limit).contains(&piece.len())), "{pieces:?}");
        assert_eq!(pieces.first().copied().unwrap_or_default(), boundary::truncate(&text, limit));
        let mut owned = boundary::owned_at_most(text.as_ref().into(), limit);
        for piece in &pieces {
            assert_eq!(owned.next().as_deref(), Some(*piece));
        }
        assert_eq!((owned.next(), owned.next()), (None, None));
        // Each piece is as long as possible.
        for pair in pieces.windows(2) {
            let next = pair[1].chars().next().expect("none is empty");
            assert!(pair[0].len() + next.len_utf8() > limit, "{pieces:?}");
        }
    }
}
