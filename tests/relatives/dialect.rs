//! The dialects compared with a slow model, at every split. `tests/random/plans.rs` has random streams through every method.
#![cfg(feature = "alloc")]

use std::fmt::Debug;

use crate::dialect_model as model;
use crate::lists;

use lists::{DIALECTS, sum_of};
use model::{Atom, Rules, all_rules};
use proptest::prelude::*;
use utf8_codec::decoder::{Progress, Status};
use utf8_codec::dialect::{Dialect, DialectDecoder, DialectEncoder, DialectError, DialectPiece};
use utf8_codec::{BomPolicy, ErrorMode, Utf8ErrorKind};

// ---- decoding against the model -----------------------------------------------------------------

#[test]
fn each_two_hostile_bytes_decode_as_in_the_model() {
    with_all_rules(|rules| {
        each_string(&HOSTILE, 1, &mut |bytes| check_every_cut(rules, bytes));
        each_string(&HOSTILE, 2, &mut |bytes| {
            check_every_cut(rules, bytes);
            check_bytewise(rules, &[bytes, &[0x80; 4]].concat());
        });
        each_string(&SURROGATES, 4, &mut |bytes| check_bytewise(rules, bytes));
        check_every_cut(rules, b"\xED\xA0\x80\xED\xB0\x80");
    });
}

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
    with_all_rules(|rules| {
        each_string(&HOSTILE, 3, &mut |bytes| check_longest(rules, bytes));
        for len in [3, 5, 6] {
            each_string(&SURROGATES, len, &mut |bytes| check_longest(rules, bytes));
        }
        each_string(&SURROGATES, 5, &mut |bytes| check_every_cut(rules, bytes));
    });
}

/// Calls `check` with each of the rules, on all processors.
fn with_all_rules(check: impl Fn(Rules) + Sync) {
    let all_rules = all_rules();
    let checked = sum_of(&all_rules, |&rules| {
        check(rules);
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

fn any_rules() -> impl Strategy<Value = Rules> {
    prop::sample::select(all_rules())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

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
    // Written, the next one would complete a pair.
    let error = encoder.push_code_points_to_vec(rest, &mut bytes).unwrap_err();
    assert_eq!((error.offset(), error.kind()), (2, Utf8ErrorKind::SurrogatePair));
    encoder.push_code_points_to_vec(&[0x41], &mut bytes).unwrap();
    encoder.finish_to_vec(&mut bytes).unwrap();
    assert_eq!(bytes, b"\xEF\xBB\xBF\xED\xA0\x80A");
}

#[test]
fn surrogates_around_what_writes_nothing_become_no_pair() {
    let modes = [ErrorMode::Fatal, ErrorMode::Skip];
    for (mode, between) in modes.into_iter().flat_map(|mode| [(mode, true), (mode, false)]) {
        let mut encoder = DialectEncoder::new(Dialect::Wtf8).with_error_mode(mode);
        let mut bytes = encoder.push_code_point(0xD83D).unwrap().to_vec();
        if between {
            let rejected = encoder.push_code_point(0x11_0000);
            bytes.extend_from_slice(rejected.as_deref().unwrap_or_default());
        } else {
            bytes.extend_from_slice(&encoder.finish().unwrap());
        }
        for _ in 0..2 {
            let second = encoder.push_code_point(0xDE00);
            assert_eq!(second.is_err(), mode == ErrorMode::Fatal);
            bytes.extend_from_slice(second.as_deref().unwrap_or_default());
        }
        bytes.extend_from_slice(&encoder.push_code_point(0x41).unwrap());
        assert_eq!(bytes, b"\xED\xA0\xBDA", "{mode:?}, {between}");
    }
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
    assert_eq!(bytes.as_ref(), &*bytes);
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
        assert_eq!(error.repair(ErrorMode::Latin1).as_deref(), Some("\u{FFFD}"));
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
