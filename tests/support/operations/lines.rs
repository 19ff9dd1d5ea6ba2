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
