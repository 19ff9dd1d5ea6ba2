//! Traits, sizes and messages of the public types, and what a new object does without settings.

use std::error::Error;
use std::fmt::{Debug, Display};

use utf8_codec::{
    BomPolicy, ErrorMode, ParseNameError, Utf8Decoder, Utf8Encoder, Utf8Error, Utf8ErrorKind,
    Utf8Options, Utf8Validator,
};
use utf8_simd::Level;

use utf8_codec::decoder::{Pieces, Progress, Status};

fn is_plain<T: Send + Sync + Unpin + Debug>() {}
fn is_cloned<T: Clone + Default>() {}
fn is_copied<T: Copy + Eq>() {}
fn is_error<T: Error + Display + Send + Sync + 'static>() {}

#[test]
fn core_types_are_send_sync_unpin_and_debug() {
    is_plain::<BomPolicy>();
    is_plain::<ErrorMode>();
    is_plain::<Level>();
    is_plain::<Pieces<'_, '_>>();
    is_plain::<Progress>();
    is_plain::<Status>();
    is_plain::<Utf8Decoder>();
    is_plain::<Utf8Encoder>();
    is_plain::<Utf8Error>();
    is_plain::<Utf8ErrorKind>();
    is_plain::<Utf8Options>();
    is_plain::<Utf8Validator>();
}

#[test]
fn core_decoders_are_clone_and_options_are_copy() {
    is_cloned::<Utf8Decoder>();
    is_cloned::<Utf8Encoder>();
    is_cloned::<Utf8Validator>();
    is_cloned::<BomPolicy>();
    is_cloned::<ErrorMode>();
    is_cloned::<Utf8Options>();
    is_copied::<BomPolicy>();
    is_copied::<ErrorMode>();
    is_copied::<Level>();
    is_copied::<Progress>();
    is_copied::<Status>();
    is_copied::<Utf8Error>();
    is_copied::<Utf8ErrorKind>();
    is_copied::<Utf8Options>();
}

#[test]
fn rejecting_is_idempotent_and_never_undone() {
    let ways: [fn(Utf8Options) -> Utf8Options; 8] = [
        Utf8Options::reject_noncharacters,
        Utf8Options::reject_nul,
        Utf8Options::reject_controls,
        Utf8Options::reject_controls_except_whitespace,
        Utf8Options::only_mqtt_characters,
        Utf8Options::only_xml_characters,
        Utf8Options::only_unicode_assignables,
        Utf8Options::only_displayable_characters,
    ];
    let options = Utf8Options::new().with_bom(BomPolicy::Strip);
    for reject in ways {
        let once = reject(options);
        assert_eq!(reject(once), once);
        assert_ne!(once, options);
        assert_eq!(once, reject(Utf8Options::new()).with_bom(BomPolicy::Strip));
        for then in ways {
            let both = then(once);
            assert_eq!(both, reject(then(options)));
            assert_eq!(reject(both), both);
        }
    }
    let controls = Utf8Options::new().reject_controls();
    assert_eq!(controls.reject_controls_except_whitespace(), controls);
}

#[test]
fn a_repair_derefs_to_its_text() {
    let error = first_error(Utf8Options::new(), b"\xE9");
    let repair = ErrorMode::Latin1.repair(&error, Utf8Options::new()).expect("the mode is lossy");
    assert_eq!((&*repair, repair.to_string()), ("é", "é".to_owned()));
}

#[test]
fn utf8_error_is_small_and_boxable() {
    is_error::<Utf8Error>();
    assert_eq!(size_of::<Utf8Error>(), 16);
    assert_eq!(size_of::<Option<Utf8Error>>(), 16 + align_of::<Utf8Error>());
}

#[test]
fn decoders_are_small() {
    let (validator, decoder) = (size_of::<Utf8Validator>(), size_of::<Utf8Decoder>());
    println!("Utf8Validator: {validator} bytes, Utf8Decoder: {decoder} bytes");
    assert!(validator <= 40, "{validator}");
    assert!(decoder <= 112, "{decoder}");
}

// ---- errors -----------------------------------------------------------------------------------

/// The first error of a stream, pushed byte by byte.
fn first_error(options: Utf8Options, bytes: &[u8]) -> Utf8Error {
    let mut validator = Utf8Validator::new().with_options(options);
    let mut verdicts = bytes.iter().map(|byte| validator.push(&[*byte]));
    verdicts.find_map(Result::err).or_else(|| validator.finish().err()).expect("no error")
}

const PLAIN: Utf8Options = Utf8Options::new();

#[test]
fn debug_shows_the_bytes() {
    let debug = format!("{:?}", first_error(PLAIN, b"\xE2\x82A"));
    for part in ["valid_up_to: 0", "Truncated", "[e2, 82]", "41"] {
        assert!(debug.contains(part), "{debug}");
    }
}

#[test]
fn errors_with_equal_bytes_and_offset_are_equal() {
    let mut whole = Utf8Validator::new();
    assert_eq!(whole.push(b"\xF0\x9F\x98!").unwrap_err(), first_error(PLAIN, b"\xF0\x9F\x98!"));
    assert_ne!(first_error(PLAIN, b"\xFF"), first_error(PLAIN, b"a\xFF"));
    assert_ne!(first_error(PLAIN, b"\xFF"), first_error(PLAIN, b"\xFE"));
}

// ---- names ------------------------------------------------------------------------------------

#[test]
fn modes_and_policies_are_parsed_from_what_they_print() {
    fn check<T>(names: &[&str], values: &[T])
    where
        T: std::str::FromStr<Err = ParseNameError> + Display + Debug + PartialEq,
    {
        assert_eq!(names.len(), values.len());
        for (name, value) in names.iter().zip(values) {
            assert_eq!(value.to_string(), *name);
            assert_eq!(name.parse().as_ref(), Ok(value));
            assert_eq!(format!("[{value:>12}]"), format!("[{name:>12}]"));
        }
        for unknown in ["", "Keep", "FATAL", "keep ", "utf-8"] {
            let error = unknown.parse::<T>().unwrap_err().to_string();
            assert!(names.iter().all(|name| error.contains(name)), "{error}");
        }
    }
    use {BomPolicy as Bom, ErrorMode as Mode};
    let modes = "fatal replacement skip escape latin1 windows1252";
    check(
        &modes.split(' ').collect::<Vec<_>>(),
        &[
            Mode::Fatal,
            Mode::Replacement,
            Mode::Skip,
            Mode::Escape,
            Mode::Latin1,
            Mode::Windows1252,
        ],
    );
    let policies = ["keep", "strip", "require", "forbid"];
    check(&policies, &[Bom::Keep, Bom::Strip, Bom::Require, Bom::Forbid]);
    is_error::<ParseNameError>();
}

// ---- std and the codecs -----------------------------------------------------------------------

#[cfg(feature = "codec")]
mod codecs {
    use std::io;

    use bytes::BytesMut;
    use tokio_util::codec::Decoder;
    use utf8_codec::codec::{CharCodec, CodecError, Utf8ChunksCodec, Utf8Codec, Utf8LinesCodec};
    use utf8_codec::io::Utf8Reader;
    use utf8_codec::lines::{Delimiter, Line, LineError, LineRef};

    use super::{
        Debug, PLAIN, Utf8Error, Utf8ErrorKind, first_error, is_cloned, is_copied, is_error,
        is_plain,
    };

    #[test]
    fn codecs_and_items_are_send_sync_unpin_and_debug() {
        is_plain::<CharCodec>();
        is_plain::<Utf8ChunksCodec>();
        is_plain::<Utf8Codec>();
        is_plain::<Utf8LinesCodec>();
        is_plain::<Delimiter>();
        is_plain::<Line>();
        is_plain::<LineError>();
        is_plain::<CodecError>();
    }

    #[test]
    fn codecs_are_clone_and_default() {
        is_cloned::<CharCodec>();
        is_cloned::<Utf8ChunksCodec>();
        is_cloned::<Utf8Codec>();
        is_cloned::<Utf8LinesCodec>();
        is_cloned::<Delimiter>();
        is_cloned::<Line>();
        is_copied::<LineError>();
    }

    #[test]
    fn a_default_line_is_empty_and_has_the_number_0() {
        let Line { text, number, offset, .. } = Line::default();
        assert_eq!((&text[..], number, offset), ("", 0, 0));
        assert!(LineRef::default().is_empty());
    }

    #[test]
    fn a_default_codec_is_a_new_one() {
        fn same<C: Debug + Default>(new: C) {
            assert_eq!(format!("{new:?}"), format!("{:?}", C::default()));
        }
        same(CharCodec::new());
        same(Utf8ChunksCodec::new());
        same(Utf8Codec::new());
        same(Utf8LinesCodec::new());
        assert_eq!(Delimiter::default(), Delimiter::lf());
    }

    #[test]
    fn errors_are_boxable() {
        is_error::<CodecError>();
        is_error::<LineError>();
    }

    /// The `Utf8Error` that an `io::Error` holds.
    fn inside(error: &io::Error) -> &Utf8Error {
        error
            .get_ref()
            .expect("there is no inner error")
            .downcast_ref()
            .expect("another inner error")
    }

    #[test]
    fn an_io_error_is_invalid_data_or_unexpected_eof_and_holds_its_cause() {
        for bytes in [&b"\x80"[..], b"\xC0", b"\xED\xA0", b"\xF5", b"\xFF", b"\xC3A"] {
            let error = first_error(PLAIN, bytes);
            for io in [io::Error::from(error), io::Error::from(CodecError::Invalid(error))] {
                assert_eq!(io.kind(), io::ErrorKind::InvalidData);
                assert_eq!((inside(&io), io.to_string()), (&error, error.to_string()));
            }
        }
        let error = first_error(PLAIN, b"abc\xE2\x82");
        assert_eq!(error.kind(), Utf8ErrorKind::Incomplete);
        for io in [io::Error::from(error), io::Error::from(CodecError::Invalid(error))] {
            assert_eq!(io.kind(), io::ErrorKind::UnexpectedEof);
            assert_eq!(inside(&io).valid_up_to(), 3);
        }
    }

    #[test]
    fn an_io_error_round_trips_through_codec_error() {
        let reset = io::Error::new(io::ErrorKind::ConnectionReset, "the cable");
        let error: CodecError = reset.into();
        let back = io::Error::from(error);
        assert_eq!(back.kind(), io::ErrorKind::ConnectionReset);
        assert_eq!(back.to_string(), "the cable");
    }

    #[test]
    fn a_line_error_turns_into_an_io_error_with_the_same_message() {
        let mut codec = Utf8LinesCodec::new().with_max_length(5);
        let mut buffer = BytesMut::from(&b"x\nab\xFF\nfar too long\n"[..]);
        let mut next = || codec.decode(&mut buffer).unwrap().unwrap();
        next().unwrap();

        let error = next().unwrap_err();
        let io = io::Error::from(error);
        assert_eq!((io.kind(), io.to_string()), (io::ErrorKind::InvalidData, error.to_string()));
        assert_eq!(io.get_ref().unwrap().downcast_ref(), Some(&error));

        let too_long = io::Error::from(next().unwrap_err());
        assert_eq!(too_long.kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn question_mark_converts_each_error_to_io_error() {
        fn decode(bytes: &[u8]) -> io::Result<String> {
            let mut buffer = BytesMut::from(bytes);
            let text = Utf8Codec::new().decode_eof(&mut buffer)?.unwrap_or_default();
            let line = Utf8LinesCodec::new().decode(&mut BytesMut::from("line\n"))?;
            Ok(text.to_string() + &line.expect("a line")?)
        }
        assert_eq!(decode(b"text, ").unwrap(), "text, line");
        assert_eq!(decode(b"\xFF").unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(decode(b"\xC3").unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    fn line() -> Line {
        let line = Utf8LinesCodec::new().decode(&mut BytesMut::from("größe\n")).unwrap();
        line.unwrap().unwrap()
    }

    #[test]
    fn a_line_prints_like_its_text() {
        let line = line();
        assert_eq!(format!("[{line:>7}] [{line:.3}]"), "[  größe] [grö]");
        assert_eq!((line.as_ref(), line.len()), ("größe", 7));
    }

    #[test]
    fn a_line_compares_with_and_converts_to_text() {
        assert!(line() == *"größe" && line() == "größe");
        assert!(line() != *"große" && line() != "große");
        assert_eq!(String::from(line()), "größe");
    }

    #[test]
    fn the_default_limit_is_64_kib() {
        assert_eq!(Utf8LinesCodec::DEFAULT_MAX_LENGTH, 65_536);
        let line =
            |len| Utf8LinesCodec::new().decode(&mut BytesMut::from(&*vec![b'x'; len])).unwrap();
        assert!(line(65_536).is_none(), "its end may follow");
        assert!(line(65_537).unwrap().is_err());
        for (len, fits) in [(65_535, true), (65_536, true), (65_537, false), (1 << 20, false)] {
            for (mut codec, end) in [
                (Utf8LinesCodec::new(), "\r\n"),
                (Utf8LinesCodec::default(), "\n"),
                (Utf8LinesCodec::new().with_delimiter(Delimiter::nul()), "\0"),
            ] {
                let mut buffer = BytesMut::from(&*format!("{}{end}next{end}", "x".repeat(len)));
                let line = codec.decode(&mut buffer).unwrap().unwrap();
                match line {
                    Ok(line) => assert_eq!((fits, line.len()), (true, len)),
                    Err(error) => {
                        let too_long =
                            LineError::TooLong { number: 1, offset: 0, max_length: 65_536 };
                        assert_eq!((fits, error), (false, too_long));
                    }
                }
                assert_eq!(codec.decode(&mut buffer).unwrap().unwrap().unwrap().text, "next");
            }
        }
    }

    #[test]
    fn a_lossy_codec_replaces_errors() {
        let text = Utf8Codec::lossy().decode(&mut BytesMut::from(&b"a\xFFb"[..]));
        assert_eq!(text.unwrap().unwrap(), "a\u{FFFD}b");
    }

    #[test]
    fn the_chars_of_a_reader_continue_after_an_error() {
        let mut reader = Utf8Reader::new(&b"5 \xE2\x82\xAC\xFFx"[..]);
        let chars: Vec<_> = reader.chars().collect();
        let text: String = chars.iter().take(3).map(|c| *c.as_ref().unwrap()).collect();
        assert_eq!((&*text, chars.len()), ("5 €", 5));
        assert!(chars[3].is_err() && matches!(chars[4], Ok('x')));
    }

    #[test]
    fn delimiters_print_and_compare_by_value() {
        let text = |text| Delimiter::text(text).unwrap();
        assert_eq!(format!("{:?}", Delimiter::lf()), "Lf");
        assert_eq!(format!("{:?}", text("--")), "Text(\"--\")");
        assert_eq!(text("--"), text("--"));
        assert_ne!(text("--"), text("-"));
        assert_ne!(text("\n"), Delimiter::lf(), "a CR before it is content");
        assert_ne!(Delimiter::lf(), Delimiter::any_newline());
        assert_eq!(Delimiter::text(""), None);
    }
}

#[cfg(feature = "stream")]
mod streams {
    use std::fmt::Debug;
    use std::io;

    use tokio::io::Empty;
    use utf8_codec::stream::{CharStream, StreamError, Utf8ByteReader, Utf8Reader, Utf8Stream};

    use super::{PLAIN, first_error, is_error, is_plain};

    #[test]
    fn streams_have_the_auto_traits_of_their_source() {
        is_plain::<Utf8Stream<()>>();
        fn returns_plain<T: Send + Sync + Unpin + Debug>(_: fn(Empty) -> T) {}
        returns_plain(Utf8Stream::from_reader);
        is_plain::<StreamError<io::Error>>();
        type Chunks = futures::stream::Empty<io::Result<&'static [u8]>>;
        is_plain::<CharStream<Chunks>>();
        is_plain::<Utf8Reader<()>>();
        is_plain::<Utf8ByteReader<Utf8Reader<()>>>();
    }

    #[test]
    fn stream_errors_are_boxable() {
        is_error::<StreamError<io::Error>>();
    }

    #[test]
    fn a_reader_error_converts_back_to_the_io_error() {
        let utf8 = first_error(PLAIN, b"ok\xC3");
        let io = io::Error::from(StreamError::<io::Error>::from(utf8));
        assert_eq!(io.kind(), io::ErrorKind::UnexpectedEof);
        let reset = || io::Error::new(io::ErrorKind::ConnectionReset, "the cable");
        let io = io::Error::from(StreamError::from(reset()));
        assert_eq!((io.kind(), &*io.to_string()), (io::ErrorKind::ConnectionReset, "the cable"));
    }

    #[test]
    fn a_stream_is_small() {
        let size = size_of::<Utf8Stream<()>>();
        println!("Utf8Stream: {size} bytes besides the inner stream");
        assert!(size <= 160, "{size}");
    }
}
