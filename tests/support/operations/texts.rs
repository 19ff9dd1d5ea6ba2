//! Streams of text, such as messages: their characters and their lines.

use arbitrary::Arbitrary;
use futures::stream::{self, FusedStream};
use futures::{FutureExt, StreamExt};
use utf8_codec::stream::{CharStream, StreamError, Utf8StreamExt};

use super::input::{Many, Text};
use super::lines::delimiter_of;
use crate::support::reference::{self, Delimiter, LineItem, Mode};
use crate::support::{PLAIN, delimiter, line_item, undated_item};

#[derive(Arbitrary, Clone, Debug)]
pub struct TextsPlan {
    /// The messages of all streams, with errors.
    messages: Many<Result<Text<40>, u8>>,
    ways: Many<Way>,
    delimiter: u8,
    limit: u8,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Way {
    Char,
    Index,
    Block,
    Part(u8),
}

type Messages = stream::Iter<std::vec::IntoIter<Result<String, u8>>>;

fn messages(plan: &TextsPlan) -> Messages {
    let messages: Vec<_> =
        plan.messages.iter().map(|message| message.clone().map(|text| text.0)).collect();
    stream::iter(messages)
}

/// The output is the text of the messages, with the errors between them; offsets count all of it.
pub fn texts(plan: &TextsPlan) {
    chars(plan);
    lines(plan);
}

fn chars(plan: &TextsPlan) {
    let (mut expected, mut end) = (Vec::new(), 0);
    for message in plan.messages.iter() {
        match message {
            Ok(text) => {
                expected.extend(text.0.char_indices().map(|(at, c)| Ok((end + at as u64, c))));
                end += text.0.len() as u64;
            }
            Err(error) => expected.push(Err(*error)),
        }
    }
    let mut chars = messages(plan).utf8().chars();
    let mut found = Vec::new();
    let mut ways = plan.ways.iter().copied().chain([Way::Char]).cycle();
    while !chars.is_terminated() {
        chars = take(chars, &mut found, ways.next().expect("it has no end"));
    }
    assert_eq!(found, expected, "{plan:?}");
    assert_eq!((chars.offset(), chars.get_ref().decoder().position()), (end, end));
    assert_eq!(chars.into_inner().into_inner().next().now_or_never(), Some(None));
}

/// Takes some of the next text, unless the stream has ended.
fn take(
    mut chars: CharStream<Messages, u8>,
    found: &mut Vec<Result<(u64, char), u8>>,
    way: Way,
) -> CharStream<Messages, u8> {
    // Once the next character is known, so is its offset.
    let peeked = chars.peek().now_or_never().expect("the source is ready");
    let peeked = peeked.map(|next| next.map_err(inner));
    let (from, text) = (chars.offset(), chars.as_str().to_owned());
    let known = text.char_indices().map(|(at, c)| Ok((from + at as u64, c)));
    let len = match (peeked, way) {
        (None, _) => return chars,
        (Some(Ok(c)), Way::Char) => {
            assert_eq!(chars.next().now_or_never(), Some(Some(Ok(c))));
            1
        }
        (Some(Ok(c)), Way::Index) => {
            assert_eq!(chars.next_indexed().now_or_never(), Some(Some(Ok((from, c)))));
            1
        }
        (Some(Ok(_)), Way::Block) => {
            let block = chars.next_block().now_or_never().flatten().expect("there is one");
            block.expect("it is text").len()
        }
        (Some(Ok(_)), Way::Part(part)) => {
            let part = 1 + usize::from(part) % text.chars().count();
            let len = text.chars().take(part).map(char::len_utf8).sum();
            chars.advance(len);
            part
        }
        (Some(Err(error)), _) => {
            assert_eq!(chars.next().now_or_never(), Some(Some(Err(StreamError::Inner(error)))));
            found.push(Err(error));
            return chars;
        }
    };
    found.extend(known.take(len));
    chars
}

fn inner(error: &StreamError<u8>) -> u8 {
    match error {
        StreamError::Inner(error) => *error,
        other => panic!("{other:?}"),
    }
}

fn lines(plan: &TextsPlan) {
    let of_model = delimiter_of(plan.delimiter);
    let limit = if plan.limit < 200 { usize::from(plan.limit % 16) } else { 1000 };
    let mut lines =
        messages(plan).text_lines().with_delimiter(delimiter(&of_model)).with_max_length(limit);
    let (mut found, mut errors) = (Vec::new(), Vec::new());
    while let Some(line) = lines.next().now_or_never().expect("the source is ready") {
        match line {
            Ok(line) => found.push(line_item(Ok(line))),
            Err(StreamError::Line(error)) => found.push(line_item(Err(error))),
            Err(StreamError::Inner(error)) => errors.push(error),
            Err(error) => panic!("{error:?}"),
        }
    }
    assert_eq!(found, expected_lines(plan, &of_model, limit), "{plan:?}");
    let expected: Vec<_> =
        plan.messages.iter().filter_map(|message| message.clone().err()).collect();
    assert_eq!(errors, expected, "{plan:?}");
}

/// The lines of the messages, without lines with an error, for which FF stands here.
fn expected_lines(plan: &TextsPlan, delimiter: &Delimiter, limit: usize) -> Vec<LineItem> {
    let model = |bytes: &[u8], ended| {
        reference::lines_prefix(bytes, PLAIN, Mode::Fatal, delimiter, limit, ended)
    };
    let (mut bytes, mut rejected) = (Vec::new(), Vec::new());
    for message in plan.messages.iter() {
        match message {
            Ok(text) => bytes.extend_from_slice(text.0.as_bytes()),
            Err(_) => {
                let before = model(&bytes, false).len();
                bytes.push(0xFF);
                rejected.extend(before..model(&bytes, false).len());
            }
        }
    }
    let items = model(&bytes, true).into_iter().map(undated_item).enumerate();
    let mut expected: Vec<_> =
        items.filter(|(at, _)| !rejected.contains(at)).map(|(_, item)| item).collect();
    let without_errors = |offset: &mut u64| {
        let before = &bytes[..*offset as usize];
        *offset -= before.iter().filter(|&&byte| byte == 0xFF).count() as u64;
    };
    for item in &mut expected {
        if let LineItem::Bare { at, .. } = item {
            without_errors(at);
        }
        let (LineItem::Line { offset, .. }
        | LineItem::Cut { offset, .. }
        | LineItem::Utf8 { offset, .. }
        | LineItem::TooLong { offset, .. }
        | LineItem::Bare { offset, .. }) = item;
        without_errors(offset);
    }
    expected
}
