//! The API of cesu8 1.1, on top of `utf8-codec`.
#![forbid(unsafe_code)]

use std::borrow::Cow;
use std::fmt;

use utf8_codec::ErrorMode;
use utf8_codec::decoder::Status;
use utf8_codec::dialect::{Dialect, DialectDecoder, DialectEncoder};

/// The input is not in this dialect.
#[derive(Clone, Copy, Debug)]
pub struct Cesu8DecodingError;

impl fmt::Display for Cesu8DecodingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("could not convert CESU-8 data to UTF-8")
    }
}

impl std::error::Error for Cesu8DecodingError {}

pub fn from_cesu8(bytes: &[u8]) -> Result<Cow<'_, str>, Cesu8DecodingError> {
    decode(Dialect::Cesu8, bytes)
}

pub fn from_java_cesu8(bytes: &[u8]) -> Result<Cow<'_, str>, Cesu8DecodingError> {
    decode(Dialect::ModifiedUtf8, bytes)
}

pub fn to_cesu8(text: &str) -> Cow<'_, [u8]> {
    encode(Dialect::Cesu8, text)
}

pub fn to_java_cesu8(text: &str) -> Cow<'_, [u8]> {
    encode(Dialect::ModifiedUtf8, text)
}

/// Whether the text is the same in CESU-8 as in UTF-8.
pub fn is_valid_cesu8(text: &str) -> bool {
    text.bytes().all(|byte| byte < 0xF0)
}

/// Whether the text is the same in Modified UTF-8 as in UTF-8.
pub fn is_valid_java_cesu8(text: &str) -> bool {
    text.bytes().all(|byte| byte != 0 && byte < 0xF0)
}

/// Like cesu8, it accepts UTF-8 too, and returns it as it is.
fn decode(dialect: Dialect, bytes: &[u8]) -> Result<Cow<'_, str>, Cesu8DecodingError> {
    if let Ok(text) = utf8_codec::from_utf8(bytes) {
        return Ok(Cow::Borrowed(text));
    }
    let mut decoder = DialectDecoder::new(dialect);
    let mut text = String::with_capacity(bytes.len());
    let progress = decoder.push_to_string(bytes, ErrorMode::Fatal, &mut text);
    if progress.status != Status::Done {
        return Err(Cesu8DecodingError);
    }
    decoder.finish_to_string(ErrorMode::Fatal, &mut text).map_err(|_| Cesu8DecodingError)?;
    Ok(Cow::Owned(text))
}

fn encode(dialect: Dialect, text: &str) -> Cow<'_, [u8]> {
    let is_same = match dialect {
        Dialect::ModifiedUtf8 => is_valid_java_cesu8(text),
        _ => is_valid_cesu8(text),
    };
    if is_same {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len() + text.len() / 2);
    // Every text has a form in both dialects.
    let _encoded = DialectEncoder::new(dialect).push_to_vec(text, &mut bytes);
    Cow::Owned(bytes)
}
