use std::io;

use crate::utf16::Utf16Error;

/// What keeps text from being written.
///
/// # Examples
///
/// ```
/// use std::io::ErrorKind;
/// use utf8_codec::stream::{Utf8WriteExt, WriteError};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let mut buffer = [0; 4];
/// let mut writer = std::io::Cursor::new(&mut buffer[..]).utf8_writer();
/// writer.write_str("too much").await.unwrap();
/// let error = writer.flush().await.unwrap_err();
/// assert!(matches!(&error, WriteError::Io(error) if error.kind() == ErrorKind::WriteZero));
///
/// let error = writer.write_utf16(&[0xDC00]).await.unwrap_err();
/// assert!(matches!(&error, WriteError::Utf16(error) if error.offset() == 0));
/// assert_eq!(std::io::Error::from(error).kind(), ErrorKind::InvalidData);
/// # }
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// There are surrogates without their partners, in
    /// [`ErrorMode::Fatal`](crate::ErrorMode::Fatal); this is the first that the call
    /// found. They are passed over, and everything else of the text or the units has been taken:
    /// not to be sent again.
    #[error("the units are not acceptable utf-16")]
    Utf16(#[from] Utf16Error),
    /// The writer within failed. What is unwritten is kept, and what the call was to add has not
    /// been taken.
    #[error("output failed")]
    Io(#[from] io::Error),
}

/// An error of the writer as it was; the others as [`Utf16Error`] has it.
impl From<WriteError> for io::Error {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Utf16(error) => error.into(),
            WriteError::Io(error) => error,
        }
    }
}
