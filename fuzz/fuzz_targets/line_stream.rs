//! `Utf8Lines`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use utf8_codec_fuzz::operations::lines;

fuzz_target!(|plan: lines::LinesPlan| lines::line_stream(&plan));
