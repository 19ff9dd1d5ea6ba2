//! The fallback in streams: pending reads, errors of the source, and text that is not copied.

use std::convert::Infallible;

use bytes::Bytes;
use futures::channel::mpsc;
use futures::stream;
use futures::{FutureExt, StreamExt};
use proptest::prelude::*;
use utf8_codec::fallback::{FallbackDecoder, LegacyEncoding};
use utf8_codec::stream::{StreamError, Utf8Stream};
use utf8_codec::{BomPolicy, ErrorMode, Utf8Options};

use crate::fallback::{cut, cuts, inputs};
use crate::fallback_model::{EXTENTS, latin1, model, stream as read};

const LATIN1: LegacyEncoding = LegacyEncoding::latin1();

fn chunks(
    chunks: &[&[u8]],
) -> impl stream::Stream<Item = Result<Bytes, Infallible>> + Unpin + use<> {
    let chunks: Vec<_> = chunks.iter().map(|chunk| Ok(Bytes::copy_from_slice(chunk))).collect();
    stream::iter(chunks)
}

fn is_plain<T: Send + Sync + Unpin + Clone>() {}

#[test]
fn the_stream_is_send_sync_unpin_and_clone() {
    is_plain::<Utf8Stream<stream::Empty<Result<Bytes, Infallible>>, FallbackDecoder>>();
}

proptest! {
    #[test]
    fn the_stream_equals_the_model(bytes in inputs(), lens in cuts()) {
        for extent in EXTENTS {
            let expected = model(&bytes, extent, latin1);
            for chunking in [vec![&bytes[..]], bytes.chunks(1).collect(), cut(&bytes, &lens)] {
                let read = read(chunking, |texts| texts.with_fallback(extent.decoder(LATIN1)));
                prop_assert_eq!(&read, &expected, "{:?}", extent);
            }
        }
    }

    #[test]
    fn errors_are_in_order_at_any_split(bytes in inputs(), lens in cuts()) {
        let options = Utf8Options::new().only_mqtt_characters();
        for extent in EXTENTS {
            let reported = |chunking: Vec<&[u8]>| {
                read(chunking, |texts| {
                    texts.with_options(options).with_fallback(extent.decoder(LATIN1))
                })
            };
            let whole = reported(vec![&bytes]);
            prop_assert_eq!(&reported(bytes.chunks(1).collect()), &whole);
            prop_assert_eq!(&reported(cut(&bytes, &lens)), &whole);
        }
    }
}

#[tokio::test]
async fn with_fallback_keeps_held_bytes() {
    let mut texts = Utf8Stream::new(chunks(&[b"a\xC3", b"\xA9\xE9!"]));
    assert_eq!(texts.next().await.unwrap().unwrap(), "a");
    let mut texts =
        texts.with_error_mode(ErrorMode::Replacement).with_fallback(EXTENTS[0].decoder(LATIN1));
    let mut text = String::new();
    while let Some(piece) = texts.next().await {
        text += &piece.unwrap();
    }
    assert_eq!(text, "éé!");
    assert_eq!(texts.decoder().first_fallback(), Some(3));
}

#[test]
fn a_used_decoder_is_a_setting_without_its_stream_and_its_options() {
    for extent in EXTENTS {
        let strip = Utf8Options::new().with_bom(BomPolicy::Strip);
        let mut used = extent.decoder(LATIN1).with_options(strip);
        let _done = used.push_to_string(b"\xC3\xA9\xE9 \xC3", ErrorMode::Fatal, &mut String::new());
        for bytes in [&b"\xEF\xBB\xBF\xC3\xA9 \xE9"[..], b"\xC3\xA9\n\xE9\xE9", b"\xA9"] {
            let of_used = read([bytes], |texts| texts.with_fallback(used.clone()));
            let of_new = read([bytes], |texts| texts.with_fallback(extent.decoder(LATIN1)));
            assert_eq!(of_used, of_new, "{extent:?}");
        }
    }
}

#[tokio::test]
async fn with_fallback_keeps_an_incomplete_character_after_pending() {
    let (sender, receiver) = mpsc::unbounded::<Result<_, Infallible>>();
    let mut texts = Utf8Stream::new(receiver);
    sender.unbounded_send(Ok(&b"a\xC3"[..])).unwrap();
    assert_eq!(texts.next().await.unwrap().unwrap(), "a");
    assert_eq!(texts.next().now_or_never(), None);
    assert_eq!(texts.decoder().incomplete(), b"\xC3");

    let mut texts = texts.with_fallback(EXTENTS[0].decoder(LATIN1));
    sender.unbounded_send(Ok(b"\xA9\xE9!")).unwrap();
    drop(sender);
    let mut text = String::new();
    while let Some(piece) = texts.next().await {
        text += &piece.unwrap();
    }
    assert_eq!((text.as_str(), texts.decoder().first_fallback()), ("éé!", Some(3)));
}

#[tokio::test]
async fn an_inner_error_is_in_order_and_held_bytes_are_kept() {
    let inner = stream::iter([Ok(&b"\xC3"[..]), Err("cut off"), Ok(b"\xA9\n")]);
    let mut texts = Utf8Stream::new(inner).with_fallback(EXTENTS[1].decoder(LATIN1));
    assert_eq!(texts.next().await, Some(Err(StreamError::Inner("cut off"))));
    assert_eq!(texts.next().await, Some(Ok("é\n".into())));
    assert_eq!(texts.next().await, None);
    assert_eq!(texts.next().await, None);
}

#[test]
fn text_without_held_bytes_is_not_copied() {
    let chunk = Bytes::from_static("Grüße\nascii".as_bytes());
    let inner = stream::iter([Ok::<_, Infallible>(chunk.clone())]);
    let mut texts = Utf8Stream::new(inner).with_fallback(EXTENTS[1].decoder(LATIN1));
    let text = texts.next().now_or_never().unwrap().unwrap().unwrap();
    assert_eq!((text.as_ptr(), text.len()), (chunk.as_ptr(), chunk.len()));
}
