//! A counting allocator: the heap bytes that each thread holds, their maximum, and the number, the sum and the largest of all
//! allocations.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses its own part")]
#![allow(unsafe_code, reason = "an allocator is unsafe by nature")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system allocator, with counters per thread.
struct Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
    static ALLOCATED: Cell<u64> = const { Cell::new(0) };
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

/// The bytes that this thread has allocated and not freed.
pub fn held() -> isize {
    HELD.get()
}

/// Resets the maxima. Returns the bytes held now.
pub fn watch() -> isize {
    MOST.set(HELD.get());
    LARGEST.set(0);
    HELD.get()
}

/// The maximum number of bytes held since [`watch`].
pub fn most() -> isize {
    MOST.get()
}

/// The size of the largest allocation since [`watch`].
pub fn largest() -> usize {
    LARGEST.get()
}

/// The sum of the sizes of all allocations of this thread, freed ones included. A reallocation counts its new size.
pub fn allocated() -> u64 {
    ALLOCATED.get()
}

/// The number of allocations of this thread, freed ones and reallocations included.
pub fn allocations() -> usize {
    ALLOCATIONS.get()
}

fn count(allocated: usize, freed: usize) {
    // The counters of a thread that is ending are gone.
    let _ = HELD.try_with(|held| {
        held.set(held.get() + allocated.cast_signed() - freed.cast_signed());
        let _ = MOST.try_with(|most| most.set(most.get().max(held.get())));
    });
    if allocated > 0 {
        let _ = ALLOCATED.try_with(|sum| sum.set(sum.get() + allocated as u64));
        let _ = ALLOCATIONS.try_with(|sum| sum.set(sum.get() + 1));
        let _ = LARGEST.try_with(|largest| largest.set(largest.get().max(allocated)));
    }
}

// SAFETY: forwards every call to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller keeps the contract of `alloc`, which is that of this call.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: the caller keeps the contract of `dealloc`, which is that of this call.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller keeps the contract of `alloc_zeroed`, which is that of this call.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        // SAFETY: the caller keeps the contract of `realloc`, which is that of this call.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;
