//! `Utf8Codec`: text.

use super::*;

// ---- no copies --------------------------------------------------------------------------------

#[test]
fn clean_text_is_the_read_buffer_in_every_mode() {
    for (_, mode) in MODES {
        let (mut buffer, start) = read_buffer("clean täxt\u{20AC}".as_bytes());
        buffer.extend_from_slice(b"\xE2\x82");
        let mut codec = Utf8Codec::new().with_error_mode(mode);
        let text = codec.decode(&mut buffer).unwrap().unwrap();
        assert_eq!((&*text, place(&text)), ("clean täxt€", start));
        buffer.extend_from_slice(b"\xACx");
        let text = codec.decode(&mut buffer).unwrap().unwrap();
        assert_eq!((&*text, place(&text)), ("€x", start + 14), "also with a character once cut");
    }
}

#[test]
fn repaired_text_is_a_copy_and_skipped_ends_are_not() {
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

// ---- random bytes -------------------------------------------------------------------------------

proptest! {
    #[test]
    fn a_lossy_call_gives_at_most_one_item_and_never_an_empty_one(
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

// ---- encoders -----------------------------------------------------------------------------------

#[test]
fn decoding_does_not_disturb_the_encoder_nor_the_other_way_round() {
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
async fn every_kind_of_text_can_be_sent() {
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
