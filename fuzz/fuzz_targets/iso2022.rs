//! The decoder for terminals.
#![no_main]

use libfuzzer_sys::fuzz_target;
use utf8_codec_fuzz::operations::relatives;

fuzz_target!(|plan: relatives::TerminalPlan| relatives::iso2022(&plan));
