//! `Utf8Body` over scripted bodies: errors, trailers, the end, size hints, limits, wakers, cancelled
//! futures, shared memory, and charsets.
#![cfg(feature = "http-body")]

mod content_type;
#[path = "../support/counting.rs"]
mod counting;
#[cfg(feature = "encoding_rs")]
#[path = "../support/encodings.rs"]
mod encodings;
mod frames;
#[cfg(feature = "tower")]
mod layers;
#[cfg(feature = "encoding_rs")]
mod legacy;
mod limits;
#[path = "../support/lists.rs"]
mod lists;
#[path = "../support/script.rs"]
mod sources;

mod script {
    //! Scripted bodies, and their output as strings.

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

    use crate::sources;
    pub(crate) use crate::sources::Does;

    /// A body that follows a script.
    #[derive(Debug)]
    pub(crate) struct Script {
        pub(crate) script: sources::Script,
        pub(crate) hint: SizeHint,
    }

    impl Script {
        pub(crate) fn new(does: &[Does]) -> Self {
            Self { script: sources::Script::new(does), hint: SizeHint::new() }
        }

        /// A script of these chunks, then the end.
        pub(crate) fn of(chunks: &[&'static [u8]]) -> Self {
            let mut does: Vec<_> = chunks.iter().copied().map(Does::Chunk).collect();
            does.push(Does::End);
            Self::new(&does)
        }

        /// Reports its exact length and its end in advance, as bodies with a `Content-Length` do.
        pub(crate) fn with_length(mut self) -> Self {
            self.hint = SizeHint::with_exact(self.left());
            self
        }

        fn left(&self) -> u64 {
            let len = |does: &Does| match does {
                Does::Chunk(data) => data.len() as u64,
                _ => 0,
            };
            self.script.does.iter().take_while(|does| !matches!(does, Does::End)).map(len).sum()
        }
    }

    impl Body for Script {
        type Data = Bytes;
        type Error = &'static str;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
            self.script.step(cx).map(|does| match does {
                Does::Chunk(data) => Some(Ok(Frame::data(Bytes::from_static(data)))),
                Does::Trailers(value) => {
                    let mut trailers = HeaderMap::new();
                    trailers.insert("x", HeaderValue::from_static(value));
                    Some(Ok(Frame::trailers(trailers)))
                }
                Does::Error(error) => Some(Err(error)),
                Does::End | Does::Pause => None,
            })
        }

        fn is_end_stream(&self) -> bool {
            let next = self.script.does.front();
            self.hint.exact().is_some() && matches!(next, None | Some(Does::End))
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
}

#[cfg(feature = "stream")]
mod streams {
    //! The text, lines and `char`s of a body as streams, split everywhere.

    use std::error::Error;

    use bytes::Bytes;
    use futures::{FutureExt, StreamExt, TryStreamExt};
    use http_body::Body;
    use http_body_util::BodyExt;
    use utf8_codec::http::{BodyError, Utf8Body};
    use utf8_codec::stream::StreamError;
    use utf8_codec::{BomPolicy, ErrorMode, Utf8Options};

    use crate::lists::MODES;
    use crate::script::Does::{self, Chunk as Data, End, Error as Fail, Trailers};
    use crate::script::{Script, body};
    use crate::sources::items;

    fn error(error: BodyError) -> String {
        format!("<{} {error}>", error.status().as_u16())
    }

    fn texts<B>(body: Utf8Body<B>) -> Vec<String>
    where
        B: Body<Error: Into<Box<dyn Error + Send + Sync>>> + Unpin,
    {
        items(body.into_text_stream(), |text| {
            text.map_or_else(|failed| error(failed.into()), |text| text.to_string())
        })
    }

    fn chars<B>(body: Utf8Body<B>) -> Vec<String>
    where
        B: Body<Error: Into<Box<dyn Error + Send + Sync>>> + Unpin,
    {
        items(body.into_chars(), |c| {
            c.map_or_else(|failed| error(failed.into()), |c| c.to_string())
        })
    }

    fn lines<B>(body: Utf8Body<B>) -> Vec<String>
    where
        B: Body<Error: Into<Box<dyn Error + Send + Sync>>> + Unpin,
    {
        items(body.into_lines(), |line| match line {
            Ok(line) => format!("{}:{}", line.number, line.text),
            Err(StreamError::Line(error)) => format!("<{error}>"),
            Err(StreamError::Inner(failed)) => error(failed),
            Err(other) => panic!("{other}"),
        })
    }

    /// The body, with a frame for each part.
    fn split(bytes: &'static [u8], at: usize) -> Utf8Body<Script> {
        let (first, second) = bytes.split_at(at);
        Utf8Body::new(Script::of(&[first, second]))
    }

    #[test]
    fn how_a_body_is_split_affects_no_stream() {
        let bytes: &[u8] = b"caf\xC3\xA9\r\n\xED\xA0\x80x\ntea \xF0\x9F\xA6\x80";
        for at in 0..=bytes.len() {
            let error = |at, what| format!("<400 invalid UTF-8 in the body at byte {at}: {what}>");
            let errors = [
                error(7, "encoded surrogate (ed, followed by a0)"),
                error(8, "unexpected continuation byte (a0)"),
                error(9, "unexpected continuation byte (80)"),
            ];
            let expected = ["café\r\n", &*errors.concat(), "x\ntea 🦀-"].concat();
            assert_eq!(texts(split(bytes, at)).concat(), expected, "{at}");
            assert_eq!(chars(split(bytes, at)).concat(), expected, "{at}");
            let bad = "<line 2 is not valid UTF-8: encoded surrogate (ed, followed by a0) at byte 7 of the stream>";
            assert_eq!(lines(split(bytes, at)), ["1:café", bad, "3:tea 🦀", "-"], "{at}");

            let repaired = split(bytes, at).with_error_mode(ErrorMode::Replacement);
            let expected = "café\r\n\u{FFFD}\u{FFFD}\u{FFFD}x\ntea 🦀-";
            assert_eq!(texts(repaired).concat(), expected, "{at}");
        }
    }

    #[test]
    fn a_stream_continues_after_the_text_that_was_returned() {
        for taken in 0..=3 {
            let mut body = body(&[Data(b"a\xFFb\xE2"), Data(b"\x82\xACc\nd"), Trailers("1"), End]);
            let mut seen = Vec::new();
            for _ in 0..taken {
                seen.push(match body.next_text().now_or_never().unwrap().unwrap() {
                    Ok(text) => text.to_string(),
                    Err(failed) => error(failed),
                });
            }
            seen.extend(texts(body));
            let ill_formed = "<400 invalid UTF-8 in the body at byte 1: invalid byte (ff)>";
            assert_eq!(seen, ["a", ill_formed, "b", "€", "c\nd", "-"], "{taken}");
        }
        let mut ended = body(&[Data(b"a\xE2"), End]);
        while ended.next_text().now_or_never().unwrap().is_some() {}
        assert_eq!(texts(ended), ["-"]);
    }

    #[test]
    fn next_text_skips_trailers_and_ends() {
        let mut body = body(&[Data(b"a"), Trailers("1"), Data(b"b"), Trailers("2"), End]);
        let mut next = || body.next_text().now_or_never().unwrap().map(Result::unwrap);
        assert_eq!(next().unwrap(), "a");
        assert_eq!(next().unwrap(), "b");
        assert_eq!((next(), next()), (None, None));
    }

    #[test]
    fn the_limit_and_the_errors_of_a_body_are_errors_of_its_streams() {
        let does: [Does; 2] = [Data(b"one\ntwo\nthree"), End];
        let too_long = "<413 body or its text is longer than 6 bytes>";
        assert_eq!(texts(body(&does).with_max_length(6)), ["one\ntw", too_long, "-"]);
        assert_eq!(lines(body(&does).with_max_length(6)), ["1:one", too_long, "-"]);
        let failed = "<400 reset>";
        assert_eq!(lines(body(&[Data(b"one\ntw"), Fail("reset")])), ["1:one", failed, "-"]);
        // The error is the last item: what it cuts off is not reported.
        let cut_off = chars(body(&[Data(b"o\xE2"), Fail("reset")])).concat();
        assert_eq!(cut_off, ["o", failed, "-"].concat());
    }

    #[test]
    fn nothing_follows_the_error_that_ends_a_body_in_its_streams() {
        let require = Utf8Options::new().with_bom(BomPolicy::Require);
        for (mode, options) in
            MODES.into_iter().flat_map(|mode| [(mode, Utf8Options::new()), (mode, require)])
        {
            let too_long = [Data(b"\xEF\xBB"), Data(b"\xBFab\xE2"), Data(b"\x82\xAC"), End];
            let failed = [Data(b"\xEF\xBB\xBFab\xE2"), Fail("reset"), End];
            for (does, max_length) in
                (0..8).map(|max| (&too_long[..], max)).chain([(&failed[..], u64::MAX)])
            {
                let body = || {
                    let body = body(does).with_error_mode(mode).with_options(options);
                    body.with_max_length(max_length)
                };
                let is_last = |error: &StreamError<BodyError>| {
                    use BodyError::{Inner, TooLong};
                    matches!(error, StreamError::Inner(TooLong { .. } | Inner(_)))
                };
                let case = format!("{mode:?} {options:?} {max_length}");
                let texts = body().into_text_stream().map_ok(drop);
                let chars = body().into_chars().map_ok(drop);
                let lines = body().into_lines().map_ok(drop);
                let after_lines = body().into_lines().into_stream().map_ok(drop);
                let after_both = body().into_text_stream().lines().into_stream().map_ok(drop);
                let streams = [texts.boxed_local(), chars.boxed_local(), lines.boxed_local()];
                let after = [after_lines.boxed_local(), after_both.boxed_local()];
                for stream in streams.into_iter().chain(after) {
                    let items: Vec<_> = stream.collect().now_or_never().unwrap();
                    let ends =
                        items.iter().filter(|item| item.as_ref().is_err_and(is_last)).count();
                    assert_eq!(ends, 1, "{case}: {items:?}");
                    assert!(
                        items.last().unwrap().as_ref().is_err_and(is_last),
                        "{case}: {items:?}"
                    );
                }
            }
        }
    }

    #[cfg(feature = "encoding_rs")]
    #[test]
    fn streams_of_a_body_in_another_charset_are_converted() {
        let bytes: &[u8] = b"\x93\xFA\x96{\n\x81\xFF\n\x93\xFA";
        for at in 0..=bytes.len() {
            let body = || split(bytes, at).with_charset("shift_jis").unwrap();
            let ill_formed =
                "<400 invalid Shift_JIS in the body at byte 5: ill-formed bytes (81 ff)>";
            let found = texts(body()).concat();
            assert!(found.starts_with(&format!("日本\n{ill_formed}")), "{at}: {found}");
            let found = lines(body());
            assert_eq!((&*found[0], &*found[1]), ("1:日本", ill_formed), "{at}: {found:?}");
            assert_eq!(found[found.len() - 2..], ["3:日", "-"], "{at}: {found:?}");
            let repaired = body().with_error_mode(ErrorMode::Replacement);
            assert!(chars(repaired).concat().starts_with("日本\n\u{FFFD}"), "{at}");
        }
    }

    #[test]
    fn a_stream_of_bytes_can_be_a_body_again() {
        let chunks = body(&[Data(b"caf\xC3"), Data(b"\xA9"), End]).into_text_stream();
        let frames = chunks
            .into_byte_stream()
            .map(|chunk| Ok::<_, StreamError<BodyError>>(http_body::Frame::<Bytes>::data(chunk?)));
        let body = http_body_util::StreamBody::new(frames);
        assert_eq!(BodyExt::collect(body).now_or_never().unwrap().unwrap().to_bytes(), "café");
    }
}
