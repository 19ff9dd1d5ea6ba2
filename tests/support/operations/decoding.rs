//! The validator, the decoder in all its ways, and the codecs.

use utf8_codec::codec::{CharCodec, Utf8ChunksCodec, Utf8Codec};
use utf8_codec::{ErrorMode, Status, Utf8Decoder, Utf8Validator};

use super::input::{self, Many};
use super::streams::{Plan, Settings, check};
use crate::support::subjects::{Called, Decoding, Validating, Way};

pub fn validator(plan: &Plan) {
    check(plan, &|settings| Box::new(Validating::new(settings.options())));
}

pub fn decoder_pieces(plan: &Plan) {
    check(plan, &|settings| {
        let (options, mode) = (settings.options(), settings.mode().1);
        // Whatever the mode: pieces are always text and errors.
        let pieces = match settings.choice % 3 {
            0 => Way::Pieces,
            1 => Way::BrokenOff,
            _ => Way::Bytes,
        };
        match mode {
            ErrorMode::Fatal => Decoding::boxed(options, mode, &[pieces]),
            mode => Decoding::boxed(options, mode, &ways(settings.choice, mode)),
        }
    });
}

pub fn decoder_owned(plan: &Plan) {
    check(plan, &|settings| {
        let mode = settings.mode().1;
        Decoding::boxed(settings.options(), mode, &ways(settings.choice, mode))
    });
}

/// All ways, from a chosen one on, with room for the longest repair, and a little more or less.
fn ways(choice: u8, mode: ErrorMode) -> Vec<Way> {
    let room = 16 + usize::from(choice / 8);
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

/// Long inputs in chunks of so many bytes each, in turn.
#[derive(arbitrary::Arbitrary, Clone, Debug)]
pub struct Long {
    bytes: input::Bytes<4000>,
    sizes: Many<u16>,
}

impl Long {
    /// The chunks; where there are no sizes, the whole.
    pub fn chunks(&self) -> Vec<&[u8]> {
        let (mut rest, mut chunks) = (&self.bytes.0[..], Vec::new());
        for size in &*self.sizes {
            let (chunk, behind) = rest.split_at(rest.len().min(usize::from(*size % 1500)));
            chunks.push(chunk);
            rest = behind;
        }
        chunks.push(rest);
        chunks
    }
}

/// Long enough for every way through the kernels: replacement is that of std, and with the signature
/// off that of encoding_rs; the errors are those of std.
pub fn long(long: &Long) {
    let bytes = &long.bytes.0[..];
    let (mut decoder, mut text) = (Utf8Decoder::new(), String::new());
    for chunk in long.chunks() {
        let progress = decoder.push_to_string(chunk, ErrorMode::Replacement, &mut text);
        assert_eq!(progress.status, Status::Done);
    }
    decoder.finish_to_string(ErrorMode::Replacement, &mut text).unwrap();
    assert!(text == String::from_utf8_lossy(bytes), "{bytes:02x?}");

    let (mut decoder, mut validator) = (Utf8Decoder::new(), Utf8Validator::new());
    let (mut errors, mut joined) = (Vec::new(), String::new());
    for chunk in long.chunks() {
        for piece in decoder.push(chunk) {
            match piece {
                Ok(piece) => joined.push_str(piece),
                Err(error) => errors.push(error),
            }
        }
        let before = validator.position();
        while validator.push(&chunk[(validator.position() - before) as usize..]).is_err() {}
    }
    errors.extend(decoder.finish().err());
    let mut expected = Vec::new();
    let mut at = 0;
    let mut clean = String::new();
    for chunk in bytes.utf8_chunks() {
        clean.push_str(chunk.valid());
        at += chunk.valid().len() as u64;
        if !chunk.invalid().is_empty() {
            expected.push((at, chunk.invalid().to_vec()));
            at += chunk.invalid().len() as u64;
        }
    }
    let errors: Vec<_> =
        errors.iter().map(|error| (error.valid_up_to(), error.bytes().to_vec())).collect();
    assert!(joined == clean && errors == expected, "{bytes:02x?}");
    assert_eq!(validator.position(), bytes.len() as u64);

    #[cfg(feature = "encoding_rs")]
    of_encoding_rs(long);
}

#[cfg(feature = "encoding_rs")]
fn of_encoding_rs(long: &Long) {
    let options = utf8_codec::Utf8Options::new().with_bom(utf8_codec::BomPolicy::Strip);
    let mut ours = Utf8Decoder::with_options(options);
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
