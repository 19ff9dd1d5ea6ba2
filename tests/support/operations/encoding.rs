//! The encoder, the writer, the finder and UTF-16.

#[path = "../utf16.rs"]
mod subject;

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use arbitrary::Arbitrary;
use bytes::Bytes;
use bytestring::ByteString;
use futures::executor::block_on;
use futures::{FutureExt, SinkExt, StreamExt, stream};
use subject::{Atom, Into, Subject, Why, errors_of, model, model_of_prefix, reported, text_of};
use tokio::io::AsyncWrite;
use utf8_codec::decoder::{Progress, Status};
use utf8_codec::search::TextFinder;
use utf8_codec::stream::{StreamError, Utf8Stream, Utf8Writer};
use utf8_codec::{ErrorMode, Utf8Encoder, boundary};

use super::input::{Many, Text, Units};
use crate::lists::MODES;

// ---- the encoder --------------------------------------------------------------------------------

#[derive(Arbitrary, Clone, Debug)]
pub struct EncoderPlan {
    with_bom: bool,
    operations: Many<Encode>,
}

#[derive(Arbitrary, Clone, Debug)]
enum Encode {
    Text(Text<200>),
    /// With this much room.
    TextToSlice(Text<200>, u8),
    CharsToSlice(Text<200>, u8),
    Reset,
}

/// The output is the text, after one BOM if requested.
pub fn encoder(plan: &EncoderPlan) {
    let mut encoder =
        if plan.with_bom { Utf8Encoder::new().with_bom() } else { Utf8Encoder::new() };
    let (mut out, mut expected) = (Vec::new(), Vec::new());
    let mut bom_is_due = plan.with_bom;
    for operation in plan.operations.iter() {
        if !matches!(operation, Encode::Reset) && bom_is_due {
            expected.extend_from_slice("\u{FEFF}".as_bytes());
            bom_is_due = false;
        }
        match operation {
            Encode::Text(text) => {
                encoder.push(&text.0).into_iter().for_each(|part| out.extend_from_slice(part));
                expected.extend_from_slice(text.0.as_bytes());
            }
            Encode::TextToSlice(text, room) => {
                let text = &text.0[..];
                out.extend(through_buffer(*room, text.len(), |from, buffer| {
                    encoder.push_to_slice(&text[from..], buffer)
                }));
                expected.extend_from_slice(text.as_bytes());
            }
            Encode::CharsToSlice(text, room) => {
                let chars: Vec<char> = text.0.chars().collect();
                out.extend(through_buffer(*room, chars.len(), |from, buffer| {
                    encoder.push_chars_to_slice(&chars[from..], buffer)
                }));
                expected.extend_from_slice(text.0.as_bytes());
            }
            Encode::Reset => {
                encoder.reset();
                bom_is_due = plan.with_bom;
            }
        }
        assert!(out == expected, "{plan:?}");
    }
}

/// The output for `len` elements into buffers of `room` bytes, as many as needed. `push` receives the
/// index to start at.
fn through_buffer(
    room: u8,
    len: usize,
    mut push: impl FnMut(usize, &mut [u8]) -> Progress,
) -> Vec<u8> {
    let (mut out, mut read) = (Vec::new(), 0);
    let mut buffer = vec![0xEE; room.into()];
    loop {
        let progress = push(read, &mut buffer);
        out.extend_from_slice(&buffer[..progress.written]);
        read += progress.read;
        match progress.status {
            Status::Done => break,
            Status::Full => assert!(progress.written > 0, "no progress"),
            Status::TooSmall { needed } => {
                assert!(needed > buffer.len() && needed <= 4 && progress.written == 0);
                buffer.resize(needed, 0xEE);
            }
            status => panic!("{status:?}"),
        }
    }
    assert_eq!(read, len);
    out
}

// ---- the writer ---------------------------------------------------------------------------------

#[derive(Arbitrary, Clone, Debug)]
pub struct WriterPlan {
    capacity: u8,
    with_bom: bool,
    is_vectored: bool,
    mode: u8,
    /// Whether it is closed at the end, or taken apart.
    is_closed: bool,
    /// How much the sink accepts at each call; see [`Taker`].
    takes: Many<u8, 100>,
    /// Each by its method, or through the `Sink` impl.
    operations: Many<(bool, Write)>,
}

#[derive(Arbitrary, Clone, Debug)]
enum Write {
    Str(Text<300>),
    Char(char),
    Shared(Text<600>),
    Utf16(Units<20>),
    Flush,
}

/// The bytes that arrive, and those not yet written, are the text of all writes. Every future that is
/// pending is dropped and made again; so is every future whose sink fails.
pub fn writer(plan: &WriterPlan) {
    let takes = plan.takes.iter().copied().collect();
    let encoder = if plan.with_bom { Utf8Encoder::new().with_bom() } else { Utf8Encoder::new() };
    let mode = MODES[usize::from(plan.mode) % MODES.len()];
    let mut writer =
        Utf8Writer::new(Taker { takes, taken: Vec::new(), is_vectored: plan.is_vectored })
            .with_capacity(usize::from(plan.capacity))
            .with_encoder(encoder)
            .with_surrogate_mode(mode);
    let mut expected = Written { mode, with_bom: plan.with_bom, ..Written::default() };
    for (by_sink, operation) in plan.operations.iter() {
        let reported = match (operation, by_sink) {
            (Write::Str(text), false) => until_taken(|| writer.write_str(&text.0).now_or_never()),
            (Write::Str(text), true) => until_taken(|| writer.feed(&text.0[..]).now_or_never()),
            (Write::Char(c), false) => until_taken(|| writer.write_char(*c).now_or_never()),
            (Write::Char(c), true) => until_taken(|| writer.feed(*c).now_or_never()),
            (Write::Shared(text), false) => {
                let shared = ByteString::from(&*text.0);
                until_taken(|| writer.write_text(shared.clone()).now_or_never())
            }
            (Write::Shared(text), true) => {
                let shared = ByteString::from(&*text.0);
                until_taken(|| writer.feed(shared.clone()).now_or_never())
            }
            (Write::Utf16(units), false) => {
                until_taken(|| writer.write_utf16(&units.0).now_or_never())
            }
            (Write::Utf16(units), true) => until_taken(|| writer.feed(&units.0[..]).now_or_never()),
            (Write::Flush, _) => {
                let reported = until_taken(|| writer.flush().now_or_never());
                assert_eq!(writer.unwritten_len(), 0);
                reported
            }
        };
        assert_eq!(reported, expected.add(operation), "{plan:?}");
        let (text, taken) = (expected.text(), &writer.get_ref().taken);
        assert!(text.as_bytes().starts_with(taken), "{taken:02x?} of {text:?}: {plan:?}");
        assert_eq!(taken.len() + writer.unwritten_len(), text.len(), "{plan:?}");
    }
    if !plan.is_closed {
        let held = writer.utf16().incomplete();
        let (script, unwritten) = writer.into_parts();
        let all = [&script.taken[..], &unwritten].concat();
        assert_eq!(str::from_utf8(&all), Ok(&*expected.text()), "{plan:?}");
        let high = expected.units.last().copied().filter(|unit| (0xD800..0xDC00).contains(unit));
        assert_eq!(held, high, "{plan:?}");
        return;
    }
    let reported = until_taken(|| writer.close().now_or_never());
    assert_eq!(reported, expected.end(Why::Incomplete), "{plan:?}");
    assert_eq!(until_taken(|| writer.close().now_or_never()), None, "it stays ended");
    let late = writer.write_char('!').now_or_never().expect("it does not wait");
    assert!(late.is_err(), "nothing comes after the end");
    assert_eq!(str::from_utf8(&writer.into_inner().taken), Ok(&*expected.text()), "{plan:?}");
}

/// Repeats the call until it is done, and returns its error about the units.
fn until_taken(mut make: impl FnMut() -> Option<io::Result<()>>) -> Option<Atom> {
    for _ in 0..1000 {
        match make() {
            Some(Ok(())) => return None,
            Some(Err(error)) => {
                let lone = error.get_ref().and_then(|error| error.downcast_ref());
                if let Some(lone) = lone {
                    return Some(reported(lone));
                }
                // Nothing has been consumed.
            }
            None => {}
        }
    }
    panic!("it is never done");
}

/// What has been written.
#[derive(Default)]
struct Written {
    mode: ErrorMode,
    with_bom: bool,
    /// A write brings the BOM, even without text.
    has_begun: bool,
    /// Everything before the last units.
    atoms: Vec<Atom>,
    units: Vec<u16>,
    /// The number of units before these.
    before: u64,
}

impl Written {
    /// Adds a write. Returns the first error that it must report.
    fn add(&mut self, operation: &Write) -> Option<Atom> {
        self.has_begun |= !matches!(operation, Write::Flush);
        match operation {
            Write::Str(text) => self.add_text(&text.0),
            Write::Char(c) => self.add_text(&c.to_string()),
            Write::Shared(text) => self.add_text(&text.0),
            Write::Utf16(units) => {
                let known = errors_of(&model_of_prefix(&self.units)).len();
                self.units.extend_from_slice(&units.0);
                let atoms = model_of_prefix(&self.units);
                let new = errors_of(&atoms)
                    .into_iter()
                    .nth(known)
                    .map(|atom| atom.shifted_by(self.before));
                new.filter(|_| self.mode == ErrorMode::Fatal)
            }
            Write::Flush => None,
        }
    }

    fn add_text(&mut self, text: &str) -> Option<Atom> {
        if text.is_empty() {
            return None;
        }
        let reported = self.end(Why::LoneHigh);
        self.atoms.extend(text.chars().map(Atom::Char));
        reported
    }

    /// Ends the units: a held high surrogate is an error for this reason.
    fn end(&mut self, why: Why) -> Option<Atom> {
        let waits = model_of_prefix(&self.units).len() < model(&self.units).len();
        let mut atoms = model(&self.units);
        if let (true, Some(Atom::Lone { kind, .. })) = (waits, atoms.last_mut()) {
            *kind = why;
        }
        self.atoms.extend(atoms.into_iter().map(|atom| atom.shifted_by(self.before)));
        self.before += self.units.len() as u64;
        self.units.clear();
        self.atoms.last().copied().filter(|_| waits && self.mode == ErrorMode::Fatal)
    }

    fn text(&self) -> String {
        let bom = if self.with_bom && self.has_begun { "\u{FEFF}" } else { "" };
        let units = model_of_prefix(&self.units);
        [bom, &text_of(&self.atoms, self.mode), &text_of(&units, self.mode)].concat()
    }
}

/// Accepts this many bytes at each call, then everything. 0 is pending, 254 accepts nothing, 255 fails.
struct Taker {
    takes: VecDeque<u8>,
    taken: Vec<u8>,
    is_vectored: bool,
}

impl Taker {
    /// The number of bytes it accepts.
    fn poll_take(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        match self.takes.pop_front() {
            Some(0) => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Some(254) => Poll::Ready(Ok(0)),
            Some(255) => Poll::Ready(Err(io::Error::other("out of order"))),
            Some(most) => Poll::Ready(Ok(most.into())),
            None => Poll::Ready(Ok(usize::MAX)),
        }
    }
}

impl AsyncWrite for Taker {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }

    fn is_write_vectored(&self) -> bool {
        self.is_vectored
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let most = ready!(self.poll_take(cx))?;
        let before = self.taken.len();
        let bytes = slices.iter().flat_map(|slice| &**slice).take(most);
        self.taken.extend(bytes);
        Poll::Ready(Ok(self.taken.len() - before))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_take(cx).map_ok(|_| ())
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_take(cx).map_ok(|_| ())
    }
}

// ---- the finder ---------------------------------------------------------------------------------

#[derive(Arbitrary, Clone, Debug)]
pub struct FinderPlan {
    needle: Text<8>,
    parts: Many<Part>,
}

#[derive(Arbitrary, Clone, Debug)]
enum Part {
    Text(Text<60>),
    /// The needle up to one of its characters, or from there on.
    Begun(u8),
    Ended(u8),
    Passed(u8),
}

/// Matches are those of the whole text, between skipped bytes; and so they are in a stream in which
/// those are ill-formed.
pub fn finder(plan: &FinderPlan) {
    let needle = &plan.needle.0[..];
    let Some(mut finder) = TextFinder::new([needle]) else {
        assert_eq!(needle, "");
        return;
    };
    let cut = |at: &u8| needle.split_at(boundary::floor(needle.as_bytes(), (at % 16).into()));
    let (mut bytes, mut expected) = (Vec::new(), Vec::new());
    for break_off in [false, true] {
        let (mut places, mut text) = (Vec::new(), String::new());
        bytes.clear();
        expected.clear();
        for part in plan.parts.iter().chain([&Part::Passed(0)]) {
            let more = match part {
                Part::Text(text) => &text.0,
                Part::Begun(at) => cut(at).0,
                Part::Ended(at) => cut(at).1,
                Part::Passed(skipped) => {
                    let before = bytes.len() - text.len();
                    expected.extend(text.match_indices(needle).map(|(at, _)| (before + at) as u64));
                    bytes.resize(bytes.len() + 1 + usize::from(skipped % 4), 0xFF);
                    finder.skip(u64::from(1 + skipped % 4));
                    text.clear();
                    continue;
                }
            };
            text.push_str(more);
            bytes.extend_from_slice(more.as_bytes());
            let mut rest = more;
            if break_off {
                while let (Some(place), after) = first(&mut finder, rest) {
                    assert!(more.ends_with(after));
                    places.push(place);
                    rest = after;
                }
            } else {
                places.extend(finder.push(rest).map(|(_, at)| at));
            }
            assert_eq!(finder.push("").count(), 0);
        }
        assert_eq!(places, expected, "{plan:?}");
        assert_eq!(finder.position(), bytes.len() as u64);
        finder.reset();
    }
    assert_eq!(block_on(found_in_stream(&bytes, finder)), expected, "{plan:?}");
}

async fn found_in_stream(bytes: &[u8], mut finder: TextFinder) -> Vec<u64> {
    let chunks: Vec<_> =
        bytes.chunks(5).map(Bytes::copy_from_slice).map(Ok::<_, io::Error>).collect();
    let mut texts = Utf8Stream::new(stream::iter(chunks));
    let mut places = Vec::new();
    while let Some(item) = texts.next().await {
        match item {
            Ok(text) => places.extend(finder.push(&text).map(|(_, at)| at)),
            Err(StreamError::Utf8(error)) => finder.skip(error.bytes().len() as u64),
            Err(error) => panic!("{error}"),
        }
    }
    places
}

/// The first match, and the text after it that has not been searched.
fn first<'t>(finder: &mut TextFinder, text: &'t str) -> (Option<u64>, &'t str) {
    let start = finder.position();
    let offset = finder.push(text).next().map(|(_, at)| at);
    (offset, &text[(finder.position() - start) as usize..])
}

// ---- UTF-16 -------------------------------------------------------------------------------------

#[derive(Arbitrary, Clone, Debug)]
pub struct Utf16Plan {
    mode: u8,
    operations: Many<Push16>,
}

#[derive(Arbitrary, Clone, Debug)]
enum Push16 {
    /// Into a string, or into a slice with this much room.
    Units(Units<60>, u8),
    Finish,
    /// Starts a stream in the next mode.
    Reset,
}

/// The text, the errors and the held units are those of std.
pub fn utf16(plan: &Utf16Plan) {
    let mut modes = MODES.into_iter().cycle().skip(usize::from(plan.mode % 6));
    let mut mode = || modes.next().expect("there is no end");
    let mut subject = Subject::new(mode(), Into::String);
    // The units before and after an end.
    let (mut ended, mut units) = (Vec::new(), Vec::new());
    for operation in plan.operations.iter().chain([&Push16::Finish]) {
        match operation {
            Push16::Units(more, room) => {
                subject.into = match *room {
                    0..100 => Into::Slice(usize::from(room % 20)),
                    100..128 => Into::Slice((*room).into()),
                    _ => Into::String,
                };
                subject.push(&more.0);
                units.extend_from_slice(&more.0);
            }
            Push16::Finish => {
                let before = subject.decoder.position() - units.len() as u64;
                subject.finish();
                ended.extend(model(&units).into_iter().map(|atom| atom.shifted_by(before)));
                units.clear();
            }
            Push16::Reset => {
                subject.reset(mode());
                ended.clear();
                units.clear();
            }
        }
        let before = subject.decoder.position() - units.len() as u64;
        let now = model_of_prefix(&units).into_iter().map(|atom| atom.shifted_by(before));
        subject.assert(&ended.iter().copied().chain(now).collect::<Vec<_>>());
        let held = units.last().filter(|unit| matches!(unit, 0xD800..=0xDBFF));
        assert_eq!(subject.decoder.incomplete(), held.copied());
    }
}
