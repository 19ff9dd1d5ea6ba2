//! The codecs as encoders.
#![no_main]

use libfuzzer_sys::fuzz_target;
use utf8_codec_fuzz::operations::encoders;

fuzz_target!(|plan: encoders::EncodersPlan| encoders::encoders(&plan));
