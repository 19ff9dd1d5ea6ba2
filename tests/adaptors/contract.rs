//! The contracts that every adaptor over a reader keeps: wakers, dropped futures, settings.
#![cfg(all(feature = "codec", feature = "http-body", feature = "stream"))]

use std::pin::pin;

use futures::FutureExt;
use tokio::io::{AsyncWriteExt, duplex};
use tokio::task::yield_now;
use tokio_test::{assert_pending, assert_ready, task};
use utf8_codec::payload::http::Utf8Body;
use utf8_codec::stream::{
    CharStream, ReaderChunks, Utf8ByteReader, Utf8Lines, Utf8Reader, Utf8Stream,
};
use utf8_codec::{BomPolicy, ErrorMode, Utf8Options};

use crate::adaptor::{Adaptor, Chunks, Source};
use crate::lists::MULTILINGUAL;
use crate::script::Does::{self, Chunk, End, Error, Pause};
use crate::script::{Script, soon, write_slowly};

/// Runs each contract for each adaptor.
macro_rules! contracts {
    ($($name:ident: $adaptor:ty, $seen:literal, $pauses:literal;)*) => {$(
        mod $name {
            use super::*;

            #[tokio::test]
            async fn a_select_that_goes_another_way_loses_nothing() {
                super::a_select_that_goes_another_way_loses_nothing::<$adaptor>().await;
            }

            #[test]
            fn only_the_last_waker_is_woken() {
                super::only_the_last_waker_is_woken::<$adaptor>();
            }

            #[test]
            fn a_dropped_future_loses_nothing() {
                super::a_dropped_future_loses_nothing::<$adaptor>($seen, $pauses);
            }

            #[test]
            fn settings_can_be_set_in_any_order() {
                super::settings_can_be_set_in_any_order::<$adaptor>();
            }
        }
    )*};
}

contracts! {
    stream: Utf8Stream<ReaderChunks<Source>>, "a€b<5 [ff]><e>é\n", 8;
    chars: CharStream<ReaderChunks<Source>>, "a€b<5 [ff]><e>é\n", 8;
    reader: Utf8Reader<Source>, "a€b<5 [ff]><e>é\n", 8;
    byte_reader: Utf8ByteReader<Source>, "a€b<5 [ff]><e>é\n", 8;
    lines: Utf8Lines<Utf8Reader<Source>>, "<line><e>", 8;
    body: Utf8Body<Chunks>, "a€b<5 [ff]><e>", 5;
}

async fn a_select_that_goes_another_way_loses_nothing<A: Adaptor>() {
    let text = format!("{MULTILINGUAL}\n").repeat(20);
    for method in 0..A::METHODS {
        let (peer, socket) = duplex(3);
        let writer = write_slowly(peer, &text);
        let mut adaptor = A::over(Box::pin(socket));
        let (mut seen, mut interrupted, mut turns) = (String::new(), 0, 0);
        loop {
            turns += 1;
            tokio::select! {
                biased;
                () = yield_now(), if turns % 2 == 0 => interrupted += 1,
                more = adaptor.take(method, &mut seen) => if !more { break },
                () = yield_now() => interrupted += 1,
            }
        }
        soon(writer).await.unwrap();
        assert_eq!(seen, text, "{method}");
        assert!(interrupted > 10, "{method} was interrupted {interrupted} times only");
    }
}

fn only_the_last_waker_is_woken<A: Adaptor>() {
    for method in 0..A::METHODS {
        let (mut peer, socket) = duplex(64);
        let mut adaptor = A::over(Box::pin(socket));
        let (mut first, mut second) = (task::spawn(()), task::spawn(()));
        let mut seen = String::new();
        let mut poll = |task: &mut task::Spawn<()>| {
            task.enter(|cx, _| pin!(adaptor.take(method, &mut seen)).poll(cx))
        };
        assert_pending!(poll(&mut first));
        assert_pending!(poll(&mut second));
        peer.write_all(b"x\n").now_or_never().unwrap().unwrap();
        assert!(!first.is_woken() && second.is_woken(), "{method}");
        drop(peer);
        assert_ready!(poll(&mut second));
        assert!(seen.starts_with('x'), "{method}");
    }
}

const INTERRUPTED: [Does; 15] = [
    Pause,
    Chunk(b"a\xE2"),
    Pause,
    Pause,
    Chunk(b"\x82"),
    Pause,
    Chunk(b"\xACb\xFF"),
    Pause,
    Error("e"),
    Pause,
    Chunk(b"\xC3"),
    Pause,
    Chunk(b"\xA9\n"),
    Pause,
    End,
];

/// The future is dropped wherever the source is pending.
fn a_dropped_future_loses_nothing<A: Adaptor>(expected: &str, pauses: usize) {
    for method in 0..A::METHODS {
        let mut adaptor = A::over(Box::pin(Script::new(&INTERRUPTED)));
        let (mut seen, mut dropped) = (String::new(), 0);
        loop {
            match adaptor.take(method, &mut seen).now_or_never() {
                Some(true) => {}
                Some(false) => break,
                None => dropped += 1,
            }
        }
        assert_eq!((&*seen, dropped), (expected, pauses), "{method}");
    }
}

fn settings_can_be_set_in_any_order<A: Adaptor>() {
    let options = Utf8Options::new().with_bom(BomPolicy::Strip);
    for make in [A::with_options_first, A::with_mode_first] {
        let script = Script::new(&[Chunk(b"\xEF\xBB\xBFa\xFF\n"), End]);
        let mut adaptor = make(Box::pin(script), options, ErrorMode::Skip);
        let mut seen = String::new();
        while adaptor.take(0, &mut seen).now_or_never().expect("nothing is pending") {}
        assert_eq!(seen, "a\n");
        assert!(adaptor.decoder().bom_seen());
        assert_eq!(adaptor.decoder().error_count(), 1);
    }
}
