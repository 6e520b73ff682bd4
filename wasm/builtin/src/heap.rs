//! The heap: blocks of fixed sizes, four to each power of two. A block that is freed
//! is kept in a list and serves the next of its size; the last block of all can grow
//! where it is. That is all that a batch of records needs, it is small and fast, and
//! what it takes at most is bounded by what was in use at once, size by size.

use core::alloc::{GlobalAlloc, Layout};
use core::arch::wasm32::memory_grow;
use core::cell::UnsafeCell;
use core::ptr::{copy_nonoverlapping, null_mut};

/// The unit of linear memory, in bytes.
const PAGE: usize = 64 << 10;
/// The unit of small blocks in bytes; all blocks are aligned to it.
const GRAIN: usize = 16;
/// As many sizes as there are up to 4 GiB.
const SIZES: usize = 112;

struct Heap(UnsafeCell<State>);

struct State {
    /// Freed blocks by size: each holds the address of the next.
    free: [*mut u8; SIZES],
    /// Where memory lies that was never used, and where it ends.
    next: usize,
    end: usize,
}

// SAFETY: a module has one thread.
unsafe impl Sync for Heap {}

#[global_allocator]
static HEAP: Heap = Heap(UnsafeCell::new(State {
    free: [null_mut(); SIZES],
    next: 0,
    end: 0,
}));

extern "C" {
    /// Where the linker's own data end.
    static __heap_base: u8;
}

/// The size of the block for so many bytes, and its number among the sizes.
fn block(bytes: usize) -> (usize, usize) {
    let last = bytes.max(1) - 1;
    if last < 4 * GRAIN {
        return ((last / GRAIN + 1) * GRAIN, last / GRAIN);
    }
    let top = 31 - last.leading_zeros() as usize; // the highest bit that is set
    let step = top - 2;
    (((last >> step) + 1) << step, (top - 5) * 4 + (last >> step) - 4)
}

impl State {
    /// Makes sure that memory reaches to an address.
    fn reach(&mut self, to: usize) -> bool {
        if to <= self.end {
            return true;
        }
        let pages = (to - self.end + PAGE - 1) / PAGE;
        let before = memory_grow(0, pages);
        if before == usize::MAX {
            return false;
        }
        self.end = (before + pages) * PAGE;
        true
    }

    fn take(&mut self, size: usize) -> *mut u8 {
        if self.next == 0 {
            // SAFETY: only the address is used, and the linker defines it.
            let base = unsafe { &__heap_base as *const u8 as usize };
            self.next = (base + GRAIN - 1) / GRAIN * GRAIN;
            self.end = core::arch::wasm32::memory_size(0) * PAGE;
        }
        match self.next.checked_add(size) {
            Some(end) if self.reach(end) => {
                let at = self.next;
                self.next = end;
                at as *mut u8
            }
            _ => null_mut(),
        }
    }
}

// SAFETY: blocks do not overlap, are as large as was asked for, and are aligned to
// GRAIN, which is more than any type here wants.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let state = &mut *self.0.get();
        let (size, number) = block(layout.size());
        let at = state.free[number];
        if at.is_null() {
            return state.take(size);
        }
        state.free[number] = *(at as *const *mut u8);
        at
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        let state = &mut *self.0.get();
        let (_, number) = block(layout.size());
        *(at as *mut *mut u8) = state.free[number];
        state.free[number] = at;
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        let (old, new) = (block(layout.size()), block(bytes));
        if old.1 == new.1 {
            return at;
        }
        let state = &mut *self.0.get();
        if new.0 > old.0 && at as usize + old.0 == state.next && state.reach(at as usize + new.0) {
            state.next = at as usize + new.0;
            return at;
        }
        let fresh = self.alloc(Layout::from_size_align_unchecked(bytes, layout.align()));
        if !fresh.is_null() {
            copy_nonoverlapping(at, fresh, layout.size().min(bytes));
            self.dealloc(at, layout);
        }
        fresh
    }
}
