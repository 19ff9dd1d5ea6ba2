//! Calls to a `MessageAssembler` in any order.
#![no_main]

use libfuzzer_sys::fuzz_target;
use utf8_codec_fuzz::operations::calls;

fuzz_target!(|plan: calls::Calls| calls::websocket_calls(&plan));
