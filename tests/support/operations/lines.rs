//! Lines: the codec, the stream over a channel, and the blocking iterator.

use std::convert::Infallible;
use std::fmt::Debug;
use std::io::ErrorKind::WouldBlock;

use arbitrary::Arbitrary;
use bytes::{Bytes, BytesMut};
use futures::channel::mpsc::{self, UnboundedReceiver, UnboundedSender};
use futures::{FutureExt, StreamExt};
use tokio_util::codec::Decoder;
use utf8_codec::codec::Utf8LinesCodec;
use utf8_codec::io as blocking;
use utf8_codec::lines::LineError;
use utf8_codec::stream::{StreamError, Utf8Lines, Utf8Stream};

use super::streams::{Operation, Plan, Settings, cut};
use crate::support::blocking::Feed;
use crate::support::reference::{self, Delimiter, LineItem};
use crate::support::subjects::counted;
use crate::support::{delimiter, line_item, options, undated, undated_item};

#[derive(Arbitrary, Clone, Debug)]
pub struct LinesPlan {
    plan: Plan,
    delimiter: u8,
    limit: u8,
}

pub fn lines(plan: &LinesPlan) {
    check(plan, Way::Codec);
}

pub fn line_stream(plan: &LinesPlan) {
    check(plan, Way::Stream);
}

pub fn blocking_lines(plan: &LinesPlan) {
    check(plan, Way::Blocking);
}

fn check(plan: &LinesPlan, way: Way) {
    let mut stream = Lines::new(plan, plan.plan.settings, way);
    for operation in plan.plan.operations.iter() {
        match operation {
            Operation::Push { bytes, chunks } => {
                // The model scans all lines so far for each chunk, which is slow.
                let some = &bytes.0[..bytes.0.len().min(40)];
                cut(some, *chunks).for_each(|chunk| stream.push(chunk));
            }
            Operation::PushNothing => stream.push(b""),
            Operation::Finish => {
                stream.finish();
                stream = Lines::new(plan, stream.settings, way);
            }
            Operation::Reset => stream.reset(),
            Operation::Change(settings) => stream = Lines::new(plan, *settings, way),
        }
    }
    stream.finish();
}

pub fn delimiter_of(number: u8) -> Delimiter {
    let text = |text: &str| Delimiter::Str(text.to_owned());
    match number % 9 {
        0 => Delimiter::Any,
        1 => Delimiter::Nul,
        2 => text("--"),
        3 => text("aa"),
        4 => text("€"),
        5 => text("\u{FEFF}"),
        6 => Delimiter::Crlf,
        8 => Delimiter::CrlfOrLf,
        _ => Delimiter::Lf,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Codec,
    Stream,
    Blocking,
}

enum Object {
    Codec { codec: Box<Utf8LinesCodec>, buffer: BytesMut },
    Stream { sender: UnboundedSender<Result<Bytes, Infallible>>, lines: Box<Utf8Lines<Chunks>> },
    Blocking { feed: Feed, lines: Box<blocking::Utf8Lines<blocking::Utf8Reader<Feed>>> },
}

type Chunks = UnboundedReceiver<Result<Bytes, Infallible>>;

struct Lines {
    object: Object,
    settings: Settings,
    delimiter: Delimiter,
    limit: usize,
    bytes: Vec<u8>,
    out: Vec<LineItem>,
}

fn line_error<E: Debug>(error: StreamError<E>) -> LineError {
    match error {
        StreamError::Line(error) => error,
        error => panic!("{error:?}"),
    }
}

impl Lines {
    fn new(plan: &LinesPlan, settings: Settings, way: Way) -> Self {
        let of_model = delimiter_of(plan.delimiter);
        let limit = if plan.limit < 200 { usize::from(plan.limit % 16) } else { 1000 };
        let (options, mode) = (options(settings.config()), settings.mode().1);
        let object = match way {
            Way::Codec => {
                let codec = Utf8LinesCodec::new()
                    .with_options(options)
                    .with_error_mode(mode)
                    .with_delimiter(delimiter(&of_model))
                    .with_max_length(limit);
                Object::Codec { codec: Box::new(codec), buffer: BytesMut::new() }
            }
            Way::Stream => {
                let (sender, receiver) = mpsc::unbounded();
                let lines = Utf8Stream::new(receiver)
                    .with_options(options)
                    .with_error_mode(mode)
                    .lines()
                    .with_delimiter(delimiter(&of_model))
                    .with_max_length(limit);
                Object::Stream { sender, lines: Box::new(lines) }
            }
            Way::Blocking => {
                let feed = Feed::default();
                let lines = blocking::Utf8Reader::new(feed.clone())
                    .with_options(options)
                    .with_error_mode(mode)
                    .into_lines()
                    .with_delimiter(delimiter(&of_model))
                    .with_max_length(limit);
                Object::Blocking { feed, lines: Box::new(lines) }
            }
        };
        let (bytes, out) = (Vec::new(), Vec::new());
        Self { object, settings, delimiter: of_model, limit, bytes, out }
    }

    fn push(&mut self, chunk: &[u8]) {
        self.bytes.extend_from_slice(chunk);
        match &mut self.object {
            Object::Codec { codec, buffer } => {
                buffer.extend_from_slice(chunk);
                while let Some(item) = codec.decode(buffer).expect("no input or output") {
                    self.out.push(line_item(item));
                }
            }
            Object::Stream { sender, lines } => {
                sender.unbounded_send(Ok(Bytes::copy_from_slice(chunk))).expect("it is open");
                while let Some(item) = lines.next().now_or_never() {
                    let item = item.expect("it has not ended");
                    self.out.push(line_item(item.map_err(line_error)));
                }
            }
            Object::Blocking { feed, lines } => {
                feed.push(chunk);
                loop {
                    match lines.next().expect("it has not ended") {
                        Err(StreamError::Inner(error)) if error.kind() == WouldBlock => break,
                        item => self.out.push(line_item(item.map_err(line_error))),
                    }
                }
            }
        }
        self.compare(false);
    }

    fn finish(&mut self) {
        match &mut self.object {
            Object::Codec { codec, buffer } => {
                while let Some(item) = codec.decode_eof(buffer).expect("no input or output") {
                    self.out.push(line_item(item));
                }
                assert!(buffer.is_empty(), "no byte is left over at the end");
            }
            Object::Stream { sender, lines } => {
                sender.close_channel();
                while let Some(item) = lines.next().now_or_never().expect("it has ended") {
                    self.out.push(line_item(item.map_err(line_error)));
                }
            }
            Object::Blocking { feed, lines } => {
                feed.end();
                for item in lines {
                    self.out.push(line_item(item.map_err(line_error)));
                }
            }
        }
        self.compare(true);
    }

    /// A codec starts again; the others continue.
    fn reset(&mut self) {
        if let Object::Codec { codec, buffer } = &mut self.object {
            codec.reset();
            buffer.clear();
            self.bytes.clear();
            self.out.clear();
        }
    }

    fn compare(&self, ended: bool) {
        let (config, (mode, _)) = (self.settings.config(), self.settings.mode());
        let Self { bytes, delimiter, limit, settings, .. } = self;
        let context =
            || format!("{bytes:02x?}, {delimiter:?}, limit {limit}, {settings:?}, ended: {ended}");
        let (expected, errors) =
            reference::lines_and_errors(bytes, config, mode, delimiter, *limit, ended);
        let expected: Vec<_> = expected.into_iter().map(undated_item).collect();
        assert_eq!(self.out, expected, "{}", context());
        let decoder = match &self.object {
            Object::Codec { codec, .. } => codec.decoder(),
            Object::Stream { lines, .. } => lines.decoder(),
            Object::Blocking { lines, .. } => lines.decoder(),
        };
        let decoded = reference::decode_prefix(bytes, config, ended);
        let start = (decoder.bom_seen(), decoder.skipped());
        assert_eq!(start, (decoded.bom_seen, decoded.skipped), "{}", context());
        let expected = (errors.len() as u64, errors.first().cloned().map(undated));
        assert_eq!(
            counted(decoder.error_count(), decoder.first_error()),
            expected,
            "{}",
            context()
        );
    }
}
