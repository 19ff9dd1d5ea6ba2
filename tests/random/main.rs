//! Random bytes with random splits, compared with the reference model and with std; `plans`: random sequences of calls.
#![cfg(feature = "codec")]

#[cfg(all(feature = "encoding_rs", feature = "stream"))]
#[path = "../support/encodings.rs"]
mod encodings;
#[path = "../support/lists.rs"]
mod lists;
#[cfg(feature = "stream")]
#[path = "../support/operations/mod.rs"]
mod operations;
mod plans;
#[path = "../support/mod.rs"]
mod support;

use lists::PARTS;
use proptest::prelude::*;
use support::lines::{EveryForm, Item, LineSettings, line_steps};
use support::reference::{self, Bom, Config, Controls, Delimiter, Limit, Start};
use support::{
    Expected, MODES, PLAIN, check, check_repaired, delimiter, line_item, line_items, line_settings,
    options, subjects, undated_item, validate,
};
use utf8_codec::decoder::Status;
use utf8_codec::lines::{Line, LineDecoder};
use utf8_codec::{
    ErrorMode, Utf8Decoder, Utf8Encoder, Utf8Options, Utf8Validator, count_chars, from_utf8,
    from_utf8_lossy,
};

/// Bytes that are likely to interact: pieces of sequences, BOMs, delimiters, rejected characters.
fn hostile_bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        6 => prop::sample::select(PARTS).prop_map(<[u8]>::to_vec),
        2 => any::<u8>().prop_map(|byte| vec![byte]),
        1 => any::<char>().prop_map(|c| c.to_string().into_bytes()),
    ];
    prop::collection::vec(piece, 0..most).prop_map(|pieces| pieces.concat())
}

/// Text in one script, long enough for every path through the kernels, with clusters of errors.
fn long_damaged_bytes() -> impl Strategy<Value = Vec<u8>> {
    let run = prop_oneof![
        prop::sample::select(&["plain text, ", "жёлтый ", "日本語、", "🦀🚀", "né "][..])
            .prop_flat_map(
                |text| (1..90_usize).prop_map(move |times| text.repeat(times).into_bytes())
            ),
        hostile_bytes(6),
        // Damaged ASCII.
        (prop::sample::select(DAMAGED_ASCII), 1..60_usize)
            .prop_map(|(text, times)| text.repeat(times)),
        (any::<u8>(), 1..80_usize).prop_map(|(byte, times)| vec![byte; times]),
    ];
    prop::collection::vec(run, 0..12).prop_map(|runs| runs.concat())
}

const DAMAGED_ASCII: &[&[u8]] = &[b"caf\xE9 cr\xE8me, ", b"plain \x96 text, "];

/// Long runs of text, and a few of the pieces of [`hostile_bytes`] between them.
fn long_lines() -> impl Strategy<Value = Vec<u8>> {
    let run = (prop::sample::select(&["x", "é", "€", "a-", "a-"][..]), 0..300_usize)
        .prop_map(|(unit, count)| unit.repeat(count).into_bytes());
    let long_end = Just(long_delimiter().into_bytes());
    let end = prop::sample::select(&["\n", "\r\n", "\r", "\0", "--", "\u{85}\n"][..])
        .prop_map(|end| end.as_bytes().to_vec());
    prop::collection::vec(
        prop_oneof![3 => run, 5 => end, 1 => hostile_bytes(4), 1 => long_end],
        0..20,
    )
    .prop_map(|pieces| pieces.concat())
}

fn any_config() -> impl Strategy<Value = Config> {
    let start = prop_oneof![
        Just(Start::Beginning(Bom::Keep)),
        Just(Start::Beginning(Bom::Strip)),
        Just(Start::Beginning(Bom::Require)),
        Just(Start::Beginning(Bom::Forbid)),
        Just(Start::MidStream),
    ];
    let controls = prop_oneof![
        3 => Just(Controls::Allowed),
        1 => Just(Controls::RejectedExceptWhitespace),
        1 => Just(Controls::Rejected),
    ];
    (start, prop::bool::weighted(0.3), prop::bool::weighted(0.3), controls).prop_map(
        |(start, reject_noncharacters, reject_nul, controls)| Config {
            start,
            reject_noncharacters,
            reject_nul,
            controls,
        },
    )
}

fn cuts_of(len: usize, fractions: &[f64]) -> Vec<usize> {
    let mut cuts: Vec<_> = fractions.iter().map(|f| (f * (len + 1) as f64) as usize).collect();
    cuts.iter_mut().for_each(|cut| *cut = (*cut).min(len));
    cuts.sort_unstable();
    cuts
}

fn fractions() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0.0..1.0, 0..8)
}

fn limits(len: impl Strategy<Value = usize>) -> impl Strategy<Value = Limit> {
    (len, any::<bool>())
        .prop_map(|(len, cuts)| if cuts { Limit::Cut(len) } else { Limit::Reject(len) })
}

fn any_delimiter() -> impl Strategy<Value = Delimiter> {
    prop_oneof![
        Just(Delimiter::Lf),
        Just(Delimiter::Crlf),
        Just(Delimiter::CrlfOrLf),
        Just(Delimiter::Any),
        Just(Delimiter::Nul),
        prop::sample::select(&["-", "\n-", "\r\n-", "\r\0-a"][..]).prop_map(Delimiter::OneOf),
        prop::sample::select(
            &["--", "aa", "aab", "é", "\u{85}\n", "\r\n", "\u{FEFF}", "€€", "\x01a"][..]
        )
        .prop_map(|text| Delimiter::Str(text.to_owned())),
    ]
}

/// A delimiter longer than what is copied at once when a chunk has cut a line.
fn long_delimiter() -> String {
    "a-".repeat(140) + "é"
}

/// Twelve times the usual number of cases: 3,072, or 12 * `PROPTEST_CASES`.
fn config_of_cases() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: usual.cases * 12, ..usual }
}

/// What std's chunks of `bytes` are in pieces: text, and the offset and length of each error.
fn std_pieces(bytes: &[u8]) -> Vec<Result<&str, (u64, usize)>> {
    let mut pieces = Vec::new();
    let mut at = 0;
    for chunk in bytes.utf8_chunks() {
        if !chunk.valid().is_empty() {
            pieces.push(Ok(chunk.valid()));
        }
        at += chunk.valid().len();
        if !chunk.invalid().is_empty() {
            pieces.push(Err((at as u64, chunk.invalid().len())));
        }
        at += chunk.invalid().len();
    }
    pieces
}

proptest! {
    #![proptest_config(config_of_cases())]

    /// Dense errors, and a caller that drops the pieces after some of them and pushes the rest again.
    #[test]
    fn dense_errors_are_those_of_std_wherever_the_caller_stops(
        bytes in hostile_bytes(200),
        most in 1..9_usize,
    ) {
        let bytes = [&bytes[..], b"."].concat(); // so that nothing is incomplete at the end
        let mut decoder = Utf8Decoder::new();
        let (mut pieces, mut errors, mut rest) = (Vec::new(), Vec::new(), &bytes[..]);
        while !rest.is_empty() {
            let mut some = decoder.push(rest);
            for piece in some.by_ref().take(most) {
                errors.extend(piece.err());
                pieces.push(match piece {
                    Ok(text) => Ok(text.to_owned()),
                    Err(error) => Err((error.valid_up_to(), error.bytes().len())),
                });
            }
            rest = some.rest();
        }
        let expected: Vec<_> =
            std_pieces(&bytes).into_iter().map(|piece| piece.map(str::to_owned)).collect();
        prop_assert_eq!(pieces, expected);

        // Their kinds and bytes are those that the bytes have one at a time.
        let mut decoder = Utf8Decoder::new();
        let errors_of = |byte| decoder.push(byte).filter_map(Result::err).collect::<Vec<_>>();
        let expected: Vec<_> = bytes.chunks(1).flat_map(errors_of).collect();
        prop_assert_eq!(errors, expected);
    }

    #[test]
    fn reported_errors_do_not_depend_on_splits(
        bytes in hostile_bytes(24),
        config in any_config(),
        fractions in fractions(),
    ) {
        let expected = Expected::new(&bytes, config);
        let cuts = cuts_of(bytes.len(), &fractions);
        for (name, subject) in subjects(config, ErrorMode::Fatal) {
            check(name, subject, &bytes, &cuts, &expected);
        }
        let chunks: Vec<_> =
            support::chunks(bytes.len(), &cuts).map(|(from, to)| &bytes[from..to]).collect();
        let (errors, held) = validate(&chunks, config);
        prop_assert_eq!(held, expected.held[bytes.len()]);
        prop_assert_eq!(errors.len(), expected.ended.iter().filter(|atom| matches!(atom, support::Atom::Error(_))).count());
    }

    #[test]
    fn repaired_text_does_not_depend_on_splits(
        bytes in hostile_bytes(24),
        config in any_config(),
        fractions in fractions(),
    ) {
        let expected = Expected::new(&bytes, config);
        let cuts = cuts_of(bytes.len(), &fractions);
        for (model_mode, mode) in MODES.into_iter().skip(1) {
            let repaired = expected.repaired(model_mode);
            for (name, subject) in subjects(config, mode) {
                check_repaired(name, subject, &bytes, &cuts, &repaired);
            }
        }
    }

    #[test]
    fn lines_do_not_depend_on_splits(
        bytes in hostile_bytes(20),
        config in any_config(),
        fractions in fractions(),
        model_delimiter in any_delimiter(),
        limit in limits(prop_oneof![0..12_usize, Just(1000)]),
        (model_mode, mode) in prop::sample::select(&MODES[..]),
    ) {
        let settings = line_settings(config, mode, &model_delimiter, limit);
        let cuts = cuts_of(bytes.len(), &fractions);
        let mut steps = line_items(&settings, &bytes, &cuts);
        let last = steps.pop().unwrap();
        let items = |to: usize, ended| -> Vec<_> {
            let bytes = &bytes[..to];
            reference::lines_prefix(bytes, config, model_mode, &model_delimiter, limit, ended)
                .into_iter()
                .map(undated_item)
                .collect()
        };
        let mut out = Vec::new();
        for (step, (_, to)) in steps.into_iter().zip(support::chunks(bytes.len(), &cuts)) {
            out.extend(step);
            prop_assert_eq!(&out, &items(to, false), "split at {:?}, up to {}", cuts, to);
        }
        out.extend(last);
        prop_assert_eq!(&out, &items(bytes.len(), true), "split at {:?}, at the end", cuts);
    }

    /// Lines that are longer than blocks, chunks and what is copied at once.
    #[test]
    fn long_lines_do_not_depend_on_splits(
        bytes in long_lines(),
        config in any_config(),
        sizes in prop::collection::vec(prop_oneof![0..4_usize, 0..700_usize], 1..5),
        model_delimiter in prop_oneof![9 => any_delimiter(), 1 => Just(Delimiter::Str(long_delimiter()))],
        limit in limits(prop_oneof![0..700_usize, Just(1 << 16)]),
        (model_mode, mode) in prop::sample::select(&MODES[..]),
    ) {
        let settings = line_settings(config, mode, &model_delimiter, limit);
        let (mut chunks, mut rest) = (vec![], &bytes[..]);
        for size in sizes.iter().cycle().take(400) {
            let (chunk, after) = rest.split_at(rest.len().min(*size));
            chunks.push(chunk);
            rest = after;
        }
        chunks.push(rest);
        let items = line_steps(&settings, chunks).concat().into_iter();
        let items: Vec<_> = items.map(|item| undated_item(line_item(item))).collect();
        let expected =
            reference::lines_prefix(&bytes, config, model_mode, &model_delimiter, limit, true);
        let expected: Vec<_> = expected.into_iter().map(undated_item).collect();
        prop_assert_eq!(items, expected, "{:?} in chunks of {:?}", settings, sizes);
    }

    /// The lines and errors are the same, and the bytes of each rejected line are those of the stream.
    #[test]
    fn rejected_lines_are_kept_whole_up_to_the_limit(
        bytes in hostile_bytes(40),
        config in any_config(),
        size in 1..9_usize,
        model_delimiter in any_delimiter(),
        limit in prop_oneof![0..12_usize, Just(1000)],
        (_, mode) in prop::sample::select(&MODES[..]),
    ) {
        let settings = line_settings(config, mode, &model_delimiter, limit);
        let expected = line_steps(&settings, bytes.chunks(size)).concat();
        let mut decoder = LineDecoder::new().with_options(settings.options).with_error_mode(mode);
        let delimiter = settings.delimiter.clone();
        decoder = decoder.with_delimiter(delimiter).with_max_length(limit).keep_rejected();
        let decode = |mut decoder: LineDecoder, size: usize| {
            let mut found = Vec::new();
            for chunk in bytes.chunks(size) {
                let mut lines = decoder.push(chunk);
                while let Some(line) = lines.next_line() {
                    let line = line.map(Line::from);
                    found.push((line, lines.rejected().to_vec()));
                }
            }
            while let Some(line) = decoder.finish_line() {
                let line = line.map(Line::from);
                found.push((line, decoder.rejected().to_vec()));
            }
            found
        };
        let found = decode(decoder.clone(), size);
        prop_assert_eq!(&found, &decode(decoder, bytes.len().max(1)));
        let offset = |line: &Item| match line {
            Ok(line) => line.offset as usize,
            Err(error) => error.offset() as usize,
        };
        let longest = match model_delimiter {
            Delimiter::Lf | Delimiter::CrlfOrLf => 2,
            _ => settings.delimiter.as_str().len(),
        };
        let most = limit + longest;
        for (at, (line, rejected)) in found.iter().enumerate() {
            prop_assert_eq!(line, &expected[at]);
            if line.is_err() {
                let end = found.get(at + 1).map_or(bytes.len(), |(line, _)| offset(line));
                let whole = &bytes[offset(line)..end];
                let rest = whole.strip_prefix(&rejected[..]).expect("it is a part of the stream");
                let is_any = matches!(model_delimiter, Delimiter::Any);
                let is_lf = is_any && rest == b"\n" && rejected.ends_with(b"\r");
                prop_assert!(rejected.len() == most || rest.is_empty() || is_lf);
                prop_assert!(rejected.len() <= most);
            }
        }
        prop_assert_eq!(found.len(), expected.len());
    }

    #[test]
    fn settings_changed_between_chunks_do_the_same_in_every_form(
        chunks in prop::collection::vec((hostile_bytes(20), any_delimiter(), 0..12_usize), 1..8),
        config in any_config(),
        (_, mode) in prop::sample::select(&MODES[..]),
    ) {
        let settings = LineSettings { options: options(config), mode, ..LineSettings::default() };
        let mut forms = EveryForm::start(&settings);
        for (chunk, model_delimiter, limit) in chunks {
            forms.push(&[b"x", &chunk[..]].concat());
            forms.change(&delimiter(&model_delimiter), limit);
        }
        forms.finish();
    }

    #[test]
    fn replacement_equals_std(bytes in hostile_bytes(200), fractions in fractions()) {
        let mut decoder = Utf8Decoder::new();
        let mut text = String::new();
        for (from, to) in support::chunks(bytes.len(), &cuts_of(bytes.len(), &fractions)) {
            let _done = decoder.push_to_string(&bytes[from..to], ErrorMode::Replacement, &mut text);
        }
        decoder.finish_to_string(ErrorMode::Replacement, &mut text).unwrap();
        prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn lossy_functions_equal_std(
        bytes in prop_oneof![hostile_bytes(200), long_damaged_bytes()],
        fractions in fractions(),
    ) {
        let expected = String::from_utf8_lossy(&bytes);
        prop_assert_eq!(&from_utf8_lossy(&bytes), &expected);
        prop_assert_eq!(count_chars(&expected), expected.chars().count());
        let ours = from_utf8(&bytes).map_err(|error| (error.valid_up_to(), error.error_len()));
        let theirs = std::str::from_utf8(&bytes);
        let place = |error: std::str::Utf8Error| (error.valid_up_to() as u64, error.error_len());
        prop_assert_eq!(ours, theirs.map_err(place));

        let mut decoder = Utf8Decoder::new();
        let mut text = String::new();
        for (from, to) in support::chunks(bytes.len(), &cuts_of(bytes.len(), &fractions)) {
            text += &decoder.push_lossy(&bytes[from..to]);
        }
        decoder.finish_to_string(ErrorMode::Replacement, &mut text).unwrap();
        prop_assert_eq!(text, expected);
    }

    #[test]
    fn ill_formed_text_is_repaired_to_utf_16_as_to_a_string(
        bytes in long_damaged_bytes(),
        fractions in fractions(),
        room in 1..200_usize,
    ) {
        let mode = ErrorMode::Replacement;
        let (mut decoder, mut all, mut units) = (Utf8Decoder::new(), Vec::new(), vec![0; room]);
        for (from, to) in support::chunks(bytes.len(), &cuts_of(bytes.len(), &fractions)) {
            let mut rest = &bytes[from..to];
            while !rest.is_empty() {
                let progress = decoder.push_to_utf16(rest, mode, &mut units);
                if let Status::TooSmall { needed } = progress.status {
                    units.resize(needed, 0);
                }
                all.extend_from_slice(&units[..progress.written]);
                rest = &rest[progress.read..];
            }
        }
        units.resize(8, 0);
        let progress = decoder.finish_to_utf16(mode, &mut units);
        all.extend_from_slice(&units[..progress.written]);

        let (mut other, mut text) = (Utf8Decoder::new(), String::new());
        let _done = other.push_to_string(&bytes, mode, &mut text);
        other.finish_to_string(mode, &mut text).unwrap();
        prop_assert_eq!(all, text.encode_utf16().collect::<Vec<_>>());
        prop_assert_eq!(decoder.error_count(), other.error_count());
        prop_assert_eq!(decoder.first_error(), other.first_error());
    }

    #[test]
    fn long_ill_formed_text_is_repaired_as_its_pieces(
        bytes in long_damaged_bytes(),
        fractions in fractions(),
        (_, mode) in prop::sample::select(&MODES[1..]),
    ) {
        let (mut decoder, mut text) = (Utf8Decoder::new(), String::new());
        for (from, to) in support::chunks(bytes.len(), &cuts_of(bytes.len(), &fractions)) {
            let _done = decoder.push_to_string(&bytes[from..to], mode, &mut text);
        }
        decoder.finish_to_string(mode, &mut text).unwrap();

        let (mut pieces, mut joined) = (Utf8Decoder::new(), String::new());
        for piece in pieces.push(&bytes) {
            match piece {
                Ok(piece) => joined.push_str(piece),
                Err(error) => joined.push_str(&mode.repair(&error, Utf8Options::new()).unwrap()),
            }
        }
        pieces.finish_to_string(mode, &mut joined).unwrap();
        prop_assert_eq!(text, joined);
        prop_assert_eq!(decoder.error_count(), pieces.error_count());
        prop_assert_eq!(decoder.first_error(), pieces.first_error());
    }

    #[test]
    fn the_verdict_equals_std(bytes in hostile_bytes(200)) {
        let mut validator = Utf8Validator::new();
        let verdict = validator.push(&bytes).and_then(|()| validator.finish());
        let verdict = verdict.map_err(|error| (error.valid_up_to() as usize, error.error_len()));
        let std = std::str::from_utf8(&bytes);
        prop_assert_eq!(verdict, std.map(drop).map_err(|error| (error.valid_up_to(), error.error_len())));
    }

    #[test]
    fn text_encoded_in_small_pieces_round_trips(text in any::<String>(), room in 4..20_usize) {
        let mut encoder = Utf8Encoder::new().with_bom();
        let (mut rest, mut wire) = (&text[..], Vec::new());
        loop {
            let mut buffer = vec![0; room];
            let progress = encoder.push_to_slice(rest, &mut buffer);
            wire.extend_from_slice(&buffer[..progress.written]);
            rest = &rest[progress.read..];
            if progress.status == utf8_codec::decoder::Status::Done {
                break;
            }
            prop_assert_eq!(progress.status, utf8_codec::decoder::Status::Full);
        }
        prop_assert_eq!(wire, format!("\u{FEFF}{text}").into_bytes());
    }

    #[test]
    fn chars_encoded_in_small_pieces_equal_their_text(text in any::<String>(), room in 4..20_usize) {
        let chars: Vec<char> = text.chars().collect();
        let mut encoder = Utf8Encoder::new();
        let (mut rest, mut wire) = (&chars[..], Vec::new());
        while !rest.is_empty() {
            let mut buffer = vec![0; room];
            let progress = encoder.push_chars_to_slice(rest, &mut buffer);
            prop_assert!(progress.read > 0);
            wire.extend_from_slice(&buffer[..progress.written]);
            rest = &rest[progress.read..];
        }
        prop_assert_eq!(wire, text.into_bytes());
    }
}

#[test]
fn the_plain_configuration_is_the_default() {
    assert_eq!(options(PLAIN), utf8_codec::Utf8Options::default());
}
