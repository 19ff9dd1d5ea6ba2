//! Kernels read nothing outside their input: on either side of it are pages that cannot be read.
#![cfg(unix)]
#![allow(unsafe_code)]

use std::ptr;

use utf8_codec::{Kernel, Nul};

/// More than every path for short inputs takes, and some strides.
const LONGEST: usize = 700;

/// Memory of a page's size between two pages that cannot be accessed.
struct Guarded {
    start: *mut u8,
    page: usize,
}

impl Guarded {
    fn new() -> Self {
        // SAFETY: asks for a number.
        let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap();
        // SAFETY: new memory, wherever the system likes.
        let pages = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANON;
            libc::mmap(ptr::null_mut(), 3 * page, libc::PROT_NONE, flags, -1, 0)
        };
        assert_ne!(pages, libc::MAP_FAILED, "mmap");
        // SAFETY: the second of the three pages above.
        let start = unsafe { pages.add(page) };
        // SAFETY: the same page, which nothing refers to yet.
        let done = unsafe { libc::mprotect(start, page, libc::PROT_READ | libc::PROT_WRITE) };
        assert_eq!(done, 0, "mprotect");
        Self { start: start.cast(), page }
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: a page that can be read and written, is zeroed, and lives as long as `self`.
        unsafe { std::slice::from_raw_parts_mut(self.start, self.page) }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the three pages of `new`, to which nothing refers any more.
        let done = unsafe { libc::munmap(self.start.sub(self.page).cast(), 3 * self.page) };
        assert_eq!(done, 0, "munmap");
    }
}

/// Holds every kernel to std on `bytes`, at the very start of a page and at its very end.
fn check(page: &mut Guarded, bytes: &[u8]) {
    let valid_up_to = std::str::from_utf8(bytes).map_or_else(|e| e.valid_up_to(), str::len);
    for at_end in [false, true] {
        let page = page.bytes();
        let at = if at_end { page.len() - bytes.len() } else { 0 };
        let place = &mut page[at..at + bytes.len()];
        place.copy_from_slice(bytes);
        for kernel in Kernel::available() {
            let found = kernel.validate(place).valid_up_to;
            assert_eq!(
                found,
                valid_up_to,
                "{}, {} bytes, end {at_end}",
                kernel.name(),
                bytes.len()
            );
            assert!(kernel.clean_len(place) <= valid_up_to, "{}", kernel.name());
            let ascii = place.iter().take_while(|&&byte| byte.is_ascii() && byte != b'\n').count();
            let text = kernel.text_before(b'\n', place);
            assert!((ascii..=valid_up_to.max(ascii)).contains(&text), "{}", kernel.name());
        }
    }
}

#[test]
fn nothing_is_read_before_or_behind_the_input() {
    let mut page = Guarded::new();
    for text in ["plain", "é", "語", "😀", "\u{10FFFF}", "mixed é ж 語 🦀 and ASCII, "] {
        let text = text.repeat(LONGEST);
        for len in 0..=LONGEST {
            check(&mut page, &text.as_bytes()[..len]);
            // From inside a character on, where that is possible.
            check(&mut page, &text.as_bytes()[1..1 + len]);
        }
    }
}

#[test]
fn nothing_is_read_outside_when_an_error_is_looked_for() {
    let mut page = Guarded::new();
    for len in 1..=LONGEST {
        for error in [&b"\xFF"[..], b"\xC0", b"\xE0\x80", b"\xF4\x90", b"\x80"] {
            for from in [0, len / 2, len.saturating_sub(error.len())] {
                for fill in [b"a".as_slice(), "жé".as_bytes(), "語".as_bytes()] {
                    let mut bytes: Vec<u8> = fill.iter().copied().cycle().take(len).collect();
                    let to = (from + error.len()).min(len);
                    bytes[from..to].copy_from_slice(&error[..to - from]);
                    check(&mut page, &bytes);
                }
            }
        }
    }
}

#[test]
fn nothing_is_read_or_written_outside_when_pairs_are_joined_or_split() {
    let (mut page, mut output) = (Guarded::new(), Guarded::new());
    let joined = ["a", "é", "😀", "a😀\0"].map(|text| text.repeat(LONGEST).into_bytes());
    let split =
        [&b"\xED\xA0\xBD\xED\xB8\x80"[..], b"a\xC0\x80", b"\xED\xA0\xBD\xED\xB8\x80\xC0\x80"];
    let split = split.map(|bytes| bytes.repeat(LONGEST));
    for (inputs, is_joined) in [(&joined[..], true), (&split[..], false)] {
        for input in inputs {
            for (len, at_end) in (0..=LONGEST).flat_map(|len| [(len, false), (len, true)]) {
                // What is not text is not split.
                let text = str::from_utf8(&input[..len]);
                let len =
                    if is_joined { text.map_or_else(|e| e.valid_up_to(), str::len) } else { len };
                let page = page.bytes();
                let at = if at_end { page.len() - len } else { 0 };
                let place = &mut page[at..at + len];
                place.copy_from_slice(&input[..len]);
                let output = output.bytes();
                let room = output.len() - (len + 80).min(output.len());
                let out = if at_end { &mut output[room..] } else { &mut output[..len + 80] };
                for kernel in Kernel::available() {
                    let on_heap = &input[..len];
                    let found = kernel.find_outside(place, 0x00..=0xEF);
                    assert_eq!(found, kernel.find_outside(on_heap, 0x00..=0xEF));
                    for nul in [Nul::Short, Nul::Long] {
                        let rewrite = |bytes: &[u8], out: &mut [u8]| match is_joined {
                            true => kernel.split_pairs(bytes, nul, out),
                            false => kernel.join_pairs(bytes, nul, out),
                        };
                        let mut expected = vec![0; out.len()];
                        let (read, written) = rewrite(on_heap, &mut expected);
                        assert_eq!(rewrite(place, out), (read, written), "{}", kernel.name());
                        assert!(out[..written] == expected[..written], "{}", kernel.name());
                    }
                }
            }
        }
    }
}
