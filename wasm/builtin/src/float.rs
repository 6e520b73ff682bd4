//! Exact sums of floats, and floats as Python prints them.

use crate::dec::Dec;
use crate::decimal;
use crate::text::put_digits;
use alloc::string::String;
use core::cmp::Ordering;

/// Words of 32 bits: from 2^-1074, the smallest float, past 2^1024, the largest,
/// with room for carries.
const WORDS: usize = 70;
/// The place of 2^0: 1074 bits up.
const ONE_WORD: usize = 1074 / 32;
const ONE_BIT: u32 = 1074 % 32;
/// Additions after which carries are settled: a word holds 2^63, an addition
/// brings less than 2^32.
const SETTLE_AFTER: u32 = 1 << 30;
/// Integers with more digits are beyond every float.
const MAX_INT_DIGITS: usize = 320;

/// A fixed-point number wide enough for every float. Adding to it is exact, so
/// the sum depends on neither order nor grouping; it is rounded once, at the end.
#[derive(Clone)]
pub struct ExactSum {
    words: [i64; WORDS],
    pending: u32,
}

impl ExactSum {
    pub fn new() -> ExactSum {
        ExactSum {
            words: [0; WORDS],
            pending: 0,
        }
    }

    /// Adds a finite float.
    pub fn add(&mut self, f: f64) {
        let (mantissa, shift) = parts(f);
        let wide = u128::from(mantissa) << (shift % 32);
        self.add_wide(wide, (shift / 32) as usize, f.is_sign_negative());
    }

    fn add_wide(&mut self, wide: u128, at: usize, negative: bool) {
        for i in 0..3 {
            let part = ((wide >> (32 * i)) & 0xffff_ffff) as i64;
            self.words[at + i] += if negative { -part } else { part };
        }
        self.pending += 1;
        if self.pending >= SETTLE_AFTER {
            self.settle();
        }
    }

    pub fn merge(&mut self, other: &ExactSum) {
        self.settle();
        let mut other = other.clone();
        other.settle();
        for (a, b) in self.words.iter_mut().zip(other.words) {
            *a += b;
        }
        self.settle();
    }

    /// Adds an integer; false if it is beyond every float.
    pub fn add_integer(&mut self, d: &Dec) -> bool {
        if d.max_digits() > MAX_INT_DIGITS {
            return false;
        }
        for (i, word) in d.binary().into_iter().enumerate() {
            self.add_wide(u128::from(word) << ONE_BIT, ONE_WORD + i, d.is_negative());
        }
        true
    }

    /// Brings all words but the highest, which keeps the sign, into 0..2^32.
    fn settle(&mut self) {
        for i in 0..WORDS - 1 {
            let carry = self.words[i] >> 32;
            self.words[i] &= 0xffff_ffff;
            self.words[i + 1] += carry;
        }
        self.pending = 0;
    }

    /// Sign and magnitude.
    fn magnitude(&self) -> (bool, [i64; WORDS]) {
        let mut m = self.clone();
        m.settle();
        let negative = m.words[WORDS - 1] < 0;
        if negative {
            m.words.iter_mut().for_each(|w| *w = -*w);
            m.settle();
        }
        (negative, m.words)
    }

    /// The nearest float, ties to even; infinite when beyond the largest.
    pub fn round(&self) -> f64 {
        let (negative, words) = self.magnitude();
        let bit = |i: usize| (words[i / 32] >> (i % 32)) & 1 == 1;
        let top = match (0..WORDS * 32).rev().find(|&i| bit(i)) {
            None => return 0.0,
            Some(top) => top,
        };
        let low = top.saturating_sub(52);
        let mut mantissa = (low..=top)
            .rev()
            .fold(0u64, |m, i| m << 1 | u64::from(bit(i)));
        let half = low > 0 && bit(low - 1);
        let more = low > 1 && (0..low - 1).any(bit);
        if half && (more || mantissa & 1 == 1) {
            mantissa += 1;
        }
        // The bits of a float count on from one power of two to the next, so
        // adding the mantissa carries into the exponent as it should.
        let bits = ((low as u64) << 52) + mantissa;
        let f = if bits >= f64::INFINITY.to_bits() {
            f64::INFINITY
        } else {
            f64::from_bits(bits)
        };
        if negative {
            -f
        } else {
            f
        }
    }

    /// Writes the exact value: hexadecimal digits, and the word where they end.
    pub fn encode(&self, out: &mut String) {
        let (negative, words) = self.magnitude();
        let first = words.iter().position(|&w| w != 0).unwrap_or(0);
        let last = words.iter().rposition(|&w| w != 0).unwrap_or(0);
        put!(out, if negative { "[\"-" } else { "[\"" });
        for &word in words[first..=last].iter().rev() {
            put_digits(out, word as u64, 16, 8);
        }
        put!(out, "\",", first, "]");
    }

    pub fn decode(hex: &str, first: usize) -> Option<ExactSum> {
        let (negative, digits) = match hex.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, hex),
        };
        let mut sum = ExactSum::new();
        for (i, chunk) in digits.as_bytes().rchunks(8).enumerate() {
            let text = core::str::from_utf8(chunk).ok()?;
            let word = i64::from(u32::from_str_radix(text, 16).ok()?);
            *sum.words.get_mut(first.checked_add(i)?)? = if negative { -word } else { word };
        }
        sum.settle();
        Some(sum)
    }
}

/// The bits of a float that count, and how far they are from those of the smallest.
fn parts(f: f64) -> (u64, u64) {
    let bits = f.to_bits();
    let exponent = (bits >> 52) & 0x7ff;
    let fraction = bits & ((1 << 52) - 1);
    // A subnormal has no hidden bit and the exponent of the smallest normal.
    if exponent == 0 {
        (fraction, 0)
    } else {
        (fraction | 1 << 52, exponent - 1)
    }
}

/// The float without its sign.
pub fn magnitude(f: f64) -> f64 {
    f64::from_bits(f.to_bits() & (u64::MAX >> 1))
}

/// What of a float is behind the point. From 2^53 on there is nothing.
pub fn fraction(f: f64) -> f64 {
    if magnitude(f) < (1u64 << 53) as f64 {
        f - (f as i64) as f64
    } else {
        0.0
    }
}

/// Writes a finite float as Python's repr does: the shortest digits that read
/// back the same, with an exponent below 1e-4 and from 1e16.
pub fn write_float(out: &mut String, f: f64) {
    let (digits, exponent) = shortest(magnitude(f));
    if f.is_sign_negative() {
        out.push('-');
    }
    let count = digits.len() as i32;
    if !(-4..16).contains(&exponent) {
        let point = if count > 1 { "." } else { "" };
        let sign = if exponent < 0 { "-" } else { "+" };
        out.push_str(&digits[..1]);
        out.push_str(point);
        out.push_str(&digits[1..]);
        put!(out, "e", sign);
        put_digits(out, u64::from(exponent.unsigned_abs()), 10, 2);
    } else if exponent < 0 {
        out.push_str("0.");
        push_zeros(out, -exponent - 1);
        out.push_str(&digits);
    } else if count > exponent + 1 {
        let (whole, fraction) = digits.split_at(exponent as usize + 1);
        out.push_str(whole);
        out.push('.');
        out.push_str(fraction);
    } else {
        out.push_str(&digits);
        push_zeros(out, exponent + 1 - count);
        out.push_str(".0");
    }
}

fn push_zeros(out: &mut String, count: i32) {
    for _ in 0..count {
        out.push('0');
    }
}

/// Digits by which every float is known from its neighbours.
const ENOUGH: usize = 17;
/// Digits that a normal float keeps whatever they are: if fewer are enough, the
/// nearest decimal with so many is those and zeros.
const KEPT: usize = 15;

/// The fewest digits that read back as a float that is not negative, of those the nearest, and
/// the even ones of two as near; with the power of ten of the first digit.
fn shortest(f: f64) -> (String, i32) {
    if f == 0.0 {
        return (String::from("0"), 0);
    }
    let (exact, exponent) = exactly(f);
    let fewest = if f < f64::MIN_POSITIVE { 1 } else { KEPT };
    for count in fewest..=ENOUGH {
        let (head, rest) = exact.split_at(count.min(exact.len()));
        let low: u64 = head.parse().unwrap_or(0);
        let power = exponent + 1 - head.len() as i32;
        let up = match rest.cmp("5") {
            Ordering::Less => 0,
            Ordering::Equal => low & 1,
            Ordering::Greater => 1,
        };
        // Below a power of two floats lie closer than above it, so that the nearest
        // decimal may belong to the neighbour where the other way's does not.
        for whole in [low + up, low + 1 - up] {
            let sign = if power < 0 { "-" } else { "" };
            let back = text!(whole, "e", sign, u64::from(power.unsigned_abs()));
            if decimal::read(&back) == f {
                let mut digits = text!(whole);
                let exponent = power + digits.len() as i32 - 1;
                digits.truncate(digits.trim_end_matches('0').len().max(1));
                return (digits, exponent);
            }
        }
    }
    (exact, exponent)
}

/// All digits of a positive float, and the power of ten of the first.
fn exactly(f: f64) -> (String, i32) {
    let (mantissa, shift) = parts(f);
    let power = shift as i32 - 1074;
    let mut d = Dec::from_u64(mantissa);
    d.multiply(if power < 0 { 5 } else { 2 }, power.unsigned_abs());
    let mut digits = String::new();
    d.write(&mut digits);
    let exponent = power.min(0) + digits.len() as i32 - 1;
    digits.truncate(digits.trim_end_matches('0').len());
    (digits, exponent)
}
