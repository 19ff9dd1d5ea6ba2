//! Lines that are borrowed, and read from memory.

use std::hint::black_box;
use std::io::{BufRead, BufReader};

use bstr::ByteSlice;
use bstr::io::BufReadExt;
use futures::StreamExt;
use futures::executor::block_on;
use tokio_util::codec::LinesCodec;
use utf8_codec::lines::LineDecoder;
use utf8_codec::{io, stream};

use crate::framed::{LEN, Reader, framed_in};
use crate::support::{Bench, Corpus, Rng, Row, Work};

/// The bytes per read: the capacity of the readers of std, and of ours.
const READ: usize = 8192;

/// ASCII in lines of 36 bytes on average, as a log has them.
fn log() -> String {
    let (text, mut rng) = (Corpus::Ascii.text(LEN, 0).replace('\n', " "), Rng::new(0));
    let (mut rest, mut lines) = (&text[..], String::with_capacity(LEN));
    while lines.len() + 40 < LEN {
        let (line, after) = rest.split_at(rng.range(31..=39));
        lines.extend([line, "\n"]);
        rest = after;
    }
    lines.extend([&rest[..LEN - 1 - lines.len()], "\n"]);
    lines
}

/// The sum of the lengths of all lines. Ours is that of a blocking reader.
pub(crate) fn borrowed(bench: &mut Bench) {
    let scripts = Corpus::SCRIPTS.map(|corpus| (corpus.name(), corpus.text(LEN, 0)));
    for (corpus, text) in [("log", log())].into_iter().chain(scripts) {
        let Some(name) = bench.name("borrow-lines", corpus, READ.to_string()) else {
            continue;
        };
        let input = text.as_bytes();
        let lines = text.lines().count();

        let mut row = Row::new(name, Work::new(LEN, lines, "line"));
        row.expect(lines + text.lines().map(str::len).sum::<usize>());
        row.ours(move || {
            let mut lines = io::Utf8Reader::new(black_box(input)).into_lines();
            let mut sum = 0;
            while let Some(line) = lines.next_line() {
                sum += 1 + line.expect("the text is UTF-8").len();
            }
            sum as u64
        });
        row.sibling("async", move || {
            let reader = Reader::new(black_box(input), READ);
            let mut lines = stream::Utf8Reader::new(reader).into_lines();
            let mut sum = 0;
            block_on(async {
                while let Some(line) = lines.next_line().await {
                    sum += 1 + line.expect("the text is UTF-8").len();
                }
            });
            sum as u64
        });
        row.sibling("LineDecoder", move || {
            let mut decoder = LineDecoder::new();
            let mut sum = 0;
            for chunk in black_box(input).chunks(READ) {
                let mut lines = decoder.push(chunk);
                while let Some(line) = lines.next_line() {
                    sum += 1 + line.expect("the text is UTF-8").len();
                }
            }
            while let Some(line) = decoder.finish_line() {
                sum += 1 + line.expect("the text is UTF-8").len();
            }
            sum as u64
        });
        row.sibling("owned", move || {
            let lines = io::Utf8Reader::new(black_box(input)).into_lines();
            lines.map(|line| 1 + line.expect("the text is UTF-8").len() as u64).sum()
        });
        row.sibling("owned async", move || {
            let reader = Reader::new(black_box(input), READ);
            let lines = stream::Utf8Reader::new(reader).into_lines();
            let len =
                |line: Result<utf8_codec::Line, _>| 1 + line.expect("the text is UTF-8").len();
            block_on(lines.fold(0, |sum, line| std::future::ready(sum + len(line) as u64)))
        });
        row.peer("std lines", move || {
            let lines = BufReader::new(black_box(input)).lines();
            lines.map(|line| 1 + line.expect("the text is UTF-8").len() as u64).sum()
        });
        row.peer("std read_line", move || {
            let mut reader = BufReader::new(black_box(input));
            let (mut line, mut sum) = (String::new(), 0);
            while reader.read_line(&mut line).expect("the text is UTF-8") > 0 {
                sum += 1 + line.trim_end_matches('\n').len() as u64;
                line.clear();
            }
            sum
        });
        row.peer("tokio-util", framed_in(READ, input, LinesCodec::new, |line| 1 + line.len()));
        row.peer("bstr", bstr_lines(input, |line| line.to_str().expect("the text is UTF-8").len()));
        row.floor("(bstr)", bstr_lines(input, <[u8]>::len));
        bench.measure(row);
    }
}

fn bstr_lines(input: &[u8], len: fn(&[u8]) -> usize) -> impl FnMut() -> u64 {
    move || {
        let mut sum = 0;
        let each = |line: &[u8]| {
            sum += 1 + len(line) as u64;
            Ok(true)
        };
        BufReader::new(black_box(input)).for_byte_line(each).expect("a slice");
        sum
    }
}
