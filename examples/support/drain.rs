//! The end of a connection whose peer may still be sending.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, copy, sink};
use tokio::time::timeout;

/// Reads and discards what the peer still sends, for at most `longest` and at most `most` bytes. Call it after the
/// last write and `shutdown`, before the socket is dropped.
///
/// A socket that is closed with unread bytes resets the connection, and the peer can lose what was sent last, such
/// as a close frame (RFC 6455 section 7.1.1) or the reason of a rejection.
pub async fn drain(socket: impl AsyncRead + Unpin, longest: Duration, most: u64) {
    let mut rest = socket.take(most);
    // However it ends, the connection is over.
    let _ended = timeout(longest, copy(&mut rest, &mut sink())).await;
}
