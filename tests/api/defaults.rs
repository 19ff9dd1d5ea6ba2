//! What a new object does without settings.

use bytes::BytesMut;
use tokio_util::codec::Decoder;
use utf8_codec::codec::{Utf8Codec, Utf8LinesCodec};
use utf8_codec::io::Utf8Reader;
use utf8_codec::lines::{Delimiter, LineErrorKind};

#[test]
fn the_default_limit_is_64_kib() {
    assert_eq!(Utf8LinesCodec::DEFAULT_MAX_LENGTH, 65_536);
    let line = |len| Utf8LinesCodec::new().decode(&mut BytesMut::from(&*vec![b'x'; len])).unwrap();
    assert!(line(65_536).is_none(), "its end may follow");
    assert!(line(65_537).unwrap().is_err());
    for (len, fits) in [(65_535, true), (65_536, true), (65_537, false), (1 << 20, false)] {
        for (mut codec, end) in [
            (Utf8LinesCodec::new(), "\r\n"),
            (Utf8LinesCodec::default(), "\n"),
            (Utf8LinesCodec::new().with_delimiter(Delimiter::nul()), "\0"),
        ] {
            let mut buffer = BytesMut::from(&*format!("{}{end}next{end}", "x".repeat(len)));
            let line = codec.decode(&mut buffer).unwrap().unwrap();
            match line {
                Ok(line) => assert_eq!((fits, line.len()), (true, len)),
                Err(error) => {
                    assert_eq!(
                        (fits, error.kind),
                        (false, LineErrorKind::TooLong { max_length: 65_536 })
                    );
                }
            }
            assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().unwrap().text, "next");
        }
    }
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
