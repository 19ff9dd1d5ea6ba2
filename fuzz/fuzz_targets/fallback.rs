//! Legacy encodings to fall back to.
#![no_main]

use libfuzzer_sys::fuzz_target;
use utf8_codec_fuzz::operations::relatives;

fuzz_target!(|plan: relatives::FallbackPlan| relatives::fallback(&plan));
