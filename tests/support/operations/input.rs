//! Bytes and texts that are likely to be interesting, made from arbitrary bytes.

use std::ops::Deref;

use arbitrary::{Arbitrary, Result, Unstructured};

/// At most about this many bytes: pieces of sequences, characters, runs of them.
#[derive(Clone, Debug)]
pub struct Bytes<const MOST: usize>(pub Vec<u8>);

/// The same with complete characters.
#[derive(Clone, Debug)]
pub struct Text<const MOST: usize>(pub String);

/// The same with UTF-16 units.
#[derive(Clone, Debug)]
pub struct Units<const MOST: usize>(pub Vec<u16>);

/// Up to this many, seven on average. A `Vec` made from arbitrary bytes has one.
#[derive(Clone, Debug)]
pub struct Many<T, const MOST: usize = 24>(Vec<T>);

impl<'a, T: Arbitrary<'a>, const MOST: usize> Arbitrary<'a> for Many<T, MOST> {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let mut all = Vec::new();
        while all.len() < MOST && !u.is_empty() && u.arbitrary::<u8>()? % 8 != 0 {
            all.push(u.arbitrary()?);
        }
        Ok(Self(all))
    }
}

impl<T, const MOST: usize> Many<T, MOST> {
    pub fn none() -> Self {
        Self(Vec::new())
    }
}

impl<T, const MOST: usize> Deref for Many<T, MOST> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

#[derive(Arbitrary, Debug)]
enum Part {
    Known(u8),
    Byte(u8),
    Char(char),
    Known2(u8, u8),
    Run(u8, u8),
}

impl<'a, const MOST: usize> Arbitrary<'a> for Bytes<MOST> {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let mut bytes = Vec::new();
        for part in &*Many::<Part>::arbitrary(u)? {
            let known = |index: u8| PARTS[usize::from(index) % PARTS.len()];
            match *part {
                Part::Known(index) => bytes.extend_from_slice(known(index)),
                Part::Byte(byte) => bytes.push(byte),
                Part::Char(c) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                Part::Known2(one, two) => {
                    bytes.extend_from_slice(known(one));
                    bytes.extend_from_slice(known(two));
                }
                Part::Run(index, times) => {
                    let room = MOST.saturating_sub(bytes.len()) / known(index).len();
                    bytes.extend(known(index).repeat(room.min(times.into())));
                }
            }
            if bytes.len() >= MOST {
                break;
            }
        }
        Ok(Self(bytes))
    }
}

impl<'a, const MOST: usize> Arbitrary<'a> for Text<MOST> {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let bytes = Bytes::<MOST>::arbitrary(u)?;
        Ok(Self(bytes.0.utf8_chunks().map(|chunk| chunk.valid()).collect()))
    }
}

impl<'a, const MOST: usize> Arbitrary<'a> for Units<MOST> {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let mut units = Vec::new();
        for &(kind, value) in &*Many::<(u8, u16), MOST>::arbitrary(u)? {
            match kind % 8 {
                0 | 1 => units.push(0xD800 | value & 0x3FF),
                2 | 3 => units.push(0xDC00 | value & 0x3FF),
                4 => units.extend([0xD83D, 0xDE00]),
                5 => units.push(value),
                6 => units.extend(std::iter::repeat_n(value & 0x7FF, usize::from(value >> 11))),
                _ => units.push(value & 0x7F),
            }
        }
        Ok(Self(units))
    }
}

/// Both sides of every limit: of sequences, BOMs, delimiters, and the dialects.
const PARTS: &[&[u8]] = &[
    b"a",
    b"plain text, ",
    b"\n",
    b"\r",
    b"\r\n",
    b"\0",
    b"\x01",
    b"\x7F",
    b"\x1B%G",
    b"\x1B%@",
    b"\x1B%",
    b"\x1B",
    b"--",
    b"aa",
    b"\xEF\xBB\xBF",
    b"\xEF\xBB",
    b"\xEF",
    b"\xBB",
    b"\xBF",
    b"\x80",
    b"\xC2\x80",
    b"\xC2\x85",
    b"\xC2",
    b"\xC0\x80",
    b"\xC0",
    b"\xC1\xBF",
    b"\xC3\xA9",
    b"\xDF\xBF",
    b"\xE0\x80",
    b"\xE0\x9F\xBF",
    b"\xE0\xA0\x80",
    b"\xE0\xA0",
    b"\xE0",
    b"\xE2\x82\xAC",
    b"\xE2\x82",
    b"\xED\x9F\xBF",
    b"\xED\xA0\x80",
    b"\xED\xA0\xBD",
    b"\xED\xB8\x80",
    b"\xED\xA0\xBD\xED\xB8\x80",
    b"\xED\xA0",
    b"\xED",
    b"\xEE\x80\x80",
    b"\xEF\xB7\x90",
    b"\xEF\xBF\xBF",
    b"\xEF\xBF\xBD",
    b"\xF0\x90\x80\x80",
    b"\xF0\x9F\x98\x80",
    b"\xF0\x9F\x98",
    b"\xF0\x9F",
    b"\xF0",
    b"\xF0\x8F",
    b"\xF4\x8F\xBF\xBF",
    b"\xF4\x8F\xBF\xBE",
    b"\xF4\x90",
    b"\xF4",
    b"\xF5",
    b"\xF7\xBF\xBF\xBF",
    b"\xF8\x88\x80\x80\x80",
    b"\xFC\x84\x80\x80\x80\x80",
    b"\xFD",
    b"\xFE",
    b"\xFE\xFF",
    b"\xFF",
    b"\xFF\xFE",
    b"\xFF\xFE\0\0",
    b"\0\0\xFE\xFF",
    b"\xE9",
    b"\x93\xFA",
];
