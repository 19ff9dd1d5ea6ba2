use alloc::string::String;

use crate::core::decoder::repair::repair;
use crate::core::error::Utf8Error;
use crate::core::mode::ErrorMode;
use crate::core::scanner::{Scanner, Step};
use crate::core::tally::Tally;
use crate::kernel::Kernel;

/// Appends what `input` decodes to, each error repaired.
///
/// Returns how many bytes are consumed; what is left, three bytes at the most, may still become a
/// sequence. In [`ErrorMode::Fatal`] stops behind the first error.
pub(crate) fn decode_to(
    scanner: &mut Scanner,
    tally: &mut Tally,
    input: &[u8],
    mode: ErrorMode,
    text: &mut String,
) -> Result<usize, (usize, Utf8Error)> {
    let mut read = 0;
    loop {
        let rest = &input[read..];
        if scanner.looks_near() && mode != ErrorMode::Fatal {
            let repaired = repair(Kernel::detect(), rest, mode, text);
            tally.add(repaired.errors, || {
                let (at, len) = repaired.first?;
                Some(Utf8Error::classify(scanner.position() + at as u64, &rest[at..], len))
            });
            scanner.skip_repaired(repaired.read);
            read += repaired.read;
        }
        match scanner.step(&input[read..]) {
            Step::Hold => return Ok(read),
            Step::Text(piece) => {
                text.push_str(piece);
                read += piece.len();
            }
            Step::Silent(len) => read += len,
            Step::Error(error) => {
                tally.note(error);
                read += error.bytes().len();
                text.push_str(&mode.repair(&error).ok_or((read, error))?);
            }
        }
    }
}
