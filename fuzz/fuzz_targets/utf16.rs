//! The decoder of UTF-16.
#![no_main]

use libfuzzer_sys::fuzz_target;
use utf8_codec_fuzz::operations::encoding;

fuzz_target!(|plan: encoding::Utf16Plan| encoding::utf16(&plan));
