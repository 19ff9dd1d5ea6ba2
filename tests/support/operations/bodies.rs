//! Bodies of HTTP, in frames.

use std::convert::Infallible;

use arbitrary::Arbitrary;
use futures::{FutureExt, stream};
use http_body::Frame;
use http_body_util::StreamBody;
use utf8_codec::ErrorMode;
use utf8_codec::payload::http::{BodyError, Utf8Body};

use super::input::{Bytes, Many};
use super::streams::{self, Plan};

#[derive(Arbitrary, Clone, Debug)]
pub enum BodyPlan {
    Framed(Plan),
    Collected(Collected),
    #[cfg(feature = "encoding_rs")]
    Legacy {
        encoding: u8,
        frames: Many<Bytes<60>, 12>,
    },
}

#[derive(Arbitrary, Clone, Debug)]
pub struct Collected {
    limit: u8,
    is_repaired: bool,
    frames: Many<Bytes<60>, 12>,
}

pub fn body(plan: &BodyPlan) {
    match plan {
        BodyPlan::Framed(plan) => streams::body(plan),
        BodyPlan::Collected(plan) => collected(plan),
        #[cfg(feature = "encoding_rs")]
        BodyPlan::Legacy { encoding, frames } => legacy(*encoding, frames),
    }
}

type Frames = std::vec::IntoIter<Result<Frame<bytes::Bytes>, Infallible>>;

fn framed(frames: &Many<Bytes<60>, 12>) -> Utf8Body<StreamBody<stream::Iter<Frames>>> {
    let frame = |bytes: &Bytes<60>| Ok(Frame::data(bytes.0.clone().into()));
    let frames: Vec<_> = frames.iter().map(frame).collect();
    Utf8Body::new(StreamBody::new(stream::iter(frames)))
}

fn joined(frames: &Many<Bytes<60>, 12>) -> Vec<u8> {
    frames.iter().flat_map(|frame| frame.0.clone()).collect()
}

/// What is collected is what std makes of the whole, up to a limit.
fn collected(plan: &Collected) {
    let (bytes, limit) = (joined(&plan.frames), usize::from(plan.limit));
    let mode = if plan.is_repaired { ErrorMode::Replacement } else { ErrorMode::Fatal };
    let body = framed(&plan.frames).with_error_mode(mode);
    let found = body.collect_text(limit).now_or_never().expect("all is there");
    if plan.is_repaired {
        let text = String::from_utf8_lossy(&bytes);
        match found {
            Ok(found) => assert!(found == text && text.len() <= limit, "{plan:?}"),
            Err(BodyError::TooLong { .. }) => assert!(text.len() > limit, "{plan:?}"),
            Err(error) => panic!("{error}: {plan:?}"),
        }
        return;
    }
    let valid = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    match found {
        Ok(found) => assert!(found.as_bytes() == bytes && found.len() <= limit, "{plan:?}"),
        // Text is counted before what is wrong behind it.
        Err(BodyError::TooLong { .. }) => assert!(valid.len() > limit, "{plan:?}"),
        Err(error) => {
            assert_eq!(error.offset(), Some(valid.len() as u64), "{plan:?}");
            assert!(valid.len() <= limit && valid.len() < bytes.len(), "{plan:?}");
        }
    }
}

/// Text and errors of another encoding are those of encoding_rs given everything at once.
#[cfg(feature = "encoding_rs")]
fn legacy(encoding: u8, frames: &Many<Bytes<60>, 12>) {
    use utf8_codec::payload::http::Charset;

    use crate::encodings::{LABELS, whole};

    let label = LABELS[usize::from(encoding) % LABELS.len()];
    let bytes = joined(frames);
    if label.starts_with("utf-16") && matches!(bytes[..], [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..]) {
        return; // The signature has the last word there.
    }
    let mut body = framed(frames).with_charset(Charset::from_label(label).unwrap());
    let mut words = Vec::new();
    while let Some(frame) = body.text_frame().now_or_never().expect("all is there") {
        match frame {
            Ok(frame) => {
                let text = frame.into_data().expect("there are no trailers");
                words.extend(text.chars().map(String::from));
            }
            Err(BodyError::Legacy(error)) => {
                words.push(format!("{} {:02x?}", error.valid_up_to(), error.bytes()));
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(words, whole(label, &bytes), "{label}, {frames:?}");
}
