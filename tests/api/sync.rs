//! What UTF-8 is praised for: byte order is code point order, a boundary is never more than three
//! bytes away, and a text is never found inside a character. Across chunks, too.

use proptest::prelude::*;
use utf8_codec::{ErrorMode, Utf8Decoder, boundary};

/// Pieces of bytes in which boundaries are hard to find.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let part = prop::sample::select(vec![
        &b"a"[..],
        b"\n",
        b"\x7F",
        b"\x80",
        b"\xBF",
        b"\xC0",
        b"\xC1",
        b"\xC2",
        b"\xDF",
        b"\xE0",
        b"\xE2\x82",
        b"\xED",
        b"\xEF\xBF",
        b"\xF0",
        b"\xF0\x9F",
        b"\xF0\x9F\x98",
        b"\xF4\x8F",
        b"\xF4\x90",
        b"\xF5",
        b"\xFF",
        b"\xC3\xA9",
        b"\xE2\x82\xAC",
        b"\xF0\x9F\x98\x80",
        b"\xED\xA0\x80",
        b"\xE0\x9F\xBF",
    ]);
    prop::collection::vec(part, 0..20).prop_map(|parts| parts.concat())
}

/// Where `needle` stands in the bytes: well-formed bytes are found in bytes only where they are text.
#[cfg(feature = "stream")]
fn places(bytes: &[u8], needle: &str) -> Vec<u64> {
    let mut places = Vec::new();
    let mut at = 0;
    while at + needle.len() <= bytes.len() {
        if bytes[at..].starts_with(needle.as_bytes()) {
            places.push(at as u64);
            at += needle.len();
        } else {
            at += 1;
        }
    }
    places
}

/// Where the units of the whole begin and end, as std sees them.
fn boundaries(bytes: &[u8]) -> Vec<usize> {
    let mut all = vec![0];
    let mut at = 0;
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            at += c.len_utf8();
            all.push(at);
        }
        if !chunk.invalid().is_empty() {
            at += chunk.invalid().len();
            all.push(at);
        }
    }
    all
}

fn check_boundaries(bytes: &[u8]) {
    let all = boundaries(bytes);
    for index in 0..=bytes.len() {
        let before = *all.iter().rfind(|&&at| at <= index).unwrap();
        let behind = *all.iter().find(|&&at| at >= index).unwrap();
        assert_eq!(boundary::floor(bytes, index), before, "{bytes:02x?} before {index}");
        assert_eq!(boundary::ceil(bytes, index), behind, "{bytes:02x?} behind {index}");
        assert_eq!(boundary::is_boundary(bytes, index), before == index, "{bytes:02x?} at {index}");
        assert!(index - before <= 3 && behind - index <= 3);
    }
    for index in [bytes.len() + 1, usize::MAX] {
        assert_eq!(boundary::floor(bytes, index), bytes.len());
        assert_eq!(boundary::ceil(bytes, index), bytes.len());
        assert!(!boundary::is_boundary(bytes, index));
    }
}

#[test]
fn boundaries_are_those_of_the_whole_in_every_five_bytes_that_matter() {
    const BYTES: [u8; 12] =
        [0x41, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xC3, 0xE0, 0xED, 0xF0, 0xF4, 0xFF];
    for index in 0..12_usize.pow(5) {
        check_boundaries(&[0, 1, 2, 3, 4].map(|place| BYTES[index / 12_usize.pow(place) % 12]));
    }
}

proptest! {
    #[test]
    fn boundaries_are_those_of_the_whole(bytes in bytes()) {
        check_boundaries(&bytes);
    }

    #[test]
    fn boundaries_of_random_bytes(bytes: Vec<u8>) {
        check_boundaries(&bytes);
    }

    #[test]
    fn bytes_cut_at_a_boundary_decode_as_the_whole(bytes in bytes(), index: prop::sample::Index) {
        let index = index.index(bytes.len() + 1);
        let decoded = |part: &[u8]| {
            let (mut decoder, mut text) = (Utf8Decoder::new(), [0; 4096]);
            let read = decoder.push_to_slice(part, ErrorMode::Replacement, &mut text);
            let end = decoder.finish_to_slice(ErrorMode::Replacement, &mut text[read.written..]);
            let len = read.written + end.written;
            (text[..len].to_vec(), decoder.error_count())
        };
        for cut in [boundary::floor(&bytes, index), boundary::ceil(&bytes, index)] {
            let (whole, errors) = decoded(&bytes);
            let (front, back) = (decoded(&bytes[..cut]), decoded(&bytes[cut..]));
            prop_assert_eq!([front.0, back.0].concat(), whole);
            prop_assert_eq!(front.1 + back.1, errors);
        }
    }

    #[test]
    fn byte_order_is_code_point_order(a: String, b: String) {
        prop_assert_eq!(a.as_bytes().cmp(b.as_bytes()), a.chars().cmp(b.chars()));
        prop_assert_eq!(a.cmp(&b), a.chars().cmp(b.chars()));
    }
}

#[test]
fn byte_order_is_code_point_order_for_all_neighbours() {
    let mut last: Option<[u8; 4]> = None;
    for c in '\0'..=char::MAX {
        let mut bytes = [0; 4];
        c.encode_utf8(&mut bytes);
        assert!(last < Some(bytes) || c == '\0', "{c:?}");
        last = Some(bytes);
    }
}

#[cfg(any(feature = "codec", feature = "stream"))]
mod find {
    use proptest::prelude::*;
    use utf8_codec::search::{Matches, TextFinder};

    /// Texts that have much in common.
    fn text(most: usize) -> impl Strategy<Value = String> {
        let part =
            prop::sample::select(vec!["a", "b", "é", "è", "€", "₭", "😀", "😁", "ab", "aab"]);
        prop::collection::vec(part, 0..most).prop_map(|parts| parts.concat())
    }

    fn pieces<'a>(text: &'a str, lens: &[usize]) -> Vec<&'a str> {
        let mut rest = text;
        let mut pieces = Vec::new();
        for &len in lens.iter().cycle() {
            let end = rest.char_indices().map(|(at, _)| at).chain([rest.len()]).nth(len);
            let (piece, behind) = rest.split_at(end.unwrap_or(rest.len()));
            pieces.push(piece);
            rest = behind;
            if rest.is_empty() || lens.iter().all(|&len| len == 0) {
                break;
            }
        }
        pieces.push(rest);
        pieces
    }

    proptest! {
        #[test]
        fn matches_are_those_of_the_whole_and_never_inside_a_character(
            haystack in text(40),
            needle in text(4),
            lens in prop::collection::vec(0_usize..5, 1..5),
        ) {
            let Some(mut finder) = TextFinder::new(&needle) else {
                prop_assert!(needle.is_empty());
                return Ok(());
            };
            let expected: Vec<_> =
                haystack.match_indices(&needle).map(|(at, _)| at as u64).collect();
            for pieces in [vec![&haystack[..]], pieces(&haystack, &[1]), pieces(&haystack, &lens)] {
                finder.reset();
                let mut found = Vec::new();
                for piece in pieces {
                    found.extend(finder.push(piece));
                }
                prop_assert_eq!(&found, &expected);
                prop_assert_eq!(finder.position(), haystack.len() as u64);
                for at in found {
                    prop_assert!(haystack.is_char_boundary(at as usize));
                    prop_assert!(haystack.is_char_boundary(at as usize + needle.len()));
                }
            }
        }

        #[test]
        fn a_caller_may_break_off_after_each_match(haystack in text(40), needle in text(3)) {
            prop_assume!(!needle.is_empty());
            let mut finder = TextFinder::new(&needle).unwrap();
            let (mut rest, mut found) = (&haystack[..], Vec::new());
            loop {
                let mut matches = finder.push(rest);
                let Some(at) = matches.next() else { break };
                rest = matches.rest();
                found.push(at);
            }
            let expected: Vec<_> =
                haystack.match_indices(&needle).map(|(at, _)| at as u64).collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn nothing_matches_across_what_is_skipped(front in text(8), back in text(8), needle in text(3)) {
            prop_assume!(!needle.is_empty());
            let mut finder = TextFinder::new(&needle).unwrap();
            let mut found: Vec<_> = finder.push(&front).collect();
            finder.skip(2);
            found.extend(finder.push(&back));
            let separated = format!("{front}\0\0{back}");
            let expected: Vec<_> =
                separated.match_indices(&needle).map(|(at, _)| at as u64).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn a_position_beyond_all_counting_stays_where_it_is() {
        let mut finder = TextFinder::new("ab").unwrap();
        for skipped in [u64::MAX - 3, u64::MAX] {
            finder.skip(skipped);
            assert_eq!(finder.position(), skipped);
            assert_eq!(finder.push("-ab-ab-").count(), 2);
            assert_eq!(finder.push("no more").count(), 0);
            assert_eq!(finder.position(), u64::MAX);
        }
        finder.reset();
        assert_eq!(finder.push("ab").next(), Some(0));
    }

    #[test]
    fn its_types_may_be_sent_shared_moved_and_printed() {
        fn is_plain<T: Send + Sync + Unpin + std::fmt::Debug>() {}
        is_plain::<TextFinder>();
        is_plain::<Matches<'_, '_>>();
    }
}

#[cfg(feature = "stream")]
mod streams {
    use std::convert::Infallible;

    use bytes::Bytes;
    use futures::{FutureExt, StreamExt, stream};
    use proptest::prelude::*;
    use utf8_codec::search::TextFinder;
    use utf8_codec::stream::{StreamError, TextMatches, Utf8Stream};
    use utf8_codec::{BomPolicy, ErrorMode, Utf8Options};

    #[test]
    fn the_stream_may_be_sent_shared_moved_and_cloned() {
        fn is_plain<T: Send + Sync + Unpin + Clone>() {}
        is_plain::<TextMatches<stream::Empty<Result<Bytes, Infallible>>>>();
    }

    proptest! {
        #[test]
        fn places_are_those_in_the_bytes_at_any_cut(
            bytes in super::bytes(),
            size in 1_usize..6,
            bom in prop::sample::select(vec![BomPolicy::Keep, BomPolicy::Strip, BomPolicy::Forbid]),
            signature: bool,
        ) {
            let bytes = if signature { [b"\xEF\xBB\xBF", &bytes[..]].concat() } else { bytes };
            for needle in ["a", "é", "€", "a\n", "é€", "😀a"] {
                let chunks = bytes.chunks(size).map(|chunk| Ok(Bytes::copy_from_slice(chunk)));
                let chunks = stream::iter(chunks.collect::<Vec<Result<_, Infallible>>>());
                let texts = Utf8Stream::new(chunks).with_options(Utf8Options::new().with_bom(bom));
                let items = texts.matches(TextFinder::new(needle).unwrap()).collect::<Vec<_>>();
                let items = items.now_or_never().unwrap();
                let found: Vec<_> = items.into_iter().filter_map(Result::ok).collect();
                prop_assert_eq!(found, super::places(&bytes, needle), "{}", needle);
            }
        }
    }

    #[tokio::test]
    async fn errors_stand_between_matches_and_inner_errors_do_not_break_one() {
        let inner = [Ok(&b"ab a"[..]), Err("late"), Ok(b"b\xFFab"), Ok(b"\xC3")];
        let mut matches =
            Utf8Stream::new(stream::iter(inner)).matches(TextFinder::new("ab").unwrap());
        assert_eq!(matches.next().await, Some(Ok(0)));
        assert_eq!(matches.next().await, Some(Err(StreamError::Inner("late"))));
        assert_eq!(matches.next().await, Some(Ok(3)));
        assert!(matches!(matches.next().await, Some(Err(StreamError::Utf8(_)))));
        assert_eq!(matches.next().await, Some(Ok(6)));
        assert!(matches!(matches.next().await, Some(Err(StreamError::Utf8(_)))));
        assert_eq!(matches.next().await, None);
        assert_eq!(matches.next().await, None);
    }

    #[tokio::test]
    async fn in_a_lossy_mode_the_repaired_text_is_searched() {
        let inner = stream::iter([Ok::<_, Infallible>(&b"\xFFab\xFF"[..])]);
        let texts = Utf8Stream::new(inner).with_error_mode(ErrorMode::Replacement);
        let mut matches = texts.matches(TextFinder::new("\u{FFFD}").unwrap());
        assert_eq!(matches.next().await, Some(Ok(0)));
        assert_eq!(matches.next().await, Some(Ok(5)));
        assert_eq!(matches.next().await, None);
    }

    #[test]
    fn bytes_skipped_at_the_start_count_wherever_they_are_cut() {
        let found = |inner: &[Result<&'static [u8], &'static str>], mode| {
            let options = Utf8Options::new().with_mid_stream_start();
            let texts = Utf8Stream::new(stream::iter(inner.to_vec())).with_options(options);
            let matches = texts.with_error_mode(mode).matches(TextFinder::new("x").unwrap());
            let items = matches.collect::<Vec<_>>().now_or_never().unwrap();
            items.into_iter().filter_map(Result::ok).collect::<Vec<_>>()
        };
        for mode in [ErrorMode::Fatal, ErrorMode::Replacement] {
            assert_eq!(found(&[Ok(b"\x80\x80abx")], mode), [4]);
            assert_eq!(found(&[Ok(b"\x80"), Err("late"), Ok(b"\x80abx")], mode), [4]);
            assert_eq!(found(&[Err("late"), Ok(b"\x80"), Ok(b"\x80abx")], mode), [4]);
        }
    }

    #[tokio::test]
    async fn a_search_that_begins_among_skipped_bytes_counts_them_once() {
        let inner = stream::iter([Ok(&b"\x80"[..]), Err("late"), Ok(b"\x80abx")]);
        let options = Utf8Options::new().with_mid_stream_start();
        let mut texts = Utf8Stream::new(inner).with_options(options);
        assert!(texts.next().await.unwrap().is_err());
        let mut matches = texts.matches(TextFinder::new("x").unwrap());
        assert_eq!(matches.next().await, Some(Ok(4)));
    }

    #[tokio::test]
    async fn an_endless_stream_without_matches_leaves_others_their_turn() {
        let endless = stream::repeat(Ok::<_, Infallible>(&b"nothing "[..]));
        let mut matches = Utf8Stream::new(endless).matches(TextFinder::new("x").unwrap());
        assert!(matches.next().now_or_never().is_none());
    }
}

#[cfg(feature = "stream")]
mod readers {
    use std::io;

    use futures::FutureExt;
    use proptest::prelude::*;
    use tokio::io::{AsyncWriteExt, DuplexStream};
    use utf8_codec::search::TextFinder;
    use utf8_codec::stream::{StreamError, Utf8Reader};
    use utf8_codec::{BomPolicy, ErrorMode, Utf8Options};

    use super::places;

    /// What comes of a search, an error by its offset.
    type Found = Result<u64, u64>;

    const NEEDLES: [&str; 7] = ["a", "é", "€", "a\n", "é€", "😀a", "aa"];

    /// Searches as far as there is something to read, and drops the future that waits for more.
    fn search<R: tokio::io::AsyncRead + Unpin>(
        reader: &mut Utf8Reader<R>,
        finder: &mut TextFinder,
    ) -> (Vec<Found>, bool) {
        let mut all = Vec::new();
        loop {
            match reader.find(finder).now_or_never() {
                Some(Ok(Some(place))) => all.push(Ok(place)),
                Some(Err(StreamError::Utf8(error))) => all.push(Err(error.valid_up_to())),
                Some(Err(error)) => panic!("{error}"),
                Some(Ok(None)) => return (all, true),
                None => return (all, false),
            }
        }
    }

    /// As [`search`], in chunks that come one by one: each future that waits is dropped.
    fn search_chunks<'c>(
        chunks: impl Iterator<Item = &'c [u8]>,
        needle: &str,
        prepare: impl Fn(Utf8Reader<DuplexStream>) -> Utf8Reader<DuplexStream>,
    ) -> Vec<Found> {
        let (mut peer, socket) = tokio::io::duplex(1 << 16);
        let (mut reader, mut finder) =
            (prepare(Utf8Reader::new(socket)), TextFinder::new(needle).unwrap());
        let mut all = Vec::new();
        for chunk in chunks {
            peer.write_all(chunk).now_or_never().unwrap().unwrap();
            let (found, is_at_end) = search(&mut reader, &mut finder);
            all.extend(found);
            assert!(!is_at_end);
        }
        drop(peer);
        let (found, is_at_end) = search(&mut reader, &mut finder);
        assert!(is_at_end);
        all.extend(found);
        assert!(matches!(reader.find(&mut finder).now_or_never(), Some(Ok(None))));
        all
    }

    proptest! {
        #[test]
        fn places_are_those_in_the_bytes_at_any_cut(
            bytes in super::bytes(),
            size in 1_usize..6,
            capacity in 4_usize..9,
            bom in prop::sample::select(vec![BomPolicy::Keep, BomPolicy::Strip, BomPolicy::Forbid]),
            signature: bool,
        ) {
            let bytes = if signature { [b"\xEF\xBB\xBF", &bytes[..]].concat() } else { bytes };
            let options = Utf8Options::new().with_bom(bom);
            for needle in NEEDLES {
                let mut whole = Utf8Reader::new(&bytes[..]).with_options(options);
                let mut finder = TextFinder::new(needle).unwrap();
                let (all, is_at_end) = search(&mut whole, &mut finder);
                prop_assert!(is_at_end);
                let found: Vec<_> = all.iter().filter_map(|found| found.ok()).collect();
                prop_assert_eq!(found, places(&bytes, needle), "{}", needle);
                let cut = search_chunks(bytes.chunks(size), needle, |reader| {
                    reader.with_options(options).with_capacity(capacity)
                });
                prop_assert_eq!(cut, all, "{}", needle);
            }
        }

        #[test]
        fn in_a_lossy_mode_places_are_those_in_the_repaired_text(
            bytes in super::bytes(),
            size in 1_usize..6,
            signature: bool,
            mode in prop::sample::select(vec![
                ErrorMode::Replacement, ErrorMode::Skip, ErrorMode::Escape, ErrorMode::Latin1,
            ]),
        ) {
            let bytes = if signature { [b"\xEF\xBB\xBF", &bytes[..]].concat() } else { bytes };
            let options = Utf8Options::new().with_bom(BomPolicy::Strip);
            let prepare = |reader: Utf8Reader<DuplexStream>| {
                reader.with_options(options).with_error_mode(mode)
            };
            let mut whole = Utf8Reader::new(&bytes[..]).with_options(options).with_error_mode(mode);
            let text = whole.collect_text(1 << 20).now_or_never().unwrap().unwrap();
            let removed = if whole.decoder().bom_seen() { 3 } else { 0 };
            for needle in NEEDLES.iter().chain(&["\u{FFFD}", "\\x"]) {
                let expected: Vec<Found> =
                    text.match_indices(needle).map(|(at, _)| Ok(removed + at as u64)).collect();
                let found = search_chunks(bytes.chunks(size), needle, prepare);
                prop_assert_eq!(found, expected, "{}", needle);
            }
        }
    }

    #[test]
    fn a_match_is_found_at_every_pair_of_cuts() {
        let bytes = "aé€😀a, é€😀é€😀a".as_bytes();
        for first in 0..=bytes.len() {
            for second in first..=bytes.len() {
                let chunks = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                let found = search_chunks(chunks.into_iter(), "é€😀a", |reader| reader);
                assert_eq!(found, [Ok(1), Ok(22)], "cut at {first} and {second}");
            }
        }
    }

    #[tokio::test]
    async fn the_text_behind_a_match_comes_next() {
        let head_and_body = "Name: é\r\n\r\nbody, \r\n\r\n!".as_bytes();
        for capacity in 4..head_and_body.len() {
            let mut reader = Utf8Reader::new(head_and_body).with_capacity(capacity);
            let mut end_of_head = TextFinder::new("\r\n\r\n").unwrap();
            assert_eq!(reader.find(&mut end_of_head).await.unwrap(), Some(8));
            assert_eq!(reader.next_char().await.unwrap(), Some('b'));
            assert_eq!(reader.collect_text(100).await.unwrap(), "ody, \r\n\r\n!");
        }
    }

    #[tokio::test]
    async fn places_stay_those_in_the_stream_when_text_is_taken_otherwise() {
        let mut reader = Utf8Reader::new("a, b, c, d".as_bytes());
        let (mut comma, mut space) =
            (TextFinder::new(", ").unwrap(), TextFinder::new(" d").unwrap());
        assert_eq!(reader.find(&mut comma).await.unwrap(), Some(1));
        assert_eq!(reader.next_char().await.unwrap(), Some('b'));
        assert_eq!(reader.find(&mut comma).await.unwrap(), Some(4));
        assert_eq!(reader.find(&mut space).await.unwrap(), Some(8));
        assert_eq!(reader.find(&mut comma).await.unwrap(), None);
    }

    #[tokio::test]
    async fn repaired_text_may_be_longer_than_all_that_has_been_read() {
        let mut reader = Utf8Reader::new(&b"\xFF,x,y"[..]).with_error_mode(ErrorMode::Escape);
        assert_eq!(reader.peek_str().await.unwrap(), Some(r"\xff,x,y"));
        let mut reader = reader.with_error_mode(ErrorMode::Fatal);
        let mut comma = TextFinder::new(",").unwrap();
        assert!(reader.find(&mut comma).await.unwrap().is_some());
        assert_eq!(reader.find(&mut comma).await.unwrap(), Some(3));
        assert_eq!(reader.next_str().await.unwrap(), Some("y"));
    }

    #[tokio::test]
    async fn nothing_matches_across_text_that_was_taken_otherwise() {
        let (mut peer, socket) = tokio::io::duplex(64);
        let mut reader = Utf8Reader::new(socket);
        let mut finder = TextFinder::new("ab").unwrap();
        peer.write_all(b"a").await.unwrap();
        assert!(reader.find(&mut finder).now_or_never().is_none());
        peer.write_all(b"-b ab").await.unwrap();
        assert_eq!(reader.next_char().await.unwrap(), Some('-'));
        assert_eq!(reader.find(&mut finder).await.unwrap(), Some(4));
    }

    #[tokio::test]
    async fn an_inner_error_does_not_break_a_match() {
        let inner = tokio_test::io::Builder::new()
            .read(b"\xFFa")
            .read_error(io::Error::other("late"))
            .read(b"b\xC3")
            .build();
        let mut reader = Utf8Reader::new(inner);
        let mut finder = TextFinder::new("ab").unwrap();
        assert!(matches!(reader.find(&mut finder).await, Err(StreamError::Utf8(_))));
        assert!(matches!(reader.find(&mut finder).await, Err(StreamError::Inner(_))));
        assert_eq!(reader.find(&mut finder).await.unwrap(), Some(1));
        assert!(matches!(reader.find(&mut finder).await, Err(StreamError::Utf8(_))));
        assert_eq!(reader.find(&mut finder).await.unwrap(), None);
    }

    #[test]
    fn an_endless_reader_without_matches_leaves_others_their_turn() {
        let mut reader = Utf8Reader::new(tokio::io::repeat(b'-'));
        let mut finder = TextFinder::new("x").unwrap();
        assert!(reader.find(&mut finder).now_or_never().is_none());
        assert!(finder.position() > 8192);
        assert!(reader.find(&mut finder).now_or_never().is_none());
    }
}
