//! The result of the methods that write into a buffer.

use crate::decoder::Utf8Error;

/// The result of a call that writes into a buffer: how much it read and wrote, and why it returned.
///
/// # Examples
///
/// ```
/// use utf8_codec::{ErrorMode, Utf8Decoder};
/// use utf8_codec::decoder::Status;
///
/// let mut decoder = Utf8Decoder::new();
/// let mut buffer = [0; 8];
/// let progress = decoder.push_to_slice(b"abc\xE2\x82", ErrorMode::Fatal, &mut buffer);
/// assert_eq!((progress.read, progress.held, progress.written), (5, 2, 3));
/// assert_eq!(progress.status, Status::Done);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[must_use]
pub struct Progress<E = Utf8Error> {
    /// The number of input units consumed: bytes, or `char`s or UTF-16 units if the input consists of these.
    /// Continue with `input[read..]`.
    pub read: usize,
    /// The number of units at the end of those read that the decoder holds as the beginning of a sequence. Their
    /// text, repair or error is still to come. It is 0 unless the status is [`Status::Done`].
    pub held: usize,
    /// The number of units written to the destination: bytes, `char`s or UTF-16 units.
    pub written: usize,
    /// Why the call returned.
    pub status: Status<E>,
}

/// Why a call that writes into a buffer returned.
///
/// Every status except `Done` names what has to change before the next call.
///
/// # Examples
///
/// This decodes a whole stream through a buffer of fixed size:
///
/// ```
/// use utf8_codec::{ErrorMode, Utf8Decoder};
/// use utf8_codec::decoder::Status;
///
/// let chunks = [&b"gr\xC3"[..], b"\xB6\xC3\x9Fer: \xFF", b" 10 \xE2\x82"];
/// let (mut decoder, mode) = (Utf8Decoder::new(), ErrorMode::Replacement);
/// let (mut buffer, mut out) = ([0; 16], Vec::new());
/// for chunk in chunks {
///     let mut input = chunk;
///     loop {
///         let progress = decoder.push_to_slice(input, mode, &mut buffer);
///         out.extend_from_slice(&buffer[..progress.written]);
///         input = &input[progress.read..];
///         match progress.status {
///             Status::Done => break,
///             Status::Full => continue, // the buffer has been copied out and has room again
///             Status::TooSmall { .. } => unreachable!("16 bytes are always enough"),
///             Status::IllFormed(_) => unreachable!("the mode repairs"),
///             other => panic!("unexpected status: {other:?}"),
///         }
///     }
/// }
/// loop {
///     let progress = decoder.finish_to_slice(mode, &mut buffer);
///     out.extend_from_slice(&buffer[..progress.written]);
///     if progress.status == Status::Done {
///         break;
///     }
/// }
/// assert_eq!(String::from_utf8(out).unwrap(), "größer: \u{FFFD} 10 \u{FFFD}");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status<E = Utf8Error> {
    /// All input has been consumed or is held.
    Done,
    /// The next character or repair does not fit in the rest of the destination.
    ///
    /// `read` can be 0 if only the repair of the held bytes fitted; `written` is then greater than 0.
    Full,
    /// The next character or repair alone is longer than the whole destination, so nothing was read or
    /// written. Never returned for a destination of at least 16 units.
    TooSmall {
        /// The length of that character or repair, in units of the destination.
        needed: usize,
    },
    /// An error; only in [`ErrorMode::Fatal`](crate::ErrorMode::Fatal). `read` includes the rejected units of this input; earlier ones were
    /// held.
    IllFormed(E),
}

/// Divides the `used` bytes of a chunk into bytes read and bytes held.
pub(crate) fn progress<E>(
    used: usize,
    held: &[u8],
    written: usize,
    status: Status<E>,
) -> Progress<E> {
    let held = match status {
        Status::Done => held.len().min(used),
        _ => 0,
    };
    Progress { read: used, held, written, status }
}
