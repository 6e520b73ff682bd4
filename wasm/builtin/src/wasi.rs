//! What of the system a module uses, straight from WASI: Rust's standard library
//! would be three quarters of a module.

use alloc::vec::Vec;
use core::alloc::Layout;
use core::panic::PanicInfo;

const STDIN: u32 = 0;
const STDOUT: u32 = 1;
const STDERR: u32 = 2;

const EXIT_IO: i32 = 1;
pub const EXIT_UNSUPPORTED: i32 = 64;
pub const EXIT_BAD_INPUT: i32 = 65;

/// How much of stdin is read at once, in bytes.
const BUFFER: usize = 64 << 10;

/// A piece of memory that is read into or written from.
#[repr(C)]
struct Piece {
    at: *const u8,
    length: usize,
}

// What the compiler calls by itself: memcpy, memset and their like.
#[link(name = "c")]
extern "C" {}

#[link(wasm_import_module = "wasi_snapshot_preview1")]
extern "C" {
    fn fd_read(fd: u32, pieces: *const Piece, count: usize, done: *mut usize) -> u32;
    fn fd_write(fd: u32, pieces: *const Piece, count: usize, done: *mut usize) -> u32;
    fn proc_exit(code: i32) -> !;
}

#[no_mangle]
pub extern "C" fn _start() {
    crate::main();
}

/// Ends the module with a code and a reason.
pub fn fail(code: i32, message: &str) -> ! {
    write(STDERR, message.as_bytes());
    write(STDERR, b"\n");
    // SAFETY: it takes a number and does not return.
    unsafe { proc_exit(code) }
}

/// Says something on stderr.
pub fn warn(message: &str) {
    write(STDERR, message.as_bytes());
    write(STDERR, b"\n");
}

/// Writes to stdout, all of it.
pub fn print(text: &str) {
    if !write(STDOUT, text.as_bytes()) {
        fail(EXIT_IO, "stdout cannot be written");
    }
}

fn write(fd: u32, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        let piece = Piece { at: bytes.as_ptr(), length: bytes.len() };
        let mut done = 0;
        // SAFETY: the piece is the slice, which outlives the call.
        if unsafe { fd_write(fd, &piece, 1, &mut done) } != 0 || done == 0 {
            return false;
        }
        bytes = bytes.get(done..).unwrap_or_default();
    }
    true
}

/// The lines of stdin.
pub struct Lines {
    buffer: Vec<u8>,
    at: usize,
    end: usize,
}

impl Lines {
    pub fn new() -> Lines {
        Lines { buffer: alloc::vec![0; BUFFER], at: 0, end: 0 }
    }

    /// Reads the next line, without its end, into the buffer given; false when there
    /// is none.
    pub fn next(&mut self, line: &mut Vec<u8>) -> bool {
        line.clear();
        let mut any = false;
        loop {
            let rest = &self.buffer[self.at..self.end];
            any |= !rest.is_empty();
            if let Some(length) = newline(rest) {
                line.extend_from_slice(&rest[..length]);
                self.at += length + 1;
                return true;
            }
            line.extend_from_slice(rest);
            if !self.fill() {
                return any;
            }
        }
    }

    fn fill(&mut self) -> bool {
        let piece = Piece { at: self.buffer.as_mut_ptr(), length: self.buffer.len() };
        self.at = 0;
        self.end = 0;
        // SAFETY: the piece is the buffer, which nothing else refers to.
        if unsafe { fd_read(STDIN, &piece, 1, &mut self.end) } != 0 || self.end > self.buffer.len() {
            fail(EXIT_IO, "stdin cannot be read");
        }
        self.end > 0
    }
}

fn newline(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|&b| b == b'\n')
}

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    // What would say more is larger than the rest of the module; the trap says where.
    warn("this module has a fault: please report it with the batch");
    core::arch::wasm32::unreachable()
}

#[alloc_error_handler]
fn out_of_memory(_: Layout) -> ! {
    warn("memory allocation failed");
    core::arch::wasm32::unreachable()
}
