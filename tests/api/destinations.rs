//! Decoding into slices of bytes, `char`s and UTF-16 units, and encoding `char`s, with destinations of every size.

use utf8_codec::decoder::{Progress, Status};
use utf8_codec::{ErrorMode, Utf8Decoder, Utf8Encoder, Utf8Options};

use crate::lists::{FILLS, Random, fill_to};

/// Values that no test expects to be written.
const CHAR: char = '\u{E123}';
const UNIT: u16 = 0xE123;
const BYTE: u8 = 0xAA;

/// How to decode into slices of one type.
struct Destination<T> {
    blank: T,
    of: fn(&str) -> Vec<T>,
    decode: fn(&mut Utf8Decoder, &[u8], ErrorMode, &mut [T]) -> Progress,
    finish: fn(&mut Utf8Decoder, ErrorMode, &mut [T]) -> Progress,
}

const BYTES: Destination<u8> = Destination {
    blank: BYTE,
    of: |text| text.into(),
    decode: Utf8Decoder::push_to_slice,
    finish: Utf8Decoder::finish_to_slice,
};

const CHARS: Destination<char> = Destination {
    blank: CHAR,
    of: |text| text.chars().collect(),
    decode: Utf8Decoder::push_to_chars,
    finish: Utf8Decoder::finish_to_chars,
};

const UNITS: Destination<u16> = Destination {
    blank: UNIT,
    of: |text| text.encode_utf16().collect(),
    decode: Utf8Decoder::push_to_utf16,
    finish: Utf8Decoder::finish_to_utf16,
};

/// The first character of the second chunk ends the held bytes. It does not fit after their repair.
#[test]
fn a_repair_of_held_bytes_can_fill_the_destination() {
    let mut decoder = Utf8Decoder::new();
    let mut chars = ['\0'];
    let progress = decoder.push_to_chars(b"\xE2\x82", ErrorMode::Replacement, &mut chars);
    assert_eq!((progress.read, progress.held, progress.written), (2, 2, 0));
    let progress = decoder.push_to_chars(b"ab", ErrorMode::Replacement, &mut chars);
    assert_eq!((progress.read, progress.held, progress.written), (0, 0, 1));
    assert_eq!((progress.status, chars), (Status::Full, ['\u{FFFD}']));

    let chunks = [&b"\xE2\x82"[..], b"ab"];
    assert_eq!(CHARS.through(&chunks, ErrorMode::Replacement, 1), ['\u{FFFD}', 'a', 'b']);
}

impl<T: Copy + PartialEq> Destination<T> {
    /// Decodes `chunks` into destinations of `size` units and checks what each call reports. Returns all
    /// output.
    fn through(&self, chunks: &[&[u8]], mode: ErrorMode, size: usize) -> Vec<T> {
        let mut decoder = Utf8Decoder::new();
        let mut written = Vec::new();
        let mut consumed = 0;
        for chunk in chunks {
            let mut rest = *chunk;
            loop {
                let mut out = vec![self.blank; size];
                let progress = (self.decode)(&mut decoder, rest, mode, &mut out);
                let used = progress.read;
                consumed += used;
                rest = &rest[used..];
                written.extend_from_slice(&out[..progress.written]);
                assert_eq!(decoder.position(), consumed as u64);
                match progress.status {
                    Status::Done => break assert!(rest.is_empty()),
                    Status::Full => assert!(used > 0 || progress.written > 0, "no progress"),
                    Status::TooSmall { needed } => {
                        panic!("{needed} units needed, there are {size}")
                    }
                    status => panic!("{status:?}"),
                }
            }
        }
        let mut out = vec![self.blank; 16];
        let progress = (self.finish)(&mut decoder, mode, &mut out);
        assert_eq!(progress.status, Status::Done);
        written.extend_from_slice(&out[..progress.written]);
        written
    }
}

fn through_all(bytes: &[u8], mode: ErrorMode, expected: &str) {
    for size in [16, 17, 64, 100, 1000] {
        for step in [1, 3, 64, 333, bytes.len().max(1)] {
            let chunks: Vec<_> = bytes.chunks(step).collect();
            let context = format!("{size}, {step}");
            assert!(BYTES.through(&chunks, mode, size) == (BYTES.of)(expected), "{context}");
            assert!(CHARS.through(&chunks, mode, size) == (CHARS.of)(expected), "{context}");
            assert!(UNITS.through(&chunks, mode, size) == (UNITS.of)(expected), "{context}");
        }
    }
}

#[test]
fn small_destinations_decode_as_one_call() {
    for fill in FILLS {
        let text = fill_to(fill, 900);
        through_all(text.as_bytes(), ErrorMode::Fatal, &text);
        // Split inside a character.
        for cut in 890..text.len() {
            let bytes = &text.as_bytes()[..cut];
            let expected = String::from_utf8_lossy(bytes);
            through_all(bytes, ErrorMode::Replacement, &expected);
        }
    }
}

#[test]
fn repairs_are_written_in_units_of_the_destination() {
    let mut random = Random(7);
    let alphabet = [b'a', b'b', 0xC3, 0xA9, 0xE2, 0x82, 0xAC, 0xF0, 0x9F, 0x98, 0x80, 0xFF];
    for _ in 0..200 {
        let bytes: Vec<u8> =
            (0..random.below(300)).map(|_| alphabet[random.below(alphabet.len())]).collect();
        through_all(&bytes, ErrorMode::Replacement, &String::from_utf8_lossy(&bytes));
        let mut escaped = String::new();
        for part in bytes.utf8_chunks() {
            escaped.push_str(part.valid());
            escaped.extend(part.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
        }
        through_all(&bytes, ErrorMode::Escape, &escaped);
    }
}

#[test]
fn needed_is_the_size_of_the_next_character() {
    let two = "éé".as_bytes();
    let mut decoder = Utf8Decoder::new();
    let status = decoder.push_to_slice(two, ErrorMode::Fatal, &mut [0; 1]).status;
    assert_eq!(status, Status::TooSmall { needed: 2 });
    let status = decoder.push_to_chars(two, ErrorMode::Fatal, &mut []).status;
    assert_eq!(status, Status::TooSmall { needed: 1 });
    let status = decoder.push_to_utf16("😀é".as_bytes(), ErrorMode::Fatal, &mut [0; 1]).status;
    assert_eq!(status, Status::TooSmall { needed: 2 });
    let status = decoder.push_to_utf16(b"\xFF", ErrorMode::Escape, &mut [0; 3]).status;
    assert_eq!(status, Status::TooSmall { needed: 4 });
    assert_eq!((decoder.position(), decoder.error_count()), (0, 0));
    // An empty chunk needs no room.
    let status = decoder.push_to_chars(b"", ErrorMode::Fatal, &mut []).status;
    assert_eq!(status, Status::Done);
}

#[test]
fn the_longest_repair_needs_sixteen_units() {
    let options = Utf8Options::new().reject_noncharacters();
    let rejected = "\u{10FFFF}".as_bytes();
    for room in 0..=17 {
        let mut decoder = Utf8Decoder::new().with_options(options);
        let mut buffer = [0; 17];
        let progress = decoder.push_to_slice(rejected, ErrorMode::Escape, &mut buffer[..room]);
        if room < 16 {
            assert_eq!(progress.status, Status::TooSmall { needed: 16 }, "{room}");
            assert_eq!((decoder.position(), decoder.error_count()), (0, 0), "{room}");
        } else {
            assert_eq!((progress.status, progress.written), (Status::Done, 16), "{room}");
            assert_eq!(&buffer[..16], br"\xf4\x8f\xbf\xbf");
        }
    }
}

#[test]
fn a_split_character_needs_its_full_room() {
    let mut decoder = Utf8Decoder::new();
    let mut units = [UNIT; 1];
    let progress = decoder.push_to_utf16(b"\xF0\x9F", ErrorMode::Fatal, &mut units);
    assert_eq!((progress.read, progress.held, progress.status), (2, 2, Status::Done));
    let progress = decoder.push_to_utf16(b"\x98\x80", ErrorMode::Fatal, &mut units);
    assert_eq!((progress.read, progress.status), (0, Status::TooSmall { needed: 2 }));
    assert_eq!((units, decoder.incomplete()), ([UNIT], &b"\xF0\x9F"[..]));
    let mut units = [UNIT; 2];
    let progress = decoder.push_to_utf16(b"\x98\x80", ErrorMode::Fatal, &mut units);
    assert_eq!((progress.read, progress.written, progress.status), (2, 2, Status::Done));
    assert_eq!(units, [0xD83D, 0xDE00]);
}

#[test]
fn a_fatal_error_follows_the_text_before_it() {
    for before in 0..200 {
        let text = fill_to("aé€😀", before);
        let bytes = [text.as_bytes(), b"\xFF", b"z"].concat();
        let mut out = vec![CHAR; 300];
        let mut decoder = Utf8Decoder::new();
        let progress = decoder.push_to_chars(&bytes, ErrorMode::Fatal, &mut out);
        let Status::IllFormed(error) = progress.status else { panic!("{progress:?}") };
        assert_eq!(error.valid_up_to(), text.len() as u64);
        assert_eq!(progress.read, text.len() + 1);
        assert!(text.chars().eq(out[..progress.written].iter().copied()));
    }
}

#[test]
fn small_buffers_encode_as_one_call() {
    for fill in FILLS {
        let chars: Vec<char> = fill_to(fill, 900).chars().collect();
        let expected = [b"\xEF\xBB\xBF", String::from_iter(&chars).as_bytes()].concat();
        for size in [4, 5, 7, 64, 100, 1000] {
            let mut encoder = Utf8Encoder::new().with_bom();
            let (mut rest, mut wire) = (&chars[..], Vec::new());
            loop {
                let mut buffer = vec![BYTE; size];
                let progress = encoder.push_chars_to_slice(rest, &mut buffer);
                wire.extend_from_slice(&buffer[..progress.written]);
                rest = &rest[progress.read..];
                match progress.status {
                    Status::Done => break,
                    Status::Full => assert!(size - progress.written < 4),
                    status => panic!("{status:?}"),
                }
            }
            assert!(wire == expected, "{fill:?} through {size}");
        }
    }
}
