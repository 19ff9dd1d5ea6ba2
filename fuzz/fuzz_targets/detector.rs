//! The detector.
#![no_main]

use libfuzzer_sys::fuzz_target;
use utf8_codec_fuzz::operations::{input, relatives};

fuzz_target!(|plan: input::Many<input::Bytes<60>>| relatives::detector(&plan));
