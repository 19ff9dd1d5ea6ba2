use alloc::string::String;

use bytes::Buf;
use bytestring::ByteString;

use crate::core::error::Utf8Error;
use crate::core::mode::ErrorMode;
use crate::core::scanner::Scanner;
use crate::core::tally::Tally;
use crate::fallback::Switch;
use crate::fallback::switch::Found;
use crate::relatives::Follow;
use crate::unchecked::{SplitTo, take_text};

/// Takes the next text off the front of `bytes`: UTF-8 without copying, what is legacy as a copy.
///
/// `None` where more bytes are needed, or nothing is left; an error is what the options refuse and
/// `mode` does not repair.
pub(crate) fn take_next<B: SplitTo + Buf>(
    switch: &mut Switch,
    scanner: &mut Scanner,
    tally: &mut Tally,
    bytes: &mut B,
    follow: Follow,
    mode: ErrorMode,
) -> Result<Option<ByteString>, Utf8Error> {
    loop {
        let mut legacy = String::new();
        let mut found = Taken::Nothing;
        let text = take_text(bytes, |bytes| {
            match switch.step(scanner, tally, bytes, follow, &mut legacy) {
                Found::Text(text) => return text,
                Found::Legacy(len) | Found::Silent(len) => found = Taken::Bytes(len),
                Found::Error(error) => found = Taken::Error(error),
                Found::Hold => {}
            }
            ""
        });
        match found {
            Taken::Nothing if text.is_empty() => return Ok(None),
            Taken::Nothing => return Ok(Some(text)),
            Taken::Bytes(len) => bytes.advance(len),
            Taken::Error(error) => {
                bytes.advance(error.bytes().len());
                legacy.push_str(&mode.repair(&error).ok_or(error)?);
            }
        }
        if !legacy.is_empty() {
            return Ok(Some(legacy.into()));
        }
    }
}

/// What has been found, but for text.
enum Taken {
    Nothing,
    Bytes(usize),
    Error(Utf8Error),
}
