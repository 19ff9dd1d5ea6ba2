//! Heap use of a `Utf8Writer`.
#![cfg(feature = "stream")]
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use futures::FutureExt;
use utf8_codec::ByteString;
use utf8_codec::stream::Utf8Writer;

/// Counts the bytes that each thread has allocated and not freed.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    LIVE.with(|live| live.set(live.get() + bytes));
}

// SAFETY: forwards every call to the system allocator, and counts.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller keeps the contract of `alloc`, which is that of this call.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller has `at` from `alloc`, with this layout.
        unsafe { System.dealloc(at, layout) }
    }
}

fn written(writer: &mut Utf8Writer<tokio::io::Sink>, text: &ByteString) -> isize {
    let before = LIVE.get();
    for _ in 0..100 {
        writer.write_str(text).now_or_never().unwrap().unwrap();
        writer.write_text(text.clone()).now_or_never().unwrap().unwrap();
        writer.write_utf16(&[0x61, 0xD83D]).now_or_never().unwrap().unwrap();
        writer.write_utf16(&[0xDC4B]).now_or_never().unwrap().unwrap();
    }
    let held = LIVE.get() - before;
    writer.flush().now_or_never().unwrap().unwrap();
    assert_eq!(LIVE.get(), before, "everything is freed");
    held
}

#[test]
fn a_flushed_writer_holds_no_heap_memory() {
    let before = LIVE.get();
    let mut writer = Utf8Writer::new(tokio::io::sink());
    assert_eq!(LIVE.get(), before, "nor does a new one");
    for size in [1, 100, 255, 256, 5000] {
        let text = ByteString::from("x".repeat(size));
        let _another = text.clone(); // from now on its reference count is on the heap
        let held = written(&mut writer, &text);
        assert!(0 < held && held < 64 * 1024, "{held} bytes for what is at most 13,196 long");
    }
}
