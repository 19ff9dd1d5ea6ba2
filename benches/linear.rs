//! Sixteen times the input takes sixteen times as long, whatever a peer sends: each object on 16 MB of
//! every shape, against 1 MB of it. `cargo bench --bench linear -- [FILTER]`
//!
//! Prints the ratio of the time for 16 MB in one stream to that for the same bytes in sixteen streams,
//! 1.00 where cost is linear; above 1.20 it is marked. Both read the same memory, so that caches make no
//! difference. Time is that on the processor, where the system tells.

use std::hint::black_box;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use tokio_util::codec::Decoder;
use utf8_codec::codec::{CharCodec, Utf8ChunksCodec, Utf8Codec, Utf8LinesCodec};
use utf8_codec::detect::Detector;
use utf8_codec::dialect::{Dialect, DialectDecoder};
use utf8_codec::fallback::{Fallback, FallbackDecoder, LegacyEncoding};
use utf8_codec::payload::websocket::{Opcode, TextMessage};
use utf8_codec::{
    CodingSystem, ErrorMode, Iso2022Decoder, TextFinder, Utf8Decoder, Utf8Options, Utf8Validator,
};

const MB: usize = 1_000_000;

/// What the input is made of, over and over.
const SHAPES: &[(&str, &[u8])] = &[
    ("ascii", b"a"),
    ("text", "né жё 日本 😀 ".as_bytes()),
    ("leads", b"\xF0"),
    ("leads of two", b"\xC3"),
    ("continuations", b"\x80"),
    ("ff", b"\xFF"),
    ("alternating", b"\xC3a"),
    ("truncated", b"\xE2\x82a"),
    ("surrogates", b"\xED\xA0\x80"),
    ("signatures", b"\xEF\xBB\xBF"),
    ("escapes", b"\x1B%"),
];

/// Of how many bytes the chunks are.
const CHUNKS: [usize; 2] = [1, 8192];

type Run = fn(&[u8], usize) -> u64;

const OBJECTS: &[(&str, Run)] = &[
    ("validator", |input, size| {
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
    ("decoder, pieces", |input, size| {
        let mut decoder = Utf8Decoder::new();
        input.chunks(size).map(|chunk| decoder.push(chunk).count() as u64).sum()
    }),
    ("decoder, strict pieces", |input, size| {
        let strictness = utf8_codec::Strictness::new().refuse_noncharacters().refuse_controls();
        let mut decoder = Utf8Decoder::with_options(Utf8Options::new().with_strictness(strictness));
        input.chunks(size).map(|chunk| decoder.push(chunk).count() as u64).sum()
    }),
    ("decoder, replaced", |input, size| {
        let (mut decoder, mut text) = (Utf8Decoder::new(), String::new());
        for chunk in input.chunks(size) {
            text.clear();
            let _done = decoder.push_to_string(chunk, ErrorMode::Replacement, &mut text);
        }
        decoder.error_count()
    }),
    ("codec", |input, size| {
        feed(Utf8Codec::new().with_error_mode(ErrorMode::Replacement), input, size)
    }),
    ("chunks codec", |input, size| feed(Utf8ChunksCodec::new(), input, size)),
    ("char codec", |input, size| {
        feed(CharCodec::new().with_error_mode(ErrorMode::Replacement), input, size)
    }),
    ("lines codec, refusing", |input, size| feed(Utf8LinesCodec::new(), input, size)),
    ("lines codec, one line", |input, size| {
        let codec = Utf8LinesCodec::new().with_max_length(usize::MAX);
        feed(codec.with_error_mode(ErrorMode::Replacement), input, size)
    }),
    ("message", |input, size| {
        let mut connection = TextMessage::new().with_max_length(u64::MAX);
        let mut errors = 0;
        connection.start_frame(Opcode::Text, true, Some(*b"mask")).expect("it is the first");
        for chunk in input.chunks(size) {
            // A connection whose peer sends this has failed; here it begins again.
            if connection.validate(&mut chunk.to_vec()).is_err() {
                errors += 1;
                connection.reset();
                connection.start_frame(Opcode::Text, true, None).expect("it is the first");
            }
        }
        errors
    }),
    ("dialect", |input, size| {
        let mut decoder = DialectDecoder::new(Dialect::Cesu8);
        input.chunks(size).map(|chunk| decoder.push(chunk).count() as u64).sum()
    }),
    ("fallback, parts", |input, size| fall_back(Fallback::part, input, size)),
    ("fallback, lines", |input, size| fall_back(Fallback::line, input, size)),
    ("detector", |input, size| {
        let mut detector = Detector::new();
        for chunk in input.chunks(size) {
            black_box(detector.push(chunk));
        }
        detector.position()
    }),
    ("terminal", |input, size| {
        let mut decoder = Iso2022Decoder::in_coding_system(CodingSystem::Utf8);
        input.chunks(size).map(|chunk| decoder.push(chunk).count() as u64).sum()
    }),
    ("finder", |input, size| {
        // Nearly matches everywhere in ASCII.
        let mut finder = TextFinder::new(&("a".repeat(100) + "b")).expect("it is not empty");
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

fn feed<C: Decoder>(mut codec: C, input: &[u8], size: usize) -> u64 {
    let (mut buffer, mut items) = (BytesMut::new(), 0);
    for chunk in input.chunks(size) {
        buffer.extend_from_slice(chunk);
        loop {
            match codec.decode(&mut buffer) {
                Ok(None) => break,
                other => drop(black_box(other)),
            }
            items += 1;
        }
    }
    items
}

fn fall_back(fallback: fn(LegacyEncoding) -> Fallback, input: &[u8], size: usize) -> u64 {
    let mut decoder = FallbackDecoder::new(fallback(LegacyEncoding::latin1()));
    let mut text = String::new();
    for chunk in input.chunks(size) {
        text.clear();
        decoder.push(chunk, &mut text).expect("everything is something in Latin-1");
    }
    decoder.position()
}

fn main() {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let is_bench = arguments.iter().any(|argument| argument == "--bench");
    let filters: Vec<_> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    // As a test, each runs once, on little.
    let (unit, times, rounds) = if is_bench { (MB, 16, 3) } else { (2000, 2, 1) };

    println!("{times} times {unit} bytes: in one stream, against one after another");
    println!("{:<24} {:<14} {:>6} {:>9} {:>6}", "object", "shape", "chunks", "ns/byte", "ratio");
    let (mut worst, mut marked) = (0.0_f64, 0);
    for (object, run) in OBJECTS {
        for (shape, part) in SHAPES {
            let name = format!("{object}/{shape}");
            if !filters.is_empty() && !filters.iter().any(|filter| name.contains(&**filter)) {
                continue;
            }
            // Each part begins where the shape does.
            let unit = unit / part.len() * part.len();
            let long: Vec<u8> = part.iter().copied().cycle().take(unit * times).collect();
            for size in CHUNKS {
                // The same number of bytes both ways, as often as it takes to be measured well; the least
                // of some, in turn, so that what else the machine does hits both.
                let once = time(1, || {
                    black_box(run(black_box(&long), size));
                });
                let often = (ENOUGH.as_nanos() / once.as_nanos().max(1)).clamp(1, 1000) as usize;
                let often = if is_bench { often } else { 1 };
                let (mut least_short, mut least_long) = (Duration::MAX, Duration::MAX);
                for _ in 0..if once > ENOUGH { 1 } else { rounds } {
                    least_short = least_short.min(time(often, || {
                        for short in long.chunks(unit) {
                            black_box(run(black_box(short), size));
                        }
                    }));
                    least_long = least_long.min(time(often, || {
                        black_box(run(black_box(&long), size));
                    }));
                }
                let ratio = least_long.as_secs_f64() / least_short.as_secs_f64();
                let each = least_long.as_nanos() as f64 / long.len() as f64;
                worst = worst.max(ratio);
                let mark = if ratio > 1.2 { "  more than linear" } else { "" };
                marked += usize::from(ratio > 1.2);
                println!("{object:<24} {shape:<14} {size:>6} {each:>9.3} {ratio:>6.2}{mark}");
            }
        }
    }
    println!("worst: {worst:.2}; above 1.20: {marked}");
}

/// The system tells the time on a processor to a few milliseconds.
const ENOUGH: Duration = Duration::from_millis(250);

/// The time that `pass` takes, on average over so many times.
fn time(times: usize, mut pass: impl FnMut()) -> Duration {
    let (start, start_on_processor) = (Instant::now(), on_processor());
    (0..times).for_each(|_| pass());
    let total = match (start_on_processor, on_processor()) {
        (Some(start), Some(end)) if end > start => end - start,
        _ => start.elapsed(),
    };
    total / times as u32
}

/// How long this thread has had a processor, where the system tells: so that other programs count for
/// little.
fn on_processor() -> Option<Duration> {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(told.split(' ').next()?.parse().ok()?))
}
