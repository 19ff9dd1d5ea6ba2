//! `Utf8Body`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use utf8_codec_fuzz::operations::bodies;

fuzz_target!(|plan: bodies::BodyPlan| bodies::body(&plan));
