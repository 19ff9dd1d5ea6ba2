//! Sequences of operations on every public type, each compared with an independent answer: the
//! reference model, std, encoding_rs or a plain loop.
//!
//! Plans are made from arbitrary bytes: by proptest in `tests/random/plans.rs`, by a fuzzer in `fuzz`.

#![allow(dead_code, unreachable_pub, reason = "each user takes its own part")]

#[cfg(feature = "http-body")]
pub mod bodies;
pub mod calls;
pub mod dialects;
pub mod encoders;
pub mod encoding;
#[path = "../events.rs"]
mod events;
pub mod levels;
pub mod payloads;
pub mod relatives;
pub mod streams;

pub mod decoding {
    //! The validator, the decoder with all its methods, and the codecs.

    use utf8_codec::codec::{CharCodec, Utf8ChunksCodec, Utf8Codec};
    use utf8_codec::{ErrorMode, Utf8Options};

    use super::input::{self, Many};
    use super::streams::{Plan, Settings, check};
    use crate::support::reference::{self, Error, Kind};
    use crate::support::subjects::{Called, Decoding, Subject, Validating, Way};
    use crate::support::{Atom, Errors, MODES, PLAIN};

    pub fn validator(plan: &Plan) {
        check(plan, &|settings| Box::new(Validating::new(settings.options())));
    }

    pub fn decoder_pieces(plan: &Plan) {
        check(plan, &|settings| {
            let (options, mode) = (settings.options(), settings.mode().1);
            // In every mode, pieces are text and errors.
            let pieces = match settings.choice % 4 {
                0 => Way::Pieces,
                1 => Way::BrokenOff,
                2 => Way::Next,
                _ => Way::Bytes,
            };
            match mode {
                ErrorMode::Fatal => Decoding::boxed(options, mode, &[pieces]),
                mode => Decoding::boxed(options, mode, &ways(settings.choice, mode, 16)),
            }
        });
    }

    pub fn decoder_owned(plan: &Plan) {
        check(plan, &|settings| {
            let mode = settings.mode().1;
            let room = usize::from(settings.choice / 8);
            Decoding::boxed(settings.options(), mode, &ways(settings.choice, mode, room))
        });
    }

    /// All methods from a chosen one on, with this much room in buffers.
    fn ways(choice: u8, mode: ErrorMode, room: usize) -> Vec<Way> {
        let mut ways = vec![Way::String, Way::Slice(room), Way::Chars(room), Way::Utf16(room)];
        if mode == ErrorMode::Fatal {
            ways.extend([Way::Bytes, Way::Pieces]);
        }
        let first = usize::from(choice) % ways.len();
        ways.rotate_left(first);
        ways
    }

    pub fn codecs(plan: &Plan) {
        check(plan, &|settings: Settings| {
            let (options, mode) = (settings.options(), settings.mode().1);
            match settings.choice % 3 {
                0 => Called::boxed(Utf8Codec::new().with_options(options).with_error_mode(mode)),
                1 if mode == ErrorMode::Fatal => {
                    Called::boxed(Utf8ChunksCodec::new().with_options(options))
                }
                _ => Called::boxed(CharCodec::new().with_options(options).with_error_mode(mode)),
            }
        });
    }

    // ---- against std and encoding_rs ----------------------------------------------------------------

    /// Long inputs in chunks of these sizes in turn.
    #[derive(arbitrary::Arbitrary, Clone, Debug)]
    pub struct Long {
        bytes: input::Bytes<4000>,
        sizes: Many<u16>,
        mode: u8,
        choice: u8,
    }

    impl Long {
        /// The chunks; without sizes, the whole.
        pub fn chunks(&self) -> Vec<&[u8]> {
            let (mut rest, mut chunks) = (&self.bytes.0[..], Vec::new());
            for size in &*self.sizes {
                let (chunk, after) = rest.split_at(rest.len().min(usize::from(*size % 1500)));
                chunks.push(chunk);
                rest = after;
            }
            chunks.push(rest);
            chunks
        }
    }

    /// Long enough for every path through the kernels. Errors are those of std, repairs those of the model,
    /// and replacement without BOM handling is that of encoding_rs.
    pub fn long(long: &Long) {
        let bytes = &long.bytes.0[..];
        let (model, mode) = MODES[usize::from(long.mode) % MODES.len()];
        let room = 16 + 16 * usize::from(long.choice);
        let ways = ways(long.choice, mode, room);
        let mut decoder = Decoding::boxed(Utf8Options::new(), mode, &ways);
        let mut validator = Validating::new(Utf8Options::new());
        let (mut text, mut errors, mut verdicts) = (String::new(), Vec::new(), Vec::new());
        for chunk in long.chunks() {
            add(&mut text, &mut errors, decoder.push(chunk));
            add(&mut String::new(), &mut verdicts, validator.push(chunk));
        }
        add(&mut text, &mut errors, decoder.finish());
        add(&mut String::new(), &mut verdicts, validator.finish());

        let (mut expected, mut expected_errors) = (String::new(), Vec::new());
        let mut offset = 0;
        for chunk in bytes.utf8_chunks() {
            expected.push_str(chunk.valid());
            offset += chunk.valid().len() as u64;
            if !chunk.invalid().is_empty() {
                let (kind, bytes) = (Kind::Truncated, chunk.invalid().to_vec());
                let error = Error { offset, bytes, kind, next: None, decided_by: None };
                expected.push_str(&reference::repair(model, &error, PLAIN).unwrap_or_default());
                expected_errors.push((offset, error.bytes));
                offset += chunk.invalid().len() as u64;
            }
        }
        assert!(text == expected, "{mode:?}, {ways:?}: {bytes:02x?}");
        assert!(verdicts == expected_errors, "{bytes:02x?}");
        let Errors { count, first, .. } = decoder.errors().expect("a decoder counts");
        assert_eq!(count, expected_errors.len() as u64, "{mode:?}, {ways:?}: {bytes:02x?}");
        let first = first.map(|error| (error.offset, error.bytes));
        assert_eq!(first, expected_errors.first().cloned(), "{mode:?}, {ways:?}: {bytes:02x?}");
        for position in [decoder.position(), validator.position()] {
            assert_eq!(position, Some(bytes.len() as u64), "{mode:?}, {ways:?}: {bytes:02x?}");
        }
        if mode == ErrorMode::Fatal {
            assert!(errors == expected_errors, "{ways:?}: {bytes:02x?}");
        }

        #[cfg(feature = "encoding_rs")]
        of_encoding_rs(long);
    }

    fn add(text: &mut String, errors: &mut Vec<(u64, Vec<u8>)>, atoms: Vec<Atom>) {
        for atom in atoms {
            match atom {
                Atom::Char(c) => text.push(c),
                Atom::Error(error) => errors.push((error.offset, error.bytes)),
            }
        }
    }

    #[cfg(feature = "encoding_rs")]
    fn of_encoding_rs(long: &Long) {
        let options = utf8_codec::Utf8Options::new().with_bom(utf8_codec::BomPolicy::Strip);
        let mut ours = utf8_codec::Utf8Decoder::new().with_options(options);
        let mut theirs = encoding_rs::UTF_8.new_decoder_with_bom_removal();
        let (mut text, mut expected) = (String::new(), String::new());
        let chunks = long.chunks();
        for (number, chunk) in chunks.iter().enumerate() {
            let _done = ours.push_to_string(chunk, ErrorMode::Replacement, &mut text);
            expected.reserve(theirs.max_utf8_buffer_length(chunk.len()).unwrap());
            let last = number + 1 == chunks.len();
            let (result, ..) = theirs.decode_to_string(chunk, &mut expected, last);
            assert_eq!(result, encoding_rs::CoderResult::InputEmpty);
        }
        ours.finish_to_string(ErrorMode::Replacement, &mut text).unwrap();
        assert!(text == expected, "{:02x?}", long.bytes.0);
    }
}

pub mod input {
    //! Bytes and texts that are likely to be interesting, made from arbitrary bytes.

    use std::ops::Deref;

    use arbitrary::{Arbitrary, Result, Unstructured};

    use crate::lists::PARTS;

    /// At most about this many bytes: pieces of sequences, characters, runs of them.
    #[derive(Clone, Debug)]
    pub struct Bytes<const MOST: usize>(pub Vec<u8>);

    /// The same with complete characters.
    #[derive(Clone, Debug)]
    pub struct Text<const MOST: usize>(pub String);

    /// The same with UTF-16 units.
    #[derive(Clone, Debug)]
    pub struct Units<const MOST: usize>(pub Vec<u16>);

    /// Up to this many, seven on average. A `Vec` made from arbitrary bytes has one.
    #[derive(Clone, Debug)]
    pub struct Many<T, const MOST: usize = 24>(Vec<T>);

    impl<'a, T: Arbitrary<'a>, const MOST: usize> Arbitrary<'a> for Many<T, MOST> {
        fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
            let mut all = Vec::new();
            while all.len() < MOST && !u.is_empty() && u.arbitrary::<u8>()? % 8 != 0 {
                all.push(u.arbitrary()?);
            }
            Ok(Self(all))
        }
    }

    impl<T, const MOST: usize> Many<T, MOST> {
        pub fn none() -> Self {
            Self(Vec::new())
        }
    }

    impl<T, const MOST: usize> Deref for Many<T, MOST> {
        type Target = [T];

        fn deref(&self) -> &[T] {
            &self.0
        }
    }

    #[derive(Arbitrary, Debug)]
    enum Part {
        Known(u8),
        Byte(u8),
        Char(char),
        Known2(u8, u8),
        Run(u8, u8),
    }

    impl<'a, const MOST: usize> Arbitrary<'a> for Bytes<MOST> {
        fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
            let mut bytes = Vec::new();
            for part in &*Many::<Part>::arbitrary(u)? {
                let known = |index: u8| PARTS[usize::from(index) % PARTS.len()];
                match *part {
                    Part::Known(index) => bytes.extend_from_slice(known(index)),
                    Part::Byte(byte) => bytes.push(byte),
                    Part::Char(c) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                    Part::Known2(one, two) => {
                        bytes.extend_from_slice(known(one));
                        bytes.extend_from_slice(known(two));
                    }
                    Part::Run(index, times) => {
                        let room = MOST.saturating_sub(bytes.len()) / known(index).len();
                        bytes.extend(known(index).repeat(room.min(times.into())));
                    }
                }
                if bytes.len() >= MOST {
                    break;
                }
            }
            Ok(Self(bytes))
        }
    }

    impl<'a, const MOST: usize> Arbitrary<'a> for Text<MOST> {
        fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
            let bytes = Bytes::<MOST>::arbitrary(u)?;
            Ok(Self(bytes.0.utf8_chunks().map(|chunk| chunk.valid()).collect()))
        }
    }

    impl<'a, const MOST: usize> Arbitrary<'a> for Units<MOST> {
        fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
            let mut units = Vec::new();
            for &(kind, value) in &*Many::<(u8, u16), MOST>::arbitrary(u)? {
                match kind % 8 {
                    0 | 1 => units.push(0xD800 | value & 0x3FF),
                    2 | 3 => units.push(0xDC00 | value & 0x3FF),
                    4 => units.extend([0xD83D, 0xDE00]),
                    5 => units.push(value),
                    6 => units.extend(std::iter::repeat_n(value & 0x7FF, usize::from(value >> 11))),
                    _ => units.push(value & 0x7F),
                }
            }
            Ok(Self(units))
        }
    }
}

pub mod lines {
    //! Lines in every form: codec and decoder, streams and readers.

    use arbitrary::Arbitrary;

    use super::streams::{Operation, Plan, Settings, cut};
    use crate::support::Errors;
    use crate::support::lines::{Form, Lines};
    use crate::support::reference::{self, Delimiter, Limit, LineItem};
    use crate::support::subjects::counted;
    use crate::support::{line_item, line_settings, undated, undated_item};

    #[derive(Arbitrary, Clone, Debug)]
    pub struct LinesPlan {
        plan: Plan,
        delimiter: u8,
        limit: u8,
    }

    pub fn lines(plan: &LinesPlan) {
        check(plan, Form::SANS_IO);
    }

    pub fn line_stream(plan: &LinesPlan) {
        check(plan, Form::ASYNC);
    }

    pub fn blocking_lines(plan: &LinesPlan) {
        check(plan, Form::BLOCKING);
    }

    fn check(plan: &LinesPlan, forms: &[Form]) {
        forms.iter().for_each(|form| check_form(plan, *form));
    }

    fn check_form(plan: &LinesPlan, form: Form) {
        let mut stream = Checked::new(plan, plan.plan.settings, form);
        for operation in plan.plan.operations.iter() {
            match operation {
                Operation::Push { bytes, chunks } => {
                    // The model scans all lines so far for each chunk, which is slow.
                    let some = &bytes.0[..bytes.0.len().min(40)];
                    cut(some, *chunks).for_each(|chunk| stream.push(chunk));
                }
                Operation::PushNothing => stream.push(b""),
                Operation::Finish => {
                    stream.finish();
                    stream = Checked::new(plan, stream.settings, form);
                }
                Operation::Reset => stream.reset(),
                Operation::Change(settings) => stream = Checked::new(plan, *settings, form),
            }
        }
        stream.finish();
    }

    pub fn delimiter_of(number: u8) -> Delimiter {
        let text = |text: &str| Delimiter::Str(text.to_owned());
        match number % 9 {
            0 => Delimiter::Any,
            1 => Delimiter::Nul,
            2 => text("--"),
            3 => text("aa"),
            4 => text("€"),
            5 => text("\u{FEFF}"),
            6 => Delimiter::Crlf,
            8 => Delimiter::CrlfOrLf,
            _ => Delimiter::Lf,
        }
    }

    struct Checked {
        lines: Box<dyn Lines>,
        form: Form,
        settings: Settings,
        delimiter: Delimiter,
        limit: Limit,
        bytes: Vec<u8>,
        out: Vec<LineItem>,
    }

    impl Checked {
        fn new(plan: &LinesPlan, settings: Settings, form: Form) -> Self {
            let of_model = delimiter_of(plan.delimiter);
            let limit = if plan.limit < 200 { usize::from(plan.limit % 16) } else { 1000 };
            let limit = if plan.limit & 16 == 0 { Limit::Reject(limit) } else { Limit::Cut(limit) };
            let mode = settings.mode().1;
            let lines = form.start(&line_settings(settings.config(), mode, &of_model, limit));
            let (bytes, out) = (Vec::new(), Vec::new());
            Self { lines, form, settings, delimiter: of_model, limit, bytes, out }
        }

        fn push(&mut self, chunk: &[u8]) {
            self.bytes.extend_from_slice(chunk);
            self.out.extend(self.lines.push(chunk).into_iter().map(line_item));
            self.compare(false);
        }

        fn finish(&mut self) {
            self.out.extend(self.lines.finish().into_iter().map(line_item));
            assert!(self.lines.rest().is_empty(), "no byte is left over at the end");
            self.compare(true);
        }

        fn reset(&mut self) {
            if self.lines.reset() {
                self.bytes.clear();
                self.out.clear();
            }
        }

        fn compare(&self, ended: bool) {
            let (config, (mode, _)) = (self.settings.config(), self.settings.mode());
            let Self { form, bytes, delimiter, limit, settings, .. } = self;
            let context = || {
                format!(
                    "{form:?}: {bytes:02x?}, {delimiter:?}, {limit:?}, {settings:?}, ended: {ended}"
                )
            };
            let (expected, errors) =
                reference::lines_and_errors(bytes, config, mode, delimiter, *limit, ended);
            let expected: Vec<_> = expected.into_iter().map(undated_item).collect();
            assert_eq!(self.out, expected, "{}", context());
            let decoder = self.lines.decoder();
            let decoded = reference::decode_prefix(bytes, config, ended);
            let start = (decoder.bom_seen(), decoder.skipped());
            assert_eq!(start, (decoded.bom_seen, decoded.skipped), "{}", context());
            let expected = Errors::of(errors.into_iter().map(undated));
            assert_eq!(counted(decoder), expected, "{}", context());
        }
    }
}

pub mod texts {
    //! Streams of text, such as messages: their characters and their lines.

    use arbitrary::Arbitrary;
    use futures::stream::{self, FusedStream};
    use futures::{FutureExt, StreamExt};
    use utf8_codec::stream::{CharStream, StreamError, Utf8StreamExt};

    use super::input::{Many, Text};
    use super::lines::delimiter_of;
    use crate::support::reference::{self, Delimiter, LineItem, Mode};
    use crate::support::{PLAIN, delimiter, line_item, undated_item};

    #[derive(Arbitrary, Clone, Debug)]
    pub struct TextsPlan {
        /// The messages of all streams, with errors.
        messages: Many<Result<Text<40>, u8>>,
        ways: Many<Way>,
        delimiter: u8,
        limit: u8,
    }

    #[derive(Arbitrary, Clone, Copy, Debug)]
    enum Way {
        Char,
        Index,
        Block,
        Part(u8),
    }

    type Messages = stream::Iter<std::vec::IntoIter<Result<String, u8>>>;

    fn messages(plan: &TextsPlan) -> Messages {
        let messages: Vec<_> =
            plan.messages.iter().map(|message| message.clone().map(|text| text.0)).collect();
        stream::iter(messages)
    }

    /// The output is the text of the messages, with the errors between them; offsets count all of it.
    pub fn texts(plan: &TextsPlan) {
        chars(plan);
        lines(plan);
    }

    fn chars(plan: &TextsPlan) {
        let (mut expected, mut end) = (Vec::new(), 0);
        for message in plan.messages.iter() {
            match message {
                Ok(text) => {
                    expected.extend(text.0.char_indices().map(|(at, c)| Ok((end + at as u64, c))));
                    end += text.0.len() as u64;
                }
                Err(error) => expected.push(Err(*error)),
            }
        }
        let mut chars = messages(plan).utf8().chars();
        let mut found = Vec::new();
        let mut ways = plan.ways.iter().copied().chain([Way::Char]).cycle();
        while !chars.is_terminated() {
            chars = take(chars, &mut found, ways.next().expect("it has no end"));
        }
        assert_eq!(found, expected, "{plan:?}");
        assert_eq!((chars.offset(), chars.get_ref().decoder().position()), (end, end));
        assert_eq!(chars.into_inner().into_inner().next().now_or_never(), Some(None));
    }

    /// Takes some of the next text, unless the stream has ended.
    fn take(
        mut chars: CharStream<Messages, u8>,
        found: &mut Vec<Result<(u64, char), u8>>,
        way: Way,
    ) -> CharStream<Messages, u8> {
        // Once the next character is known, so is its offset.
        let peeked = chars.peek().now_or_never().expect("the source is ready");
        let peeked = peeked.map(|next| next.map_err(inner));
        let (from, text) = (chars.offset(), chars.as_str().to_owned());
        let known = text.char_indices().map(|(at, c)| Ok((from + at as u64, c)));
        let len = match (peeked, way) {
            (None, _) => return chars,
            (Some(Ok(c)), Way::Char) => {
                assert_eq!(chars.next().now_or_never(), Some(Some(Ok(c))));
                1
            }
            (Some(Ok(c)), Way::Index) => {
                assert_eq!(chars.next_indexed().now_or_never(), Some(Some(Ok((from, c)))));
                1
            }
            (Some(Ok(_)), Way::Block) => {
                let block = chars.next_block().now_or_never().flatten().expect("there is one");
                block.expect("it is text").len()
            }
            (Some(Ok(_)), Way::Part(part)) => {
                let part = 1 + usize::from(part) % text.chars().count();
                let len = text.chars().take(part).map(char::len_utf8).sum();
                chars.advance(len);
                part
            }
            (Some(Err(error)), _) => {
                assert_eq!(chars.next().now_or_never(), Some(Some(Err(StreamError::Inner(error)))));
                found.push(Err(error));
                return chars;
            }
        };
        found.extend(known.take(len));
        chars
    }

    fn inner(error: &StreamError<u8>) -> u8 {
        match error {
            StreamError::Inner(error) => *error,
            other => panic!("{other:?}"),
        }
    }

    fn lines(plan: &TextsPlan) {
        let of_model = delimiter_of(plan.delimiter);
        let limit = if plan.limit < 200 { usize::from(plan.limit % 16) } else { 1000 };
        let mut lines =
            messages(plan).text_lines().with_delimiter(delimiter(&of_model)).with_max_length(limit);
        let (mut found, mut errors) = (Vec::new(), Vec::new());
        while let Some(line) = lines.next().now_or_never().expect("the source is ready") {
            match line {
                Ok(line) => found.push(line_item(Ok(line))),
                Err(StreamError::Line(error)) => found.push(line_item(Err(error))),
                Err(StreamError::Inner(error)) => errors.push(error),
                Err(error) => panic!("{error:?}"),
            }
        }
        assert_eq!(found, expected_lines(plan, &of_model, limit), "{plan:?}");
        let expected: Vec<_> =
            plan.messages.iter().filter_map(|message| message.clone().err()).collect();
        assert_eq!(errors, expected, "{plan:?}");
    }

    /// The lines of the messages, without lines with an error, for which FF stands here.
    fn expected_lines(plan: &TextsPlan, delimiter: &Delimiter, limit: usize) -> Vec<LineItem> {
        let model = |bytes: &[u8], ended| {
            reference::lines_prefix(bytes, PLAIN, Mode::Fatal, delimiter, limit, ended)
        };
        let (mut bytes, mut rejected) = (Vec::new(), Vec::new());
        for message in plan.messages.iter() {
            match message {
                Ok(text) => bytes.extend_from_slice(text.0.as_bytes()),
                Err(_) => {
                    let before = model(&bytes, false).len();
                    bytes.push(0xFF);
                    rejected.extend(before..model(&bytes, false).len());
                }
            }
        }
        let items = model(&bytes, true).into_iter().map(undated_item).enumerate();
        let mut expected: Vec<_> =
            items.filter(|(at, _)| !rejected.contains(at)).map(|(_, item)| item).collect();
        let without_errors = |offset: &mut u64| {
            let before = &bytes[..*offset as usize];
            *offset -= before.iter().filter(|&&byte| byte == 0xFF).count() as u64;
        };
        for item in &mut expected {
            if let LineItem::Bare { at, .. } = item {
                without_errors(at);
            }
            let (LineItem::Line { offset, .. }
            | LineItem::Cut { offset, .. }
            | LineItem::Utf8 { offset, .. }
            | LineItem::TooLong { offset, .. }
            | LineItem::Bare { offset, .. }) = item;
            without_errors(offset);
        }
        expected
    }
}
