//! The line codec.

use arbitrary::Arbitrary;
use bytes::BytesMut;
use tokio_util::codec::Decoder;
use utf8_codec::codec::Utf8LinesCodec;

use super::streams::{Operation, Plan, Settings};
use crate::support::reference::{self, Delimiter, LineItem};
use crate::support::{delimiter, line_item, options, undated_item};

#[derive(Arbitrary, Clone, Debug)]
pub struct LinesPlan {
    plan: Plan,
    delimiter: u8,
    limit: u8,
}

pub fn lines(lines: &LinesPlan) {
    let mut stream = Lines::new(lines, lines.plan.settings);
    for operation in lines.plan.operations.iter() {
        match operation {
            Operation::Push { bytes, chunks } => {
                let size = usize::from(chunks % 8).min(bytes.0.len());
                let size = if size == 0 { bytes.0.len().max(1) } else { size };
                bytes.0.chunks(size).for_each(|chunk| stream.push(chunk));
            }
            Operation::PushNothing => stream.push(b""),
            Operation::Finish => {
                stream.finish();
                stream.reset();
            }
            Operation::Reset => stream.reset(),
            Operation::Change(settings) => stream = Lines::new(lines, *settings),
        }
    }
    stream.finish();
}

struct Lines {
    codec: Utf8LinesCodec,
    settings: Settings,
    delimiter: Delimiter,
    limit: usize,
    buffer: BytesMut,
    bytes: Vec<u8>,
    out: Vec<LineItem>,
}

impl Lines {
    fn new(plan: &LinesPlan, settings: Settings) -> Self {
        let text = |text: &str| Delimiter::Str(text.to_owned());
        let of_model = match plan.delimiter % 8 {
            0 => Delimiter::Any,
            1 => Delimiter::Nul,
            2 => text("--"),
            3 => text("aa"),
            4 => text("€"),
            5 => text("\u{FEFF}"),
            _ => Delimiter::Lf,
        };
        let limit = if plan.limit < 200 { usize::from(plan.limit % 16) } else { 1000 };
        let codec = Utf8LinesCodec::new()
            .with_options(options(settings.config()))
            .with_error_mode(settings.mode().1)
            .with_delimiter(delimiter(&of_model))
            .with_max_length(limit);
        let (buffer, bytes, out) = (BytesMut::new(), Vec::new(), Vec::new());
        Self { codec, settings, delimiter: of_model, limit, buffer, bytes, out }
    }

    fn push(&mut self, chunk: &[u8]) {
        self.bytes.extend_from_slice(chunk);
        self.buffer.extend_from_slice(chunk);
        while let Some(item) = self.codec.decode(&mut self.buffer).expect("no input or output") {
            self.out.push(line_item(item));
        }
        self.compare(false);
    }

    fn finish(&mut self) {
        while let Some(item) = self.codec.decode_eof(&mut self.buffer).expect("no input or output")
        {
            self.out.push(line_item(item));
        }
        assert!(self.buffer.is_empty(), "everything is accounted for at the end");
        self.compare(true);
    }

    fn reset(&mut self) {
        self.codec.reset();
        self.buffer.clear();
        self.bytes.clear();
        self.out.clear();
    }

    fn compare(&self, ended: bool) {
        let (config, (mode, _)) = (self.settings.config(), self.settings.mode());
        let expected: Vec<_> =
            reference::lines_prefix(&self.bytes, config, mode, &self.delimiter, self.limit, ended)
                .into_iter()
                .map(undated_item)
                .collect();
        assert_eq!(
            self.out, expected,
            "{:02x?}, {:?}, limit {}, {:?}, ended: {ended}",
            self.bytes, self.delimiter, self.limit, self.settings
        );
    }
}
