//! Where characters begin, and where text is cut.
#![no_main]

use libfuzzer_sys::fuzz_target;
use utf8_codec_fuzz::operations::{input, relatives};

fuzz_target!(|bytes: input::Bytes<200>| relatives::boundaries(&bytes));
