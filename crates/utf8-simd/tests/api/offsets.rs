//! Strings by offsets, compared with one call for each string.

use std::fmt::Debug;

use utf8_simd::{OffsetsError, from_utf8, from_utf8_offsets};

use crate::Levels;
use crate::support::{FILLS, Random, fill_to};
use crate::transcode::damaged;

/// Validates each string alone.
fn expected(buffer: &[u8], offsets: &[i64]) -> Result<String, OffsetsError> {
    let mut start = 0;
    let mut text = String::new();
    for (index, &offset) in offsets.iter().enumerate() {
        let end = usize::try_from(offset).unwrap_or(usize::MAX);
        if end < start || end > buffer.len() {
            return Err(OffsetsError::Offset { index });
        }
        if index > 0 {
            match core::str::from_utf8(&buffer[start..end]) {
                Ok(string) => text.push_str(string),
                Err(_) => {
                    let error = from_utf8(&buffer[start..end]).unwrap_err();
                    return Err(OffsetsError::Utf8 { index: index - 1, error });
                }
            }
        }
        start = end;
    }
    Ok(text)
}

/// Compares the results for offsets of each type.
fn are_as_each_alone(levels: &Levels, buffer: &[u8], offsets: &[i64]) {
    fn of<O: Copy + TryInto<usize> + TryFrom<i64>>(buffer: &[u8], offsets: &[i64])
    where
        <O as TryFrom<i64>>::Error: Debug,
    {
        if let Ok(typed) = offsets.iter().map(|&at| O::try_from(at)).collect::<Result<Vec<O>, _>>()
        {
            let found = from_utf8_offsets(buffer, &typed).map(String::from);
            assert_eq!(found, expected(buffer, offsets), "{buffer:02x?} {offsets:?}");
        }
    }
    levels.each(|_| {
        of::<i32>(buffer, offsets);
        of::<u32>(buffer, offsets);
        of::<i64>(buffer, offsets);
        of::<u64>(buffer, offsets);
        of::<usize>(buffer, offsets);
    });
}

#[test]
fn all_offsets_of_short_buffers_are_as_each_string_alone() {
    let levels = Levels::lock();
    for buffer in
        ["", "a", "é", "aé€", "😀a"].map(str::as_bytes).into_iter().chain([&b"a\xFFb"[..]])
    {
        let ends: Vec<i64> = (-1..=buffer.len() as i64 + 1).collect();
        are_as_each_alone(&levels, buffer, &[]);
        for &a in &ends {
            are_as_each_alone(&levels, buffer, &[a]);
            for &b in &ends {
                are_as_each_alone(&levels, buffer, &[a, b]);
                for &c in &ends {
                    are_as_each_alone(&levels, buffer, &[a, b, c]);
                    are_as_each_alone(&levels, buffer, &[a, b, b, c]);
                }
            }
        }
    }
}

#[test]
fn random_columns_are_as_each_string_alone() {
    let levels = Levels::lock();
    let mut random = Random(21);
    for round in 0..400 {
        let fill = FILLS[random.below(FILLS.len())];
        let text = fill_to(fill, 1 + random.below(3000));
        let mut buffer = text.as_bytes().to_vec();
        let mut offsets = vec![0];
        let mut at = 0;
        while at < text.len() {
            at = (at + random.below(25)).min(text.len());
            while !text.is_char_boundary(at) {
                at += 1;
            }
            offsets.push(at as i64);
        }
        // Columns may be slices of longer ones.
        let from = random.below(3).min(offsets.len() - 1);
        match round % 4 {
            0 => {}
            1 => buffer = damaged(&buffer, 500, &mut random),
            2 => {
                let index = random.below(offsets.len());
                offsets[index] += random.below(7) as i64 - 3;
            }
            _ => {
                let index = random.below(offsets.len());
                offsets[index] = [-1, i64::from(i32::MAX), 0][random.below(3)];
            }
        }
        are_as_each_alone(&levels, &buffer, &offsets[from..]);
    }
}

#[test]
fn errors_name_the_string_or_the_offset() {
    let error = from_utf8_offsets(b"abc\xFFd", &[0_u32, 2, 5]).unwrap_err();
    let message = "string 1: invalid UTF-8 at byte 1: ill-formed sequence of 1 byte";
    assert_eq!(error.to_string(), message);
    let error = from_utf8_offsets(b"abc", &[0_i32, 2, 1]).unwrap_err();
    assert_eq!(error.to_string(), "offset 2 is outside the buffer or less than the one before it");
}
