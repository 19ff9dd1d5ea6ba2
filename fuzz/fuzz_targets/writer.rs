//! `Utf8Writer`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use utf8_codec_fuzz::operations::encoding;

fuzz_target!(|plan: encoding::WriterPlan| encoding::writer(&plan));
