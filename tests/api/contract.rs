//! The contract of every incremental decoder, one test for each rule: see `src/core/mod.rs`.

#[path = "../support/contract.rs"]
mod contract;

use utf8_codec::dialect::DialectDecoder;
use utf8_codec::fallback::FallbackDecoder;
use utf8_codec::terminal::TerminalDecoder;
use utf8_codec::utf16::Utf16Decoder;
use utf8_codec::{Utf8Decoder, Utf8Validator};

/// A test for each rule, which checks each decoder.
macro_rules! rules {
    ($($rule:ident)*) => {$(
        #[test]
        fn $rule() {
            contract::$rule::<Utf8Validator>();
            contract::$rule::<Utf8Decoder>();
            contract::$rule::<Utf16Decoder>();
            contract::$rule::<TerminalDecoder>();
            contract::$rule::<DialectDecoder>();
            contract::$rule::<FallbackDecoder>();
        }
    )*};
}

rules! {
    an_empty_chunk_changes_nothing
    the_position_includes_what_is_held
    every_split_gives_the_same_text_and_errors
    finish_reports_once_and_then_returns_ok
    errors_are_counted_and_the_first_is_kept
    a_lossy_string_is_what_push_reports_with_each_error_repaired
    a_fatal_string_stops_at_each_error_and_continues_after_it
    after_finish_decoding_continues_and_offsets_keep_counting
    reset_starts_a_new_stream
}
