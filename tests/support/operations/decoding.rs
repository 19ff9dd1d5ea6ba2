//! The validator, the decoder with all its methods, and the codecs.

use utf8_codec::codec::{CharCodec, Utf8ChunksCodec, Utf8Codec};
use utf8_codec::{ErrorMode, Utf8Options};

use super::input::{self, Many};
use super::streams::{Plan, Settings, check};
use crate::support::reference::{self, Error, Kind};
use crate::support::subjects::{Called, Decoding, Subject, Validating, Way};
use crate::support::{Atom, Errors, MODES, PLAIN};

pub fn validator(plan: &Plan) {
    check(plan, &|settings| Box::new(Validating::new(settings.options())));
}

pub fn decoder_pieces(plan: &Plan) {
    check(plan, &|settings| {
        let (options, mode) = (settings.options(), settings.mode().1);
        // In every mode, pieces are text and errors.
        let pieces = match settings.choice % 4 {
            0 => Way::Pieces,
            1 => Way::BrokenOff,
            2 => Way::Next,
            _ => Way::Bytes,
        };
        match mode {
            ErrorMode::Fatal => Decoding::boxed(options, mode, &[pieces]),
            mode => Decoding::boxed(options, mode, &ways(settings.choice, mode, 16)),
        }
    });
}

pub fn decoder_owned(plan: &Plan) {
    check(plan, &|settings| {
        let mode = settings.mode().1;
        let room = usize::from(settings.choice / 8);
        Decoding::boxed(settings.options(), mode, &ways(settings.choice, mode, room))
    });
}

/// All methods from a chosen one on, with this much room in buffers.
fn ways(choice: u8, mode: ErrorMode, room: usize) -> Vec<Way> {
    let mut ways = vec![Way::String, Way::Slice(room), Way::Chars(room), Way::Utf16(room)];
    if mode == ErrorMode::Fatal {
        ways.extend([Way::Bytes, Way::Pieces]);
    }
    let first = usize::from(choice) % ways.len();
    ways.rotate_left(first);
    ways
}

pub fn codecs(plan: &Plan) {
    check(plan, &|settings: Settings| {
        let (options, mode) = (settings.options(), settings.mode().1);
        match settings.choice % 3 {
            0 => Called::boxed(Utf8Codec::new().with_options(options).with_error_mode(mode)),
            1 if mode == ErrorMode::Fatal => {
                Called::boxed(Utf8ChunksCodec::new().with_options(options))
            }
            _ => Called::boxed(CharCodec::new().with_options(options).with_error_mode(mode)),
        }
    });
}

// ---- against std and encoding_rs ----------------------------------------------------------------

/// Long inputs in chunks of these sizes in turn.
#[derive(arbitrary::Arbitrary, Clone, Debug)]
pub struct Long {
    bytes: input::Bytes<4000>,
    sizes: Many<u16>,
    mode: u8,
    choice: u8,
}

impl Long {
    /// The chunks; without sizes, the whole.
    pub fn chunks(&self) -> Vec<&[u8]> {
        let (mut rest, mut chunks) = (&self.bytes.0[..], Vec::new());
        for size in &*self.sizes {
            let (chunk, after) = rest.split_at(rest.len().min(usize::from(*size % 1500)));
            chunks.push(chunk);
            rest = after;
        }
        chunks.push(rest);
        chunks
    }
}

/// Long enough for every path through the kernels. Errors are those of std, repairs those of the model,
/// and replacement without BOM handling is that of encoding_rs.
pub fn long(long: &Long) {
    let bytes = &long.bytes.0[..];
    let (model, mode) = MODES[usize::from(long.mode) % MODES.len()];
    let room = 16 + 16 * usize::from(long.choice);
    let ways = ways(long.choice, mode, room);
    let mut decoder = Decoding::boxed(Utf8Options::new(), mode, &ways);
    let mut validator = Validating::new(Utf8Options::new());
    let (mut text, mut errors, mut verdicts) = (String::new(), Vec::new(), Vec::new());
    for chunk in long.chunks() {
        add(&mut text, &mut errors, decoder.push(chunk));
        add(&mut String::new(), &mut verdicts, validator.push(chunk));
    }
    add(&mut text, &mut errors, decoder.finish());
    add(&mut String::new(), &mut verdicts, validator.finish());

    let (mut expected, mut expected_errors) = (String::new(), Vec::new());
    let mut offset = 0;
    for chunk in bytes.utf8_chunks() {
        expected.push_str(chunk.valid());
        offset += chunk.valid().len() as u64;
        if !chunk.invalid().is_empty() {
            let (kind, bytes) = (Kind::Truncated, chunk.invalid().to_vec());
            let error = Error { offset, bytes, kind, next: None, decided_by: None };
            expected.push_str(&reference::repair(model, &error, PLAIN).unwrap_or_default());
            expected_errors.push((offset, error.bytes));
            offset += chunk.invalid().len() as u64;
        }
    }
    assert!(text == expected, "{mode:?}, {ways:?}: {bytes:02x?}");
    assert!(verdicts == expected_errors, "{bytes:02x?}");
    let Errors { count, first, .. } = decoder.errors().expect("a decoder counts");
    assert_eq!(count, expected_errors.len() as u64, "{mode:?}, {ways:?}: {bytes:02x?}");
    let first = first.map(|error| (error.offset, error.bytes));
    assert_eq!(first, expected_errors.first().cloned(), "{mode:?}, {ways:?}: {bytes:02x?}");
    for position in [decoder.position(), validator.position()] {
        assert_eq!(position, Some(bytes.len() as u64), "{mode:?}, {ways:?}: {bytes:02x?}");
    }
    if mode == ErrorMode::Fatal {
        assert!(errors == expected_errors, "{ways:?}: {bytes:02x?}");
    }

    #[cfg(feature = "encoding_rs")]
    of_encoding_rs(long);
}

fn add(text: &mut String, errors: &mut Vec<(u64, Vec<u8>)>, atoms: Vec<Atom>) {
    for atom in atoms {
        match atom {
            Atom::Char(c) => text.push(c),
            Atom::Error(error) => errors.push((error.offset, error.bytes)),
        }
    }
}

#[cfg(feature = "encoding_rs")]
fn of_encoding_rs(long: &Long) {
    let options = utf8_codec::Utf8Options::new().with_bom(utf8_codec::BomPolicy::Strip);
    let mut ours = utf8_codec::Utf8Decoder::new().with_options(options);
    let mut theirs = encoding_rs::UTF_8.new_decoder_with_bom_removal();
    let (mut text, mut expected) = (String::new(), String::new());
    let chunks = long.chunks();
    for (number, chunk) in chunks.iter().enumerate() {
        let _done = ours.push_to_string(chunk, ErrorMode::Replacement, &mut text);
        expected.reserve(theirs.max_utf8_buffer_length(chunk.len()).unwrap());
        let last = number + 1 == chunks.len();
        let (result, ..) = theirs.decode_to_string(chunk, &mut expected, last);
        assert_eq!(result, encoding_rs::CoderResult::InputEmpty);
    }
    ours.finish_to_string(ErrorMode::Replacement, &mut text).unwrap();
    assert!(text == expected, "{:02x?}", long.bytes.0);
}
