//! The encoder.
#![no_main]

use libfuzzer_sys::fuzz_target;
use utf8_codec_fuzz::operations::encoding;

fuzz_target!(|plan: encoding::EncoderPlan| encoding::encoder(&plan));
