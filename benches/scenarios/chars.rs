//! Text to `char`s and UTF-16 in a buffer, and `char`s to text.

use std::hint::black_box;

use utf8_codec::{ErrorMode, Utf8Decoder, Utf8Encoder};

use utf8_codec::decoder::Status;

use super::support::corpus::Pool;
use super::support::{Bench, Corpus, Room, Row, Work};

const SIZES: [usize; 2] = [64, 64 << 10];

/// The bytes of all texts of a row: many short ones or few long ones.
const TOTAL: usize = 64 << 10;

pub(crate) type ByteTexts<'a> = &'a [&'a str];
pub(crate) type CharTexts<'a> = &'a [Vec<char>];

pub(crate) type ToCharsPeers = for<'a> fn(&mut Row<'a>, ByteTexts<'a>);
pub(crate) type FromCharsPeers = for<'a> fn(&mut Row<'a>, CharTexts<'a>);

/// UTF-8 that has not been validated, to `char`s.
pub(crate) fn to_chars(bench: &mut Bench, peers: ToCharsPeers) {
    measure(bench, "to-chars", |bench, name, texts| {
        let mut row = Row::new(name, Work::new(bytes(texts), texts.len(), "text"));
        row.expect(texts.iter().map(|text| text.chars().count()).sum());
        row.ours(ours_to_chars(texts));
        row.peer("std", std_to_chars(texts));
        peers(&mut row, texts);
        bench.measure(row);
    });
}

/// UTF-8 that has not been validated, to UTF-16.
pub(crate) fn to_utf16(bench: &mut Bench, peers: ToCharsPeers) {
    measure(bench, "to-utf-16", |bench, name, texts| {
        let mut row = Row::new(name, Work::new(bytes(texts), texts.len(), "text"));
        row.expect(texts.iter().map(|text| text.encode_utf16().count()).sum());
        row.ours(ours_to_utf16(texts));
        row.peer("std", std_to_utf16(texts));
        peers(&mut row, texts);
        bench.measure(row);
    });
}

/// `char`s to UTF-8.
pub(crate) fn from_chars(bench: &mut Bench, peers: FromCharsPeers) {
    for size in SIZES {
        for corpus in Corpus::SCRIPTS {
            let Some(name) = bench.name("from-chars", corpus.name(), size.to_string()) else {
                continue;
            };
            let texts = texts(corpus, size);
            let chars: Vec<Vec<char>> = texts.iter().map(|text| text.chars().collect()).collect();
            let mut row = Row::new(name, Work::new(bytes(&texts), texts.len(), "text"));
            row.expect(bytes(&texts));
            row.ours(ours_from_chars(&chars));
            row.peer("std", std_from_chars(&chars));
            peers(&mut row, &chars);
            bench.measure(row);
        }
    }
}

fn measure(
    bench: &mut Bench,
    what: &str,
    row: impl for<'a> Fn(&mut Bench, super::support::Name, ByteTexts<'a>),
) {
    for size in SIZES {
        for corpus in Corpus::SCRIPTS {
            if let Some(name) = bench.name(what, corpus.name(), size.to_string()) {
                let texts = texts(corpus, size);
                row(bench, name, &texts.iter().map(String::as_str).collect::<Vec<_>>());
            }
        }
    }
    for corpus in Corpus::SCRIPTS {
        let Some(name) = bench.name(what, corpus.name(), format!("{TOTAL}+24")) else { continue };
        let pool = Pool::at(24, corpus, TOTAL..=TOTAL, TOTAL);
        let as_text = |bytes| std::str::from_utf8(bytes).expect("a text");
        row(bench, name, &pool.messages().into_iter().map(as_text).collect::<Vec<_>>());
    }
}

fn texts(corpus: Corpus, size: usize) -> Vec<String> {
    (0..TOTAL / size).map(|n| corpus.text(size, n as u64)).collect()
}

fn bytes(texts: &[impl AsRef<str>]) -> usize {
    texts.iter().map(|text| text.as_ref().len()).sum()
}

/// The length of the longest text, which is at least its number of `char`s or units.
pub(crate) fn room(texts: ByteTexts<'_>) -> usize {
    texts.iter().map(|text| text.len()).max().unwrap_or(0)
}

fn ours_to_chars<'a>(texts: ByteTexts<'a>) -> impl FnMut() -> u64 + 'a {
    let mut chars = Room::new(room(texts));
    move || {
        let chars = &mut chars[..];
        let mut written = 0;
        for text in black_box(texts) {
            let mut decoder = Utf8Decoder::new();
            let progress = decoder.push_to_chars(text.as_bytes(), ErrorMode::Fatal, chars);
            assert_eq!(progress.status, Status::Done, "the text is UTF-8, and fits");
            written += progress.written;
        }
        black_box(&chars);
        written as u64
    }
}

fn std_to_chars<'a>(texts: ByteTexts<'a>) -> impl FnMut() -> u64 + 'a {
    let mut chars = Room::new(room(texts));
    move || {
        let chars = &mut chars[..];
        let mut written = 0;
        for text in black_box(texts) {
            let text = std::str::from_utf8(text.as_bytes()).expect("the text is UTF-8");
            let mut count = 0;
            for (to, c) in chars.iter_mut().zip(text.chars()) {
                *to = c;
                count += 1;
            }
            written += count;
        }
        black_box(&chars);
        written
    }
}

fn ours_to_utf16<'a>(texts: ByteTexts<'a>) -> impl FnMut() -> u64 + 'a {
    let mut units = Room::new(room(texts));
    move || {
        let units = &mut units[..];
        let mut written = 0;
        for text in black_box(texts) {
            let mut decoder = Utf8Decoder::new();
            let progress = decoder.push_to_utf16(text.as_bytes(), ErrorMode::Fatal, units);
            assert_eq!(progress.status, Status::Done, "the text is UTF-8, and fits");
            written += progress.written;
        }
        black_box(&units);
        written as u64
    }
}

fn std_to_utf16<'a>(texts: ByteTexts<'a>) -> impl FnMut() -> u64 + 'a {
    let mut units = Room::new(room(texts));
    move || {
        let units = &mut units[..];
        let mut written = 0;
        for text in black_box(texts) {
            let text = std::str::from_utf8(text.as_bytes()).expect("the text is UTF-8");
            let mut count = 0;
            for (to, unit) in units.iter_mut().zip(text.encode_utf16()) {
                *to = unit;
                count += 1;
            }
            written += count;
        }
        black_box(&units);
        written
    }
}

/// A buffer for the longest encoding of any of these.
pub(crate) fn buffer(texts: &[Vec<char>]) -> Room<u8> {
    Room::new(4 * texts.iter().map(Vec::len).max().unwrap_or(0))
}

fn ours_from_chars(texts: &[Vec<char>]) -> impl FnMut() -> u64 + '_ {
    let mut buffer = buffer(texts);
    move || {
        let buffer = &mut buffer[..];
        let mut written = 0;
        for chars in black_box(texts) {
            let progress = Utf8Encoder::new().push_chars_to_slice(chars, buffer);
            assert_eq!(progress.status, Status::Done, "there is room");
            written += progress.written;
        }
        black_box(&buffer);
        written as u64
    }
}

fn std_from_chars(texts: &[Vec<char>]) -> impl FnMut() -> u64 + '_ {
    let mut text = String::with_capacity(buffer(texts).len());
    move || {
        let mut written = 0;
        for chars in black_box(texts) {
            text.clear();
            text.extend(chars);
            written += text.len();
        }
        black_box(&text);
        written as u64
    }
}
