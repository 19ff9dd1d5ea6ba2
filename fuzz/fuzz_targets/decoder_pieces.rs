//! The decoder, piece by piece.
#![no_main]

use libfuzzer_sys::fuzz_target;
use utf8_codec_fuzz::operations::{decoding, streams};

fuzz_target!(|plan: streams::Plan| decoding::decoder_pieces(&plan));
