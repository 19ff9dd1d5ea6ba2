//! `CharCodec`: one `char` an item.

use super::*;

// ---- calls after errors and after the end -----------------------------------------------------

#[test]
fn an_escape_is_handed_out_whole_by_the_char_codec_before_and_after_the_end() {
    let mut codec = CharCodec::new().with_error_mode(ErrorMode::Escape);
    let mut buffer = BytesMut::from(&b"\xFFa\xE2\x82"[..]);
    assert_eq!(spell(&decode_all(&mut codec, &mut buffer)), r"\xffa");
    assert_eq!(spell(&end_all(&mut codec, &mut buffer)), r"\xe2\x82");
    buffer.extend_from_slice(b"\xFE");
    assert_eq!(codec.decode(&mut buffer).unwrap(), Some('\\'));
    codec.reset();
    buffer.extend_from_slice(b"b");
    assert_eq!(spell(&decode_all(&mut codec, &mut buffer)), "b", "reset drops a begun repair");
}

// ---- encoders -----------------------------------------------------------------------------------

#[tokio::test]
async fn chars_are_sent_one_by_one_or_many_at_once() {
    let script = Builder::new().write("ß€".as_bytes()).write("日本".as_bytes()).build();
    let mut framed = FramedWrite::new(script, CharCodec::new());
    framed.send('ß').await.unwrap();
    framed.send('€').await.unwrap();
    framed.send(&['日', '本'][..]).await.unwrap();
    SinkExt::<char>::close(&mut framed).await.unwrap();
}
