//! All fuzz targets. The name of the binary selects the operation, which the plans are made for.
#![no_main]

use std::fmt;

use arbitrary::{Arbitrary, Error, Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use utf8_codec_fuzz::operations::{
    bodies, calls, decoding, dialects, encoders, encoding, levels, lines, payloads, relatives,
    streams, texts,
};

/// Makes a plan for one operation.
type Operation = fn(Unstructured<'_>) -> Result<AnyPlan>;

/// The operations, by the names of the binaries in `Cargo.toml`.
const OPERATIONS: [(&str, Operation); 31] = [
    ("validator", |input| plan(input, decoding::validator)),
    ("decoder_pieces", |input| plan(input, decoding::decoder_pieces)),
    ("decoder_owned", |input| plan(input, decoding::decoder_owned)),
    ("decoder_long", |input| plan(input, decoding::long)),
    ("boundaries", |input| plan(input, relatives::boundaries)),
    ("codecs", |input| plan(input, decoding::codecs)),
    ("text_stream", |input| plan(input, streams::text_stream)),
    ("char_stream", |input| plan(input, streams::char_stream)),
    ("texts", |input| plan(input, texts::texts)),
    ("reader", |input| plan(input, streams::reader)),
    ("blocking_reader", |input| plan(input, streams::blocking_reader)),
    ("body", |input| plan(input, bodies::body)),
    ("content_type", |input| plan(input, bodies::content_type)),
    ("line_stream", |input| plan(input, lines::line_stream)),
    ("lines", |input| plan(input, lines::lines)),
    ("blocking_lines", |input| plan(input, lines::blocking_lines)),
    ("encoder", |input| plan(input, encoding::encoder)),
    ("encoders", |input| plan(input, encoders::encoders)),
    ("writer", |input| plan(input, encoding::writer)),
    ("finder", |input| plan(input, encoding::finder)),
    ("utf16", |input| plan(input, encoding::utf16)),
    ("websocket", |input| plan(input, payloads::websocket)),
    ("events", |input| plan(input, payloads::events)),
    ("websocket_calls", |input| plan(input, calls::websocket_calls)),
    ("dialect_decoder", |input| plan(input, dialects::dialect_decoder)),
    ("dialect_encoder", |input| plan(input, dialects::dialect_encoder)),
    ("java", |input| plan(input, dialects::java)),
    ("fallback", |input| plan(input, relatives::fallback)),
    ("detector", |input| plan(input, relatives::detector)),
    ("terminal", |input| plan(input, relatives::terminal)),
    ("level", |input| plan(input, levels::every_level)),
];

/// The operation of this binary, selected at compile time, so that a binary contains no other.
const OPERATION: Operation = operation_of(env!("CARGO_BIN_NAME"));

fuzz_target!(|plan: AnyPlan| plan.0.check());

const fn operation_of(name: &str) -> Operation {
    let mut index = 0;
    while index < OPERATIONS.len() {
        if is_same(OPERATIONS[index].0.as_bytes(), name.as_bytes()) {
            return OPERATIONS[index].1;
        }
        index += 1;
    }
    panic!("no operation has the name of this binary")
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut index = 0;
    while index < one.len() && index < other.len() && one[index] == other[index] {
        index += 1;
    }
    index == one.len() && index == other.len()
}

/// A plan for the operation of this binary.
#[derive(Debug)]
struct AnyPlan(Box<dyn Plan>);

impl<'a> Arbitrary<'a> for AnyPlan {
    fn arbitrary(input: &mut Unstructured<'a>) -> Result<Self> {
        Self::arbitrary_take_rest(Unstructured::new(input.bytes(input.len())?))
    }

    fn arbitrary_take_rest(input: Unstructured<'a>) -> Result<Self> {
        OPERATION(input)
    }
}

trait Plan: fmt::Debug {
    fn check(&self);
}

/// A plan, and its check.
struct Checked<P>(P, fn(&P));

impl<P: fmt::Debug> fmt::Debug for Checked<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<P: fmt::Debug> Plan for Checked<P> {
    fn check(&self) {
        self.1(&self.0);
    }
}

/// The plan that these bytes make for `check`. Too few bytes make no plan.
fn plan<P>(input: Unstructured<'_>, check: fn(&P)) -> Result<AnyPlan>
where
    P: for<'a> Arbitrary<'a> + fmt::Debug + 'static,
{
    if input.len() < P::size_hint(0).0 {
        return Err(Error::NotEnoughData);
    }
    Ok(AnyPlan(Box::new(Checked(P::arbitrary_take_rest(input)?, check))))
}
