//! Integers of any size as decimal digits, and back. Limbs have 32 bits, the lowest first.

/// How many digits fit into a limb.
const DIGITS: usize = 9;
const CHUNK: u64 = 1_000_000_000;

/// Reads digits into as many limbs as they may need, and one more.
pub fn parse(digits: &str) -> Vec<u32> {
    let mut limbs = vec![0u32; digits.len() / DIGITS + 2];
    for digit in digits.bytes() {
        let mut carry = (digit - b'0') as u64;
        for limb in limbs.iter_mut() {
            carry += *limb as u64 * 10;
            *limb = carry as u32;
            carry >>= 32;
        }
    }
    limbs
}

pub fn print(number: &[u32]) -> String {
    let mut left = number.to_vec();
    let mut chunks = Vec::new();
    while left.iter().any(|&limb| limb != 0) {
        let mut rest = 0u64;
        for limb in left.iter_mut().rev() {
            rest = rest << 32 | *limb as u64;
            *limb = (rest / CHUNK) as u32;
            rest %= CHUNK;
        }
        chunks.push(rest);
    }
    match chunks.pop() {
        None => "0".to_string(),
        Some(first) => chunks.iter().rev().fold(first.to_string(), |text, chunk| format!("{text}{chunk:09}")),
    }
}
