//! `Utf8Codec`, `Utf8ChunksCodec` and `CharCodec`: the behaviour that they do not share.

use super::*;
use crate::lists::decoded;

// ---- `Utf8Codec`: text --------------------------------------------------------------------------

#[test]
fn clean_text_is_not_copied_in_any_mode() {
    for (_, mode) in MODES {
        let (mut buffer, start) = read_buffer("clean täxt\u{20AC}".as_bytes());
        buffer.extend_from_slice(b"\xE2\x82");
        let mut codec = Utf8Codec::new().with_error_mode(mode);
        let text = codec.decode(&mut buffer).unwrap().unwrap();
        assert_eq!((&*text, place(&text)), ("clean täxt€", start));
        buffer.extend_from_slice(b"\xACx");
        let text = codec.decode(&mut buffer).unwrap().unwrap();
        assert_eq!((&*text, place(&text)), ("€x", start + 14), "also after a split character");
    }
}

#[test]
fn repaired_text_is_copied_unless_only_its_end_is_skipped() {
    for (_, mode) in MODES.into_iter().skip(1) {
        let (mut buffer, start) = read_buffer(b"ab\xFFcd");
        let mut codec = Utf8Codec::new().with_error_mode(mode);
        let text = codec.decode(&mut buffer).unwrap().unwrap();
        assert!(!(start..start + 1024).contains(&place(&text)), "{mode:?}");
    }
    let (mut buffer, start) = read_buffer(b"ab\xFF");
    let mut codec = Utf8Codec::new().with_error_mode(ErrorMode::Skip);
    let text = codec.decode(&mut buffer).unwrap().unwrap();
    assert_eq!((&*text, place(&text)), ("ab", start));
}

proptest! {
    #[test]
    fn a_lossy_call_yields_at_most_one_nonempty_item(
        bytes in hostile_bytes(24),
        cuts in any_cuts(),
        (_, mode) in prop::sample::select(&MODES[1..]),
        options in prop::sample::select(vec![Utf8Options::new(), STRIP, REQUIRE, FORBID]),
    ) {
        let mut codec = Utf8Codec::new().with_error_mode(mode).with_options(options);
        let mut buffer = BytesMut::new();
        let mut text = String::new();
        for chunk in pieces_of(&bytes, &cuts) {
            buffer.extend_from_slice(chunk);
            if let Some(item) = codec.decode(&mut buffer).unwrap() {
                prop_assert!(!item.is_empty());
                text += &item;
            }
            prop_assert!(buffer.len() <= 3, "{:?} is left", buffer);
            prop_assert_eq!(codec.decode(&mut buffer).unwrap(), None);
        }
        if let Some(item) = codec.decode_eof(&mut buffer).unwrap() {
            prop_assert!(!item.is_empty());
            text += &item;
        }
        prop_assert!(buffer.is_empty());
        prop_assert_eq!(codec.decode_eof(&mut buffer).unwrap(), None);
        if mode == ErrorMode::Replacement && options == Utf8Options::new() {
            prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
        }
    }
}

#[test]
fn decoder_and_encoder_are_independent() {
    let mut codec =
        Utf8Codec::new().with_encoder(Utf8Encoder::new().with_bom()).with_options(STRIP);
    let mut buffer = BytesMut::from(&b"\xEF\xBB"[..]);
    assert_eq!(codec.decode(&mut buffer).unwrap(), None);
    assert_eq!(encoded(&mut codec, "x"), b"\xEF\xBB\xBFx"[..]);
    buffer.extend_from_slice(b"\xBFy");
    assert_eq!(codec.decode(&mut buffer).unwrap().unwrap(), "y");
    assert_eq!(encoded(&mut codec, "z"), b"z"[..]);
}

#[tokio::test]
async fn every_text_type_can_be_encoded() {
    let (mut peer, socket) = duplex(1024);
    let mut framed = Framed::new(socket, Utf8Codec::new());
    let owned = String::from("String ");
    framed.send("str ").await.unwrap();
    framed.send(&owned).await.unwrap();
    framed.send(owned).await.unwrap();
    framed.send(Cow::Borrowed("Cow ")).await.unwrap();
    framed.send(Cow::<str>::Owned("Cow ".into())).await.unwrap();
    framed.send(ByteString::from("ByteString ")).await.unwrap();
    framed.send(Box::<str>::from("Box ")).await.unwrap();
    framed.send(Arc::<str>::from("Arc ")).await.unwrap();
    SinkExt::<&str>::close(&mut framed).await.unwrap();
    let mut text = String::new();
    peer.read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "str String String Cow Cow ByteString Box Arc ");
}

// ---- `Utf8ChunksCodec`: text and errors, without loss -------------------------------------------

#[tokio::test(start_paused = true)]
async fn chunks_continue_after_each_error_without_a_gap() {
    let reader = pausing(&[b"ok\xFFmore\xE2", b"\x82", b"\xF0\x90"]);
    assert_eq!(
        reported(reader, Utf8ChunksCodec::new(), show_chunk).await,
        [
            "ok",
            "<invalid UTF-8 at byte 2: invalid byte (ff)>",
            "more",
            "<invalid UTF-8 at byte 7: truncated character (e2 82, followed by f0)>",
            "<invalid UTF-8 at byte 9: unexpected end inside a character (f0 90)>",
        ],
    );
}

proptest! {
    #[test]
    fn encoding_the_chunks_gives_the_input_bytes(
        bytes in hostile_bytes(24),
        cuts in any_cuts(),
        strict in any::<bool>(),
    ) {
        let options = match strict {
            true => Utf8Options::new().reject_nul().reject_controls().reject_noncharacters(),
            false => Utf8Options::new(),
        };
        let mut codec =
            Utf8ChunksCodec::new().with_options(options);
        let mut written = BytesMut::new();
        for chunk in decoded(codec.clone(), pieces_of(&bytes, &cuts)) {
            let is_empty = match &chunk {
                Ok(text) => text.is_empty(),
                Err(error) => error.bytes().is_empty(),
            };
            prop_assert!(!is_empty);
            codec.encode(chunk, &mut written).unwrap();
        }
        prop_assert_eq!(written, bytes);
    }
}

#[tokio::test]
async fn ill_formed_bytes_are_forwarded_unchanged() {
    let bytes = b"ok\xFFmore\xED\xA0\x80\0\xF0\x9F";
    for capacity in 1..16 {
        let chunks = FramedRead::with_capacity(&bytes[..], Utf8ChunksCodec::new(), capacity);
        let mut written = Vec::new();
        chunks.forward(FramedWrite::new(&mut written, Utf8ChunksCodec::new())).await.unwrap();
        assert_eq!(written, bytes);
    }
}

#[test]
fn the_position_excludes_bytes_in_the_buffer() {
    let mut buffer = BytesMut::from(&b"ab\xFF\xF0\x9F"[..]);
    let mut codec = Utf8ChunksCodec::new();
    decode_all(&mut codec, &mut buffer);
    assert_eq!((codec.decoder().position(), buffer.len()), (3, 2));
    let range: Range<u64> = 3..5;
    assert_eq!(spell(&end_all(&mut codec, &mut buffer)), format!("<{:?}@3>", Kind::Incomplete));
    assert_eq!(codec.decoder().position(), range.end);
}

// ---- `CharCodec`: one `char` per item -----------------------------------------------------------

#[test]
fn the_char_codec_yields_complete_escapes_before_and_at_the_end() {
    let mut codec = CharCodec::new().with_error_mode(ErrorMode::Escape);
    let mut buffer = BytesMut::from(&b"\xFFa\xE2\x82"[..]);
    assert_eq!(spell(&decode_all(&mut codec, &mut buffer)), r"\xffa");
    assert_eq!(spell(&end_all(&mut codec, &mut buffer)), r"\xe2\x82");
    buffer.extend_from_slice(b"\xFE");
    assert_eq!(codec.decode(&mut buffer).unwrap(), Some('\\'));
    codec.reset();
    buffer.extend_from_slice(b"b");
    assert_eq!(
        spell(&decode_all(&mut codec, &mut buffer)),
        "b",
        "reset drops a partly consumed repair"
    );
}

#[tokio::test]
async fn chars_can_be_sent_singly_or_in_batches() {
    let script = Builder::new().write("ß€".as_bytes()).write("日本".as_bytes()).build();
    let mut framed = FramedWrite::new(script, CharCodec::new());
    framed.send('ß').await.unwrap();
    framed.send('€').await.unwrap();
    framed.send(&['日', '本'][..]).await.unwrap();
    SinkExt::<char>::close(&mut framed).await.unwrap();
}

#[test]
fn new_options_start_a_new_stream() {
    let mut codec = CharCodec::new().with_error_mode(ErrorMode::Escape);
    let mut buffer = BytesMut::from(&b"\xFF"[..]);
    assert_eq!(codec.decode(&mut buffer).unwrap(), Some('\\'));
    let mut codec = codec.with_options(Utf8Options::new());
    buffer.extend_from_slice(b"new");
    assert_eq!(spell(&decode_all(&mut codec, &mut buffer)), "new");

    for fallback in [FallbackDecoder::rest, FallbackDecoder::without_bom] {
        let mut codec = Utf8Codec::new().with_fallback(fallback(LegacyEncoding::latin1()));
        buffer.extend_from_slice(b"\xE9!");
        assert_eq!(codec.decode(&mut buffer).unwrap().unwrap(), "é!");
        let codec = codec.with_options(Utf8Options::new());
        assert_eq!((codec.fallback_uses().first, codec.decoder().position()), (None, 0));
    }
}

#[test]
fn options_do_not_begin_the_output_again() {
    let encoder = Utf8Encoder::new().with_bom();
    let mut written = BytesMut::new();
    let mut codec = Utf8Codec::new().with_encoder(encoder.clone());
    codec.encode("a", &mut written).unwrap();
    codec.with_options(Utf8Options::new().reject_nul()).encode("b", &mut written).unwrap();
    assert_eq!(written, "\u{FEFF}ab");

    let mut codec = CharCodec::new().with_encoder(encoder.clone());
    written.clear();
    codec.encode('a', &mut written).unwrap();
    codec.with_options(Utf8Options::new().reject_nul()).encode('b', &mut written).unwrap();
    assert_eq!(written, "\u{FEFF}ab");

    let mut codec = Utf8LinesCodec::new().with_encoder(encoder.clone());
    written.clear();
    codec.encode("a", &mut written).unwrap();
    codec.with_options(Utf8Options::new().reject_nul()).encode("b", &mut written).unwrap();
    assert_eq!(written, "\u{FEFF}a\nb\n");
}
