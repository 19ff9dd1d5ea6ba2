//! All modes and dialects, and a text in many scripts.

#![allow(dead_code, reason = "each test binary uses its own part")]

use utf8_codec::ErrorMode;
use utf8_codec::dialect::Dialect;

pub(crate) const MODES: [ErrorMode; 6] = [
    ErrorMode::Fatal,
    ErrorMode::Replacement,
    ErrorMode::Skip,
    ErrorMode::Escape,
    ErrorMode::Latin1,
    ErrorMode::Windows1252,
];

/// All but `Fatal`.
pub(crate) const LOSSY: [ErrorMode; 5] = {
    let [ErrorMode::Fatal, lossy @ ..] = MODES else { panic!() };
    lossy
};

pub(crate) const DIALECTS: [Dialect; 6] = [
    Dialect::Rfc2279,
    Dialect::Cesu8,
    Dialect::ModifiedUtf8,
    Dialect::Wtf8,
    Dialect::Utf8b,
    Dialect::SurrogatePass,
];

pub(crate) const MULTILINGUAL: &str =
    "Zażółć gęślą jaźń, 色は匂へど散りぬるを, 키스의 고유조건은, 👩‍👩‍👧‍👦. ";
