//! Latin-1.

use super::{Errors, Latin1, Source, Target, Transcoded, put_by_blocks};

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
    const GREATEST: u16 = 0xFF;

    fn put(units: &[u16], output: &mut [u8], errors: Errors) -> (usize, usize) {
        let one = |rest: &[u16]| match u8::try_from(*rest.first()?) {
            Ok(byte) => Some(byte),
            Err(_) => (errors == Errors::Replace).then_some(b'?'),
        };
        put_by_blocks(units, output, |unit| unit <= Self::GREATEST, |unit| unit as u8, one)
    }
}
