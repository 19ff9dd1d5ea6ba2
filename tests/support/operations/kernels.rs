//! One kernel, in all that it does, against std and plain loops.

use arbitrary::Arbitrary;
use utf8_codec::{Kernel, Nul, Stop, Why};

use super::input::Bytes;

#[derive(Arbitrary, Clone, Debug)]
pub struct Work {
    bytes: Bytes<3000>,
    /// Bytes at the front that are left off: for every alignment.
    skipped: u8,
    /// Elements of room less than what is needed.
    less: u8,
    mask: [u8; 4],
}

/// Holds the kernel of this name to what is right. False: this machine has none.
pub fn kernel(name: &str, work: &Work) -> bool {
    let Some(kernel) = Kernel::available().find(|kernel| kernel.name() == name) else {
        return false;
    };
    let bytes = &work.bytes.0[usize::from(work.skipped % 64).min(work.bytes.0.len())..];
    let stop = validates(kernel, bytes);
    unmasks(kernel, bytes, work.mask, stop);
    let text = str::from_utf8(&bytes[..stop.valid_up_to]).expect("that much is well-formed");
    converts(kernel, text, work.less.into());
    finds(kernel, bytes);
    parts(kernel, bytes);
    pairs(kernel, text);
    true
}

fn validates(kernel: Kernel, bytes: &[u8]) -> Stop {
    let expected = match str::from_utf8(bytes) {
        Ok(text) => Stop { valid_up_to: text.len(), why: Why::End },
        Err(error) => Stop {
            valid_up_to: error.valid_up_to(),
            why: match error.error_len() {
                None => Why::End,
                Some(1) => Why::IllFormed1,
                Some(2) => Why::IllFormed2,
                _ => Why::IllFormed3,
            },
        },
    };
    assert_eq!(kernel.validate(bytes), expected, "{kernel:?}: {bytes:02x?}");
    let clean = kernel.clean_len(bytes);
    assert!(str::from_utf8(&bytes[..clean]).is_ok(), "{kernel:?}, {clean}: {bytes:02x?}");
    expected
}

fn unmasks(kernel: Kernel, bytes: &[u8], mask: [u8; 4], stop: Stop) {
    let mut masked = bytes.to_vec();
    for (at, byte) in masked.iter_mut().enumerate() {
        *byte ^= mask[at % 4];
    }
    let mut plain = masked.clone();
    kernel.unmask(&mut plain, mask);
    assert!(plain == bytes, "{kernel:?}, {mask:02x?}: {bytes:02x?}");
    assert_eq!(kernel.unmask_and_validate(&mut masked, mask), stop, "{kernel:?}: {bytes:02x?}");
    assert!(masked == bytes, "{kernel:?}, {mask:02x?}: {bytes:02x?}");
}

fn converts(kernel: Kernel, text: &str, less: usize) {
    let chars: Vec<char> = text.chars().collect();
    assert_eq!(kernel.count_chars(text), chars.len(), "{kernel:?}: {text:?}");

    let room = chars.len().saturating_sub(less);
    let mut out = vec!['\u{E123}'; room];
    let read: usize = chars[..room].iter().map(|c| c.len_utf8()).sum();
    assert_eq!(kernel.decode_chars(text, &mut out), (read, room), "{kernel:?}: {text:?}");
    assert!(out == chars[..room], "{kernel:?}: {text:?}");

    // No pair is split.
    let all: Vec<u16> = text.encode_utf16().collect();
    let mut out = vec![0xE123; all.len().saturating_sub(less)];
    let (read, written) = kernel.decode_utf16(text, &mut out);
    assert!(all.starts_with(&out[..written]), "{kernel:?}: {text:?}");
    assert!(text[..read].encode_utf16().eq(out[..written].iter().copied()), "{kernel:?}: {text:?}");
    assert!(out.len() - written <= 1 || read == text.len(), "{kernel:?}: {text:?}");

    let mut out = vec![0xEE; text.len().saturating_sub(less)];
    let (read, written) = kernel.encode_chars(&chars, &mut out);
    let expected: String = chars[..read].iter().collect();
    assert!(expected.as_bytes() == &out[..written], "{kernel:?}: {text:?}");
    assert!(out.len() - written <= 3 || read == chars.len(), "{kernel:?}: {text:?}");
}

fn finds(kernel: Kernel, bytes: &[u8]) {
    for range in [0x00..=0xEF, 0x01..=0x7F] {
        let expected = bytes.iter().position(|byte| !range.contains(byte));
        assert_eq!(kernel.find_outside(bytes, range), expected, "{kernel:?}: {bytes:02x?}");
    }
    let line = bytes.split(|&byte| byte == b'\n').next().unwrap();
    let ascii = line.iter().take_while(|byte| byte.is_ascii()).count();
    let text = kernel.text_before(b'\n', bytes);
    assert!((ascii..=line.len()).contains(&text), "{kernel:?}: {text} of {bytes:02x?}");
    assert!(std::str::from_utf8(&line[..text]).is_ok(), "{kernel:?}: {text} of {bytes:02x?}");
}

/// The ill-formed parts of each block, one after the other, are those of the whole.
fn parts(kernel: Kernel, bytes: &[u8]) {
    let mut expected = Vec::new();
    let mut at = 0;
    for chunk in bytes.utf8_chunks() {
        at += chunk.valid().len();
        if !chunk.invalid().is_empty() {
            expected.push((at, chunk.invalid().len()));
        }
        at += chunk.invalid().len();
    }
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(parts) = bytes[at..].first_chunk().and_then(|block| kernel.parts(block)) {
        for i in (0..64).filter(|i| parts.ill_formed >> i & 1 != 0) {
            let longer = (parts.longer >> i & 1) + (parts.longest >> i & 1);
            found.push((at + i, 1 + longer as usize));
        }
        at += parts.end;
    }
    expected.retain(|part| part.0 < at);
    assert_eq!(found, expected, "{kernel:?}: {bytes:02x?}");
}

/// Characters of four bytes to pairs of surrogates and back.
fn pairs(kernel: Kernel, text: &str) {
    for nul in [Nul::Short, Nul::Long] {
        let mut expected = Vec::new();
        for c in text.chars() {
            match c {
                '\0' if nul == Nul::Long => expected.extend([0xC0, 0x80]),
                '\u{10000}'.. => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        let tail = |shift: u32| 0x80 | (*unit >> shift & 0x3F) as u8;
                        expected.extend([0xED, tail(6), tail(0)]);
                    }
                }
                c => expected.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        let mut out = vec![0xEE; expected.len() + 64];
        let done = kernel.split_pairs(text.as_bytes(), nul, &mut out);
        assert_eq!(done, (text.len(), expected.len()), "{kernel:?}: {text:?}");
        assert!(out[..done.1] == expected, "{kernel:?}: {text:?}");

        let mut back = vec![0xEE; text.len() + 64];
        let done = kernel.join_pairs(&expected, nul, &mut back);
        assert_eq!(done, (expected.len(), text.len()), "{kernel:?}: {text:?}");
        assert!(&back[..done.1] == text.as_bytes(), "{kernel:?}: {text:?}");
    }
}
