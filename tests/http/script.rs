//! Scripted bodies, and their output as strings.

use std::collections::VecDeque;
use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::FutureExt;
use http::{HeaderMap, HeaderValue};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use utf8_codec::ErrorMode;
use utf8_codec::http::{BodyError, Utf8Body};

use crate::sources::Look;

/// What a body does when it is polled.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Does {
    Data(&'static [u8]),
    /// Sends trailers with a field `x` of this value.
    Trailers(&'static str),
    Fail(&'static str),
    /// Is pending once, and wakes the task at once.
    Pause,
    /// Reports its end, even if more follows.
    End,
}

/// A body that follows a script, and then is pending forever.
#[derive(Debug)]
pub(crate) struct Script {
    pub(crate) does: VecDeque<Does>,
    pub(crate) polls: usize,
    /// Whether the last poll returned `Pending`.
    pub(crate) pending: bool,
    pub(crate) hint: SizeHint,
}

impl Script {
    pub(crate) fn new(does: &[Does]) -> Self {
        let does = does.iter().copied().collect();
        Self { does, polls: 0, pending: false, hint: SizeHint::new() }
    }

    /// A script of these chunks, then the end.
    pub(crate) fn of(chunks: &[&'static [u8]]) -> Self {
        let mut does: Vec<_> = chunks.iter().copied().map(Does::Data).collect();
        does.push(Does::End);
        Self::new(&does)
    }

    /// Reports its exact length and its end in advance, as bodies with a `Content-Length` do.
    pub(crate) fn with_length(mut self) -> Self {
        self.hint = SizeHint::with_exact(self.left());
        self
    }

    pub(crate) fn look(&self) -> Look {
        Look { polls: self.polls, pending: self.pending, is_over: self.does.is_empty() }
    }

    fn left(&self) -> u64 {
        let len = |does: &Does| match does {
            Does::Data(data) => data.len() as u64,
            _ => 0,
        };
        self.does.iter().take_while(|does| !matches!(does, Does::End)).map(len).sum()
    }
}

impl Body for Script {
    type Data = Bytes;
    type Error = &'static str;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
        self.polls += 1;
        let does = self.does.pop_front();
        self.pending = matches!(does, Some(Does::Pause) | None);
        match does {
            Some(Does::Data(data)) => Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(data))))),
            Some(Does::Trailers(value)) => {
                let mut trailers = HeaderMap::new();
                trailers.insert("x", HeaderValue::from_static(value));
                Poll::Ready(Some(Ok(Frame::trailers(trailers))))
            }
            Some(Does::Fail(error)) => Poll::Ready(Some(Err(error))),
            Some(Does::End) => Poll::Ready(None),
            Some(Does::Pause) => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            None => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.hint.exact().is_some() && matches!(self.does.front(), None | Some(Does::End))
    }

    fn size_hint(&self) -> SizeHint {
        match self.hint.exact() {
            Some(_) => SizeHint::with_exact(self.left()),
            None => self.hint,
        }
    }
}

pub(crate) fn body(does: &[Does]) -> Utf8Body<Script> {
    Utf8Body::new(Script::new(does))
}

type Polled = Result<Frame<Bytes>, BodyError>;

/// Formats a frame: text; trailers after `x:`; the offset and bytes of an error; or any other error
/// after a `!`.
pub(crate) fn word(frame: Polled) -> String {
    let frame = match frame {
        Ok(frame) => frame,
        Err(BodyError::Utf8(error)) => {
            return format!("{} {:02x?}", error.valid_up_to(), error.bytes());
        }
        Err(BodyError::Legacy { offset, bytes, .. }) => {
            return format!("{offset} {:02x?}", &*bytes);
        }
        Err(BodyError::Inner(error)) => return format!("! {error}"),
        Err(BodyError::TooLong { max_length: limit }) => return format!("! > {limit}"),
        Err(error) => panic!("with a status of {}", error.status()),
    };
    match frame.into_data() {
        Ok(data) => {
            assert!(!data.is_empty(), "frames are never empty");
            String::from_utf8(data.to_vec()).expect("frames hold complete characters")
        }
        Err(frame) => {
            let trailers = frame.into_trailers().expect("no other error occurs");
            format!("x: {}", trailers["x"].to_str().unwrap())
        }
    }
}

/// Formats all frames that are ready, with `-` for the end.
pub(crate) fn ready<B>(body: &mut Utf8Body<B>) -> Vec<String>
where
    B: Body<Error: Into<Box<dyn Error + Send + Sync>>> + Unpin,
{
    let mut words = Vec::new();
    while let Some(frame) = next(body) {
        let Some(frame) = frame else {
            words.push("-".to_owned());
            break;
        };
        words.push(word(frame));
    }
    words
}

/// The next frame, if it is ready.
pub(crate) fn next<B>(body: &mut Utf8Body<B>) -> Option<Option<Polled>>
where
    B: Body<Error: Into<Box<dyn Error + Send + Sync>>> + Unpin,
{
    body.frame().now_or_never()
}

pub(crate) fn reported(mode: ErrorMode, does: &[Does]) -> Vec<String> {
    ready(&mut body(does).with_error_mode(mode))
}
