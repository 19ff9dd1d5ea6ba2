//! The lines of a codec with a fallback, compared with a decoder for each line, with all options.

use utf8_codec::decoder::Status;
use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
use utf8_codec::lines::LineError;
use utf8_codec::{BomPolicy, ErrorMode, Utf8Error, Utf8Options};

use crate::lines::{Item, LineSettings, line_steps};
use crate::lists::MODES;

const LATIN1: LegacyEncoding = LegacyEncoding::latin1();

/// The lines of a codec are those of a decoder of its own for each line, which gets the content of the line.
#[test]
fn every_line_equals_that_of_the_decoder_with_all_options_at_any_split() {
    check_strings_of(2, &MODES);
    check_strings_of(3, &[ErrorMode::Fatal, ErrorMode::Escape]);
}

#[test]
#[ignore = "takes a minute"]
fn every_line_of_four_pieces_equals_that_of_the_decoder_with_all_options_at_any_split() {
    check_strings_of(4, &MODES);
}

fn check_strings_of(most: usize, modes: &[ErrorMode]) {
    /// Each byte is a whole line, a part of a BOM or of a character, a control, or none of these.
    const PIECES: [&[u8]; 8] =
        [b"\xC2", b"\x85", b"\xE9", b"\n", b"\xEF\xBB\xBF", b"\xFF", b"\x01", b"a"];
    let strict = [
        Utf8Options::new(),
        Utf8Options::new().reject_nul(),
        Utf8Options::new().reject_controls(),
        Utf8Options::new().reject_controls_except_whitespace(),
        Utf8Options::new().reject_noncharacters(),
        Utf8Options::new().only_mqtt_characters(),
        Utf8Options::new().only_xml_characters(),
        Utf8Options::new().only_unicode_assignables(),
        Utf8Options::new().only_displayable_characters(),
    ];
    let policies = [BomPolicy::Keep, BomPolicy::Strip, BomPolicy::Require, BomPolicy::Forbid];
    let mut strings = vec![Vec::new()];
    let mut last = strings.clone();
    for _ in 0..most {
        last = last.iter().flat_map(|s| PIECES.map(|piece| [&s[..], piece].concat())).collect();
        strings.extend_from_slice(&last);
    }
    for encoding in [LATIN1, LegacyEncoding::windows_1252()] {
        for fallback in [FallbackDecoder::line(encoding), FallbackDecoder::part(encoding)] {
            for strictness in strict {
                for options in policies.map(|policy| strictness.with_bom(policy)) {
                    for &mode in modes {
                        for bytes in &strings {
                            check_lines(&fallback, options, strictness, mode, bytes);
                        }
                    }
                }
            }
        }
    }
}

/// Compares the lines of the whole and of its bytes with those of decoders.
fn check_lines(
    fallback: &FallbackDecoder,
    options: Utf8Options,
    strictness: Utf8Options,
    mode: ErrorMode,
    bytes: &[u8],
) {
    let expected = lines_by_decoders(fallback, options, strictness, mode, bytes);
    let fallback_of_lines = Some(fallback.clone());
    let settings =
        LineSettings { options, mode, fallback: fallback_of_lines, ..LineSettings::default() };
    for size in [1, 2, bytes.len().max(1)] {
        let found = line_steps(&settings, bytes.chunks(size)).concat();
        let found: Vec<_> = found.into_iter().map(reported).collect();
        assert_eq!(found, expected, "{fallback:?} {options:?} {mode:?} {size}: {bytes:02x?}");
    }
}

/// The text, the number of errors and the offset of the first; or the error that rejects the line.
type Reported = Result<(String, u64, Option<u64>), Utf8Error>;

fn reported(line: Item) -> Reported {
    match line {
        Ok(line) => Ok((line.text.to_string(), line.error_count, line.first_error_offset)),
        Err(LineError::Utf8 { error, .. }) => Err(error),
        Err(error) => panic!("{error}"),
    }
}

fn lines_by_decoders(
    fallback: &FallbackDecoder,
    options: Utf8Options,
    strictness: Utf8Options,
    mode: ErrorMode,
    bytes: &[u8],
) -> Vec<Reported> {
    let (mut lines, mut at, mut options) = (Vec::new(), 0, options);
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let mut decoder = fallback.clone().with_options(options);
        let mut text = String::new();
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        let first = match decoder.push_to_string(content, mode, &mut text).status {
            Status::IllFormed(error) => Err(error),
            _ => decoder.finish_to_string(mode, &mut text),
        };
        let is_only_bom = decoder.bom_seen() && content.len() == 3 && line.len() == 3;
        if !is_only_bom {
            lines.push(match first {
                Ok(()) => {
                    let first = decoder.first_error().map(|error| at + error.valid_up_to());
                    Ok((text, decoder.error_count(), first))
                }
                Err(error) => Err(moved(error, at)),
            });
        }
        at += line.len() as u64;
        options = strictness;
    }
    if bytes.is_empty()
        && let Err(error) =
            fallback.clone().with_options(options).finish_to_string(mode, &mut String::new())
    {
        lines.push(Err(error));
    }
    lines
}

/// The same error, `by` bytes later in the stream.
fn moved(error: Utf8Error, by: u64) -> Utf8Error {
    if by == 0 {
        return error;
    }
    let mut value = serde_json::to_value(error).unwrap();
    value["valid_up_to"] = (error.valid_up_to() + by).into();
    serde_json::from_value(value).unwrap()
}
