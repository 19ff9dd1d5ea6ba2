//! The encoder of dialects.
#![no_main]

use libfuzzer_sys::fuzz_target;
use utf8_codec_fuzz::operations::relatives;

fuzz_target!(|plan: relatives::DialectText| relatives::dialect_encoder(&plan));
