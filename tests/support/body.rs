//! `Utf8Body` as a [`Subject`]: a frame for each chunk.

use std::convert::Infallible;

use bytes::Bytes;
use futures::FutureExt;
use futures::channel::mpsc::{self, UnboundedReceiver, UnboundedSender};
use http_body::{Body, Frame};
use http_body_util::StreamBody;
use utf8_codec::http::{BodyError, Utf8Body};
use utf8_codec::{ErrorMode, Utf8Decoder, Utf8Options};

use super::subjects::Subject;
use super::{Atom, Errors, model_error};

type Frames = UnboundedReceiver<Result<Frame<Bytes>, Infallible>>;

pub struct Framed {
    /// `None` once the body has ended.
    sender: Option<UnboundedSender<Result<Frame<Bytes>, Infallible>>>,
    body: Utf8Body<StreamBody<Frames>>,
    mode: ErrorMode,
}

impl Framed {
    pub fn boxed(options: Utf8Options, mode: ErrorMode) -> Box<dyn Subject> {
        let (sender, receiver) = mpsc::unbounded();
        let body = Utf8Body::new(StreamBody::new(receiver));
        let body = body.with_options(options).with_error_mode(mode);
        Box::new(Self { sender: Some(sender), body, mode })
    }

    /// The frames until the body is pending or has ended.
    fn ready(&mut self) -> Vec<Atom> {
        let mut out = Vec::new();
        let mut frames = 0;
        while let Some(Some(frame)) = self.body.text_frame().now_or_never() {
            match frame {
                Ok(frame) => {
                    let text = frame.into_data().expect("a frame of data");
                    assert!(!text.is_empty(), "frames are never empty");
                    out.extend(text.chars().map(Atom::Char));
                }
                Err(BodyError::Utf8(error)) => out.push(Atom::from(&error)),
                Err(error) => panic!("{error}"),
            }
            frames += 1;
        }
        assert!(frames <= 1 || self.mode == ErrorMode::Fatal, "one frame per chunk");
        out
    }
}

impl Subject for Framed {
    fn push(&mut self, chunk: &[u8]) -> Vec<Atom> {
        let sender = self.sender.as_ref().expect("not ended");
        sender.unbounded_send(Ok(Frame::data(Bytes::copy_from_slice(chunk)))).expect("open");
        self.ready()
    }

    fn finish(&mut self) -> Vec<Atom> {
        self.sender = None;
        let out = self.ready();
        assert!(self.body.is_end_stream());
        assert!(self.body.text_frame().now_or_never().expect("ready").is_none(), "it stays ended");
        out
    }

    fn state(&self) -> Option<(&Utf8Decoder, usize)> {
        Some((self.body.decoder(), 0))
    }

    fn errors(&self) -> Option<Errors> {
        let first = self.body.first_error().map(|error| match error {
            BodyError::Utf8(error) => model_error(&error),
            error => panic!("{error}"),
        });
        let (count, rejected) = (self.body.error_count(), self.body.decoder().rejected_count());
        Some(Errors { count, rejected, first })
    }
}
