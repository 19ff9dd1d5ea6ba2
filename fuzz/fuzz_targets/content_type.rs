//! `Content-Type` fields.
#![no_main]

use libfuzzer_sys::fuzz_target;
use utf8_codec_fuzz::operations::content_types;

fuzz_target!(|plan: content_types::Headers| content_types::content_type(&plan));
