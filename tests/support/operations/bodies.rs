//! HTTP bodies, in frames.

use std::convert::Infallible;

use arbitrary::Arbitrary;
use futures::executor::block_on;
use futures::{FutureExt, stream};
use http::HeaderMap;
use http_body::Frame;
use http_body_util::{Full, StreamBody};
use utf8_codec::ErrorMode;
use utf8_codec::http::{BodyError, Utf8Body};

use super::input::{Bytes, Many};
use super::streams::{self, Plan, Settings};
use crate::support::reference::{self, Mode};
use crate::support::{Atom, atoms};

#[derive(Arbitrary, Clone, Debug)]
pub enum BodyPlan {
    Framed(Plan),
    Collected(Collected),
    Limited(Limited),
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

#[derive(Arbitrary, Clone, Debug)]
pub struct Limited {
    settings: Settings,
    limit: u8,
    frames: Many<Bytes<60>, 12>,
    ending: Ending,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Ending {
    Plain,
    Trailers,
    Failure,
}

pub fn body(plan: &BodyPlan) {
    match plan {
        BodyPlan::Framed(plan) => streams::body(plan),
        BodyPlan::Collected(plan) => collected(plan),
        BodyPlan::Limited(plan) => limited(plan),
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

/// The output of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Item {
    Atom(Atom),
    Trailers,
    TooLong(u64),
    Failure,
}

/// Data within the limit is as in the model, then comes the error of the limit, then nothing.
fn limited(plan: &Limited) {
    let bytes = joined(&plan.frames);
    let limit = match plan.limit {
        // Around the length of the body.
        0..128 => (bytes.len() as u64 + u64::from(plan.limit % 5)).saturating_sub(2),
        limit => limit.into(),
    };
    let (config, (of_model, mode)) = (plan.settings.config(), plan.settings.mode());
    let frame = |bytes: &Bytes<60>| Ok(Frame::data(bytes::Bytes::from(bytes.0.clone())));
    let mut frames: Vec<_> = plan.frames.iter().map(frame).collect();
    match plan.ending {
        Ending::Plain => {}
        Ending::Trailers => frames.push(Ok(Frame::trailers(HeaderMap::new()))),
        Ending::Failure => frames.push(Err("out of order")),
    }
    let whole = Utf8Body::new(Full::new(bytes::Bytes::from(bytes.clone()))).with_max_length(limit);
    let rejected = whole.with_options(plan.settings.options()).with_error_mode(mode);
    let rejected = { rejected }.text_frame().now_or_never().expect("the source is ready");
    let is_rejected = matches!(rejected, Some(Err(BodyError::TooLong { .. })));
    assert_eq!(is_rejected, bytes.len() as u64 > limit, "by its size hint: {plan:?}");

    let body = Utf8Body::new(StreamBody::new(stream::iter(frames))).with_max_length(limit);
    let mut body = body.with_options(plan.settings.options()).with_error_mode(mode);
    let mut found = Vec::new();
    while let Some(frame) = body.text_frame().now_or_never().expect("the source is ready") {
        match frame.map(Frame::into_data) {
            Ok(Ok(text)) => found.extend(text.chars().map(|c| Item::Atom(Atom::Char(c)))),
            Ok(Err(_)) => found.push(Item::Trailers),
            Err(BodyError::Utf8(error)) => found.push(Item::Atom(Atom::from(&error))),
            Err(BodyError::TooLong { max_length: limit }) => found.push(Item::TooLong(limit)),
            Err(BodyError::Inner(_)) => found.push(Item::Failure),
            Err(error) => panic!("{error}"),
        }
    }
    assert!(body.text_frame().now_or_never().expect("ready").is_none(), "it stays ended");

    let is_long = bytes.len() as u64 > limit;
    let within = &bytes[..bytes.len().min(limit as usize)];
    let ended = !is_long && !matches!(plan.ending, Ending::Failure);
    let mut expected = Vec::new();
    for atom in atoms(&reference::decode_prefix(within, config, ended).events) {
        match atom {
            Atom::Error(error) if of_model != Mode::Fatal => {
                let repair =
                    reference::repair(of_model, &error, config).expect("the mode is lossy");
                expected.extend(repair.chars().map(|c| Item::Atom(Atom::Char(c))));
            }
            atom => expected.push(Item::Atom(atom)),
        }
    }
    match plan.ending {
        _ if is_long => expected.push(Item::TooLong(limit)),
        Ending::Plain => {}
        Ending::Trailers => expected.push(Item::Trailers),
        Ending::Failure => expected.push(Item::Failure),
    }
    assert_eq!(found, expected, "{plan:?}");
}

/// Collected text is what std makes of the whole, up to a limit.
fn collected(plan: &Collected) {
    let (bytes, limit) = (joined(&plan.frames), usize::from(plan.limit));
    let mode = if plan.is_repaired { ErrorMode::Replacement } else { ErrorMode::Fatal };
    let body = framed(&plan.frames).with_error_mode(mode);
    let found = block_on(body.collect_text(limit));
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
        // Text is counted before an error that follows it.
        Err(BodyError::TooLong { .. }) => assert!(valid.len() > limit, "{plan:?}"),
        Err(error) => {
            assert_eq!(error.offset(), Some(valid.len() as u64), "{plan:?}");
            assert!(valid.len() <= limit && valid.len() < bytes.len(), "{plan:?}");
        }
    }
}

/// Text and errors in another encoding are those of encoding_rs on the whole input.
#[cfg(feature = "encoding_rs")]
fn legacy(encoding: u8, frames: &Many<Bytes<60>, 12>) {
    use crate::encodings::{LABELS, whole};

    let label = LABELS[usize::from(encoding) % LABELS.len()];
    let bytes = joined(frames);
    if label.starts_with("utf-16") && matches!(bytes[..], [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..]) {
        return; // The BOM decides the encoding there.
    }
    let mut body = framed(frames).with_charset(label).unwrap();
    let mut words = Vec::new();
    while let Some(frame) = body.text_frame().now_or_never().expect("the source is ready") {
        match frame {
            Ok(frame) => {
                let text = frame.into_data().expect("there are no trailers");
                words.extend(text.chars().map(String::from));
            }
            Err(BodyError::Legacy { offset, bytes, .. }) => {
                words.push(format!("{offset} {:02x?}", &*bytes));
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(words, whole(label, &bytes), "{label}, {frames:?}");
}
