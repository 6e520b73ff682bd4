//! Text put together from pieces. Rust's own formatting would be a third of a module.

use alloc::borrow::Cow;
use alloc::string::String;

/// What can be a piece of a text.
pub trait Piece {
    fn put(&self, out: &mut String);
}

impl Piece for str {
    #[inline(never)] // a call is smaller
    fn put(&self, out: &mut String) {
        out.push_str(self);
    }
}

impl Piece for String {
    fn put(&self, out: &mut String) {
        self.as_str().put(out);
    }
}

impl Piece for u64 {
    fn put(&self, out: &mut String) {
        put_digits(out, *self, 10, 1);
    }
}

impl Piece for usize {
    fn put(&self, out: &mut String) {
        put_digits(out, *self as u64, 10, 1);
    }
}

impl Piece for Cow<'_, str> {
    fn put(&self, out: &mut String) {
        (**self).put(out);
    }
}

impl<P: Piece + ?Sized> Piece for &P {
    fn put(&self, out: &mut String) {
        (**self).put(out);
    }
}

/// The most digits that a number has: in base 10, which is the smallest in use.
const MAX_DIGITS: usize = 20;

/// Writes a number in a base up to 16, with zeros in front up to a width.
pub fn put_digits(out: &mut String, mut number: u64, base: u64, width: usize) {
    let mut digits = [b'0'; MAX_DIGITS];
    let mut at = MAX_DIGITS;
    while number > 0 {
        at -= 1;
        digits[at] = b"0123456789abcdef"[(number % base) as usize];
        number /= base;
    }
    for &digit in &digits[at.min(MAX_DIGITS - width)..] {
        out.push(digit as char);
    }
}

/// Appends pieces to a text.
#[macro_export]
macro_rules! put {
    ($out:expr, $($piece:expr),+) => {{ $( $crate::text::Piece::put(&$piece, $out); )+ }};
}

/// Makes a text of pieces.
#[macro_export]
macro_rules! text {
    ($($piece:expr),+) => {{
        let mut out = alloc::string::String::new();
        $crate::put!(&mut out, $($piece),+);
        out
    }};
}
