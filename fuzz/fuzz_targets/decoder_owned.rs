//! The decoder in its owned and repairing ways.
#![no_main]

use libfuzzer_sys::fuzz_target;
use utf8_codec_fuzz::operations::{decoding, streams};

fuzz_target!(|plan: streams::Plan| decoding::decoder_owned(&plan));
