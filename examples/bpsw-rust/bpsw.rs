//! Counts the integers of a half-open range that pass the Baillie-PSW test: the same answers as examples/bpsw, which is in Python.
//!
//!   build.sh    makes function.wasm
//!
//! The shard's input is a line {"from":"...","to":"..."} on standard input, and the result a line of JSON on standard output.
mod decimal;
mod montgomery;
mod primality;
mod sieve;

use montgomery::{add_small, bits, Num};
use std::io::Read;

const VARIANT: &str = "standard: strong base 2, strong Lucas-Selfridge (method A)";

/// The most integers of one shard, as in examples/bpsw.
const MAX_RANGE: u64 = 100_000_000;

/// The most digits of a bound, as in examples/bpsw.
const MAX_DIGITS: usize = 1000;

fn fail(why: &str) -> ! {
    eprintln!("{why}");
    std::process::exit(1)
}

/// The bounds of {"from":"...","to":"..."}, in either order: two texts of digits.
fn bounds(input: &str) -> Option<(&str, &str)> {
    let inside = input.trim().strip_prefix('{')?.strip_suffix('}')?;
    let (mut from, mut to) = (None, None);
    for member in inside.split(',') {
        let (name, value) = member.split_once(':')?;
        let value = value.trim().strip_prefix('"')?.strip_suffix('"')?;
        if value.is_empty() || !value.bytes().all(|c| c.is_ascii_digit()) {
            return None;
        }
        let slot = match name.trim() {
            r#""from""# => &mut from,
            r#""to""# => &mut to,
            _ => return None,
        };
        if slot.replace(value).is_some() {
            return None;
        }
    }
    Some((from?, to?))
}

/// to - from, where it is at most MAX_RANGE.
fn distance(from: &[u32], to: &[u32]) -> u64 {
    let size = from.len().max(to.len());
    let limb = |a: &[u32], i: usize| *a.get(i).unwrap_or(&0) as i64;
    let (mut difference, mut borrow) = (vec![0u32; size], 0i64);
    for i in 0..size {
        let d = limb(to, i) - limb(from, i) + borrow;
        difference[i] = d as u32;
        borrow = d >> 32;
    }
    if borrow < 0 {
        fail("the range is reversed");
    }
    if bits(&difference) > 32 || difference[0] as u64 > MAX_RANGE {
        fail("the range holds too many integers: use smaller shards");
    }
    difference[0] as u64
}

/// What passes among the odd integers above 3 of [from, from + length), with numbers of L limbs: how many, and the first.
fn count<const L: usize>(from: &[u32], length: u64) -> (u64, Option<String>) {
    let mut first: Num<L> = [0; L];
    for (to, limb) in first.iter_mut().zip(from) {
        *to = *limb;
    }
    let mut skipped = 0;
    if bits(&first) <= 3 && first[0] < 5 {
        skipped = 5 - first[0] as u64;
    } else if first[0] % 2 == 0 {
        skipped = 1;
    }
    if skipped >= length {
        return (0, None);
    }
    add_small(&mut first, skipped);
    let (mut passed, mut least) = (0, None);
    sieve::survivors(&first, (length - skipped + 1) / 2, |offset| {
        let mut n = first;
        add_small(&mut n, offset);
        if primality::passes(&n) {
            passed += 1;
            if least.is_none() {
                least = Some(decimal::print(&n));
            }
        }
    });
    (passed, least)
}

/// Counts with as few limbs as hold every integer of the range: what is computed takes as long as the square of them.
fn dispatch(from: &[u32], to: &[u32], length: u64) -> (u64, Option<String>) {
    match (bits(to) + 31) / 32 {
        0..=2 => count::<2>(from, length),
        3 => count::<3>(from, length),
        4 => count::<4>(from, length),
        5..=6 => count::<6>(from, length),
        7..=8 => count::<8>(from, length),
        9..=16 => count::<16>(from, length),
        17..=32 => count::<32>(from, length),
        33..=64 => count::<64>(from, length),
        _ => count::<104>(from, length), // of MAX_DIGITS
    }
}

fn main() {
    let mut input = String::new();
    if std::io::stdin().read_to_string(&mut input).is_err() {
        fail("the input is no text");
    }
    let (from, to) = bounds(&input).unwrap_or_else(|| fail(r#"the input must be {"from": "...", "to": "..."}, with decimal digits"#));
    if from.len().max(to.len()) > MAX_DIGITS {
        fail("a bound has too many digits");
    }
    let (from, to) = (decimal::parse(from), decimal::parse(to));
    let length = distance(&from, &to);
    let (mut passed, mut sample) = dispatch(&from, &to, length);
    for small in [3u64, 2] {
        if bits(&from) <= 2 && (from[0] as u64..from[0] as u64 + length).contains(&small) {
            passed += 1;
            sample = Some(small.to_string());
        }
    }
    let sample = sample.map_or(String::new(), |n| format!("\"{n}\""));
    println!(r#"{{"passed":{passed},"sample":[{sample}],"tested":{length},"variant":"{VARIANT}"}}"#);
}
