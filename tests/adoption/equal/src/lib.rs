//! Are the crates in this folder equal to the published ones?
#![cfg(test)]

use std::io::Read;

/// All strings of up to five of these bytes.
fn strings() -> impl Iterator<Item = Vec<u8>> {
    const BYTES: [u8; 12] = [b'a', 0, 0x80, 0x9F, 0xA0, 0xBF, 0xC0, 0xC3, 0xE2, 0xED, 0xF0, 0xFF];
    combinations(&BYTES, 5)
}

/// All sequences of up to `most` of these units.
fn combinations<U: Copy>(units: &[U], most: u32) -> impl Iterator<Item = Vec<U>> {
    let count = units.len();
    (0..=most).flat_map(move |len| {
        (0..count.pow(len))
            .map(move |number| (0..len).map(|at| units[number / count.pow(at) % count]).collect())
    })
}

#[test]
fn lossy_decoders_push_the_same_pieces() {
    for bytes in strings().filter(|bytes| bytes.len() < 5) {
        for cut in 0..=bytes.len() {
            let (mut ours, mut peers) = (Vec::new(), Vec::new());
            let mut decoder = utf8::LossyDecoder::new(|text| ours.push(text.to_owned()));
            let mut peer = utf8_peer::LossyDecoder::new(|text| peers.push(text.to_owned()));
            for chunk in [&bytes[..cut], &bytes[cut..]] {
                decoder.feed(chunk);
                peer.feed(chunk);
            }
            drop((decoder, peer));
            ours.retain(|text| !text.is_empty());
            peers.retain(|text| !text.is_empty());
            assert_eq!(ours, peers, "{bytes:02x?} cut at {cut}");
        }
    }
}

#[test]
fn errors_have_the_same_text() {
    for bytes in strings().filter(|bytes| bytes.len() < 5) {
        assert_eq!(
            utf8::decode(&bytes).map_err(|error| error.to_string()),
            utf8_peer::decode(&bytes).map_err(|error| error.to_string())
        );
        assert_eq!(
            cesu8::from_cesu8(&bytes).map_err(|error| error.to_string()),
            cesu8_peer::from_cesu8(&bytes).map_err(|error| error.to_string())
        );
    }
}

#[test]
fn readers_decode_the_same_text() {
    for bytes in strings().filter(|bytes| bytes.len() < 5) {
        for size in 1..=bytes.len().max(1) {
            let reader = |bytes| {
                std::io::BufReader::with_capacity(size, std::io::Cursor::new(Vec::clone(bytes)))
            };
            let ours = utf8::BufReadDecoder::read_to_string_lossy(reader(&bytes)).unwrap();
            let peers = utf8_peer::BufReadDecoder::read_to_string_lossy(reader(&bytes)).unwrap();
            assert_eq!(ours, peers, "{bytes:02x?} in {size}");
        }
    }
}

#[test]
fn java_text_is_the_same() {
    for bytes in
        strings().chain([b"\xED\xA0\x80\xED\xB0\x80", b"\xED\xA0\xBD\xED\xB8\x80"].map(Vec::from))
    {
        assert_eq!(
            cesu8::from_cesu8(&bytes).ok(),
            cesu8_peer::from_cesu8(&bytes).ok(),
            "{bytes:02x?}"
        );
        assert_eq!(
            cesu8::from_java_cesu8(&bytes).ok(),
            cesu8_peer::from_java_cesu8(&bytes).ok(),
            "{bytes:02x?}"
        );
    }
    for text in ["", "a", "a\0b", "é€", "🎈", "a🎈\0"] {
        assert_eq!(cesu8::to_cesu8(text), cesu8_peer::to_cesu8(text));
        assert_eq!(cesu8::to_java_cesu8(text), cesu8_peer::to_java_cesu8(text));
        assert_eq!(cesu8::is_valid_cesu8(text), cesu8_peer::is_valid_cesu8(text));
        assert_eq!(cesu8::is_valid_java_cesu8(text), cesu8_peer::is_valid_java_cesu8(text));
    }
}

#[test]
fn transcoding_readers_return_the_same_bytes() {
    const ENCODINGS: [Option<&encoding_rs::Encoding>; 4] = [
        None,
        Some(encoding_rs::UTF_8),
        Some(encoding_rs::UTF_16LE),
        Some(encoding_rs::WINDOWS_1252),
    ];
    let boms: [&[u8]; 4] = [b"", b"\xEF\xBB\xBF", b"\xFF\xFE", b"\xFE\xFF"];
    let bodies = strings().filter(|bytes| bytes.len() < 3).chain([b"\x3D\xD8\x4D\xDCa\0".to_vec()]);
    let inputs: Vec<Vec<u8>> =
        bodies.flat_map(|body| boms.map(|bom| [bom, &body].concat())).collect();
    // A file that is only a BOM of UTF-16 is text of no characters here; encoding_rs_io returns the BOM, undecoded.
    for input in inputs.into_iter().filter(|input| input.len() != 2 || !boms.contains(&&input[..]))
    {
        for choice in 0..64_usize {
            let [passthru, strip, over, sniff] = [1, 2, 4, 8].map(|bit| choice & bit != 0);
            let encoding = ENCODINGS[choice / 16];
            let mut ours = encoding_rs_io::DecodeReaderBytesBuilder::new();
            ours.encoding(encoding)
                .utf8_passthru(passthru)
                .strip_bom(strip)
                .bom_override(over)
                .bom_sniffing(sniff);
            let mut peer = encoding_rs_io_peer::DecodeReaderBytesBuilder::new();
            peer.encoding(encoding)
                .utf8_passthru(passthru)
                .strip_bom(strip)
                .bom_override(over)
                .bom_sniffing(sniff);
            let (mut here, mut there) = (Vec::new(), Vec::new());
            ours.build_with_buffer(&input[..], vec![0; 5]).unwrap().read_to_end(&mut here).unwrap();
            peer.build_with_buffer(&input[..], vec![0; 5])
                .unwrap()
                .read_to_end(&mut there)
                .unwrap();
            // encoding_rs_io 0.1.7 can return a part of the last U+FFFD.
            let is_cut = here.ends_with("\u{FFFD}".as_bytes())
                && here.starts_with(&there)
                && here.len() < there.len() + 3;
            assert!(
                is_cut || here == there,
                "{input:02x?} with {ours:?}: {here:02x?}, {there:02x?}"
            );
        }
    }
}

/// Each input of `strings`, also after text that is longer than the blocks in which both read.
fn inputs() -> impl Iterator<Item = Vec<u8>> {
    strings().filter(|bytes| bytes.len() < 5).flat_map(|bytes| {
        [0, 61, 509, 1021].map(|length| [vec![b'a'; length], bytes.clone()].concat())
    })
}

#[test]
fn validation_finds_the_same_error() {
    for bytes in inputs() {
        let ours = simdutf8::basic::from_utf8(&bytes).map_err(|error| error.to_string());
        let peers = simdutf8_peer::basic::from_utf8(&bytes).map_err(|error| error.to_string());
        assert_eq!(ours, peers, "{bytes:02x?}");
        let ours = simdutf8::compat::from_utf8(&bytes)
            .map_err(|error| (error.valid_up_to(), error.error_len(), error.to_string()));
        let peers = simdutf8_peer::compat::from_utf8(&bytes)
            .map_err(|error| (error.valid_up_to(), error.error_len(), error.to_string()));
        assert_eq!(ours, peers, "{bytes:02x?}");
    }
}

macro_rules! same {
    ($input:expr, $($function:ident)*) => {$(
        assert_eq!(
            simdutf::$function($input), simdutf_peer::$function($input),
            "{}: {:02x?}", stringify!($function), $input
        );
    )*};
}

/// The results of validation of both crates have to be equal, and both have to say whether the input is valid.
macro_rules! same_error {
    ($input:expr, $($function:ident $with_errors:ident)*) => {$({
        let (ours, peers) = (simdutf::$with_errors($input), simdutf_peer::$with_errors($input));
        assert_eq!(
            (ours.error as u32, ours.count), (peers.error as u32, peers.count),
            "{}: {:02x?}", stringify!($with_errors), $input
        );
        same!($input, $function);
    })*};
}

#[test]
fn functions_of_simdutf_return_the_same_for_bytes() {
    for bytes in inputs() {
        same_error!(&bytes, validate_ascii validate_ascii_with_errors);
        same_error!(&bytes, validate_utf8 validate_utf8_with_errors);
        same!(&bytes, utf8_length_from_latin1);
        let encodings =
            [simdutf::autodetect_encodings(&bytes), simdutf::autodetect_single_encoding(&bytes)];
        let peers = [
            simdutf_peer::autodetect_encodings(&bytes),
            simdutf_peer::autodetect_single_encoding(&bytes),
        ];
        assert_eq!(encodings.map(|set| set.bits()), peers.map(|set| set.bits()), "{bytes:02x?}");
        if std::str::from_utf8(&bytes).is_ok() {
            same!(&bytes, count_utf8 utf16_length_from_utf8 utf32_length_from_utf8 latin1_length_from_utf8);
        }
    }
}

/// Each first byte, and each byte that decides about it after it.
#[test]
fn simdutf_names_the_same_error() {
    const NEXT: [u8; 8] = [0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0];
    for first in 0..=u8::MAX {
        for next in combinations(&NEXT, 3) {
            let bytes = [&[first], &next[..]].concat();
            same_error!(&bytes, validate_utf8 validate_utf8_with_errors);
        }
    }
}

#[test]
fn functions_of_simdutf_return_the_same_for_units() {
    const UNITS: [u16; 8] = [0x61, 0xE9, 0x20AC, 0xD83D, 0xDBFF, 0xDC00, 0xDE00, 0xFFFF];
    for units in combinations(&UNITS, 4).flat_map(|units| {
        [0, 30, 509, 1021].map(|length| [vec![0x61; length], units.clone()].concat())
    }) {
        let swapped: Vec<u16> = units.iter().map(|unit| unit.swap_bytes()).collect();
        for units in [&units, &swapped] {
            same_error!(units, validate_utf16 validate_utf16_with_errors);
            same_error!(units, validate_utf16le validate_utf16le_with_errors);
            same_error!(units, validate_utf16be validate_utf16be_with_errors);
        }
        if String::from_utf16(&units).is_ok() {
            same!(&units, count_utf16 utf8_length_from_utf16 utf32_length_from_utf16);
            same!(&units, count_utf16le utf8_length_from_utf16le utf32_length_from_utf16le);
            same!(&swapped, count_utf16be utf8_length_from_utf16be utf32_length_from_utf16be);
        }
    }
}

#[test]
fn functions_of_simdutf_return_the_same_for_numbers() {
    const NUMBERS: [u32; 8] = [0x61, 0xE9, 0x7FF, 0xD800, 0xFFFF, 0x1_0000, 0x10_FFFF, 0x11_0000];
    for numbers in combinations(&NUMBERS, 3).flat_map(|numbers| {
        [0, 14, 61].map(|length| [vec![0x61; length], numbers.clone()].concat())
    }) {
        same_error!(&numbers, validate_utf32 validate_utf32_with_errors);
        if numbers.iter().all(|&number| char::from_u32(number).is_some()) {
            same!(&numbers, utf8_length_from_utf32 utf16_length_from_utf32);
        }
    }
    for len in 0..200 {
        same!(len, utf16_length_from_latin1 latin1_length_from_utf16 latin1_length_from_utf32);
        macro_rules! base64 {
            ($($options:ident)*) => {$(
                let (ours, peers) = (simdutf::Base64Options::$options, simdutf_peer::Base64Options::$options);
                assert_eq!(ours as u64, peers as u64);
                assert_eq!(
                    simdutf::base64_length_from_binary(len, ours),
                    simdutf_peer::base64_length_from_binary(len, peers)
                );
                for line in [0, 3, 4, 5, 76] {
                    assert_eq!(
                        simdutf::base64_length_from_binary_with_lines(len, ours, line),
                        simdutf_peer::base64_length_from_binary_with_lines(len, peers, line),
                        "{len}, {ours:?}, {line}"
                    );
                }
            )*};
        }
        base64!(Default Url DefaultNoPadding UrlWithPadding DefaultAcceptGarbage UrlAcceptGarbage DefaultOrUrl DefaultOrUrlAcceptGarbage);
    }
}

/// Streams without what the published crate and the standard treat differently: a BOM, ill-formed bytes, events
/// without data, and a CR at the end.
#[test]
fn streams_of_events_have_the_same_events() {
    use futures::{StreamExt, executor::block_on, stream};

    const LINES: [&str; 11] = [
        "data: a",
        "data:é€",
        "data",
        "event: x",
        "event",
        "id: 1",
        "id",
        "retry: 5",
        ": c",
        "b: c",
        "",
    ];
    for (lines, end) in
        combinations(&LINES, 3).flat_map(|lines| ["\n", "\r\n"].map(|end| (lines.clone(), end)))
    {
        let last = ["data: d", "", "data: e", ""];
        let text: String = lines.iter().chain(&last).flat_map(|line| [*line, end]).collect();
        if text.split(&end.repeat(2)).any(|event| !event.is_empty() && !event.contains("data")) {
            continue;
        }
        for cut in 0..text.len() {
            let (before, after) = text.as_bytes().split_at(cut);
            let chunks = || stream::iter([before, after].map(Ok::<_, std::convert::Infallible>));
            let ours = eventsource_stream::EventStream::new(chunks())
                .map(|event| event.map(|event| (event.event, event.data, event.id, event.retry)));
            let peers = eventsource_stream_peer::EventStream::new(chunks())
                .map(|event| event.map(|event| (event.event, event.data, event.id, event.retry)));
            let ours: Vec<_> = block_on(ours.collect());
            let peers: Vec<_> = block_on(peers.collect());
            assert_eq!(format!("{ours:?}"), format!("{peers:?}"), "{text:?} cut at {cut}");
        }
    }
}

/// The standard keeps the last event ID of the connection before, and a reconnection time outside an event.
#[test]
fn the_last_id_and_the_delay_are_kept_as_in_the_standard_and_not_in_the_published_crate() {
    use futures::{StreamExt, executor::block_on, stream};

    let chunks = || stream::iter([Ok::<_, std::convert::Infallible>("retry: 5\n\ndata: a\n\n")]);
    let mut ours = eventsource_stream::EventStream::new(chunks());
    ours.set_last_event_id("7");
    let ours = block_on(ours.next()).unwrap().unwrap();
    let mut peers = eventsource_stream_peer::EventStream::new(chunks());
    peers.set_last_event_id("7");
    let peers = block_on(peers.next()).unwrap().unwrap();
    let delay = std::time::Duration::from_millis(5);
    assert_eq!((&*ours.data, &*ours.id, ours.retry), ("a", "7", Some(delay)));
    assert_eq!((&*peers.data, &*peers.id, peers.retry), ("a", "", None));
}
