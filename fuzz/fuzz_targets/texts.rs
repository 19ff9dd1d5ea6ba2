//! Streams of text: their characters and lines.
#![no_main]

use libfuzzer_sys::fuzz_target;
use utf8_codec_fuzz::operations::texts;

fuzz_target!(|plan: texts::TextsPlan| texts::texts(&plan));
