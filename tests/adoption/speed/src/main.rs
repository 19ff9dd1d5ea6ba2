//! Prints the throughput of each workload in MB/s, one a line.

use std::hint::black_box;
use std::io::Read;
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::executor::block_on;

const MIXED: &str = "Žluťoučký kůň, 10 € für 漢字と仮名 и текст 🎈; ";
const ASCII: &str = "2026-01-01T00:00:00Z INFO server: request completed in 12 ms; ";

fn main() {
    let mixed = MIXED.repeat((1 << 20) / MIXED.len());
    let ascii = ASCII.repeat((1 << 20) / ASCII.len());

    for (name, text) in [("mixed text", &mixed), ("ASCII", &ascii)] {
        measure(&format!("simdutf8: {name} in 64 KiB"), text.len(), || {
            text.as_bytes()
                .chunks(64 << 10)
                .filter(|chunk| simdutf8::basic::from_utf8(chunk).is_ok())
                .count()
        });
        let strings: Vec<&[u8]> = text.split("; ").map(str::as_bytes).collect();
        measure(&format!("simdutf8: {name} in strings"), text.len(), || {
            strings.iter().filter(|string| simdutf8::compat::from_utf8(string).is_ok()).count()
        });
        measure(&format!("simdutf: {name} in 64 KiB"), text.len(), || {
            text.as_bytes().chunks(64 << 10).filter(|chunk| simdutf::validate_utf8(chunk)).count()
        });
        let units: Vec<u16> = text.encode_utf16().collect();
        measure(&format!("simdutf: {name}, length of its UTF-16 in UTF-8"), text.len(), || {
            simdutf::utf8_length_from_utf16(&units)
        });
    }
    measure("utf-8: mixed text in 4 KiB chunks, lossy", mixed.len(), || {
        let mut length = 0;
        let mut decoder = utf8::LossyDecoder::new(|text| length += text.len());
        mixed.as_bytes().chunks(4 << 10).for_each(|chunk| decoder.feed(chunk));
        drop(decoder);
        length
    });

    let events = "data: {\"choices\":[{\"delta\":{\"content\":\" wörd\"}}]}\n\n".repeat(20_000);
    measure("eventsource-stream: tokens in 1 KiB chunks", events.len(), || {
        let chunks = events.as_bytes().chunks(1 << 10).map(Ok::<_, std::io::Error>);
        block_on(eventsource_stream::EventStream::new(futures::stream::iter(chunks)).count())
    });

    let utf16: Vec<u8> = mixed.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let file = [&b"\xFF\xFE"[..], &utf16].concat();
    measure("encoding_rs_io: a UTF-16 file", file.len(), || {
        let mut text = String::new();
        let read = encoding_rs_io::DecodeReaderBytes::new(&file[..]).read_to_string(&mut text);
        read.expect("it is UTF-16")
    });

    let java = cesu8::to_java_cesu8(&mixed).into_owned();
    measure("cesu8: mixed text from Java", java.len(), || {
        cesu8::from_java_cesu8(&java).expect("it was encoded").len()
    });
}

/// Prints the best of nine runs of 50 ms, in time of the processor.
fn measure(name: &str, bytes: usize, mut work: impl FnMut() -> usize) {
    let mut best = Duration::MAX;
    for _ in 0..9 {
        let (start, mut runs) = (Instant::now(), 0);
        let busy = processor_time();
        while start.elapsed() < Duration::from_millis(50) {
            black_box(work());
            runs += 1;
        }
        best = best.min((processor_time() - busy) / runs);
    }
    println!("{name}\t{:.0}", bytes as f64 / best.as_secs_f64() / 1e6);
}

/// The time that this thread has run, which other processes do not change.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("it runs on Linux");
    let nanos = text.split(' ').next().and_then(|field| field.parse().ok());
    Duration::from_nanos(nanos.expect("the first field is the time in ns"))
}
