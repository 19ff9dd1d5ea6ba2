//! `MessageAssembler`: frames, pieces, the phase of the mask and interleaved control frames do not
//! affect the result.

#![cfg(feature = "codec")]

mod headers;
#[path = "../support/mod.rs"]
mod support;

use std::error::Error;
use std::fmt::Debug;
use std::io;

use bytes::{Bytes, BytesMut};
use proptest::prelude::*;
use utf8_codec::websocket::{
    FrameHeader, Message, MessageAssembler, MessageError, Opcode, encode_close, parse_close,
};
use utf8_codec::{BomPolicy, Utf8Options};

use support::reference::{self, Config};
use support::{Atom, Expected, PLAIN, chunks, inputs, model_error, options};

const KEY: [u8; 4] = [0x37, 0xFA, 0x21, 0x3D];
const NO_LIMIT: u64 = u64::MAX;

/// The method that receives a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Push,
    PushBytes,
    /// As `PushBytes`, with pieces that are adjacent in memory.
    PushAdjacent,
    Pieces,
    Validate,
}

const HOWS: [How; 5] = [How::Push, How::PushBytes, How::PushAdjacent, How::Pieces, How::Validate];

/// What ends at a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    Piece,
    Frame,
    FrameAndPing,
}

const CUTS: [Cut; 3] = [Cut::Piece, Cut::Frame, Cut::FrameAndPing];

/// A text message, and how it is sent.
#[derive(Clone, Debug)]
struct Way<'a> {
    bytes: &'a [u8],
    cuts: Vec<(usize, Cut)>,
    key: Option<[u8; 4]>,
    limit: u64,
}

/// The error of a message, in the model's terms.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Problem {
    Utf8(reference::Error),
    TooLong,
}

/// Compares a message with the model after each piece and at its end.
fn check(how: How, config: Config, way: &Way<'_>, expected: &Expected) {
    let context = || format!("{how:?}: {way:02x?}");
    let mut connection =
        MessageAssembler::new().with_options(options(config)).with_max_length(way.limit);
    connection.start_frame(Opcode::Text, false, way.key).unwrap();
    let mut out = String::new();
    let mut pieces = masked_pieces(way.bytes, &way.cuts, way.key);

    let places: Vec<_> = way.cuts.iter().map(|(at, _)| *at).collect();
    let cuts = way.cuts.iter().map(|(_, cut)| *cut).chain([Cut::FrameAndPing]);
    for ((from, to), cut) in chunks(way.bytes.len(), &places).zip(cuts) {
        let plain = &way.bytes[from..to];
        let result = give(how, &mut connection, pieces.split_to(plain.len()), plain, &mut out);
        let (text, wanted) = determined(expected, way.limit, to);
        let got = result.err().map(|error| problem(error, way.limit));
        assert_eq!(got, wanted, "up to {to}, {}", context());
        if how == How::Pieces {
            assert_eq!(out, text, "up to {to}, {}", context());
        }
        if let Err(error) = result {
            return check_failed(&mut connection, error);
        }
        assert_eq!(connection.incomplete().len(), expected.held[to], "{}", context());
        assert_eq!(connection.position(), to as u64, "{}", context());
        if cut != Cut::Piece {
            assert_eq!(connection.end_frame(), Ok(None), "{}", context());
            if cut == Cut::FrameAndPing {
                ping(&mut connection);
            }
            connection.start_frame(Opcode::Continuation, false, way.key).unwrap();
        }
    }

    connection.end_frame().unwrap();
    connection.start_frame(Opcode::Continuation, true, way.key).unwrap();
    let (text, wanted) = text_and_error(&expected.ended);
    match connection.end_frame() {
        Ok(Some(Message::Text(whole))) => {
            assert_eq!(wanted, None, "{}", context());
            match how {
                How::Push | How::PushBytes | How::PushAdjacent => {
                    assert_eq!(whole, text, "{}", context());
                }
                How::Pieces | How::Validate => assert!(whole.is_empty(), "{}", context()),
            }
            assert_eq!((connection.position(), connection.incomplete()), (0, &b""[..]));
        }
        Err(error) => {
            let wanted = wanted.map(Problem::Utf8);
            assert_eq!(Some(problem(error, way.limit)), wanted, "{}", context());
            check_failed(&mut connection, error);
        }
        other => panic!("{other:?}, {}", context()),
    }
}

/// Pushes a piece, masked; `plain` is the same piece without the mask.
fn give(
    how: How,
    connection: &mut MessageAssembler,
    mut piece: BytesMut,
    plain: &[u8],
    out: &mut String,
) -> Result<(), MessageError> {
    let result = match how {
        How::PushAdjacent => return connection.push_bytes(piece),
        How::PushBytes => return connection.push_bytes(BytesMut::from(&*piece)),
        How::Push => connection.push(&mut piece),
        How::Validate => connection.validate(&mut piece),
        How::Pieces => connection.pieces(&mut piece).try_for_each(|text| {
            let text = text?;
            assert!(!text.is_empty());
            out.push_str(text);
            Ok(())
        }),
    };
    assert_eq!(piece, plain, "everything is unmasked");
    result
}

/// Like `give`, without a mask.
fn give_plain(
    how: How,
    connection: &mut MessageAssembler,
    plain: &[u8],
) -> Result<(), MessageError> {
    give(how, connection, BytesMut::from(plain), plain, &mut String::new())
}

/// The payloads of all frames, concatenated.
fn masked_pieces(bytes: &[u8], cuts: &[(usize, Cut)], key: Option<[u8; 4]>) -> BytesMut {
    let frames: Vec<_> =
        cuts.iter().filter(|(_, cut)| *cut != Cut::Piece).map(|(at, _)| *at).collect();
    chunks(bytes.len(), &frames).flat_map(|(from, to)| masked(&bytes[from..to], key, 0)).collect()
}

/// A control frame whose payload would end any text.
fn ping(connection: &mut MessageAssembler) {
    connection.start_frame(Opcode::Ping, true, Some(KEY)).unwrap();
    connection.push(&mut masked(b"\xFF\x80", Some(KEY), 0)).unwrap();
    connection.validate(&mut masked(b"\xC0", Some(KEY), 2)).unwrap();
    let payload = Bytes::from_static(b"\xFF\x80\xC0");
    assert_eq!(connection.end_frame(), Ok(Some(Message::Ping(payload))));
}

/// After an error every call returns it again, and nothing is held.
fn check_failed(connection: &mut MessageAssembler, error: MessageError) {
    for opcode in [Opcode::Continuation, Opcode::Text, Opcode::Ping] {
        assert_eq!(connection.start_frame(opcode, true, None), Err(error));
    }
    assert_eq!(connection.announce(0), Err(error));
    assert_eq!(connection.push(&mut [b'a']), Err(error));
    assert_eq!(connection.push_bytes(BytesMut::from("a")), Err(error));
    assert_eq!(connection.validate(&mut [b'a']), Err(error));
    let pieces: Vec<_> = connection.pieces(&mut [b'a']).map(|piece| piece.is_ok()).collect();
    assert_eq!(pieces, [false]);
    assert_eq!(connection.end_frame(), Err(error));
    assert_eq!((connection.position(), connection.incomplete()), (0, &b""[..]));
    connection.reset();
    assert_eq!(connection.start_frame(Opcode::Text, true, None), Ok(()));
}

/// The model's answer for the first `k` bytes: the text before any error, and the error.
fn determined(expected: &Expected, limit: u64, k: usize) -> (String, Option<Problem>) {
    let within = k.min(usize::try_from(limit).unwrap_or(usize::MAX));
    let (text, error) = text_and_error(&expected.prefixes[within]);
    let too_long = (within < k).then_some(Problem::TooLong);
    (text, error.map(Problem::Utf8).or(too_long))
}

fn text_and_error(atoms: &[Atom]) -> (String, Option<reference::Error>) {
    let mut text = String::new();
    for atom in atoms {
        match atom {
            Atom::Char(c) => text.push(*c),
            Atom::Error(error) => return (text, Some((**error).clone())),
        }
    }
    (text, None)
}

fn problem(error: MessageError, limit: u64) -> Problem {
    match error {
        MessageError::Utf8(cause) => {
            assert_eq!(error.offset(), Some(cause.valid_up_to()));
            Problem::Utf8(model_error(&cause))
        }
        MessageError::TooLong { max_length: reported } => {
            assert_eq!((reported, error.offset(), error.close_code()), (limit, Some(limit), 1009));
            Problem::TooLong
        }
        error => panic!("{error:?}"),
    }
}

fn masked(bytes: &[u8], key: Option<[u8; 4]>, from: usize) -> Vec<u8> {
    let keys = key.unwrap_or_default().into_iter().cycle().skip(from % 4);
    bytes.iter().zip(keys).map(|(byte, key)| byte ^ key).collect()
}

/// The key at each phase, and no key.
fn keys() -> impl Iterator<Item = Option<[u8; 4]>> {
    let rotated = |by| {
        let mut key = KEY;
        key.rotate_left(by);
        key
    };
    (0..4).map(move |by| Some(rotated(by))).chain([None])
}

// ---- chunk independence -------------------------------------------------------------------------

#[test]
fn every_vector_is_assembled_as_expected_at_every_split_and_mask_phase() {
    let inputs = inputs();
    assert!(inputs.len() > 1000, "only {} inputs", inputs.len());
    for (bytes, config) in inputs {
        let expected = Expected::new(&bytes, config);
        for at in 0..=bytes.len() {
            for (n, key) in keys().enumerate() {
                let cuts = vec![(at, CUTS[(at + n) % 3])];
                let way = Way { bytes: &bytes, cuts, key, limit: NO_LIMIT };
                check(HOWS[(at / 3 + n) % 5], config, &way, &expected);
            }
        }
    }
}

#[test]
fn every_method_assembles_every_vector_byte_by_byte() {
    for (bytes, config) in inputs() {
        let expected = Expected::new(&bytes, config);
        for cut in CUTS {
            for how in HOWS {
                let once = (1..bytes.len()).map(|at| (at, cut)).collect();
                let twice =
                    (0..=bytes.len()).flat_map(|at| [(at, Cut::Piece), (at, cut)]).collect();
                for cuts in [once, twice] {
                    let way = Way { bytes: &bytes, cuts, key: Some(KEY), limit: NO_LIMIT };
                    check(how, config, &way, &expected);
                }
            }
        }
    }
}

#[test]
fn every_limit_applies_to_every_short_vector() {
    for (bytes, config) in inputs().into_iter().filter(|(bytes, _)| bytes.len() <= 16) {
        let expected = Expected::new(&bytes, config);
        for limit in 0..=bytes.len() as u64 {
            for at in 0..=bytes.len() {
                let cuts = vec![(at, CUTS[at % 3])];
                let way = Way { bytes: &bytes, cuts, key: Some(KEY), limit };
                check(HOWS[at % 5], config, &way, &expected);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, ..ProptestConfig::default() })]

    #[test]
    fn long_ill_formed_text_in_any_frames(
        runs in prop::collection::vec(
            (prop::sample::select(&["plain, ", "жёлтый ", "日本語、", "🦀🚀", "né "][..]), 1..120_usize),
            1..6,
        ),
        damage in prop::option::of((0.0..1.0, any::<u8>())),
        cuts in prop::collection::vec((0.0..1.0, prop::sample::select(&CUTS[..])), 0..6),
        key in prop::option::weighted(0.9, any::<[u8; 4]>()),
        limit in prop_oneof![3 => Just(NO_LIMIT), 1 => 0..2000_u64],
    ) {
        let mut bytes: Vec<u8> =
            runs.iter().flat_map(|(text, times)| text.repeat(*times).into_bytes()).collect();
        let place = |fraction: f64| (fraction * (bytes.len() + 1) as f64) as usize;
        let mut cuts: Vec<_> = cuts.iter().map(|(at, cut)| (place(*at).min(bytes.len()), *cut)).collect();
        cuts.sort_by_key(|(at, _)| *at);
        if let Some((fraction, byte)) = damage {
            let at = place(fraction).min(bytes.len() - 1);
            bytes[at] = byte;
        }
        let whole = MessageAssembler::new().with_max_length(limit);
        let outcome = |how, cuts: &[(usize, Cut)], key| outcome(how, whole.clone(), &bytes, cuts, key);
        let wanted = outcome(How::Push, &[], None);
        let fits = bytes.len() as u64 <= limit;
        prop_assert_eq!(wanted.is_ok(), std::str::from_utf8(&bytes).is_ok() && fits);
        match (std::str::from_utf8(&bytes), &wanted) {
            (Ok(text), Ok(found)) => prop_assert_eq!(text, found),
            (Err(error), Err(found)) if fits => {
                prop_assert_eq!(found.offset(), Some(error.valid_up_to() as u64));
            }
            _ => prop_assert!(!fits),
        }
        for how in HOWS {
            let got = outcome(how, &cuts, key);
            match how {
                How::Validate => prop_assert_eq!(got.map(drop), wanted.clone().map(drop)),
                _ => prop_assert_eq!(&got, &wanted),
            }
        }
    }
}

/// The outcome of a message that is sent in this way.
fn outcome(
    how: How,
    mut connection: MessageAssembler,
    bytes: &[u8],
    cuts: &[(usize, Cut)],
    key: Option<[u8; 4]>,
) -> Result<String, MessageError> {
    let mut out = String::new();
    let mut pieces = masked_pieces(bytes, cuts, key);
    connection.start_frame(Opcode::Text, cuts.iter().all(|(_, cut)| *cut == Cut::Piece), key)?;
    let places: Vec<_> = cuts.iter().map(|(at, _)| *at).collect();
    for (n, (from, to)) in chunks(bytes.len(), &places).enumerate() {
        let piece = pieces.split_to(to - from);
        give(how, &mut connection, piece, &bytes[from..to], &mut out)?;
        if let Some((_, Cut::Frame | Cut::FrameAndPing)) = cuts.get(n) {
            assert_eq!(connection.end_frame(), Ok(None));
            let is_last = cuts[n + 1..].iter().all(|(_, cut)| *cut == Cut::Piece);
            connection.start_frame(Opcode::Continuation, is_last, key)?;
        }
    }
    match connection.end_frame()? {
        Some(Message::Text(text)) => Ok(out + &text),
        other => panic!("{other:?}"),
    }
}

// ---- messages -----------------------------------------------------------------------------------

#[test]
fn a_single_piece_message_is_not_copied() {
    for len in [3, 64, 1460, 70_000] {
        for bom in [BomPolicy::Keep, BomPolicy::Strip] {
            let options = Utf8Options::new().with_bom(bom);
            let mut connection = MessageAssembler::new().with_options(options);
            let plain = "\u{FEFF}".to_owned() + &"ж".repeat(len / 2);
            let piece = BytesMut::from(&*masked(plain.as_bytes(), Some(KEY), 0));
            let range = piece.as_ptr_range();
            connection.start_frame(Opcode::Text, true, Some(KEY)).unwrap();
            connection.announce(piece.len() as u64).unwrap();
            connection.push_bytes(piece).unwrap();
            let Ok(Some(Message::Text(text))) = connection.end_frame() else { panic!("a text") };
            let wanted = if bom == BomPolicy::Keep { &*plain } else { &plain[3..] };
            assert_eq!(text, wanted);
            assert_eq!(text.as_bytes().as_ptr_range().end, range.end, "the end of the same memory");
        }
    }
}

/// As from one read buffer, with a mask that continues across pieces and with split characters.
#[test]
fn adjacent_text_pieces_are_not_copied() {
    let plain = "日本語 🦀 é ".repeat(40);
    for size in [1, 2, 3, 5, 64, 300] {
        for bom in [BomPolicy::Keep, BomPolicy::Strip] {
            let mut connection =
                MessageAssembler::new().with_options(Utf8Options::new().with_bom(bom));
            let text = "\u{FEFF}".to_owned() + &plain;
            let mut buffer = BytesMut::from(&*masked(text.as_bytes(), Some(KEY), 0));
            let end = buffer.as_ptr_range().end;
            connection.start_frame(Opcode::Text, true, Some(KEY)).unwrap();
            while !buffer.is_empty() {
                let piece = buffer.split_to(size.min(buffer.len()));
                connection.push_bytes(piece).unwrap();
            }
            let Ok(Some(Message::Text(got))) = connection.end_frame() else { panic!("a text") };
            assert_eq!(got, if bom == BomPolicy::Keep { &text } else { &plain });
            assert_eq!(got.as_bytes().as_ptr_range().end, end, "the same memory");
        }
    }
}

#[test]
fn adjacent_binary_pieces_are_not_copied() {
    let mut connection = MessageAssembler::new();
    let mut buffer = BytesMut::from(&[0xFF; 100][..]);
    let place = buffer.as_ptr();
    connection.start_frame(Opcode::Binary, true, None).unwrap();
    connection.push_bytes(buffer.split_to(60)).unwrap();
    connection.push_bytes(buffer).unwrap();
    let Ok(Some(Message::Binary(bytes))) = connection.end_frame() else { panic!("a binary") };
    assert_eq!((bytes.as_ptr(), bytes.len()), (place, 100));
}

/// Other pieces, and pieces that are not kept, can be between them.
#[test]
fn a_split_character_can_span_different_push_methods() {
    let text = "a€b🦀c";
    for first in 0..=text.len() {
        for second in first..=text.len() {
            for hows in [[0, 1, 2], [2, 0, 2], [2, 2, 0], [1, 2, 2], [2, 1, 0], [2, 2, 1]] {
                let mut connection = MessageAssembler::new();
                let mut buffer = BytesMut::from(&*masked(text.as_bytes(), Some(KEY), 0));
                connection.start_frame(Opcode::Text, true, Some(KEY)).unwrap();
                let ranges = [0..first, first..second, second..text.len()];
                for (how, range) in hows.map(|how| HOWS[how]).into_iter().zip(ranges) {
                    let plain = &text.as_bytes()[range];
                    let piece = buffer.split_to(plain.len());
                    give(how, &mut connection, piece, plain, &mut String::new()).unwrap();
                }
                let whole = connection.end_frame();
                assert_eq!(whole, Ok(Some(Message::Text(text.into()))), "{hows:?}");
            }
        }
    }
}

#[test]
fn empty_pieces_before_and_after_do_not_cause_a_copy() {
    let mut connection = MessageAssembler::new();
    let piece = BytesMut::from("whole");
    let place = piece.as_ptr();
    connection.start_frame(Opcode::Text, true, None).unwrap();
    connection.push_bytes(BytesMut::new()).unwrap();
    connection.push_bytes(piece).unwrap();
    connection.push_bytes(BytesMut::new()).unwrap();
    let Ok(Some(Message::Text(text))) = connection.end_frame() else { panic!("a text") };
    assert_eq!((&*text, text.as_ptr()), ("whole", place));
}

#[test]
fn push_methods_can_be_mixed() {
    let mut connection = MessageAssembler::new();
    connection.start_frame(Opcode::Text, false, None).unwrap();
    connection.push_bytes(BytesMut::from(&b"a\xE2"[..])).unwrap();
    connection.push(&mut b"\x82\xACb".to_vec()).unwrap();
    connection.validate(&mut b"not kept \xE2\x82".to_vec()).unwrap();
    connection.end_frame().unwrap();
    connection.start_frame(Opcode::Continuation, true, None).unwrap();
    connection.push_bytes(BytesMut::from(&b"\xACc"[..])).unwrap();
    // A character belongs to the piece that completes it.
    assert_eq!(connection.end_frame(), Ok(Some(Message::Text("a€b€c".into()))));
}

#[test]
fn binary_messages_are_not_text() {
    let bytes: Vec<u8> = (0..=255).cycle().take(5000).collect();
    for size in [1, 7, 64, 1460, 5000] {
        for how in HOWS {
            let mut connection = MessageAssembler::new();
            let mut frames = bytes.chunks(size).peekable();
            let mut opcode = Opcode::Binary;
            let mut message = None;
            while let Some(frame) = frames.next() {
                let fin = frames.peek().is_none();
                connection.start_frame(opcode, fin, Some(KEY)).unwrap();
                connection.announce(frame.len() as u64).unwrap();
                let (first, second) = frame.split_at(frame.len() / 3);
                let mut text = String::new();
                for (plain, from) in [(first, 0), (second, first.len())] {
                    let piece = masked(plain, Some(KEY), from)[..].into();
                    give(how, &mut connection, piece, plain, &mut text).unwrap();
                }
                assert_eq!(text, "");
                message = connection.end_frame().unwrap();
                opcode = Opcode::Continuation;
            }
            let wanted = match how {
                How::Pieces | How::Validate => Bytes::new(),
                _ => Bytes::from(bytes.clone()),
            };
            assert_eq!(message, Some(Message::Binary(wanted)), "{how:?}, {size}");
        }
    }
}

#[test]
fn a_single_piece_binary_message_is_not_copied() {
    let mut connection = MessageAssembler::new().with_max_length(4);
    let piece = BytesMut::from(&b"\xFF\xFE\xFD\xFC"[..]);
    let place = piece.as_ptr();
    connection.start_frame(Opcode::Binary, true, None).unwrap();
    connection.push_bytes(piece).unwrap();
    let Ok(Some(Message::Binary(bytes))) = connection.end_frame() else { panic!("a binary") };
    assert_eq!(bytes.as_ptr(), place);
    connection.start_frame(Opcode::Binary, true, None).unwrap();
    let error = connection.push_bytes(BytesMut::from(&b"12345"[..])).unwrap_err();
    assert_eq!(error, MessageError::TooLong { max_length: 4 });
}

#[test]
fn consecutive_messages_are_independent() {
    let mut connection = MessageAssembler::new().with_max_length(6);
    for text in ["one", "zwölf", "", "тр"] {
        connection.start_frame(Opcode::Text, true, Some(KEY)).unwrap();
        connection.push(&mut masked(text.as_bytes(), Some(KEY), 0)).unwrap();
        assert_eq!(connection.end_frame(), Ok(Some(Message::Text(text.into()))));
    }
}

#[test]
fn options_apply_to_each_message() {
    let options = Utf8Options::new().with_bom(BomPolicy::Strip).reject_noncharacters();
    let mut connection = MessageAssembler::new().with_options(options);
    for _ in 0..3 {
        connection.start_frame(Opcode::Text, true, None).unwrap();
        connection.push(&mut b"\xEF\xBB".to_vec()).unwrap();
        connection.push(&mut b"\xBFx\xEF\xBB\xBF".to_vec()).unwrap();
        assert_eq!(connection.end_frame(), Ok(Some(Message::Text("x\u{FEFF}".into()))));
    }
    connection.start_frame(Opcode::Text, true, None).unwrap();
    let error = connection.push(&mut "\u{FFFE}".to_owned().into_bytes()).unwrap_err();
    assert_eq!((error.close_code(), error.offset()), (1008, Some(0)));
}

// ---- limits -------------------------------------------------------------------------------------

#[test]
fn the_limit_is_on_by_default_and_counts_all_frames() {
    const MIB: usize = 1 << 20;
    for how in HOWS {
        for (opcode, code) in [(Opcode::Text, 1009), (Opcode::Binary, 1009)] {
            let mut connection = MessageAssembler::new();
            let mut opcode = opcode;
            for _ in 0..16 {
                connection.start_frame(opcode, false, None).unwrap();
                connection.announce(MIB as u64).unwrap();
                give_plain(how, &mut connection, &[b'a'; MIB]).unwrap();
                assert_eq!(connection.end_frame(), Ok(None));
                opcode = Opcode::Continuation;
            }
            connection.start_frame(opcode, true, None).unwrap();
            give_plain(how, &mut connection, b"").unwrap();
            let error = give_plain(how, &mut connection, b"a").unwrap_err();
            assert_eq!(error, MessageError::TooLong { max_length: 16_777_216 });
            assert_eq!(error.close_code(), code);
            check_failed(&mut connection, error);
        }
    }
}

#[test]
fn a_limit_lowered_below_the_received_length_rejects_further_data() {
    for how in HOWS {
        let mut connection = MessageAssembler::new();
        connection.start_frame(Opcode::Text, true, None).unwrap();
        give_plain(how, &mut connection, b"0123456789").unwrap();
        let mut connection = connection.with_max_length(5);
        let mut other = connection.clone();
        assert_eq!(connection.announce(1), Err(MessageError::TooLong { max_length: 5 }));
        give_plain(how, &mut other, b"").unwrap();
        let error = give_plain(how, &mut other, b"x").unwrap_err();
        assert_eq!(error, MessageError::TooLong { max_length: 5 });
        check_failed(&mut other, error);
    }
}

#[test]
fn an_announced_length_over_the_limit_is_rejected_at_once() {
    let mut connection = MessageAssembler::new().with_max_length(1000);
    connection.start_frame(Opcode::Text, false, None).unwrap();
    connection.announce(600).unwrap();
    connection.push(&mut [b'a'; 600]).unwrap();
    connection.end_frame().unwrap();
    connection.start_frame(Opcode::Continuation, true, None).unwrap();
    let mut other = connection.clone();
    assert_eq!(connection.announce(401), Err(MessageError::TooLong { max_length: 1000 }));
    assert_eq!(other.announce(u64::MAX), Err(MessageError::TooLong { max_length: 1000 }));
}

#[test]
fn an_announced_length_can_be_wrong() {
    let mut connection = MessageAssembler::new().with_max_length(u64::MAX);
    connection.start_frame(Opcode::Text, true, None).unwrap();
    connection.announce(u64::MAX).unwrap();
    connection.push(&mut b"short".to_vec()).unwrap();
    assert_eq!(connection.end_frame(), Ok(Some(Message::Text("short".into()))));
    connection.start_frame(Opcode::Text, true, None).unwrap();
    connection.announce(1).unwrap();
    connection.push(&mut b"longer".to_vec()).unwrap();
    assert_eq!(connection.end_frame(), Ok(Some(Message::Text("longer".into()))));
}

#[test]
fn validate_holds_only_a_few_bytes() {
    let mut connection = MessageAssembler::new().with_max_length(u64::MAX);
    let (mut text, mut bytes) = ("🦀".repeat(1 << 18).into_bytes(), vec![0xFF; 1 << 20]);
    connection.start_frame(Opcode::Text, true, None).unwrap();
    for _ in 0..64 {
        connection.validate(&mut text).unwrap();
    }
    assert_eq!(connection.position(), 64 << 20);
    assert_eq!(connection.end_frame(), Ok(Some(Message::Text("".into()))));
    connection.start_frame(Opcode::Binary, true, None).unwrap();
    connection.validate(&mut bytes).unwrap();
    assert_eq!(connection.end_frame(), Ok(Some(Message::Binary(Bytes::new()))));
    assert!(size_of::<MessageAssembler>() <= 256, "{} bytes", size_of::<MessageAssembler>());
}

#[test]
fn an_invalid_byte_is_rejected_as_soon_as_it_arrives() {
    let mut connection = MessageAssembler::new().with_max_length(u64::MAX);
    connection.start_frame(Opcode::Text, true, Some(KEY)).unwrap();
    connection.announce(1 << 30).unwrap();
    let mut plain = vec![b'a'; 1000];
    plain.extend(b"\xED\xA0");
    for (n, byte) in plain.iter().enumerate() {
        let result = connection.push(&mut masked(&[*byte], Some(KEY), n));
        assert_eq!(result.is_err(), n == 1001, "byte {n}");
        if let Err(error) = result {
            assert_eq!((error.close_code(), error.offset()), (1007, Some(1000)));
        }
    }
}

// ---- the protocol -------------------------------------------------------------------------------

#[test]
fn frame_order_follows_the_protocol() {
    use Opcode::{Binary, Close, Continuation, Ping, Pong, Text};
    let good: [&[(Opcode, bool)]; 6] = [
        &[(Text, true), (Binary, true), (Text, true)],
        &[(Text, false), (Continuation, false), (Continuation, true), (Text, true)],
        &[(Binary, false), (Ping, true), (Continuation, true)],
        &[(Text, false), (Ping, true), (Pong, true), (Continuation, true), (Close, true)],
        &[(Text, false), (Close, true)],
        &[(Pong, true), (Ping, true)],
    ];
    for frames in good {
        assert_eq!(order(frames), Ok(()), "{frames:?}");
    }
    let bad: [(&[(Opcode, bool)], _); 8] = [
        (&[(Continuation, true)], MessageError::UnexpectedContinuation),
        (&[(Continuation, false)], MessageError::UnexpectedContinuation),
        (&[(Text, true), (Continuation, true)], MessageError::UnexpectedContinuation),
        (&[(Text, false), (Text, true)], MessageError::InterruptedMessage),
        (&[(Text, false), (Binary, true)], MessageError::InterruptedMessage),
        (&[(Binary, false), (Ping, true), (Binary, false)], MessageError::InterruptedMessage),
        (&[(Ping, false)], MessageError::FragmentedControl),
        (&[(Text, false), (Close, false)], MessageError::FragmentedControl),
    ];
    for (frames, error) in bad {
        assert_eq!(order(frames), Err(error), "{frames:?}");
    }
}

/// Empty frames, one after another.
fn order(frames: &[(Opcode, bool)]) -> Result<(), MessageError> {
    let mut connection = MessageAssembler::new();
    for (opcode, fin) in frames {
        let result = connection.start_frame(*opcode, *fin, Some(KEY));
        match result.and_then(|()| connection.end_frame()) {
            Ok(_) => {}
            Err(error) => {
                assert_eq!(error.close_code(), 1002);
                check_failed(&mut connection, error);
                return Err(error);
            }
        }
    }
    Ok(())
}

#[test]
fn calls_out_of_order_are_errors() {
    type Call = fn(&mut MessageAssembler) -> Result<(), MessageError>;
    let misuse: [(Call, _); 6] = [
        (|c| c.push(&mut []), MessageError::NoFrame),
        (|c| c.push_bytes(BytesMut::new()), MessageError::NoFrame),
        (|c| c.validate(&mut []), MessageError::NoFrame),
        (|c| c.announce(0), MessageError::NoFrame),
        (|c| c.end_frame().map(drop), MessageError::NoFrame),
        (
            |c| {
                c.start_frame(Opcode::Text, true, None)?;
                c.start_frame(Opcode::Ping, true, None)
            },
            MessageError::NestedFrame,
        ),
    ];
    for (call, error) in misuse {
        let mut connection = MessageAssembler::new();
        assert_eq!(call(&mut connection), Err(error));
        check_failed(&mut connection, error);
    }
}

#[test]
fn opcodes_are_known_or_reserved() {
    for bits in 0..=u8::MAX {
        match Opcode::try_from(bits) {
            Ok(opcode) => {
                assert!([0, 1, 2, 8, 9, 10].contains(&bits));
                assert_eq!((u8::from(opcode), opcode.is_control()), (bits, bits >= 8));
            }
            Err(error) => assert_eq!(error, MessageError::ReservedOpcode(bits)),
        }
    }
}

#[test]
fn control_frames_have_at_most_125_bytes() {
    for how in HOWS {
        let mut connection = MessageAssembler::new();
        for size in [1, 4, 125] {
            connection.start_frame(Opcode::Pong, true, Some(KEY)).unwrap();
            connection.announce(125).unwrap();
            for at in (0..125).step_by(size) {
                let plain = &[0xFF; 125][..size.min(125 - at)];
                let piece = masked(plain, Some(KEY), at)[..].into();
                give(how, &mut connection, piece, plain, &mut String::new()).unwrap();
            }
            let wanted = Message::Pong(Bytes::from_static(&[0xFF; 125]));
            assert_eq!(connection.end_frame(), Ok(Some(wanted)), "{how:?}, {size}");
        }
        connection.start_frame(Opcode::Ping, true, None).unwrap();
        give_plain(how, &mut connection, &[0; 125]).unwrap();
        let error = give_plain(how, &mut connection, &[0]).unwrap_err();
        assert_eq!(error, MessageError::LongControl);
    }
}

// ---- closing ------------------------------------------------------------------------------------

#[test]
fn only_sendable_close_codes_are_accepted() {
    for code in 0..=u16::MAX {
        let may_be_sent = matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999);
        let payload = Bytes::copy_from_slice(&code.to_be_bytes());
        let created = encode_close(code, "");
        let parsed = parse_close(payload.clone());
        if may_be_sent {
            assert_eq!(created, Ok(payload));
            assert_eq!(parsed, Ok(Some((code, "".into()))));
        } else {
            assert_eq!(created, Err(MessageError::CloseCode(code)));
            assert_eq!(parsed, Err(MessageError::CloseCode(code)));
        }
    }
}

#[test]
fn a_close_payload_round_trips() {
    for reason in ["", "a", "done: 終わり", &"ж".repeat(61), &"🦀".repeat(30)] {
        let payload = encode_close(4999, reason).unwrap();
        assert_eq!(payload, [b"\x13\x87", reason.as_bytes()].concat());
        assert_eq!(parse_close(payload), Ok(Some((4999, reason.into()))));
    }
}

#[test]
fn a_long_reason_is_truncated_at_a_character() {
    for text in ["a", "ж", "語", "🦀"] {
        for start in ["", "x", "xy", "xyz"] {
            let reason = start.to_owned() + &text.repeat(200);
            let payload = encode_close(1000, &reason).unwrap();
            assert!(payload.len() <= 125);
            let (code, truncated) = parse_close(payload).unwrap().unwrap();
            assert!(code == 1000 && reason.starts_with(&*truncated));
            assert!((120..=123).contains(&truncated.len()));
        }
    }
}

/// RFC 6455 sections 5.5.1 and 7.4.1: the call with the byte that makes it invalid returns the error, at every split and
/// byte by byte, also inside a text message.
#[test]
fn an_invalid_close_payload_is_rejected_at_its_first_impossible_byte() {
    let code = 1000_u16.to_be_bytes();
    let reasons = inputs().into_iter().map(|(bytes, _)| bytes).filter(|bytes| bytes.len() <= 123);
    let payloads = reasons.map(|reason| [&code[..], &reason].concat());
    let codes: [&[u8]; 4] = [b"\x03\xED", b"\x03\xED\xFF", b"\x00\x00bye", b"\xFF\xFF"];
    // After 125 bytes, the frame is too long.
    let long = [&code[..], &[b'a'; 130]].concat();
    let late = [&code[..], &[b'a'; 122], b"\xFFbc"].concat();
    let others = codes.into_iter().map(<[u8]>::to_vec).chain([long, late]);
    for (n, payload) in payloads.chain(others).enumerate() {
        let reason = Expected::new(payload.get(2..).unwrap_or_default(), PLAIN);
        let byte_by_byte = (0..=payload.len()).collect();
        let splits = (0..=payload.len()).map(|at| vec![at]).chain([byte_by_byte]);
        for (how, places) in HOWS.into_iter().cycle().skip(n).zip(splits) {
            let mut connection = MessageAssembler::new();
            connection.start_frame(Opcode::Text, false, None).unwrap();
            connection.push(&mut b"\xE2\x82".to_vec()).unwrap();
            connection.end_frame().unwrap();
            connection.start_frame(Opcode::Close, true, Some(KEY)).unwrap();
            let context = || format!("{how:?}, {places:?}, {payload:02x?}");
            let mut pushed = Ok(());
            for (from, to) in chunks(payload.len(), &places) {
                let piece = masked(&payload[from..to], Some(KEY), from)[..].into();
                pushed = give(how, &mut connection, piece, &payload[from..to], &mut String::new());
                assert_eq!(pushed, close_error(&payload, &reason, to), "{}", context());
                if pushed.is_err() {
                    break;
                }
            }
            let Ok(()) = pushed else {
                check_failed(&mut connection, pushed.unwrap_err());
                continue;
            };
            let ended = connection.end_frame();
            let expected =
                parse_close(payload.clone().into()).map(|close| Some(Message::Close(close)));
            assert_eq!(ended, expected, "{}", context());
            if let Err(error) = ended {
                assert!(
                    matches!(error, MessageError::Reason(error) if error.error_len().is_none())
                );
                check_failed(&mut connection, error);
            } else {
                connection.start_frame(Opcode::Continuation, true, None).unwrap();
                connection.push(&mut [0xAC]).unwrap();
                assert_eq!(connection.end_frame(), Ok(Some(Message::Text("€".into()))));
            }
        }
    }
}

/// The error of the first `to` bytes of a close payload, by the model of its reason.
fn close_error(payload: &[u8], reason: &Expected, to: usize) -> Result<(), MessageError> {
    let [high, low, ..] = payload[..to] else { return Ok(()) };
    let code = u16::from_be_bytes([high, low]);
    if !matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999) {
        return Err(MessageError::CloseCode(code));
    }
    let within = to.min(125);
    match text_and_error(&reason.prefixes[within - 2]).1 {
        Some(error) => {
            let parsed = parse_close(Bytes::copy_from_slice(&payload[..within])).unwrap_err();
            assert!(matches!(parsed, MessageError::Reason(cause) if model_error(&cause) == error));
            Err(parsed)
        }
        None if within < to => Err(MessageError::LongControl),
        None => Ok(()),
    }
}

#[test]
fn a_close_frame_of_one_byte_is_rejected_by_its_header() {
    let start = |opcode, len| {
        let mut connection = MessageAssembler::new();
        connection.start(&FrameHeader::new(opcode, true, Some(KEY), len).unwrap())
    };
    assert_eq!(start(Opcode::Close, 1), Err(MessageError::TruncatedCloseCode));
    assert_eq!((start(Opcode::Close, 0), start(Opcode::Close, 2)), (Ok(()), Ok(())));
    assert_eq!((start(Opcode::Ping, 1), start(Opcode::Text, 1)), (Ok(()), Ok(())));
    // Without the header's length, the end of the frame shows it.
    let mut connection = MessageAssembler::new();
    connection.start_frame(Opcode::Close, true, None).unwrap();
    connection.push(&mut [3]).unwrap();
    assert_eq!(connection.end_frame(), Err(MessageError::TruncatedCloseCode));
}

#[test]
fn invalid_close_payloads_are_rejected() {
    let parse = |payload: &'static [u8]| parse_close(Bytes::from_static(payload));
    assert_eq!(parse(b""), Ok(None));
    assert_eq!(parse(b"\x03"), Err(MessageError::TruncatedCloseCode));
    assert_eq!(parse(&[b'\x03'; 126]), Err(MessageError::LongControl));
}

// ---- messages and traits ------------------------------------------------------------------------

#[test]
fn errors_have_a_message_and_a_close_code() {
    let utf8 = |bytes: &[u8]| {
        let mut connection = MessageAssembler::new();
        connection.start_frame(Opcode::Text, true, None).unwrap();
        let pushed = connection.push(&mut bytes.to_vec());
        pushed.and_then(|()| connection.end_frame()).unwrap_err()
    };
    let cases = [
        (
            utf8(b"ab\xC0"),
            1007,
            "invalid UTF-8 in the text message at byte 2: overlong encoding (c0)",
            "invalid UTF-8 at byte 2: overlong encoding (c0)",
        ),
        (
            utf8(b"ab\xC3"),
            1007,
            "invalid UTF-8 in the text message at byte 2: unexpected end inside a character (c3)",
            "invalid UTF-8 at byte 2: unexpected end inside a character (c3)",
        ),
        (
            parse_close(Bytes::from_static(b"\x03\xE8\xFF")).unwrap_err(),
            1007,
            "invalid UTF-8 in the close reason at byte 0: invalid byte (ff); this looks like UTF-16",
            "invalid UTF-8 at byte 0: invalid byte (ff); this looks like UTF-16",
        ),
        (
            MessageError::TooLong { max_length: 9 },
            1009,
            "message is longer than 9 bytes",
            "message is longer than 9 bytes",
        ),
        (MessageError::ReservedOpcode(0xB), 1002, "reserved opcode 0xb", "reserved opcode 0xb"),
    ];
    for (error, code, words, reason) in cases {
        assert_eq!((error.close_code(), &*error.to_string()), (code, words));
        assert_eq!(parse_close(error.to_close()), Ok(Some((code, reason.into()))));
    }
    let end = utf8(b"ab\xC3");
    assert_eq!(io::Error::from(end).kind(), io::ErrorKind::UnexpectedEof);
    assert_eq!(io::Error::from(utf8(b"\xFF")).kind(), io::ErrorKind::InvalidData);
}

#[test]
fn types_have_the_common_traits() {
    fn is_plain<T: Send + Sync + Unpin + Debug + Clone>() {}
    fn is_error<T: Error + Copy + Eq + Send + Sync + 'static>() {}
    is_plain::<Message>();
    is_plain::<Opcode>();
    is_plain::<MessageAssembler>();
    is_error::<MessageError>();
}
