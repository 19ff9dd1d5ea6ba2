//! Is cost linear for any input? Measures every object on 16 MB of each shape of input, and on
//! 1 MB of it. `cargo bench --all-features --bench linear -- [--brief] [FILTER]`; `--brief` takes a tenth of both.
//!
//! Prints the ratio of the time for 16 MB in one stream to the time for the same bytes in sixteen
//! streams: 1.00 if cost is linear. Ratios above the limit are marked. Both read the same memory and
//! use read buffers of the same size, so that caches make no difference. Growing a buffer costs more
//! per byte for large buffers; a separate row measures it. Time is CPU time if the system reports it.
//!
//! The bytes of a hostile event stream may take at most 50 times as long as those of an ordinary one. Exits with 1 if a row is
//! marked.
//!
//! `--count` runs each row that has chunks on two lengths instead, for `.ci/costs`, which counts the instructions.

use std::convert::Infallible;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use futures::executor::block_on;
use futures::{Stream, StreamExt, stream};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use tokio_util::codec::Decoder;
use utf8_codec::codec::{
    CharCodec, DecimalFrames, JavaUtfCodec, Utf8ChunksCodec, Utf8Codec, Utf8LinesCodec,
};
use utf8_codec::decoder::Status;
use utf8_codec::detect::Detector;
use utf8_codec::dialect::{Dialect, DialectDecoder};
use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
use utf8_codec::http::Utf8Body;
use utf8_codec::io;
use utf8_codec::lines::Delimiter;
use utf8_codec::search::TextFinder;
use utf8_codec::sse::EventDecoder;
use utf8_codec::stream::{Utf8Lines, Utf8Reader, Utf8StreamExt};
use utf8_codec::terminal::TerminalDecoder;
use utf8_codec::websocket::{MessageAssembler, Opcode};
use utf8_codec::{ErrorMode, Utf8Decoder, Utf8Options, Utf8Validator};

const MB: usize = 1_000_000;

/// The inputs, as a unit that is repeated.
const SHAPES: &[(&str, &[u8])] = &[
    ("ascii", b"a"),
    ("digits", b"7"),
    ("text", "né жё 日本 😀 ".as_bytes()),
    ("leads", b"\xF0"),
    ("leads of two", b"\xC3"),
    ("continuations", b"\x80"),
    ("ff", b"\xFF"),
    ("alternating", b"\xC3a"),
    ("truncated", b"\xE2\x82a"),
    ("surrogates", b"\xED\xA0\x80"),
    ("boms", b"\xEF\xBB\xBF"),
    ("escapes", b"\x1B%"),
];

/// The inputs of event streams, the first of which is an ordinary one.
const EVENT_SHAPES: &[(&str, &[u8])] = &[
    (CLEAN, ORDINARY),
    ("lines of data", b"data\n"),
    ("empty events", b"data\n\n"),
    ("short events", "data:é\n\n".as_bytes()),
    ("ids", b"id:7\ndata\n\n"),
    ("types", b"event:x\ndata\n\n"),
    ("retries", b"retry:7\n"),
    ("comments", b":\n"),
    ("unknown fields", b"d\n"),
    ("LF", b"\n"),
    ("CR", b"\r"),
    ("CR, LF, CR LF", b"data\rdata\ndata\r\n\r"),
    ("bom lines", b"\xEF\xBB\xBF\n"),
    ("ff lines", b"data:\xFF\n\n"),
    ("truncated lines", b"data:\xE2\x82\n\n"),
    ("one line", b"7"),
];

const CLEAN: &str = "clean";
const ORDINARY: &[u8] = b"data: a token, some 20 bytes\n\n";

/// How many times as long as a byte of an ordinary event a byte of another may take.
const MOST_TIMES_CLEAN: f64 = 50.0;

/// The sizes of the chunks, and the ratio above which the time is reported as more than linear.
///
/// In one chunk, all output is memory that has never been used, which is several times slower. An
/// object that searched the rest of the chunk again for each character would be sixteen times slower.
const CHUNKS: [(usize, f64); 3] = [(1, 1.2), (8192, 1.2), (usize::MAX, 8.0)];

/// Runs one stream in chunks of this size. The last argument is a read buffer with room for all of it.
type Run = fn(&[u8], usize, &mut BytesMut) -> u64;

const OBJECTS: &[(&str, Run)] = &[
    ("validator", |input, size, _| {
        let mut validator = Utf8Validator::new();
        let mut errors = 0;
        for chunk in input.chunks(size) {
            let before = validator.position();
            while validator.push(&chunk[(validator.position() - before) as usize..]).is_err() {
                errors += 1;
            }
        }
        errors
    }),
    ("decoder, pieces", |input, size, _| {
        let mut decoder = Utf8Decoder::new();
        input.chunks(size).map(|chunk| decoder.push(chunk).count() as u64).sum()
    }),
    ("decoder, strict pieces", |input, size, _| {
        let mut decoder = Utf8Decoder::new()
            .with_options(Utf8Options::new().reject_noncharacters().reject_controls());
        input.chunks(size).map(|chunk| decoder.push(chunk).count() as u64).sum()
    }),
    ("decoder, replaced", |input, size, _| repair(ErrorMode::Replacement, input, size)),
    ("decoder, escaped", |input, size, _| repair(ErrorMode::Escape, input, size)),
    ("codec", |input, size, room| {
        feed(Utf8Codec::new().with_error_mode(ErrorMode::Replacement), input, size, room)
    }),
    ("chunks codec", |input, size, room| feed(Utf8ChunksCodec::new(), input, size, room)),
    ("char codec", |input, size, room| {
        feed(CharCodec::new().with_error_mode(ErrorMode::Replacement), input, size, room)
    }),
    ("lines codec, rejecting", |input, size, room| feed(Utf8LinesCodec::new(), input, size, room)),
    ("lines codec, one line", |input, size, room| {
        let codec = Utf8LinesCodec::new().with_max_length(usize::MAX);
        feed(codec.with_error_mode(ErrorMode::Replacement), input, size, room)
    }),
    ("lines codec, by a text", |input, size, room| {
        // Partial matches everywhere in ASCII.
        let delimiter = Delimiter::text(&("a".repeat(20) + "b")).expect("it is not empty");
        let codec = Utf8LinesCodec::new().with_delimiter(delimiter).with_max_length(usize::MAX);
        feed(codec.with_error_mode(ErrorMode::Skip), input, size, room)
    }),
    ("java codec", |input, size, room| {
        feed(JavaUtfCodec::new().with_error_mode(ErrorMode::Replacement), input, size, room)
    }),
    ("frame after a header", |input, size, room| {
        // As long as a header may be.
        let fields = format!("X: {}\r\nContent-Length: {}\r\n\r\n", "a".repeat(4000), input.len());
        let frames = DecimalFrames::content_length().with_max_length(usize::MAX);
        feed(frames, &[fields.as_bytes(), input].concat(), size, room)
    }),
    // Validated only: keeping the pieces would measure a buffer that grows.
    ("message", |input, size, _| {
        let mut connection = MessageAssembler::new().with_max_length(u64::MAX);
        let mut errors = 0;
        connection.start_frame(Opcode::Text, true, Some(*b"mask")).expect("it is the first");
        for chunk in input.chunks(size) {
            // A connection whose peer sends this has failed. Here it starts again.
            if connection.validate(&mut chunk.to_vec()).is_err() {
                errors += 1;
                connection.reset();
                connection.start_frame(Opcode::Text, true, None).expect("it is the first");
            }
        }
        errors
    }),
    ("dialect", |input, size, _| {
        let mut decoder = DialectDecoder::new(Dialect::Cesu8);
        input.chunks(size).map(|chunk| decoder.push(chunk).count() as u64).sum()
    }),
    ("fallback, parts", |input, size, _| fall_back(FallbackDecoder::part, LATIN1, input, size)),
    ("fallback, lines", |input, size, _| fall_back(FallbackDecoder::line, LATIN1, input, size)),
    ("fallback, gb18030", |input, size, _| {
        let encoding = LegacyEncoding::whatwg(encoding_rs::GB18030).expect("ASCII-compatible");
        fall_back(FallbackDecoder::rest, encoding, input, size)
    }),
    ("detector", |input, size, _| {
        let mut detector = Detector::new();
        for chunk in input.chunks(size) {
            black_box(detector.push(chunk));
        }
        detector.position()
    }),
    ("terminal, utf-8", |input, size, _| {
        show(TerminalDecoder::new().with_utf8_start(), input, size)
    }),
    ("terminal, latin-1", |input, size, _| show(TerminalDecoder::new(), input, size)),
    ("stream", |input, size, _| count(chunks(input, size).utf8())),
    ("char stream", |input, size, _| count(chunks(input, size).utf8().chars())),
    ("line stream", |input, size, _| count(Utf8Lines::new(chunks(input, size)))),
    ("reader", |input, size, _| {
        let mut reader = Utf8Reader::new(input).with_capacity(size.min(input.len()));
        let mut parts = 0;
        block_on(async {
            while reader.next_str().await.transpose().is_some() {
                parts += 1;
            }
        });
        parts
    }),
    ("blocking reader", |input, size, _| {
        let mut reader = io::Utf8Reader::new(input).with_capacity(size.min(input.len()));
        let mut parts = 0;
        while reader.next_str().transpose().is_some() {
            parts += 1;
        }
        parts
    }),
    ("blocking lines", |input, size, _| {
        let reader = io::Utf8Reader::new(input).with_capacity(size.min(input.len()));
        reader.into_lines().count() as u64
    }),
    ("events", |input, size, _| events(b"", b"data:", input, size)),
    ("events, ids", |input, size, _| events(b"", b"id:", input, size)),
    ("events, types", |input, size, _| events(b"", b"event:", input, size)),
    ("events, comments", |input, size, _| events(b"", b":", input, size)),
    ("events, retries", |input, size, _| events(b"", b"retry:", input, size)),
    // All events after the first have its ID.
    ("events, one id", |input, size, _| {
        let (id, values) = input.split_at(input.len() / 2);
        events(id, b"data:", values, size)
    }),
    ("body", |input, size, _| {
        let frames = chunks(input, size).map(|chunk| chunk.map(Frame::data));
        let body = Utf8Body::new(StreamBody::new(frames)).with_error_mode(ErrorMode::Replacement);
        count(body.into_data_stream())
    }),
    ("finder", |input, size, _| {
        // Partial matches everywhere in ASCII.
        let mut finder = TextFinder::new([&*("a".repeat(100) + "b")]).expect("it is not empty");
        let mut decoder = Utf8Decoder::new();
        let mut found = 0;
        for chunk in input.chunks(size) {
            for piece in decoder.push(chunk) {
                match piece {
                    Ok(text) => found += finder.push(text).count(),
                    Err(error) => finder.skip(error.bytes().len() as u64),
                }
            }
        }
        found as u64 + finder.position()
    }),
];

fn repair(mode: ErrorMode, input: &[u8], size: usize) -> u64 {
    let (mut decoder, mut text) = (Utf8Decoder::new(), String::new());
    for chunk in input.chunks(size) {
        text.clear();
        let _done = decoder.push_to_string(chunk, mode, &mut text);
    }
    decoder.error_count()
}

fn chunks(input: &[u8], size: usize) -> impl Stream<Item = Result<Bytes, Infallible>> + Unpin {
    stream::iter(input.chunks(size).map(|chunk| Ok(Bytes::copy_from_slice(chunk))))
}

fn count(items: impl Stream) -> u64 {
    block_on(items.fold(0, async |count, _| count + 1))
}

fn feed<C: Decoder>(mut codec: C, input: &[u8], size: usize, buffer: &mut BytesMut) -> u64 {
    let mut items = 0;
    for chunk in input.chunks(size) {
        buffer.extend_from_slice(chunk);
        loop {
            match codec.decode(buffer) {
                Ok(None) => break,
                other => drop(black_box(other)),
            }
            items += 1;
        }
    }
    // The next stream follows.
    drop(buffer.split());
    items
}

/// Event streams that are cut anywhere.
const EVENT_STREAMS: &[(&str, Run)] = &[
    ("event slices", |input, size, _| {
        let mut decoder = EventDecoder::new().with_max_length(usize::MAX);
        input.chunks(size).map(|chunk| decoder.push(chunk).count() as u64).sum()
    }),
    ("event stream", |input, size, _| {
        count(chunks(input, size).utf8().events().with_max_length(usize::MAX))
    }),
];

/// An event with this ID, and one event for each value of this field.
fn events(id: &[u8], field: &[u8], values: &[u8], size: usize) -> u64 {
    let mut decoder =
        EventDecoder::new().with_max_length(usize::MAX).with_max_id_length(usize::MAX);
    let first = [b"id:", id, b"\n\n"];
    let others = values.chunks(size).flat_map(|value| [field, value, b"\ndata\n\n"]);
    first.into_iter().chain(others).map(|part| decoder.push(part).count() as u64).sum()
}

fn show(mut decoder: TerminalDecoder, input: &[u8], size: usize) -> u64 {
    input.chunks(size).map(|chunk| decoder.push(chunk).count() as u64).sum()
}

const LATIN1: LegacyEncoding = LegacyEncoding::latin1();

fn fall_back(
    fallback: fn(LegacyEncoding) -> FallbackDecoder,
    encoding: LegacyEncoding,
    input: &[u8],
    size: usize,
) -> u64 {
    let mut decoder = fallback(encoding);
    let mut text = String::new();
    for chunk in input.chunks(size) {
        text.clear();
        let progress = decoder.push_to_string(chunk, ErrorMode::Fatal, &mut text);
        assert_eq!(progress.status, Status::Done);
    }
    decoder.position()
}

/// Not an object of the crate: the cost of growing a buffer.
fn grow(input: &[u8], size: usize, _: &mut BytesMut) -> u64 {
    let mut buffer = BytesMut::new();
    for chunk in input.chunks(size) {
        buffer.extend_from_slice(chunk);
    }
    black_box(buffer).len() as u64
}

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let is_bench = arguments.iter().any(|argument| argument == "--bench");
    let filters: Vec<_> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let is_brief = arguments.iter().any(|argument| argument == "--brief");
    let is_counted = arguments.iter().any(|argument| argument == "--count");
    let mut bench = Bench::new(is_bench, is_brief);
    let mut rows = Vec::new();
    let inputs = OBJECTS.iter().map(|object| (object, SHAPES));
    let streams = EVENT_STREAMS.iter().map(|object| (object, EVENT_SHAPES));
    for ((object, run), shapes) in inputs.chain(streams) {
        for (shape, part) in shapes {
            let name = format!("{object}/{shape}");
            if filters.is_empty() || filters.iter().any(|filter| name.contains(&**filter)) {
                rows.extend(CHUNKS.map(|(size, bar)| {
                    // Short runs are less exact. Quadratic cost has a ratio of up to 16.
                    let bar = if is_brief { 2.0 * bar } else { bar };
                    Row { object, run: *run, shape, part, size, bar }
                }));
            }
        }
    }
    if is_counted {
        rows.iter().filter(|row| row.size < usize::MAX).for_each(Row::count);
        return ExitCode::SUCCESS;
    }
    println!("{} times {} bytes, in one stream and in separate streams", bench.times, bench.unit);
    println!("{:<24} {:<14} {:>6} {:>9} {:>6}", "object", "shape", "chunks", "ns/byte", "ratio");
    let count = rows.len();
    rows.retain(|row| !bench.is_linear(row));
    // Another program may have used the caches for as long as a row took.
    if !rows.is_empty() {
        println!("once more, what took too long:");
        rows.retain(|row| !bench.is_linear(row));
    }
    let (each, ratio) = bench.measure(grow, b"a", 8192, 1.2);
    println!("for comparison: a buffer that grows by 8192 bytes, {each:.3} ns/byte, {ratio:.2}");
    println!("{} of {count} above a limit", rows.len());
    // A test run is too short to judge.
    if is_bench && !rows.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// One object with one shape of input in chunks of one size.
struct Row {
    object: &'static str,
    run: Run,
    shape: &'static str,
    part: &'static [u8],
    size: usize,
    /// The ratio above which the time is more than linear.
    bar: f64,
}

impl Row {
    /// The lengths of the streams whose instructions are counted. A string of Java can take 64 KiB, and is decoded once it is
    /// complete.
    fn counted(&self) -> [usize; 2] {
        match (self.object, self.size) {
            ("java codec", _) => [200_000, 400_000],
            (_, 1) => [4 << 10, 16 << 10],
            _ => [32 << 10, 128 << 10],
        }
    }

    /// Runs each stream once, after its first bytes, which warm up.
    fn count(&self) {
        for len in self.counted() {
            self.print_name(len);
            let mut room = BytesMut::with_capacity(len);
            // Whole units.
            let input = self.part.repeat(len / self.part.len());
            black_box((self.run)(&input[..1000], self.size, &mut room));
            room.clear();
            room.reserve(len);
            count_instructions(|| (self.run)(&input, self.size, &mut room));
        }
    }

    /// Prints the name and the length of a stream. The profiler writes what it has counted before.
    #[inline(never)]
    fn print_name(&self, len: usize) {
        println!("{}/{}/{}/{len}", self.object, self.shape, self.chunks());
    }

    /// The size of the chunks.
    fn chunks(&self) -> String {
        if self.size == usize::MAX { "all".into() } else { self.size.to_string() }
    }
}

/// What `.ci/costs` counts.
#[inline(never)]
fn count_instructions(run: impl FnOnce() -> u64) {
    black_box(run());
}

struct Bench {
    unit: usize,
    times: usize,
    /// How many times a measurement is repeated, and the maximum if the ratio is above the limit.
    rounds: (u32, u32),
    /// How long passes are repeated within one measurement.
    enough: Duration,
    room: BytesMut,
    /// The time per byte of ordinary events, of an object in chunks of a size.
    clean: Vec<(&'static str, usize, f64)>,
}

impl Bench {
    /// As a test, each runs once, on little input.
    fn new(is_bench: bool, is_brief: bool) -> Self {
        let (unit, times, rounds, enough) = match (is_bench, is_brief) {
            (true, false) => (MB, 16, (2, 60), ENOUGH),
            (true, true) => (MB / 10, 16, (1, 20), ENOUGH / 10),
            (false, _) => (2000, 2, (1, 1), Duration::ZERO),
        };
        Self {
            unit,
            times,
            rounds,
            enough,
            room: BytesMut::zeroed(unit * times),
            clean: Vec::new(),
        }
    }

    /// Measures and prints a row. Returns whether its ratio is within the limit, and its time within that of an event stream.
    fn is_linear(&mut self, row: &Row) -> bool {
        let &Row { object, run, shape, part, size, bar } = row;
        let (each, ratio) = self.measure(run, part, size, bar);
        let chunks = row.chunks();
        if shape == CLEAN {
            self.clean.push((object, size, each));
        }
        let mut clean = self.clean.iter().filter(|row| (row.0, row.1) == (object, size));
        let is_slow = clean.next().is_some_and(|row| each > MOST_TIMES_CLEAN * row.2);
        let mark = match () {
            () if ratio > bar => "  more than linear",
            () if is_slow => "  too long beside an ordinary event",
            () => "",
        };
        println!("{object:<24} {shape:<14} {chunks:>6} {each:>9.3} {ratio:>6.2}{mark}");
        mark.is_empty()
    }

    /// The time per byte of the long stream, in nanoseconds, and the ratio.
    fn measure(&mut self, run: Run, part: &[u8], size: usize, bar: f64) -> (f64, f64) {
        let Self { times, rounds, enough, ref mut room, .. } = *self;
        // Each stream starts with a whole unit of the shape.
        let unit = self.unit / part.len() * part.len();
        let input: Vec<u8> = part.iter().copied().cycle().take(unit * times).collect();
        let mut pass = |unit| {
            room.clear();
            room.reserve(input.len());
            for stream in black_box(&input).chunks(unit) {
                black_box(run(stream, size, room));
            }
        };
        let once = time(1, || pass(unit));
        let often = (enough.as_nanos() / once.as_nanos().max(1)).clamp(1, 1000) as usize;

        // The minimum of several rounds, alternating, so that other load on the machine affects both: its clock can
        // stay slow for seconds.
        let (mut short, mut long) = (Duration::MAX, Duration::MAX);
        let mut ratio = f64::INFINITY;
        for round in 1..=rounds.1 {
            short = short.min(time(often, || pass(unit)));
            long = long.min(time(often, || pass(input.len())));
            ratio = long.as_secs_f64() / short.as_secs_f64();
            if round >= rounds.0 && ratio <= bar {
                break;
            }
        }
        (long.as_nanos() as f64 / input.len() as f64, ratio)
    }
}

/// The system reports CPU time to within a few milliseconds.
const ENOUGH: Duration = Duration::from_millis(100);

/// The average time of `pass` over this many runs.
fn time(times: usize, mut pass: impl FnMut()) -> Duration {
    let (start, start_on_processor) = (Instant::now(), on_processor());
    (0..times).for_each(|_| pass());
    let total = match (start_on_processor, on_processor()) {
        (Some(start), Some(end)) if end > start => end - start,
        _ => start.elapsed(),
    };
    total / times as u32
}

/// The CPU time of this thread, if the system reports it: other programs then have little influence.
fn on_processor() -> Option<Duration> {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(told.split(' ').next()?.parse().ok()?))
}
