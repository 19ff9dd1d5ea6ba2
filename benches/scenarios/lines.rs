//! `Utf8LinesCodec`.

use tokio_util::codec::LinesCodec;
use utf8_codec::codec::Utf8LinesCodec;

use super::framed::{LEN, READ, framed};
use super::support::{Bench, Corpus, Row, Work};

pub(crate) type LinesPeers = for<'a> fn(&mut Row<'a>, &'a [u8]);

/// Lines, of some ten words each.
pub(crate) fn lines(bench: &mut Bench, peers: LinesPeers) {
    for corpus in Corpus::SCRIPTS {
        let Some(name) = bench.name("lines", corpus.name(), READ.to_string()) else { continue };
        let text = corpus.text(LEN, 0);
        let input = text.as_bytes();
        let lines = text.lines().count();

        let mut row = Row::new(name, Work::new(LEN, lines, "line"));
        row.expect(lines + text.lines().map(str::len).sum::<usize>());
        row.ours(framed(input, Utf8LinesCodec::new, |line| {
            1 + line.expect("the text is UTF-8").text.len()
        }));
        row.peer("tokio-util", framed(input, LinesCodec::new, |line| 1 + line.len()));
        peers(&mut row, input);
        bench.measure(row);
    }
}
