//! Messages of a WebSocket.
#![no_main]

use libfuzzer_sys::fuzz_target;
use utf8_codec_fuzz::operations::payloads;

fuzz_target!(|plan: payloads::Conversation| payloads::websocket(&plan));
