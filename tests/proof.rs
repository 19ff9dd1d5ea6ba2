//! The lemmas of `PROOF.md` about the streaming decoder and validator: every reachable state, every byte, and every
//! cut of short strings. Those about the engine are in `crates/utf8-simd/tests/proof`.

#[path = "../crates/utf8-simd/tests/proof/automaton.rs"]
mod automaton;
#[path = "../crates/utf8-simd/tests/support/mod.rs"]
mod support;

use std::collections::{HashMap, VecDeque};

use utf8_codec::{BomPolicy, Utf8Decoder, Utf8Error, Utf8ErrorKind, Utf8Options, Utf8Validator};

use automaton::{State, is_never};

/// A byte of each class of the grammar, and those of a BOM.
const BYTES: [u8; 18] = [
    0x00, 0x7F, 0x80, 0x8F, 0x90, 0xA0, 0xBB, 0xBF, 0xC0, 0xC2, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF1,
    0xF4, 0xF5,
];

const BOM: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// What a stream yields.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Event {
    Char(char),
    Error(Fact),
}

/// An error: kind, offset, bytes, and the byte that could not continue them.
type Fact = (Utf8ErrorKind, u64, Vec<u8>, Option<u8>);

fn fact(error: &Utf8Error) -> Fact {
    (error.kind(), error.valid_up_to(), error.bytes().to_vec(), error.next_byte())
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Start {
    Bom(BomPolicy),
    MidStream,
    Over,
}

/// The model: the reference automaton, one byte at a time, and the rules for the start of a stream.
#[derive(Clone, Debug)]
struct Model {
    start: Start,
    state: State,
    /// The bytes of the current sequence or BOM.
    held: Vec<u8>,
    position: u64,
    bom_seen: bool,
    skipped: usize,
}

impl Model {
    fn new(start: Start) -> Self {
        let start = if start == Start::Bom(BomPolicy::Keep) { Start::Over } else { start };
        let held = Vec::new();
        Self { start, state: State::Boundary, held, position: 0, bom_seen: false, skipped: 0 }
    }

    fn push(&mut self, byte: u8) -> Vec<Event> {
        let mut events = Vec::new();
        self.read(byte, &mut events);
        events
    }

    fn read(&mut self, byte: u8, events: &mut Vec<Event>) {
        match self.start {
            Start::Over => self.decode(byte, events),
            Start::MidStream if self.skipped < 3 && matches!(byte, 0x80..=0xBF) => {
                self.skipped += 1;
                self.position += 1;
            }
            Start::MidStream => {
                self.start = Start::Over;
                self.decode(byte, events);
            }
            Start::Bom(policy) => {
                self.held.push(byte);
                let held = std::mem::take(&mut self.held);
                if held == BOM {
                    self.start = Start::Over;
                    self.position += 3;
                    match policy {
                        BomPolicy::Forbid => {
                            let kind = Utf8ErrorKind::ForbiddenBom;
                            events.push(Event::Error((kind, 0, held, None)));
                        }
                        _ => self.bom_seen = true,
                    }
                } else if BOM.starts_with(&held) {
                    self.held = held;
                } else {
                    self.start = Start::Over;
                    if policy == BomPolicy::Require {
                        events.push(missing());
                    }
                    held.into_iter().for_each(|byte| self.decode(byte, events));
                }
            }
        }
    }

    fn decode(&mut self, byte: u8, events: &mut Vec<Event>) {
        match self.state.next(byte) {
            Some(State::Boundary) => {
                self.held.push(byte);
                let text = str::from_utf8(&self.held).unwrap();
                events.push(Event::Char(text.chars().next().unwrap()));
                self.position += self.held.len() as u64;
                (self.state, self.held) = (State::Boundary, Vec::new());
            }
            Some(next) => {
                self.held.push(byte);
                self.state = next;
            }
            None if self.held.is_empty() => {
                let kind = match byte {
                    0x80..=0xBF => Utf8ErrorKind::UnexpectedContinuation,
                    0xC0..=0xC1 => Utf8ErrorKind::Overlong,
                    0xF5..=0xF7 => Utf8ErrorKind::TooLarge,
                    _ => Utf8ErrorKind::InvalidByte,
                };
                assert!(matches!(byte, 0x80..=0xBF) || is_never(byte));
                events.push(Event::Error((kind, self.position, vec![byte], None)));
                self.position += 1;
            }
            None => {
                let held = std::mem::take(&mut self.held);
                let kind = match (self.state, byte) {
                    (State::AfterE0 | State::AfterF0, 0x80..=0xBF) => Utf8ErrorKind::Overlong,
                    (State::AfterEd, 0x80..=0xBF) => Utf8ErrorKind::Surrogate,
                    (State::AfterF4, 0x80..=0xBF) => Utf8ErrorKind::TooLarge,
                    _ => Utf8ErrorKind::Truncated,
                };
                let offset = self.position;
                self.position += held.len() as u64;
                self.state = State::Boundary;
                events.push(Event::Error((kind, offset, held, Some(byte))));
                self.decode(byte, events);
            }
        }
    }

    fn finish(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        if self.start == Start::Bom(BomPolicy::Require) {
            events.push(missing());
        }
        self.start = Start::Over;
        let held = std::mem::take(&mut self.held);
        if !held.is_empty() {
            let kind = Utf8ErrorKind::Incomplete;
            events.push(Event::Error((kind, self.position, held, None)));
        }
        events
    }
}

fn missing() -> Event {
    Event::Error((Utf8ErrorKind::MissingBom, 0, Vec::new(), None))
}

/// A decoder and a validator of one stream, and the model.
#[derive(Clone)]
struct Stream {
    decoder: Utf8Decoder,
    validator: Utf8Validator,
    model: Model,
}

impl Stream {
    fn new(start: Start) -> Self {
        let options = match start {
            Start::Bom(policy) => Utf8Options::new().with_bom(policy),
            _ => Utf8Options::new().with_mid_stream_start(),
        };
        Self {
            decoder: Utf8Decoder::new().with_options(options),
            validator: Utf8Validator::new().with_options(options),
            model: Model::new(start),
        }
    }

    /// The states of the decoder and the validator, without what only counts.
    fn key(&self) -> String {
        let decoder = format!("{:?}", self.decoder);
        let validator = format!("{:?}", self.validator);
        let state = |debug: &str| {
            let (before, after) = debug.split_once("position: ").unwrap();
            before.to_owned() + after.split_once(',').unwrap().1
        };
        // The last fields of the decoder hold the character that was lent, and count errors.
        state(decoder.split_once("split_char: ").unwrap().0) + &state(&validator)
    }

    /// Pushes one chunk into all three, and compares the events and what can be seen of the states.
    fn push(&mut self, chunk: &[u8]) {
        let expected: Vec<_> = chunk.iter().flat_map(|byte| self.model.push(*byte)).collect();
        let mut events = Vec::new();
        for piece in self.decoder.push(chunk) {
            match piece {
                Ok(text) => events.extend(text.chars().map(Event::Char)),
                Err(error) => events.push(Event::Error(fact(&error))),
            }
        }
        assert_eq!(events, expected, "{chunk:02x?}");

        let before = self.validator.position();
        let mut errors = Vec::new();
        loop {
            let seen = (self.validator.position() - before) as usize;
            match self.validator.push(&chunk[seen..]) {
                Ok(()) => break,
                Err(error) => errors.push(Event::Error(fact(&error))),
            }
        }
        let is_error = |event: &Event| matches!(event, Event::Error(_));
        let expected: Vec<_> = expected.into_iter().filter(is_error).collect();
        assert_eq!(errors, expected, "{chunk:02x?}");
        self.check_state();
    }

    fn check_state(&self) {
        let Self { decoder, validator, model } = self;
        let seen = (&model.held[..], model.bom_seen, model.skipped);
        assert_eq!((decoder.incomplete(), decoder.bom_seen(), decoder.skipped()), seen);
        assert_eq!((validator.incomplete(), validator.bom_seen(), validator.skipped()), seen);
        let position = model.position + model.held.len() as u64;
        assert_eq!((decoder.position(), validator.position()), (position, position));
    }

    fn finish(mut self) {
        let expected = self.model.finish();
        let decoder = std::iter::from_fn(|| self.decoder.finish().err());
        let found: Vec<_> = decoder.map(|error| Event::Error(fact(&error))).collect();
        assert_eq!(found, expected);
        let validator = std::iter::from_fn(|| self.validator.finish().err());
        let found: Vec<_> = validator.map(|error| Event::Error(fact(&error))).collect();
        assert_eq!(found, expected);
    }
}

/// Every state that the decoder and the validator reach by single bytes and by short chunks.
fn reachable() -> Vec<Stream> {
    let policies = [BomPolicy::Keep, BomPolicy::Strip, BomPolicy::Require, BomPolicy::Forbid];
    let starts = policies.map(Start::Bom).into_iter().chain([Start::MidStream]);
    let mut seen = HashMap::new();
    let mut queue: VecDeque<_> = starts.map(Stream::new).collect();
    for stream in &queue {
        seen.insert(stream.key(), stream.clone());
    }
    while let Some(stream) = queue.pop_front() {
        // A chunk of two bytes also reaches the states that depend on what is near.
        let pairs = BYTES.iter().flat_map(|a| [vec![*a], vec![b'a', *a], vec![*a, 0xFF]]);
        for chunk in pairs {
            let mut next = stream.clone();
            next.push(&chunk);
            if seen.insert(next.key(), next.clone()).is_none() {
                queue.push_back(next);
            }
        }
    }
    seen.into_values().collect()
}

/// Lemma 9: in every reachable state, every byte, every short chunk and the end have the result of the model,
/// and lead to a state that equals that of the model.
#[test]
fn every_reachable_state_of_a_stream_is_that_of_the_model() {
    let states = reachable();
    let mut chunks = 0;
    for stream in &states {
        stream.clone().finish();
        for byte in 0..=0xFF {
            stream.clone().push(&[byte]);
            chunks += 1;
        }
        for a in BYTES {
            for b in BYTES {
                stream.clone().push(&[a, b]);
                chunks += 1;
            }
        }
    }
    println!("{} states, {chunks} chunks", states.len());
}

/// Lemma 10: a chunk has the result of its bytes, in every reachable state: chunks of three, five and seven bytes, of
/// which the first three are of all classes.
#[test]
#[ignore = "a minute in release mode"]
fn a_chunk_has_the_result_of_its_bytes() {
    let states = reachable();
    let chunks = crate::support::sum_of(&states, |stream| {
        let mut chunks = 0;
        let mut check = |chunk: &[u8]| {
            stream.clone().push(chunk);
            chunks += 1;
        };
        for a in BYTES {
            for b in BYTES {
                for c in BYTES {
                    check(&[a, b, c]);
                    check(&[a, b, c, b'z', 0xFF, b'z', b'z']);
                    check(&[a, b, c, 0xBF, 0x80]);
                }
            }
        }
        chunks
    });
    println!("{} states, {chunks} chunks", states.len());
}
