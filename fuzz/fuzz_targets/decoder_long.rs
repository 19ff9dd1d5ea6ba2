//! The decoder on long inputs, against std and encoding_rs.
#![no_main]

use libfuzzer_sys::fuzz_target;
use utf8_codec_fuzz::operations::decoding;

fuzz_target!(|plan: decoding::Long| decoding::long(&plan));
