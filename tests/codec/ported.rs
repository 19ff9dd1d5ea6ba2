//! The cases of tokio-util's own tests of its codecs of lines, run by both: the same, or different by intent.

use bytes::BytesMut;
use tokio_util::codec::{AnyDelimiterCodec, Decoder, Encoder, LinesCodec};
use utf8_codec::codec::{Delimiter, Line, LineError, Utf8LinesCodec};

/// The items of each step: texts, and `!` for an error.
type Items = Vec<Vec<String>>;

/// Decodes what arrives, and the end after each empty string.
fn run<C: Decoder>(
    mut codec: C,
    script: &[&str],
    text: impl Fn(C::Item) -> Option<String>,
) -> Items {
    let mut buffer = BytesMut::new();
    let mut steps = Vec::new();
    for bytes in script {
        buffer.extend_from_slice(&unescaped(bytes));
        let next = || {
            let item = match bytes.is_empty() {
                true => codec.decode_eof(&mut buffer),
                false => codec.decode(&mut buffer),
            };
            let item = item.transpose()?;
            Some(item.ok().and_then(&text).unwrap_or("!".to_owned()))
        };
        steps.push(std::iter::from_fn(next).take(100).collect());
    }
    steps
}

/// `~` is a byte that is not UTF-8.
fn unescaped(bytes: &str) -> Vec<u8> {
    bytes.bytes().map(|byte| if byte == b'~' { 0xC3 } else { byte }).collect()
}

const SAME: &str = "";
const CR_AT_END: &str = "A CR at the end of the stream is text";
const CR_NOT_COUNTED: &str = "A CR before the LF does not count towards the limit";
const AT_ONCE: &str = "as soon as the problem is known";

#[test]
fn the_cases_of_tokio_util_are_the_same_or_differ_as_the_guide_states() {
    let guide = include_str!("../../src/guide/lines.md");
    let guide = guide.split_whitespace().collect::<Vec<_>>().join(" ");
    let cases: [(usize, &[&str], &str); 11] = [
        (usize::MAX, &["line 1\nline 2\r\nline 3\n\r\n\r", "", "k", "", ""], CR_AT_END),
        (usize::MAX, &["line 1~(", "", "", "line 22222222222222\n"], AT_ONCE),
        (
            6,
            &["line 1 is too long\nline 2\nline 3\r\nline 4\n\r\n\r", "", "k", "", "", "aaabbbc"],
            CR_NOT_COUNTED,
        ),
        (6, &["line ", "too l", "ong\n", "line 2", "\n"], SAME),
        (10, &["line ", "too l", "ong\n"], SAME),
        (10, &["line ", "too long!\n"], SAME),
        (5, &["hello", "\nworld"], SAME),
        (1, &["aa", "a"], SAME),
        (11, &["line ", "too very l", "aaaaaaaaaaaaaaaaaaaaaaa", "ong\nshort\n"], SAME),
        (6, &["line 2", "\r", "\n"], CR_NOT_COUNTED),
        (usize::MAX, &["line 1\n", ""], SAME),
    ];
    for (limit, script, why) in cases {
        let theirs = LinesCodec::new_with_max_length(limit);
        let theirs = run(theirs, script, Some);
        check(Delimiter::lf(), limit, script, theirs, why, &guide);
    }
    let cases: [(usize, &[&str], &str); 8] = [
        (usize::MAX, &["chunk 1,chunk 2;chunk 3\n\r", "", "k", "", ""], SAME),
        (
            7,
            &[
                "chunk 1 is too long\nchunk 2\nchunk 3\r\nchunk 4\n\r\n",
                "",
                "k",
                "",
                "",
                "aaabbbcc",
            ],
            SAME,
        ),
        (7, &["chunk ", "too l", "ong\n", "chunk 2", ","], SAME),
        (11, &["chunk ", "too very l", "aaaaaaaaaaaaaaaaaaaaaaa", "ong\nshort\n"], SAME),
        (11, &["chunk ", "too l", "ong\n"], SAME),
        (11, &["chunk ", "too long!\n"], SAME),
        (5, &["hello", ",world"], SAME),
        (1, &["aa", "a"], SAME),
    ];
    for (limit, script, why) in cases {
        let any = b",;\n\r".to_vec();
        let theirs = AnyDelimiterCodec::new_with_max_length(any, b",".to_vec(), limit);
        let theirs = run(theirs, script, |text| String::from_utf8(text.to_vec()).ok());
        check(Delimiter::one_of(",;\n\r").unwrap(), limit, script, theirs, why, &guide);
    }
}

#[test]
fn a_line_is_encoded_as_by_tokio_util_with_the_first_of_several_delimiters() {
    let (mut ours, mut theirs) = (BytesMut::new(), BytesMut::new());
    for line in ["line 1", "line 2"] {
        Utf8LinesCodec::new().encode(line, &mut ours).unwrap();
        LinesCodec::new().encode(line, &mut theirs).unwrap();
    }
    let any = Delimiter::one_of(",;").unwrap();
    for line in ["chunk 1", "chunk 2"] {
        Utf8LinesCodec::new().with_delimiter(any.clone()).encode(line, &mut ours).unwrap();
        AnyDelimiterCodec::new(b",;".to_vec(), b",".to_vec()).encode(line, &mut theirs).unwrap();
    }
    assert_eq!(ours, "line 1\nline 2\nchunk 1,chunk 2,");
    assert_eq!(ours, theirs);
}

fn check(
    delimiter: Delimiter,
    limit: usize,
    script: &[&str],
    theirs: Items,
    why: &str,
    guide: &str,
) {
    let text = |line: Result<Line, LineError>| line.ok().map(String::from);
    let codec = Utf8LinesCodec::new().with_delimiter(delimiter).with_max_length(limit);
    let ours = run(codec, script, text);
    assert_eq!(ours == theirs, why == SAME, "{script:?}\nours:   {ours:?}\ntheirs: {theirs:?}");
    assert!(guide.contains(why), "the guide does not state: {why}");
}
