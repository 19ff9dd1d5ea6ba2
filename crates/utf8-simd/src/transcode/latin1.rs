//! Latin-1.

use super::{Errors, Latin1, Sealed, Source, Target, Transcoded};
use super::{through_utf16, utf16::is_high};

impl Sealed for Latin1 {}

impl Source for Latin1 {
    type Input = [u8];
    type InputUnit = u8;
    const NAME: &str = "Latin-1";

    fn to_utf16(input: &[u8], output: &mut [u16], _: Errors) -> Transcoded {
        let len = input.len().min(output.len());
        for (unit, &byte) in output.iter_mut().zip(input) {
            *unit = byte.into();
        }
        Transcoded::until_full((len, len), input.len())
    }
}

impl Target for Latin1 {
    type Unit = u8;

    fn from_source<S: Source + ?Sized>(
        input: &S::Input,
        output: &mut [u8],
        errors: Errors,
    ) -> Transcoded {
        let put = |units: &[u16], out: &mut [u8]| put(units, out, errors);
        let greatest = if errors == Errors::Stop { GREATEST } else { u16::MAX };
        through_utf16::<S, u8>(input, output, errors, greatest, put)
    }
}

const GREATEST: u16 = 0xFF;

/// Writes characters as bytes, as many as fit. Stops before one that Latin-1 lacks, or replaces it. Returns the units
/// read and the bytes written.
fn put(units: &[u16], output: &mut [u8], errors: Errors) -> (usize, usize) {
    const BLOCK: usize = 16;
    let (mut read, mut written) = (0, 0);
    loop {
        while let (Some(from), Some(to)) =
            (units[read..].first_chunk::<BLOCK>(), output[written..].first_chunk_mut::<BLOCK>())
            && from.iter().fold(0, |all, unit| all | unit) <= GREATEST
        {
            for (to, &from) in to.iter_mut().zip(from) {
                *to = from as u8;
            }
            read += BLOCK;
            written += BLOCK;
        }
        for _ in 0..BLOCK {
            let (Some(&unit), Some(to)) = (units.get(read), output.get_mut(written)) else {
                return (read, written);
            };
            *to = match u8::try_from(unit) {
                Ok(byte) => byte,
                Err(_) if errors == Errors::Replace => b'?',
                Err(_) => return (read, written),
            };
            read += if is_high(unit) { 2 } else { 1 };
            written += 1;
        }
    }
}
