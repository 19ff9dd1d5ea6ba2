//! The encoder of dialects.
#![no_main]

use libfuzzer_sys::fuzz_target;
use utf8_codec_fuzz::operations::dialects;

fuzz_target!(|plan: dialects::DialectText| dialects::dialect_encoder(&plan));
