//! What a new object does without settings.

use bytes::BytesMut;
use tokio_util::codec::Decoder;
use utf8_codec::codec::{Utf8Codec, Utf8LinesCodec};
use utf8_codec::io::Utf8Reader;

#[test]
fn a_line_has_at_most_65536_bytes() {
    let line = |len| Utf8LinesCodec::new().decode(&mut BytesMut::from(&*vec![b'x'; len])).unwrap();
    assert!(line(65_536).is_none(), "its end may follow");
    assert!(line(65_537).unwrap().is_err());
    let mut buffer = BytesMut::from(&*vec![b'x'; 65_536]);
    buffer.extend_from_slice(b"\n");
    let line = Utf8LinesCodec::new().decode(&mut buffer).unwrap();
    assert_eq!(line.unwrap().unwrap().text.len(), 65_536);
}

#[test]
fn a_lossy_codec_replaces_errors() {
    let text = Utf8Codec::lossy().decode(&mut BytesMut::from(&b"a\xFFb"[..]));
    assert_eq!(text.unwrap().unwrap(), "a\u{FFFD}b");
}

#[test]
fn the_chars_of_a_reader_continue_after_an_error() {
    let mut reader = Utf8Reader::new(&b"5 \xE2\x82\xAC\xFFx"[..]);
    let chars: Vec<_> = reader.chars().collect();
    let text: String = chars.iter().take(3).map(|c| *c.as_ref().unwrap()).collect();
    assert_eq!((&*text, chars.len()), ("5 €", 5));
    assert!(chars[3].is_err() && matches!(chars[4], Ok('x')));
}
