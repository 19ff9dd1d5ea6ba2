//! Java's strings.
#![no_main]

use libfuzzer_sys::fuzz_target;
use utf8_codec_fuzz::operations::dialects;

fuzz_target!(|plan: dialects::JavaPlan| dialects::java(&plan));
