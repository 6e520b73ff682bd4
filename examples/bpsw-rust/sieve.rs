//! Strikes out the multiples of small primes before anything is tested.
use crate::montgomery::{bits, mod_small};

/// Primes below this bound are struck out.
const BOUND: usize = 20_000;

/// Odd integers of one block: small enough to stay in a processor's cache.
const BLOCK: u64 = 1 << 16;

fn primes_below(limit: usize) -> Vec<u32> {
    let mut composite = vec![false; limit];
    let mut primes = Vec::new();
    for n in 2..limit {
        if !composite[n] {
            primes.push(n as u32);
            for multiple in (n * n..limit).step_by(n) {
                composite[multiple] = true;
            }
        }
    }
    primes
}

/// Calls found with the distance from first of each odd integer in [first, first + 2 * count) without a small proper divisor, ascending.
/// first is odd.
pub fn survivors(first: &[u32], count: u64, mut found: impl FnMut(u64)) {
    let small = if bits(first) <= 40 { Some(first[0] as u64 | (*first.get(1).unwrap_or(&0) as u64) << 32) } else { None };
    let primes: Vec<u32> = primes_below(BOUND).split_off(1);
    // Where the next multiple of each prime is, in odd integers from the beginning of the block.
    let mut next: Vec<u64> = primes.iter().map(|&p| first_multiple(first, small, p)).collect();
    let mut flags = vec![true; BLOCK as usize];
    for start in (0..count).step_by(BLOCK as usize) {
        let size = BLOCK.min(count - start);
        flags.fill(true);
        for (p, at) in primes.iter().zip(next.iter_mut()) {
            while *at < size {
                flags[*at as usize] = false;
                *at += *p as u64;
            }
            *at -= size;
        }
        for (i, _) in flags[..size as usize].iter().enumerate().filter(|(_, &left)| left) {
            found(2 * (start + i as u64));
        }
    }
}

/// The place of the first odd multiple of p that is at least first and at least p * p.
fn first_multiple(first: &[u32], small: Option<u64>, p: u32) -> u64 {
    let square = p as u64 * p as u64;
    if let Some(low) = small {
        if square >= low {
            return (square - low) / 2;
        }
    }
    let mut distance = (p - mod_small(first, p)) % p;
    if distance % 2 == 1 {
        distance += p;
    }
    distance as u64 / 2
}
