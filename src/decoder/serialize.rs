//! The forms in which options and errors are written and read with serde.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::num::NonZeroU64;

use crate::decoder::{
    AtEnd, BomPolicy, Scanner, Step, Strictness, TextPosition, Utf8Error, Utf8ErrorKind,
    Utf8Options,
};

/// The fields of [`TextPosition`]. Lines and columns count from 1.
#[derive(serde::Deserialize)]
#[serde(rename = "TextPosition")]
pub(crate) struct PositionFields {
    line: NonZeroU64,
    column: NonZeroU64,
    utf16_column: NonZeroU64,
    offset: u64,
}

impl From<PositionFields> for TextPosition {
    fn from(fields: PositionFields) -> Self {
        let PositionFields { line, column, utf16_column, offset } = fields;
        Self { line: line.get(), column: column.get(), utf16_column: utf16_column.get(), offset }
    }
}

/// The fields of [`Utf8Options`]. All are optional, so that a configuration file names only what it changes.
#[derive(Clone, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename = "Utf8Options", default, deny_unknown_fields)]
pub(crate) struct OptionFields {
    bom: BomPolicy,
    mid_stream_start: bool,
    strictness: Vec<Cow<'static, str>>,
}

impl From<Utf8Options> for OptionFields {
    fn from(options: Utf8Options) -> Self {
        Self {
            bom: options.bom().unwrap_or_default(),
            mid_stream_start: options.bom().is_none(),
            strictness: options.strictness().classes().map(Cow::Borrowed).collect(),
        }
    }
}

impl TryFrom<OptionFields> for Utf8Options {
    type Error = String;

    fn try_from(fields: OptionFields) -> Result<Self, String> {
        let mut strictness = Strictness::new();
        for name in fields.strictness {
            let class = Strictness::of_class(&name);
            strictness = strictness.with(class.ok_or_else(|| {
                format!(
                    "unknown class of characters `{name}`, expected one such as `nul` or `controls`"
                )
            })?);
        }
        let options = Self::new().with_bom(fields.bom).with_strictness(strictness);
        match (fields.mid_stream_start, fields.bom) {
            (false, _) => Ok(options),
            (true, BomPolicy::Keep) => Ok(options.with_mid_stream_start()),
            (true, _) => Err("a mid-stream start has no BOM policy".into()),
        }
    }
}

/// The fields of [`Utf8Error`].
#[derive(Clone, serde::Serialize, serde::Deserialize)]
#[serde(rename = "Utf8Error", deny_unknown_fields)]
pub(crate) struct ErrorFields {
    valid_up_to: u64,
    kind: Utf8ErrorKind,
    bytes: Vec<u8>,
    next_byte: Option<u8>,
}

impl From<Utf8Error> for ErrorFields {
    fn from(error: Utf8Error) -> Self {
        let (valid_up_to, kind, next_byte) = (error.valid_up_to(), error.kind(), error.next_byte());
        Self { valid_up_to, kind, bytes: error.bytes().into(), next_byte }
    }
}

impl TryFrom<ErrorFields> for Utf8Error {
    type Error = &'static str;

    fn try_from(fields: ErrorFields) -> Result<Self, &'static str> {
        let ErrorFields { valid_up_to, kind, bytes, next_byte } = fields;
        if bytes.len() > 4 {
            return Err("a UTF-8 error has at most four bytes");
        }
        let error = Self::new(valid_up_to, kind, &bytes, next_byte);
        is_possible(&error).then_some(error).ok_or("no stream has this UTF-8 error at this offset")
    }
}

/// Whether a decoder can report `error`.
fn is_possible(error: &Utf8Error) -> bool {
    let (offset, bytes, next) = (error.valid_up_to(), error.bytes(), error.next_byte());
    let input: Vec<u8> = bytes.iter().copied().chain(next).collect();
    if offset.checked_add(input.len() as u64).is_none() {
        return false;
    }
    let bom = match error.kind() {
        // The bytes of legacy text are in another encoding.
        Utf8ErrorKind::Noncharacter | Utf8ErrorKind::Forbidden => {
            let is_rejected = |text: &str| {
                Strictness::ALL.find_rejected(text) == Some((0, text.len(), error.kind()))
            };
            return next.is_none() && core::str::from_utf8(bytes).map_or(true, is_rejected);
        }
        Utf8ErrorKind::ForbiddenBom => BomPolicy::Forbid,
        Utf8ErrorKind::MissingBom => BomPolicy::Require,
        _ => BomPolicy::Keep,
    };
    let mut scanner = Scanner::new(Utf8Options::new().with_bom(bom));
    scanner.seek(offset);
    matches!(scanner.step_at(&input, AtEnd::Yes), Step::Error(found) if found == *error)
}
