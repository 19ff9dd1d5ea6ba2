//! Fallbacks, the detector, the terminal's decoder, boundaries.

#[path = "../fallback.rs"]
mod fallback_model;
#[path = "../detect.rs"]
mod rules;

use std::cell::Cell;

use arbitrary::Arbitrary;
#[cfg(feature = "encoding_rs")]
use encoding_rs::Encoding;
use fallback_model::{Extent, decode, lines, model, model_lines, run, stream};
use rules::{kind, so_far};
use utf8_codec::codec::{Utf8Codec, Utf8LinesCodec};
use utf8_codec::detect::{Detection, Detector, Kind};
use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
use utf8_codec::{CodingSystem, Iso2022Decoder, boundary, split};

use super::input::{Bytes, Many};
use super::lines::delimiter_of;
use super::streams::Settings;
use crate::support::reference::{self, Delimiter, Mode};
use crate::support::{PLAIN, delimiter, options};

// ---- fallback -----------------------------------------------------------------------------------

#[derive(Arbitrary, Clone, Debug)]
pub struct FallbackPlan {
    encoding: u8,
    extent: u8,
    limit: u8,
    settings: Settings,
    delimiter: u8,
    chunks: Many<Bytes<60>>,
}

/// An encoding, and an error mode or a label by which it is known elsewhere.
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

/// The text of bytes, and how many U+FFFD in it stand for none.
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
    reference::repair(mode, &error).expect("it repairs")
}

/// The decoder, the codec and the stream read the same at every cut, and, where nothing is refused,
/// what the model reads; so does the codec of lines.
pub fn fallback(plan: &FallbackPlan) {
    let (encoding, known) = legacy(plan.encoding);
    let extent = match plan.extent % 3 {
        0 => Extent::Part,
        1 => Extent::Rest,
        _ if plan.limit == u8::MAX => Extent::Line(Fallback::DEFAULT_MAX_LENGTH),
        _ => Extent::Line(plan.limit.into()),
    };
    let fallback = extent.fallback(encoding);
    let config = if plan.settings.choice % 2 == 0 { PLAIN } else { plan.settings.config() };
    let (options, (_, mode)) = (options(config), plan.settings.mode());
    let bytes: Vec<u8> = plan.chunks.iter().flat_map(|chunk| chunk.0.iter().copied()).collect();
    let cut: Vec<&[u8]> = plan.chunks.iter().map(|chunk| &chunk.0[..]).collect();
    let cuts = [vec![&bytes[..]], cut, bytes.chunks(1).collect()];

    let mut decoder = FallbackDecoder::new(fallback).with_options(options).with_error_mode(mode);
    let mut codec =
        Utf8Codec::new().with_options(options).with_error_mode(mode).with_fallback(fallback);
    let of_lines = Utf8LinesCodec::new().with_options(options).with_error_mode(mode);
    let of_lines = of_lines.with_delimiter(delimiter(&delimiter_of(plan.delimiter)));
    let mut of_lines = match plan.limit {
        u8::MAX => of_lines.with_fallback(fallback),
        limit => of_lines.with_max_length(limit.into()).with_fallback(fallback),
    };
    let mut whole = None;
    let context = || format!("{encoding:?}, {extent:?}, {config:?}, {mode:?}: {bytes:02x?}");
    for cut in cuts {
        let read = decode(&mut decoder, cut.iter().copied());
        let counted = (decoder.error_count(), decoder.first_error(), decoder.bom_seen());
        let of_codec = run(&mut codec, cut.iter().copied());
        let inner = codec.decoder();
        let counted_by_codec = (inner.error_count(), inner.first_error(), inner.bom_seen());
        assert_eq!((&of_codec, counted_by_codec), (&read, counted), "{}", context());
        assert_eq!(codec.fallback_report(), decoder.report(), "{}", context());
        let of_stream = stream(cut.iter().copied(), |texts| {
            texts.with_options(options).with_error_mode(mode).with_fallback(fallback)
        });
        assert_eq!(of_stream, read, "{}", context());
        let lines = lines(&mut of_lines, cut.iter().copied());
        let outcome = (read, counted, decoder.report(), lines);
        assert_eq!(whole.get_or_insert_with(|| outcome.clone()), &outcome, "{}", context());
        decoder.reset();
        codec.reset();
        of_lines.reset();
    }

    let (found, _, report, (lines, _)) = whole.expect("there are cuts");
    if config != PLAIN {
        return;
    }
    let replaced = Cell::new(0);
    let read = |bytes: &[u8]| {
        let (text, errors) = read(known, bytes);
        replaced.set(replaced.get() + errors);
        text
    };
    assert_eq!(found, model(&bytes, extent, read), "{}", context());
    assert_eq!(report.replaced, replaced.get(), "{}", context());
    if delimiter_of(plan.delimiter) == Delimiter::Lf && plan.limit == u8::MAX {
        assert_eq!(lines, model_lines(&bytes, extent, read), "{}", context());
    }
    // Behind the end a new line begins, but the rest stays what it is.
    decode(&mut decoder, [&bytes[..]]);
    let again = decode(&mut decoder, [&bytes[..]]);
    let turned = extent == Extent::Rest && found.runs > 0;
    assert_eq!(again.text, if turned { read(&bytes) } else { found.text }, "{}", "a second time");
}

// ---- detection ----------------------------------------------------------------------------------

/// What is said is the same at every cut, keeps to what was said before, and follows the rules.
pub fn detector(chunks: &Many<Bytes<60>>) {
    let mut detector = Detector::new();
    let (mut bytes, mut before) = (Vec::new(), vec![detector.so_far()]);
    for chunk in chunks.iter() {
        let now = detector.push(&chunk.0);
        bytes.extend_from_slice(&chunk.0);
        before.push(now);
        assert_eq!(detector.so_far(), now);
        assert_eq!((now.kind(), now.may_become()), so_far(&bytes), "{bytes:02x?}");
        let kept = |before: &&Detection| {
            before.kind() == now.kind() || before.may_become().contains(&now.kind())
        };
        let broken = before.iter().find(|before| !kept(before));
        assert_eq!(broken, None, "became {now} by {bytes:02x?}");
        let mut at_once = Detector::new();
        assert_eq!(at_once.push(&bytes), now, "{bytes:02x?}");
        assert_eq!(at_once.finish(), kind(&bytes), "{bytes:02x?}");
        assert_eq!(now.is_certain(), now.may_become().is_empty());
        let names: Vec<_> = now.may_become().iter().map(Kind::to_string).collect();
        let expected = match &names[..] {
            [] => now.kind().to_string(),
            [.., last] => {
                let list = names.join(", ").replace(&format!(", {last}"), &format!(" or {last}"));
                format!("{} so far; may become {list}", now.kind())
            }
        };
        assert_eq!(now.to_string(), expected);
    }
    assert_eq!(detector.position(), bytes.len() as u64);
    assert_eq!(detector.finish(), kind(&bytes), "{bytes:02x?}");
    assert!(detector.push(b"\xFF\0").is_certain(), "nothing is looked at behind the end");
    assert_eq!(detector.finish(), kind(&bytes), "{bytes:02x?}");
    detector.reset();
    assert_eq!(detector.finish(), Kind::Empty);

    #[cfg(feature = "detect")]
    guesser(chunks, &bytes);
}

/// There is a guess where it is legacy; the same at every cut.
#[cfg(feature = "detect")]
fn guesser(chunks: &Many<Bytes<60>>, bytes: &[u8]) {
    let guess = |chunks: &[&[u8]]| {
        let mut guesser = utf8_codec::detect::LegacyGuesser::new();
        for chunk in chunks {
            guesser.push(chunk);
        }
        let kind = guesser.finish();
        assert_eq!(guesser.guess(None).is_some(), kind == Kind::Legacy, "{bytes:02x?}");
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

/// Cuts do not show; and where no coding system is switched, the text is that of the one there is.
pub fn iso2022(plan: &TerminalPlan) {
    let start = if plan.starts_in_utf8 { CodingSystem::Utf8 } else { CodingSystem::Latin1 };
    let bytes: Vec<u8> = plan.chunks.iter().flat_map(|chunk| chunk.0.iter().copied()).collect();
    let decode = |chunks: &[&[u8]]| {
        let mut decoder = Iso2022Decoder::in_coding_system(start);
        let (mut text, mut errors) = (String::new(), Vec::new());
        let mut take = |text: &mut String, piece: Result<&str, _>| match piece {
            Ok(piece) => text.push_str(piece),
            Err(error) => {
                errors.push((text.len(), error));
                text.push('\u{FFFD}');
            }
        };
        for chunk in chunks {
            decoder.push(chunk).for_each(|piece| take(&mut text, piece));
        }
        if let Some(piece) = decoder.finish() {
            take(&mut text, piece);
        }
        assert_eq!(decoder.position(), bytes.len() as u64);
        assert_eq!(decoder.error_count(), errors.len() as u64);
        (text, errors, decoder.coding_system())
    };
    let whole = decode(&[&bytes]);
    let cut: Vec<&[u8]> = plan.chunks.iter().map(|chunk| &chunk.0[..]).collect();
    assert_eq!(decode(&cut), whole, "{bytes:02x?}");
    assert_eq!(decode(&bytes.chunks(1).collect::<Vec<_>>()), whole, "{bytes:02x?}");

    let switches = |part: &[u8]| part == b"\x1B%G" || part == b"\x1B%@";
    if !bytes.windows(3).any(switches) {
        let expected = match start {
            CodingSystem::Utf8 => String::from_utf8_lossy(&bytes).into_owned(),
            CodingSystem::Latin1 => byte_by_byte(Mode::Latin1, &bytes),
        };
        assert_eq!((&whole.0, whole.2), (&expected, start), "{bytes:02x?}");
    }
}

// ---- boundaries ---------------------------------------------------------------------------------

/// Boundaries are those between what std takes bytes apart into; text is cut at none else.
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
    for limit in split::MIN_LIMIT..20 {
        let pieces: Vec<_> = split::at_most(&text, limit).collect();
        assert_eq!(pieces.concat(), text);
        assert!(pieces.iter().all(|piece| (1..=limit).contains(&piece.len())), "{pieces:?}");
        assert_eq!(pieces.first().copied().unwrap_or_default(), split::truncate(&text, limit));
        // Each is as long as it can be.
        for pair in pieces.windows(2) {
            let next = pair[1].chars().next().expect("none is empty");
            assert!(pair[0].len() + next.len_utf8() > limit, "{pieces:?}");
        }
    }
}
