//! The receiving end of a direction, in one of five forms.

use std::time::Duration;

use futures::{Stream, StreamExt};
use tokio::io::AsyncRead;
use tokio::time::timeout;
use tokio_util::codec::FramedRead;
use utf8_codec::codec::{CodecError, Utf8ChunksCodec, Utf8Codec, Utf8LinesCodec};
use utf8_codec::stream::{StreamError, Utf8Reader, Utf8Stream};
use utf8_codec::{ErrorMode, Utf8Error};

use crate::connection::Direction;
use crate::figures::Fault;
use crate::text::Random;

/// A receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Receiver {
    Reader,
    Stream,
    Chunks,
    Lossy,
    Lines,
}

impl Receiver {
    pub(crate) const ALL: [Self; 5] =
        [Self::Reader, Self::Stream, Self::Chunks, Self::Lossy, Self::Lines];

    /// Whether it replaces ill-formed parts with U+FFFD.
    pub(crate) fn repairs(self) -> bool {
        matches!(self, Self::Lossy | Self::Lines)
    }
}

/// Reads everything, to the end or until the connection breaks.
pub(crate) async fn receive<R: AsyncRead + Unpin>(
    receiver: Receiver,
    socket: R,
    direction: &Direction,
    mut random: Random,
) {
    match receiver {
        Receiver::Reader => {
            let mut reader = Utf8Reader::new(socket);
            loop {
                let patience = patience(&mut random);
                match timeout(patience, reader.next_str()).await {
                    Err(_) => direction.add_fault(Fault::CancelledRead, 1),
                    Ok(Ok(Some(text))) => direction.add_text(text),
                    Ok(Err(StreamError::Utf8(error))) => add(direction, &error),
                    Ok(Ok(None) | Err(_)) => return,
                }
            }
        }
        Receiver::Stream => {
            let mut texts = Utf8Stream::from_reader(socket);
            while let Some(text) = next(&mut texts, direction, &mut random).await {
                match text {
                    Ok(text) => direction.add_text(&text),
                    Err(StreamError::Utf8(error)) => add(direction, &error),
                    Err(_) => return,
                }
            }
        }
        Receiver::Chunks => {
            let mut chunks = FramedRead::new(socket, Utf8ChunksCodec::new());
            while let Some(chunk) = next(&mut chunks, direction, &mut random).await {
                match chunk {
                    Ok(Ok(text)) => direction.add_text(&text),
                    Ok(Err(error)) => add(direction, &error),
                    Err(_) => return,
                }
            }
        }
        Receiver::Lossy => {
            let codec = Utf8Codec::new().with_error_mode(ErrorMode::Replacement);
            let mut texts = FramedRead::new(socket, codec);
            while let Some(text) = next(&mut texts, direction, &mut random).await {
                match text {
                    Ok(text) => direction.add_text(&text),
                    Err(CodecError::Invalid(error)) => add(direction, &error),
                    Err(_) => return,
                }
            }
        }
        Receiver::Lines => {
            let codec = Utf8LinesCodec::new().with_error_mode(ErrorMode::Replacement);
            let mut lines = FramedRead::new(socket, codec);
            while let Some(line) = next(&mut lines, direction, &mut random).await {
                match line {
                    Ok(Ok(line)) => {
                        direction.add_text(&line.text);
                        if line.is_terminated() {
                            direction.add_text("\n");
                        }
                    }
                    // No line is as long as the limit, so this counts as a loss.
                    Ok(Err(_)) => {}
                    Err(_) => return,
                }
            }
        }
    }
}

fn add(direction: &Direction, error: &Utf8Error) {
    direction.add_error(error.valid_up_to(), error.bytes());
}

/// The next item. The future is dropped now and then, and made again.
async fn next<S: Stream + Unpin>(
    stream: &mut S,
    direction: &Direction,
    random: &mut Random,
) -> Option<S::Item> {
    loop {
        match timeout(patience(random), stream.next()).await {
            Ok(item) => return item,
            Err(_) => direction.add_fault(Fault::CancelledRead, 1),
        }
    }
}

fn patience(random: &mut Random) -> Duration {
    Duration::from_millis(20 + random.below(2000) as u64)
}
