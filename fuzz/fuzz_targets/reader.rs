//! `Utf8Reader`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use utf8_codec_fuzz::operations::streams;

fuzz_target!(|plan: streams::Plan| streams::reader(&plan));
