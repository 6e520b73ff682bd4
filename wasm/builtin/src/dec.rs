//! Integers of any size, in limbs of nine decimal digits: they are read and
//! printed far more often than they are computed with, and both are linear.

use crate::float::magnitude;
use crate::text::put_digits;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Ordering;

const BASE: u32 = 1_000_000_000;
const DIGITS: usize = 9;
/// How many factors of 5 fit in a word.
const FACTORS: u32 = 13;

#[derive(Clone, Default, PartialEq, Eq)]
pub struct Dec {
    negative: bool,
    /// Least significant first, no zero at the end; zero is empty and positive.
    limbs: Vec<u32>,
}

impl Dec {
    /// Reads an optional minus and at least one digit.
    pub fn parse(text: &str) -> Option<Dec> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let limbs = digits
            .as_bytes()
            .rchunks(DIGITS)
            .map(|chunk| chunk.iter().fold(0, |v, b| v * 10 + u32::from(b - b'0')))
            .collect();
        Some(Dec { negative, limbs }.normal())
    }

    pub fn from_u64(v: u64) -> Dec {
        let mut d = Dec::default();
        d.carry(v);
        d
    }

    /// Multiplies by a factor so many times; the factor is at most 5.
    pub fn multiply(&mut self, factor: u32, times: u32) {
        let mut left = times;
        while left > 0 {
            let step = left.min(FACTORS);
            let by = u64::from(factor.pow(step));
            let mut carry = 0;
            for limb in self.limbs.iter_mut() {
                carry += u64::from(*limb) * by;
                *limb = (carry % u64::from(BASE)) as u32;
                carry /= u64::from(BASE);
            }
            self.carry(carry);
            left -= step;
        }
    }

    /// Adds what goes beyond the limbs.
    fn carry(&mut self, mut rest: u64) {
        while rest > 0 {
            self.limbs.push((rest % u64::from(BASE)) as u32);
            rest /= u64::from(BASE);
        }
    }

    pub fn from_i128(v: i128) -> Dec {
        let all = v.unsigned_abs();
        let mut d = Dec::from_u64((all >> 64) as u64);
        d.multiply(2, 64);
        d = d.add(&Dec::from_u64(all as u64));
        d.negative = v < 0;
        d
    }

    /// The integer part of a finite float, exactly.
    pub fn from_float(f: f64) -> Dec {
        let bits = magnitude(f).to_bits();
        let exponent = (bits >> 52) as i32 - 1075;
        let mantissa = (bits & ((1 << 52) - 1)) | (1 << 52);
        let mut d = match exponent {
            // Too small to have an integer part, or all of it in the mantissa.
            e if e <= -53 => Dec::default(),
            e if e <= 0 => Dec::from_u64(mantissa >> -e),
            _ => Dec::from_u64(mantissa),
        };
        d.multiply(2, exponent.max(0) as u32);
        d.negative = f < 0.0 && !d.limbs.is_empty();
        d
    }

    fn normal(mut self) -> Dec {
        while self.limbs.last() == Some(&0) {
            self.limbs.pop();
        }
        self.negative &= !self.limbs.is_empty();
        self
    }

    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// How many decimal digits there are at most.
    pub fn max_digits(&self) -> usize {
        self.limbs.len() * DIGITS
    }

    pub fn add(&self, other: &Dec) -> Dec {
        if self.negative == other.negative {
            return Dec {
                negative: self.negative,
                limbs: add_limbs(&self.limbs, &other.limbs),
            };
        }
        match compare_limbs(&self.limbs, &other.limbs) {
            Ordering::Less => Dec {
                negative: other.negative,
                limbs: subtract_limbs(&other.limbs, &self.limbs),
            },
            _ => Dec {
                negative: self.negative,
                limbs: subtract_limbs(&self.limbs, &other.limbs),
            },
        }
        .normal()
    }

    /// The magnitude in binary, 32 bits each, least significant first.
    pub fn binary(&self) -> Vec<u32> {
        let mut out: Vec<u32> = Vec::new();
        for &limb in self.limbs.iter().rev() {
            let mut carry = u64::from(limb);
            for word in out.iter_mut() {
                carry += u64::from(*word) * u64::from(BASE);
                *word = carry as u32;
                carry >>= 32;
            }
            if carry > 0 {
                out.push(carry as u32);
            }
        }
        out
    }

    pub fn write(&self, out: &mut String) {
        if self.negative {
            out.push('-');
        }
        match self.limbs.split_last() {
            None => out.push('0'),
            Some((first, rest)) => {
                put_digits(out, u64::from(*first), 10, 1);
                for limb in rest.iter().rev() {
                    put_digits(out, u64::from(*limb), 10, DIGITS);
                }
            }
        }
    }
}

impl Ord for Dec {
    fn cmp(&self, other: &Dec) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => compare_limbs(&self.limbs, &other.limbs),
            (true, true) => compare_limbs(&other.limbs, &self.limbs),
        }
    }
}

impl PartialOrd for Dec {
    fn partial_cmp(&self, other: &Dec) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn compare_limbs(a: &[u32], b: &[u32]) -> Ordering {
    a.len()
        .cmp(&b.len())
        .then_with(|| a.iter().rev().cmp(b.iter().rev()))
}

fn add_limbs(a: &[u32], b: &[u32]) -> Vec<u32> {
    let (long, short) = if a.len() < b.len() { (b, a) } else { (a, b) };
    let mut out = Vec::with_capacity(long.len() + 1);
    let mut carry = 0;
    for (i, limb) in long.iter().enumerate() {
        let sum = limb + short.get(i).unwrap_or(&0) + carry;
        carry = u32::from(sum >= BASE);
        out.push(sum - carry * BASE);
    }
    if carry > 0 {
        out.push(carry);
    }
    out
}

/// Subtracts the smaller b from a.
fn subtract_limbs(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut out = Vec::with_capacity(a.len());
    let mut borrow = 0;
    for (i, limb) in a.iter().enumerate() {
        let take = b.get(i).unwrap_or(&0) + borrow;
        borrow = u32::from(*limb < take);
        out.push(limb + borrow * BASE - take);
    }
    out
}
