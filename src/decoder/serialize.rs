//! How are options and errors written and read with serde, if deriving would expose their fields?

use core::fmt;
use core::num::NonZeroU64;

use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::decoder::bom::{BOM, BomPolicy};
use crate::decoder::error::{Utf8Error, Utf8ErrorKind};
use crate::decoder::options::{Strictness, Utf8Options};
use crate::decoder::position::TextPosition;

/// The fields of [`TextPosition`]. Lines and columns count from 1.
#[derive(serde::Deserialize)]
#[serde(rename = "TextPosition")]
pub(crate) struct PositionFields {
    line: NonZeroU64,
    column: NonZeroU64,
    offset: u64,
}

impl From<PositionFields> for TextPosition {
    fn from(PositionFields { line, column, offset }: PositionFields) -> Self {
        Self { line: line.get(), column: column.get(), offset }
    }
}

/// The fields of [`Utf8Options`]. All are optional, so that a configuration file names only what it changes.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename = "Utf8Options", default, deny_unknown_fields)]
struct OptionFields {
    bom: BomPolicy,
    mid_stream_start: bool,
    strictness: Strictness,
}

impl Default for OptionFields {
    fn default() -> Self {
        Utf8Options::new().into()
    }
}

impl From<Utf8Options> for OptionFields {
    fn from(options: Utf8Options) -> Self {
        Self {
            bom: options.bom().unwrap_or_default(),
            mid_stream_start: options.bom().is_none(),
            strictness: options.strictness(),
        }
    }
}

/// Writes the fields `bom`, `mid_stream_start` and `strictness`, a list of the names of the rejected classes such as
/// `["nul", "controls"]`.
impl Serialize for Utf8Options {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        OptionFields::from(*self).serialize(serializer)
    }
}

/// Reads the fields `bom`, `mid_stream_start` and `strictness`. If one is missing, its default applies. A BOM policy
/// other than `keep` together with a mid-stream start is an error.
///
/// The names in `strictness` are `nul`, `controls` (without HT, LF and CR), `C0 controls`, `DEL and C1 controls`,
/// `whitespace` (HT, LF and CR), `noncharacters`, `U+FFFE and U+FFFF` and `other noncharacters`.
/// [`reject_controls`](Utf8Options::reject_controls) is `controls` and `whitespace`.
impl<'de> Deserialize<'de> for Utf8Options {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let fields = OptionFields::deserialize(deserializer)?;
        let options = Self::new().with_bom(fields.bom).with_strictness(fields.strictness);
        match (fields.mid_stream_start, fields.bom) {
            (false, _) => Ok(options),
            (true, BomPolicy::Keep) => Ok(options.with_mid_stream_start()),
            (true, _) => Err(de::Error::custom("a mid-stream start has no BOM policy")),
        }
    }
}

/// Writes the names of the rejected classes.
impl Serialize for Strictness {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeSeq;
        let mut names = serializer.serialize_seq(Some(self.classes().count()))?;
        for name in self.classes() {
            names.serialize_element(name)?;
        }
        names.end()
    }
}

/// Reads the names of the rejected classes.
impl<'de> Deserialize<'de> for Strictness {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Classes)
    }
}

struct Classes;

impl<'de> Visitor<'de> for Classes {
    type Value = Strictness;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of names of classes of characters")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut names: A) -> Result<Strictness, A::Error> {
        let mut strictness = Strictness::new();
        while let Some(Class(add)) = names.next_element::<Class>()? {
            strictness = strictness.with(add);
        }
        Ok(strictness)
    }
}

/// One class.
struct Class(Strictness);

impl<'de> Deserialize<'de> for Class {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name;

        impl Visitor<'_> for Name {
            type Value = Class;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a class of characters, such as `nul` or `controls`")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<Class, E> {
                let class = Strictness::of_class(name);
                class.map(Class).ok_or_else(|| E::invalid_value(de::Unexpected::Str(name), &self))
            }
        }

        deserializer.deserialize_str(Name)
    }
}

/// The fields of [`Utf8Error`].
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename = "Utf8Error", deny_unknown_fields)]
struct ErrorFields {
    valid_up_to: u64,
    kind: Utf8ErrorKind,
    bytes: Subpart,
    next_byte: Option<u8>,
}

/// Writes the fields `valid_up_to`, `kind`, `bytes` and `next_byte`.
impl Serialize for Utf8Error {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Subpart { bytes: [0; 4], len: self.bytes().len() };
        bytes.bytes[..bytes.len].copy_from_slice(self.bytes());
        let (valid_up_to, kind, next_byte) = (self.valid_up_to(), self.kind(), self.next_byte());
        ErrorFields { valid_up_to, kind, bytes, next_byte }.serialize(serializer)
    }
}

/// Reads what `Serialize` writes. It is an error if no decoder returns such a `Utf8Error`: if the bytes do not have that
/// kind of error, or if they end after the offset `u64::MAX`.
impl<'de> Deserialize<'de> for Utf8Error {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let ErrorFields { valid_up_to, kind, bytes, next_byte } =
            ErrorFields::deserialize(deserializer)?;
        let error = Self::new(valid_up_to, kind, bytes.as_slice(), next_byte);
        match is_possible(&error) {
            true => Ok(error),
            false => Err(de::Error::custom("no stream has this UTF-8 error at this offset")),
        }
    }
}

/// Whether a decoder can report `error`.
fn is_possible(error: &Utf8Error) -> bool {
    use Utf8ErrorKind as Kind;
    let (bytes, next) = (error.bytes(), error.next_byte());
    let seen = bytes.len() as u64 + u64::from(next.is_some());
    if error.valid_up_to().checked_add(seen).is_none() {
        return false;
    }
    // The bytes of legacy text are in another encoding.
    let is_char = || str::from_utf8(bytes).map_or(true, |text| text.chars().count() == 1);
    match error.kind() {
        Kind::MissingBom => bytes.is_empty() && next.is_none() && error.valid_up_to() == 0,
        Kind::ForbiddenBom => bytes == BOM && next.is_none() && error.valid_up_to() == 0,
        Kind::Noncharacter | Kind::Forbidden => is_char() && next.is_none(),
        Kind::Incomplete => {
            let found = str::from_utf8(bytes).err();
            let is_whole =
                |e: core::str::Utf8Error| e.valid_up_to() == 0 && e.error_len().is_none();
            found.is_some_and(is_whole) && next.is_none()
        }
        _ => {
            let mut input = [0; 5];
            input[..bytes.len()].copy_from_slice(bytes);
            let len = match next {
                Some(next) => {
                    input[bytes.len()] = next;
                    bytes.len() + 1
                }
                None => bytes.len(),
            };
            let found = str::from_utf8(&input[..len]).err();
            let is_whole = |e: core::str::Utf8Error| {
                e.valid_up_to() == 0 && e.error_len() == Some(bytes.len())
            };
            let same = || Utf8Error::classify(error.valid_up_to(), &input[..len], bytes.len());
            found.is_some_and(is_whole) && same() == *error
        }
    }
}

/// At most four bytes, as a sequence.
struct Subpart {
    bytes: [u8; 4],
    len: usize,
}

impl Subpart {
    fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl Serialize for Subpart {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.as_slice())
    }
}

impl<'de> Deserialize<'de> for Subpart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;

        impl<'de> Visitor<'de> for Bytes {
            type Value = Subpart;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("at most four bytes")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut bytes: A) -> Result<Subpart, A::Error> {
                let mut subpart = Subpart { bytes: [0; 4], len: 0 };
                while let Some(byte) = bytes.next_element()? {
                    let place = subpart.bytes.get_mut(subpart.len);
                    *place.ok_or_else(|| de::Error::invalid_length(subpart.len + 1, &self))? = byte;
                    subpart.len += 1;
                }
                Ok(subpart)
            }
        }

        deserializer.deserialize_seq(Bytes)
    }
}
