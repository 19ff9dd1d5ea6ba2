//! The peers that decode and encode CESU-8 and Modified UTF-8.

use std::hint::black_box;

use utf8_codec::dialect::Dialect;

use crate::dialect::Input;
use crate::support::Row;

/// They borrow if they can; the task is a `String`. residua accepts ill-formed input that the others reject.
pub(crate) fn decode<'a>(row: &mut Row<'a>, dialect: Dialect, input: &'a Input) {
    let bytes = &input.bytes[..];
    if dialect == Dialect::Cesu8 {
        row.peer("simd_cesu8", move || {
            let text = simd_cesu8::decode_strict(black_box(bytes)).expect("well-formed");
            black_box(text.into_owned()).len() as u64
        });
        row.peer("residua", move || {
            let text = cesu8::decode(black_box(bytes)).expect("well-formed");
            black_box(text.into_owned()).len() as u64
        });
    } else {
        row.peer("simd_cesu8", move || {
            let text = simd_cesu8::mutf8::decode_strict(black_box(bytes)).expect("well-formed");
            black_box(text.into_owned()).len() as u64
        });
        row.peer("residua", move || {
            let text = mutf8::decode(black_box(bytes)).expect("well-formed");
            black_box(text.into_owned()).len() as u64
        });
    }
}

/// They borrow if they can; the task is a `Vec`.
pub(crate) fn encode<'a>(row: &mut Row<'a>, dialect: Dialect, input: &'a Input) {
    let text = &input.text[..];
    if dialect == Dialect::Cesu8 {
        row.peer("simd_cesu8", move || {
            black_box(simd_cesu8::encode(black_box(text)).into_owned()).len() as u64
        });
        row.peer("residua", move || {
            black_box(cesu8::encode(black_box(text)).into_owned()).len() as u64
        });
    } else {
        row.peer("simd_cesu8", move || {
            black_box(simd_cesu8::mutf8::encode(black_box(text)).into_owned()).len() as u64
        });
        row.peer("residua", move || {
            black_box(mutf8::encode(black_box(text)).into_owned()).len() as u64
        });
    }
}
