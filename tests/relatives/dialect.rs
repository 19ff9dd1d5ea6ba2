//! The dialects compared with a slow model, at every split.
#![cfg(feature = "alloc")]

use std::fmt::Debug;

use crate::dialect_model as model;
use crate::lists;

use lists::{DIALECTS, MODES, sum_of};
use model::{Atom, Rules, all_rules};
use proptest::prelude::*;
use utf8_codec::decoder::{Progress, Status};
use utf8_codec::dialect::{Dialect, DialectDecoder, DialectEncoder, DialectError, DialectPiece};
use utf8_codec::{BomPolicy, ErrorMode, Utf8ErrorKind};

// ---- decoding against the model -----------------------------------------------------------------

#[test]
fn short_hostile_strings_decode_as_in_the_model() {
    // Bytewise only from a leading byte on: after any other byte a decoder is back in its initial state.
    check_short_strings(|first| first >= 0xC0);
}

#[test]
#[ignore = "seconds in release mode"]
fn short_hostile_strings_with_any_first_byte_decode_as_in_the_model() {
    check_short_strings(|_| true);
}

/// Checks strings, the longest of them only if their first byte is one of `firsts`.
fn check_short_strings(firsts: fn(u8) -> bool) {
    let check_longest = |rules, bytes: &[u8]| {
        if firsts(bytes[0]) {
            check_bytewise(rules, bytes);
        }
    };
    let all_rules: Vec<_> = all_rules().into_iter().collect();
    let checked = sum_of(&all_rules, |&rules| {
        for len in 1..=2 {
            each_string(&HOSTILE, len, &mut |bytes| check_every_cut(rules, bytes));
        }
        each_string(&HOSTILE, 3, &mut |bytes| check_longest(rules, bytes));
        for len in 3..=6 {
            each_string(&SURROGATES, len, &mut |bytes| check_longest(rules, bytes));
        }
        each_string(&SURROGATES, 5, &mut |bytes| check_every_cut(rules, bytes));
        1
    });
    assert_eq!(checked, all_rules.len() as u64);
}

/// Both sides of every range boundary.
const HOSTILE: [u8; 36] = [
    0x00, 0x41, 0x7F, 0x80, 0x83, 0x84, 0x87, 0x88, 0x8F, 0x90, 0x9F, 0xA0, 0xAF, 0xB0, 0xBF, 0xC0,
    0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5, 0xF7, 0xF8, 0xFB,
    0xFC, 0xFD, 0xFE, 0xFF,
];

/// The bytes of surrogates and pairs.
const SURROGATES: [u8; 5] = [0xED, 0xA0, 0xB0, 0x80, 0x41];

fn each_string(alphabet: &[u8], len: usize, use_it: &mut impl FnMut(&[u8])) {
    let mut places = vec![0; len];
    loop {
        let string: Vec<u8> = places.iter().map(|&place: &usize| alphabet[place]).collect();
        use_it(&string);
        let Some(last) = places.iter().rposition(|&place| place + 1 < alphabet.len()) else {
            return;
        };
        places[last] += 1;
        places[last + 1..].fill(0);
    }
}

fn check_every_cut(rules: Rules, bytes: &[u8]) {
    check(rules, bytes, &[]);
    check_bytewise(rules, bytes);
    for cut in 0..=bytes.len() {
        check(rules, bytes, &[cut, cut]);
    }
}

/// Pushes one byte at a time, and compares after the last one, because each prefix is tested as a string too.
fn check_bytewise(rules: Rules, bytes: &[u8]) {
    let mut decoder = decoder(rules);
    let mut atoms = Vec::new();
    bytes.chunks(1).for_each(|byte| atoms_of(decoder.push(byte), &mut atoms));
    check_outcome(rules, bytes, &decoder, &atoms, &"in single bytes");
    check_end(rules, bytes, decoder, atoms, &"in single bytes");
}

/// Compares a decoder with the model after each chunk and at the end.
fn check(rules: Rules, bytes: &[u8], cuts: &[usize]) {
    let mut decoder = decoder(rules);
    let mut atoms = Vec::new();
    for (from, to) in chunks(bytes.len(), cuts) {
        atoms_of(decoder.push(&bytes[from..to]), &mut atoms);
        check_outcome(rules, &bytes[..to], &decoder, &atoms, &cuts);
    }
    check_end(rules, bytes, decoder, atoms, &cuts);
}

fn check_outcome(
    rules: Rules,
    bytes: &[u8],
    decoder: &DialectDecoder,
    atoms: &[Atom],
    cuts: &dyn Debug,
) {
    let expected = model::decode(rules, bytes, false);
    assert_eq!(atoms, expected.atoms, "{rules:?}: {bytes:02x?} cut at {cuts:?}");
    let (held, position) = (decoder.incomplete().len(), decoder.position());
    assert_eq!(held, expected.held, "{rules:?}: {bytes:02x?} cut at {cuts:?}");
    assert_eq!(position, bytes.len() as u64, "{rules:?}: {bytes:02x?} cut at {cuts:?}");
}

fn check_end(
    rules: Rules,
    bytes: &[u8],
    mut decoder: DialectDecoder,
    mut atoms: Vec<Atom>,
    cuts: &dyn Debug,
) {
    atoms_of(end(&mut decoder), &mut atoms);
    let expected = model::decode(rules, bytes, true);
    assert_eq!(atoms, expected.atoms, "{rules:?}: {bytes:02x?} cut at {cuts:?}, at the end");
    assert_eq!(decoder.finish(), Ok(None), "a second end");
    let errors = atoms.iter().filter(|atom| matches!(atom, Atom::Error { .. })).count();
    assert_eq!(decoder.error_count(), errors as u64);
    assert_eq!(decoder.position(), bytes.len() as u64);
}

/// The results of `finish` until there are no more.
fn end(
    decoder: &mut DialectDecoder,
) -> impl Iterator<Item = Result<DialectPiece<&'static str>, DialectError>> {
    std::iter::from_fn(|| decoder.finish().transpose()).map(|end| end.map(DialectPiece::CodePoint))
}

/// The outcome of a push as a `Result`.
fn ok<E>(progress: Progress<E>) -> Result<(), E> {
    match progress.status {
        Status::Done => Ok(()),
        Status::IllFormed(error) => Err(error),
        _ => panic!("there is room"),
    }
}

fn atoms_of<'a>(
    pieces: impl Iterator<Item = Result<DialectPiece<&'a str>, DialectError>>,
    atoms: &mut Vec<Atom>,
) {
    for piece in pieces {
        match piece {
            Ok(piece) => {
                assert_ne!(piece, DialectPiece::Text(""));
                atoms.extend(piece.code_points().map(Atom::CodePoint));
            }
            Err(error) => atoms.push(atom_of(&error)),
        }
    }
}

fn atom_of(error: &DialectError) -> Atom {
    let at_the_end = error.kind() == Utf8ErrorKind::Incomplete;
    assert_eq!(error.error_len().is_none(), at_the_end);
    Atom::Error { at: error.offset() as usize, len: error.bytes().len(), at_the_end }
}

fn decoder(rules: Rules) -> DialectDecoder {
    rules.decoder()
}

/// The ranges between `cuts`, in order.
pub(crate) fn chunks(len: usize, cuts: &[usize]) -> Vec<(usize, usize)> {
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    starts.zip(cuts.iter().copied().chain([len])).collect()
}

// ---- properties ---------------------------------------------------------------------------------

/// Bytes that are likely to interact in a dialect.
fn hostile_bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        8 => prop::sample::select(PIECES).prop_map(<[u8]>::to_vec),
        2 => any::<u8>().prop_map(|byte| vec![byte]),
        2 => any::<char>().prop_map(|c| c.to_string().into_bytes()),
        1 => any::<char>().prop_map(|c| in_cesu8(&c.to_string())),
        1 => (1..70_usize).prop_map(|times| b"text, ".repeat(times)),
        1 => (1..40_usize).prop_map(|times| in_cesu8(&"😀".repeat(times))),
    ];
    prop::collection::vec(piece, 0..most).prop_map(|pieces| pieces.concat())
}

/// Kilobytes of text in one dialect, with something else in the middle.
fn long_bytes() -> impl Strategy<Value = Vec<u8>> {
    let run = prop_oneof![
        prop::sample::select(&["plain text, ", "жёлтый ", "日本語、", "🦀🚀", "né 🦀 ", "\0a"][..])
            .prop_flat_map(|text| {
                (1..1500_usize, any::<bool>()).prop_map(move |(times, pairs)| {
                    let text = text.repeat(times);
                    if pairs { in_cesu8(&text).into_iter().collect() } else { text.into_bytes() }
                })
            }),
        hostile_bytes(6),
        (any::<u8>(), 1..80_usize).prop_map(|(byte, times)| vec![byte; times]),
    ];
    prop::collection::vec(run, 0..5).prop_map(|runs| runs.concat())
}

const PIECES: &[&[u8]] = &[
    b"a",
    b"\0",
    b"\xC0\x80",
    b"\xC0",
    b"\x80",
    b"\xED",
    b"\xED\xA0",
    b"\xED\xA0\x80",
    b"\xED\xAF\xBF",
    b"\xED\xB0",
    b"\xED\xB0\x80",
    b"\xED\xBF\xBF",
    b"\xED\xA0\xBD\xED\xB8\x80",
    b"\xED\xA0\xBD\xED\xB8",
    b"\xED\x9F\xBF",
    b"\xE2\x82\xAC",
    b"\xE2\x82",
    b"\xEF\xBB\xBF",
    b"\xF0\x9F\x98\x80",
    b"\xF0\x9F\x98",
    b"\xF4\x90\x80\x80",
    b"\xF7\xBF\xBF\xBF",
    b"\xF8\x88\x80\x80\x80",
    b"\xFB\xBF\xBF\xBF\xBF",
    b"\xFC\x84\x80\x80\x80\x80",
    b"\xFC\x84\x80\x80\x80",
    b"\xFD\xBF\xBF\xBF\xBF\xBF",
    b"\xFE",
    b"\xFF",
];

fn in_cesu8(text: &str) -> Vec<u8> {
    let rules = Rules { dialect: Dialect::Cesu8, unpaired: false, limit: false, fatal: true };
    text.chars()
        .flat_map(|c| model::encode(rules, c.into()).expect("text can be encoded"))
        .collect()
}

/// Bytes, and offsets to split them at.
fn cut(bytes: impl Strategy<Value = Vec<u8>>) -> impl Strategy<Value = (Vec<u8>, Vec<usize>)> {
    (bytes, prop::collection::vec(any::<prop::sample::Index>(), 0..8)).prop_map(|(bytes, cuts)| {
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.sort_unstable();
        (bytes, cuts)
    })
}

fn any_rules() -> impl Strategy<Value = Rules> {
    prop::sample::select(all_rules())
}

/// The pieces of a stream, repaired one by one: text as far as it goes, and the first error.
fn text_by_hand(rules: Rules, mode: ErrorMode, bytes: &[u8]) -> (String, Option<Utf8ErrorKind>) {
    let mut decoder = decoder(rules);
    let mut text = String::new();
    let mut pieces: Vec<_> =
        decoder.push(bytes).map(|piece| piece.map(|piece| piece.code_points().collect())).collect();
    pieces
        .extend(end(&mut decoder).map(|piece| piece.map(|p| p.code_points().collect::<Vec<_>>())));
    for piece in pieces {
        match piece {
            Ok(code_points) => {
                for code_point in code_points {
                    match (char::from_u32(code_point), mode) {
                        (Some(c), _) => text.push(c),
                        (None, ErrorMode::Fatal) => {
                            return (text, Some(Utf8ErrorKind::NotScalar));
                        }
                        (None, mode) => text.push_str(&repair_of(rules.dialect, code_point, mode)),
                    }
                }
            }
            Err(error) => match error.repair(mode) {
                Some(repair) => text.push_str(&repair),
                None => return (text, Some(error.kind())),
            },
        }
    }
    (text, None)
}

/// The repair of a code point that is not text.
fn repair_of(dialect: Dialect, code_point: u32, mode: ErrorMode) -> String {
    let is_byte = dialect == Dialect::Utf8b;
    let rules = Rules { dialect, unpaired: true, limit: false, fatal: true };
    let bytes = model::encode(rules, code_point).expect("it was decoded");
    match mode {
        ErrorMode::Fatal => unreachable!("that is an error"),
        ErrorMode::Skip => String::new(),
        ErrorMode::Escape => bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect(),
        ErrorMode::Latin1 if is_byte => char::from(bytes[0]).into(),
        ErrorMode::Windows1252 if is_byte => {
            let mut text = String::new();
            let mut decoder = utf8_codec::Utf8Decoder::new();
            let _progress = decoder.push_to_string(&bytes, mode, &mut text);
            decoder.finish_to_string(mode, &mut text).expect("the mode is lossy");
            text
        }
        _ => "\u{FFFD}".into(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn pieces_equal_the_model_at_any_split(
        (bytes, cuts) in cut(hostile_bytes(24)),
        rules in any_rules(),
    ) {
        check(rules, &bytes, &cuts);
    }

    #[test]
    fn long_streams_equal_the_model_at_any_split(
        (bytes, cuts) in cut(long_bytes()),
        rules in any_rules(),
    ) {
        let mut decoder = decoder(rules);
        let mut atoms = Vec::new();
        for (from, to) in chunks(bytes.len(), &cuts) {
            atoms_of(decoder.push(&bytes[from..to]), &mut atoms);
        }
        atoms_of(end(&mut decoder), &mut atoms);
        prop_assert!(atoms == model::decode(rules, &bytes, true).atoms);
    }

    #[test]
    fn text_is_the_repaired_pieces_at_any_split(
        (bytes, cuts) in prop_oneof![cut(hostile_bytes(24)).boxed(), cut(long_bytes()).boxed()],
        rules in any_rules(),
        mode in prop::sample::select(&MODES[..]),
    ) {
        // All modes and options repair whole errors.
        let reported = Rules { fatal: rules.fatal && mode == ErrorMode::Fatal, ..rules };
        let mut decoder = decoder(rules);
        let mut text = String::new();
        let pushed = chunks(bytes.len(), &cuts)
            .into_iter()
            .try_for_each(|(from, to)| ok(decoder.push_to_string(&bytes[from..to], mode, &mut text)));
        let ended = pushed.and_then(|()| decoder.finish_to_string(mode, &mut text));
        let (expected, error) = text_by_hand(reported, mode, &bytes);
        prop_assert_eq!(&text, &expected);
        prop_assert_eq!(ended.err().map(|error| error.kind()), error);
        if let Err(error) = ended {
            prop_assert_eq!(Some(error), decoder.first_error());
            prop_assert_eq!(error.code_point().is_some(), error.kind() == Utf8ErrorKind::NotScalar);
        }
    }

    #[test]
    fn code_points_are_the_repaired_pieces_at_any_split(
        (bytes, cuts) in cut(hostile_bytes(24)),
        rules in any_rules(),
        mode in prop::sample::select(&MODES[1..]),
    ) {
        let (mut whole, mut in_chunks) = (Vec::new(), Vec::new());
        let mut by_hand = decoder(Rules { fatal: false, ..rules });
        let mut push = |piece: Result<DialectPiece<&str>, DialectError>| match piece {
            Ok(piece) => whole.extend(piece.code_points()),
            Err(error) => whole.extend(error.repair(mode).unwrap().chars().map(u32::from)),
        };
        by_hand.push(&bytes).for_each(&mut push);
        end(&mut by_hand).for_each(&mut push);
        let mut decoder = decoder(rules);
        for (from, to) in chunks(bytes.len(), &cuts) {
            ok(decoder.push_to_code_points(&bytes[from..to], mode, &mut in_chunks)).unwrap();
        }
        decoder.finish_to_code_points(mode, &mut in_chunks).unwrap();
        prop_assert_eq!(in_chunks, whole);
    }

    #[test]
    fn a_caller_can_stop_and_continue_with_the_rest(
        (bytes, cuts) in cut(hostile_bytes(16)),
        rules in any_rules(),
    ) {
        let mut decoder = decoder(rules);
        let mut atoms = Vec::new();
        for (from, to) in chunks(bytes.len(), &cuts) {
            let mut rest = &bytes[from..to];
            loop {
                let mut pieces = decoder.push(rest);
                let Some(piece) = pieces.next() else { break };
                drop(pieces);
                rest = &bytes[decoder.position() as usize..to];
                match piece {
                    Ok(piece) => atoms.extend(
                        piece.code_points().map(Atom::CodePoint),
                    ),
                    Err(error) => atoms.push(atom_of(&error)),
                }
            }
        }
        atoms_of(end(&mut decoder), &mut atoms);
        prop_assert_eq!(atoms, model::decode(rules, &bytes, true).atoms);
    }

    #[test]
    fn well_formed_input_encodes_to_itself(bytes in hostile_bytes(24), rules in any_rules()) {
        let (mut decoder, mut good) = (decoder(rules), Vec::new());
        decoder.push(&bytes).flatten().for_each(|piece| good.extend(piece.code_points()));
        end(&mut decoder).flatten().for_each(|piece| good.extend(piece.code_points()));
        let encoded = encode(rules, &good).unwrap();
        if decoder.error_count() == 0 {
            prop_assert_eq!(encoded, bytes);
        } else if decodes_to_itself(rules, &good) {
            prop_assert_eq!(decode(rules, &encoded).unwrap(), good);
        }
    }

    #[test]
    fn any_bytes_round_trip_through_utf8b((bytes, cuts) in cut(prop::collection::vec(any::<u8>(), 0..200))) {
        let mut code_points = Vec::new();
        let mut decoder = DialectDecoder::new(Dialect::Utf8b);
        for (from, to) in chunks(bytes.len(), &cuts) {
            ok(decoder.push_to_code_points(&bytes[from..to], ErrorMode::Fatal, &mut code_points)).unwrap();
        }
        decoder.finish_to_code_points(ErrorMode::Fatal, &mut code_points).unwrap();
        let rules = Rules { dialect: Dialect::Utf8b, unpaired: false, limit: false, fatal: true };
        prop_assert_eq!(encode(rules, &code_points).unwrap(), bytes);
    }

    #[test]
    fn code_points_round_trip_through_dialects_that_encode_them(
        code_points in code_points(),
        rules in any_rules(),
    ) {
        let forms: Option<Vec<_>> =
            code_points.iter().map(|&code_point| model::encode(rules, code_point)).collect();
        let encoded = encode(rules, &code_points);
        match forms {
            Some(_) if !decodes_to_itself(rules, &code_points) => {}
            Some(forms) => {
                prop_assert_eq!(encoded.unwrap(), forms.concat());
                let decoded = decode(rules, &forms.concat()).unwrap();
                prop_assert_eq!(decoded, code_points);
            }
            None => {
                let at = encoded.unwrap_err().offset() as usize;
                prop_assert_eq!(model::encode(rules, code_points[at]), None);
                let before = &code_points[..at];
                prop_assert!(before.iter().all(|&c| model::encode(rules, c).is_some()));
            }
        }
    }

    #[test]
    fn utf16_units_encode_as_their_text_at_any_split(
        units in prop::collection::vec(
            prop_oneof![any::<u16>(), 0xD800..=0xDFFF_u16, 0xD83C..=0xD83D_u16, 0xDE00..=0xDE10_u16],
            0..40,
        ),
        cuts in prop::collection::vec(0..40_usize, 0..5),
    ) {
        let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(units.len())).collect();
        cuts.sort_unstable();
        for rules in all_rules() {
            // Pairs are joined first.
            let code_points = char::decode_utf16(units.iter().copied()).map(|unit| {
                unit.map_or_else(|half| u32::from(half.unpaired_surrogate()), u32::from)
            });
            let mut index = 0;
            let mut expected = (Vec::new(), None);
            for code_point in code_points {
                match model::encode(rules, code_point) {
                    Some(form) => expected.0.extend(form),
                    None => {
                        expected.1 = Some((index, code_point));
                        break;
                    }
                }
                index += if code_point > 0xFFFF { 2 } else { 1 };
            }

            let mut encoder = rules.encoder();
            let mut bytes = Vec::new();
            let pushed = chunks(units.len(), &cuts)
                .into_iter()
                .try_for_each(|(from, to)| encoder.push_utf16_to_vec(&units[from..to], &mut bytes));
            let ended = pushed.and_then(|()| encoder.finish_to_vec(&mut bytes));
            let error = ended.err().map(|error| (error.offset(), error.code_point().unwrap()));
            prop_assert_eq!((bytes, error), expected);
        }
    }

    #[test]
    fn text_encodes_as_its_code_points(
        text in prop_oneof![
            any::<String>(),
            "[a\0é€😀]{0,200}",
            (any::<char>(), 0..600_usize).prop_map(|(c, n)| "ascii ".repeat(n) + &c.to_string()),
        ],
        dialect in prop::sample::select(&DIALECTS[..]),
    ) {
        let code_points: Vec<_> = text.chars().map(u32::from).collect();
        let mut bytes = Vec::new();
        DialectEncoder::new(dialect).push_to_vec(&text, &mut bytes).unwrap();
        let rules = Rules { dialect, unpaired: false, limit: false, fatal: true };
        prop_assert_eq!(&bytes, &encode(rules, &code_points).unwrap());
        let mut back = String::new();
        ok(DialectDecoder::new(dialect).push_to_string(&bytes, ErrorMode::Fatal, &mut back)).unwrap();
        prop_assert_eq!(back, text);
    }
}

/// Code points of every kind, including surrogates and those above Unicode that RFC 2279 allows.
fn code_points() -> impl Strategy<Value = Vec<u32>> {
    let value = prop_oneof![
        4 => any::<char>().prop_map(u32::from),
        1 => 0xD800..=0xDFFF_u32,
        1 => 0xDC80..=0xDCFF_u32,
        1 => 0..=0x7FFF_FFFF_u32,
        1 => prop::sample::select(&[0, 0x7F, 0x80, 0x7FF, 0x800, 0xFFFF, 0x1_0000, 0x10_FFFF][..]),
    ];
    prop::collection::vec(value, 0..8)
}

/// Whether the concatenated encodings decode to the same code points: two surrogates can become a pair,
/// and escaped bytes a character.
fn decodes_to_itself(rules: Rules, code_points: &[u32]) -> bool {
    let forms = code_points.iter().filter_map(|&code_point| model::encode(rules, code_point));
    let atoms = model::decode(rules, &forms.flatten().collect::<Vec<_>>(), true).atoms;
    atoms.into_iter().eq(code_points.iter().copied().map(Atom::CodePoint))
}

fn encode(rules: Rules, code_points: &[u32]) -> Result<Vec<u8>, DialectError> {
    let mut bytes = Vec::new();
    let mut encoder = rules.encoder();
    encoder.push_code_points_to_vec(code_points, &mut bytes)?;
    encoder.finish_to_vec(&mut bytes)?;
    Ok(bytes)
}

fn decode(rules: Rules, bytes: &[u8]) -> Result<Vec<u32>, DialectError> {
    let mut code_points = Vec::new();
    let mut decoder = decoder(rules);
    ok(decoder.push_to_code_points(bytes, ErrorMode::Fatal, &mut code_points))?;
    decoder.finish_to_code_points(ErrorMode::Fatal, &mut code_points)?;
    Ok(code_points)
}

// ---- exhaustive ---------------------------------------------------------------------------------

#[test]
fn every_scalar_value_round_trips_through_every_dialect() {
    let text: String = ('\0'..=char::MAX).collect();
    for dialect in DIALECTS {
        let (mut bytes, mut back) = (Vec::new(), String::new());
        DialectEncoder::new(dialect).push_to_vec(&text, &mut bytes).unwrap();
        let mut decoder = DialectDecoder::new(dialect);
        for chunk in bytes.chunks(4093) {
            ok(decoder.push_to_string(chunk, ErrorMode::Fatal, &mut back)).unwrap();
        }
        decoder.finish_to_string(ErrorMode::Fatal, &mut back).unwrap();
        assert!(back == text, "{dialect}");
    }
}

#[test]
fn every_surrogate_is_encoded_or_rejected() {
    for rules in all_rules() {
        for value in 0xD800..=0xDFFF {
            let encoded = encode(rules, &[value]).ok();
            assert_eq!(encoded, model::encode(rules, value), "{rules:?}: {value:x}");
        }
    }
}

#[test]
fn values_above_31_bits_are_rejected() {
    for rules in all_rules() {
        for value in [0x8000_0000, u32::MAX] {
            assert!(encode(rules, &[value]).is_err(), "{rules:?}: {value:x}");
        }
    }
}

#[test]
fn modified_utf8_has_no_byte_00() {
    let mut bytes = Vec::new();
    let text: String = ('\0'..='\u{FFFF}').collect();
    DialectEncoder::new(Dialect::ModifiedUtf8).push_to_vec(&text, &mut bytes).unwrap();
    assert!(!bytes.contains(&0));
}

// ---- state of the encoders and decoders ---------------------------------------------------------

#[test]
fn an_encoder_error_loses_no_data() {
    // The held surrogate is accepted; the value after it is not.
    let mut encoder = DialectEncoder::new(Dialect::Wtf8).with_bom();
    let mut bytes = Vec::new();
    let code_points = [0xD800, 0x11_0000, 0xDC00, 0x41];
    let error = encoder.push_code_points_to_vec(&code_points, &mut bytes).unwrap_err();
    assert_eq!((error.offset(), encoder.position()), (1, 2));
    let rest = &code_points[encoder.position() as usize..];
    encoder.push_code_points_to_vec(rest, &mut bytes).unwrap();
    encoder.finish_to_vec(&mut bytes).unwrap();
    assert_eq!(bytes, b"\xEF\xBB\xBF\xED\xA0\x80\xED\xB0\x80A");
}

#[test]
fn an_empty_text_between_surrogates_changes_nothing() {
    for dialect in DIALECTS {
        let mut encoder = DialectEncoder::new(dialect);
        let mut bytes = Vec::new();
        encoder.push_utf16_to_vec(&[0xD83D], &mut bytes).unwrap();
        encoder.push_to_vec("", &mut bytes).unwrap();
        encoder.push_utf16_to_vec(&[0xDE00], &mut bytes).unwrap();
        let mut expected = Vec::new();
        let mut encoder = DialectEncoder::new(dialect);
        encoder.push_utf16_to_vec(&[0xD83D, 0xDE00], &mut expected).unwrap();
        assert_eq!(bytes, expected, "{dialect:?}");
    }
}

#[test]
fn a_rejected_surrogate_is_reported_before_later_input_is_taken() {
    let mut encoder = DialectEncoder::new(Dialect::Cesu8);
    let mut bytes = Vec::new();
    encoder.push_utf16_to_vec(&[0x41, 0xD83D], &mut bytes).unwrap();
    assert_eq!(encoder.push_to_vec("text", &mut bytes).unwrap_err().offset(), 1);
    encoder.push_to_vec("text", &mut bytes).unwrap();
    assert_eq!(bytes, b"Atext");
}

#[test]
fn a_bom_is_still_written_after_an_error() {
    let mut encoder = DialectEncoder::new(Dialect::Cesu8).with_bom();
    assert!(encoder.push_unit(0xDC00).is_err());
    assert_eq!(*encoder.push_unit(0x41).unwrap(), *b"\xEF\xBB\xBFA");
    assert_eq!(*encoder.push_unit(0x41).unwrap(), *b"A");
    encoder.reset();
    assert_eq!(*encoder.finish().unwrap(), *b"\xEF\xBB\xBF");
    assert_eq!(*encoder.finish().unwrap(), *b"");
}

#[test]
fn the_longest_output_of_one_call_fits_its_buffer() {
    let encoder = DialectEncoder::new(Dialect::Cesu8).with_error_mode(ErrorMode::Escape);
    let mut encoder = encoder.with_bom();
    assert_eq!(encoder.push_unit(0xD83D).unwrap().len(), 3);
    let bytes = encoder.push_code_point(0x7FFF_FFFF).unwrap();
    assert_eq!(*bytes, *br"\ud83d\U7fffffff");
    assert_eq!(encoder.error_count(), 2);
    assert_eq!(encoder.first_error().unwrap().code_point(), Some(0xD83D));
}

#[test]
fn an_encoder_error_has_a_kind_and_no_bytes() {
    use Utf8ErrorKind::{Surrogate, TooLarge, UnpairedSurrogate};
    for (dialect, code_point, kind) in [
        (Dialect::Cesu8, 0xDC00, UnpairedSurrogate),
        (Dialect::ModifiedUtf8, 0xD800, UnpairedSurrogate),
        (Dialect::Utf8b, 0xDFFF, Surrogate),
        (Dialect::Rfc2279, 0xD800, Surrogate),
        (Dialect::Rfc2279, 0x8000_0000, TooLarge),
        (Dialect::Cesu8, 0x11_0000, TooLarge),
        (Dialect::Wtf8, 0x11_0000, TooLarge),
        (Dialect::SurrogatePass, u32::MAX, TooLarge),
    ] {
        let mut encoder = DialectEncoder::new(dialect);
        assert_eq!(*encoder.push_code_point(0).unwrap(), *model_of_nul(dialect));
        let error = encoder.push_code_point(code_point).unwrap_err();
        assert_eq!((error.kind(), error.code_point()), (kind, Some(code_point)), "{dialect}");
        assert_eq!((error.offset(), error.dialect()), (1, dialect));
        assert_eq!((error.bytes(), error.error_len(), error.next_byte()), (&[][..], Some(0), None));
    }
}

fn model_of_nul(dialect: Dialect) -> &'static [u8] {
    if dialect == Dialect::ModifiedUtf8 { b"\xC0\x80" } else { b"\0" }
}

#[test]
fn an_encoder_writes_the_repair_of_its_error() {
    for code_point in [0xD800, 0xDFFF, 0x11_0000, 0x7FFF_FFFF, u32::MAX] {
        let error = DialectEncoder::new(Dialect::Cesu8).push_code_point(code_point).unwrap_err();
        assert_eq!(error.repair(ErrorMode::Fatal), None);
        for mode in lists::LOSSY {
            let mut encoder = DialectEncoder::new(Dialect::Cesu8).with_error_mode(mode);
            let written = encoder.push_code_point(code_point).unwrap();
            assert_eq!(*written, *error.repair(mode).unwrap().as_bytes(), "{mode:?}");
            assert_eq!(encoder.first_error(), Some(error));
        }
    }
    let error = DialectEncoder::new(Dialect::Utf8b).push_code_point(0x11_ABCD).unwrap_err();
    assert_eq!(error.repair(ErrorMode::Escape).as_deref(), Some(r"\U0011abcd"));
}

#[test]
fn a_high_surrogate_is_held_across_chunks() {
    let kind = |chunks: &[&[u8]]| {
        let mut decoder = DialectDecoder::new(Dialect::Wtf8);
        let mut errors = chunks
            .iter()
            .flat_map(|chunk| decoder.push(chunk).filter_map(Result::err).collect::<Vec<_>>());
        errors.next().map(|error| (error.offset(), error.kind()))
    };
    let pair = Some((3, Utf8ErrorKind::SurrogatePair));
    assert_eq!(kind(&[b"\xED\xA0\x80\xED\xB0\x80"]), pair);
    assert_eq!(kind(&[b"\xED\xA0\x80", b"", b"\xED", b"\xB0"]), pair);
    assert_eq!(kind(&[b"\xED\xA0\x80", b"a", b"\xED\xB0\x80"]), None);
    assert_eq!(kind(&[b"\xED\xB0\x80", b"\xED\xA0\x80"]), None);
}

#[test]
fn reset_clears_all_state() {
    for dialect in DIALECTS {
        let mut decoder = DialectDecoder::new(dialect);
        decoder.push(b"\xFF\xED\xA0\x80\xED").for_each(drop);
        decoder.reset();
        assert_eq!((decoder.position(), decoder.error_count()), (0, 0));
        assert_eq!(decoder.first_error(), None);
        assert!(decoder.incomplete().is_empty());
        let mut text = String::new();
        ok(decoder.push_to_string("né".as_bytes(), ErrorMode::Fatal, &mut text)).unwrap();
        assert_eq!(text, "né");
    }
}

#[test]
fn bom_policies_apply_at_any_split() {
    let outcome = |policy, bytes: &[u8], size| {
        let mut decoder = DialectDecoder::new(Dialect::Cesu8).with_bom(policy);
        let (mut text, mut errors) = (String::new(), Vec::new());
        let mut put = |piece: Result<DialectPiece<&str>, DialectError>| match piece {
            Ok(piece) => text.extend(piece.code_points().filter_map(char::from_u32)),
            Err(error) => errors.push((error.offset(), error.error_len(), error.kind())),
        };
        for chunk in bytes.chunks(size) {
            decoder.push(chunk).for_each(&mut put);
        }
        end(&mut decoder).for_each(&mut put);
        assert_eq!(decoder.finish(), Ok(None));
        (text, errors, decoder.bom_seen())
    };
    let is = |policy, bytes: &[u8], text: &str, errors: &[_], bom_seen| {
        for size in 1..=bytes.len().max(1) {
            let expected = (text.to_owned(), errors.to_vec(), bom_seen);
            assert_eq!(outcome(policy, bytes, size), expected, "{policy:?}, {bytes:02x?}, {size}");
        }
    };
    let missing = (0, Some(0), Utf8ErrorKind::MissingBom);
    let forbidden = (0, Some(3), Utf8ErrorKind::ForbiddenBom);
    let incomplete = (0, None, Utf8ErrorKind::Incomplete);
    is(BomPolicy::Keep, b"\xEF\xBB\xBFa", "\u{FEFF}a", &[], false);
    is(BomPolicy::Strip, b"\xEF\xBB\xBF\xEF\xBB\xBFa", "\u{FEFF}a", &[], true);
    is(BomPolicy::Strip, b"\xEF\xBB", "", &[incomplete], false);
    is(BomPolicy::Require, b"\xEF\xBB\xBF\xED\xA0\xBD\xED\xB8\x80", "😀", &[], true);
    is(BomPolicy::Require, b"\xED\xA0\xBD\xED\xB8\x80", "😀", &[missing], false);
    is(BomPolicy::Require, b"", "", &[missing], false);
    is(BomPolicy::Require, b"\xEF", "", &[missing, incomplete], false);
    is(BomPolicy::Forbid, b"\xEF\xBB\xBFa", "a", &[forbidden], false);
    is(BomPolicy::Forbid, b"\xEF\xBBa", "a", &[(0, Some(2), Utf8ErrorKind::Truncated)], false);
}

// ---- traits -------------------------------------------------------------------------------------

#[test]
fn types_are_send_sync_unpin_and_debug() {
    fn is_plain<T: Send + Sync + Unpin + std::fmt::Debug>() {}
    is_plain::<Dialect>();
    is_plain::<DialectDecoder>();
    is_plain::<DialectEncoder>();
    is_plain::<DialectError>();
    is_plain::<DialectPiece<&str>>();
}

#[test]
fn types_are_small() {
    assert_eq!(size_of::<DialectError>(), 24);
    let (decoder, encoder) = (size_of::<DialectDecoder>(), size_of::<DialectEncoder>());
    assert!(decoder <= 96, "{decoder}");
    assert!(encoder <= 72, "{encoder}");
}

#[cfg(feature = "std")]
#[test]
fn errors_convert_to_io_error() {
    use std::io;

    let mut decoder = DialectDecoder::new(Dialect::Cesu8);
    decoder.push(b"\xE2").for_each(drop);
    let error: io::Error = decoder.finish().unwrap_err().into();
    assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    let error: io::Error = decoder.push(b"\xFF").next().unwrap().unwrap_err().into();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    assert!(error.get_ref().unwrap().downcast_ref::<DialectError>().is_some());
    let error: io::Error =
        DialectEncoder::new(Dialect::Cesu8).push_unit(0xDC00).unwrap_err().into();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
}
