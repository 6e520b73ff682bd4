//! Exact sums of floats, and floats as Python prints them.

use crate::dec::Dec;

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
        let bits = f.to_bits();
        let exponent = (bits >> 52) & 0x7ff;
        let fraction = bits & ((1 << 52) - 1);
        // A subnormal has no hidden bit and the exponent of the smallest normal.
        let (mantissa, shift) = if exponent == 0 {
            (fraction, 0)
        } else {
            (fraction | 1 << 52, exponent - 1)
        };
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
        let hex: String = words[first..=last]
            .iter()
            .rev()
            .map(|w| format!("{:08x}", w))
            .collect();
        out.push_str(&format!(
            "[\"{}{}\",{}]",
            if negative { "-" } else { "" },
            hex,
            first
        ));
    }

    pub fn decode(hex: &str, first: usize) -> Option<ExactSum> {
        let (negative, digits) = match hex.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, hex),
        };
        let mut sum = ExactSum::new();
        for (i, chunk) in digits.as_bytes().rchunks(8).enumerate() {
            let text = std::str::from_utf8(chunk).ok()?;
            let word = i64::from(u32::from_str_radix(text, 16).ok()?);
            *sum.words.get_mut(first.checked_add(i)?)? = if negative { -word } else { word };
        }
        sum.settle();
        Some(sum)
    }
}

/// Writes a finite float as Python's repr does: the shortest digits that read
/// back the same, with an exponent below 1e-4 and from 1e16.
pub fn write_float(out: &mut String, f: f64) {
    let (mut digits, exponent) = digits(&format!("{:e}", f.abs()));
    settle_tie(f.abs(), &mut digits, exponent);
    if f.is_sign_negative() {
        out.push('-');
    }
    let count = digits.len() as i32;
    if !(-4..16).contains(&exponent) {
        let point = if count > 1 { "." } else { "" };
        let sign = if exponent < 0 { '-' } else { '+' };
        out.push_str(&digits[..1]);
        out.push_str(point);
        out.push_str(&digits[1..]);
        out.push_str(&format!("e{}{:02}", sign, exponent.abs()));
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

/// Takes scientific notation apart: the digits without the point, the exponent.
fn digits(scientific: &str) -> (String, i32) {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    (mantissa.replace('.', ""), exponent.parse().unwrap_or(0))
}

/// More digits than any float has after its first.
const ALL_DIGITS: usize = 770;

/// Where the float lies exactly half way between two shortest candidates, Rust
/// rounds up and Python to the even digit. Both read back the same.
fn settle_tie(f: f64, shortest: &mut String, exponent: i32) {
    let (exact, same) = digits(&format!("{:.*e}", ALL_DIGITS, f));
    let (kept, rest) = exact.split_at(shortest.len());
    let tie = rest.starts_with('5') && rest[1..].bytes().all(|b| b == b'0');
    if same != exponent || !tie || kept == shortest.as_str() {
        return;
    }
    let even = kept.ends_with(|c: char| c.to_digit(10).map_or(false, |d| d % 2 == 0));
    let read_back = || format!("0.{}e{}", kept, exponent + 1).parse();
    if even && read_back() == Ok(f) {
        *shortest = kept.to_string();
    }
}
