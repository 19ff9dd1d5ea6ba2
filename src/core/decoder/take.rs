use bytes::{Buf, BytesMut};

use crate::core::decoder::item::Item;
use crate::core::decoder::lossy::decode_to;
use crate::core::decoder::owned::{OwnedStep, step_owned};
use crate::core::error::Utf8Error;
use crate::core::mode::ErrorMode;
use crate::core::scanner::Scanner;
use crate::core::tally::Tally;

/// Takes what can be decoded off the front of `src`, each error repaired: without copying up to the
/// first error, in one loop from there on.
///
/// Leaves at most three bytes, which may still become a sequence. In [`ErrorMode::Fatal`] the first
/// error ends it.
pub(crate) fn decode_repaired(
    scanner: &mut Scanner,
    tally: &mut Tally,
    src: &mut BytesMut,
    mode: ErrorMode,
) -> Result<Item, Utf8Error> {
    let mut item = Item::new();
    loop {
        match step_owned(scanner, src) {
            OwnedStep::Hold => return Ok(item),
            OwnedStep::Text(text) => item.push(text),
            OwnedStep::Error(error) => {
                item.repair(mode, tally.note(error))?;
                if src.is_empty() {
                    return Ok(item);
                }
                let read = decode_to(scanner, tally, src, mode, item.repaired());
                src.advance(read.map_err(|(_, error)| error)?);
                return Ok(item);
            }
        }
    }
}
