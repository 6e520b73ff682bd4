//! The Baillie-PSW test, in the variant of examples/bpsw: a strong probable prime test to base 2, then a strong Lucas test with
//! Selfridge's method A.
use crate::montgomery::{bit, bits, is_zero, mod_small, Field, Num};

/// Reports whether the odd n > 3 passes.
pub fn passes<const L: usize>(n: &Num<L>) -> bool {
    let field = Field::new(*n);
    strong_base_2(&field) && !is_square(n) && strong_lucas(&field)
}

fn strong_base_2<const L: usize>(f: &Field<L>) -> bool {
    let mut odd = f.n; // n - 1, whose lowest bit is 0
    odd[0] &= !1;
    let s = zeros(&odd);
    let minus_one = f.neg(&f.one);
    let mut x = f.one;
    for i in (s..bits(&odd)).rev() {
        x = f.square(&x);
        if bit(&odd, i) {
            x = f.double(&x);
        }
    }
    if x == f.one || x == minus_one {
        return true;
    }
    for _ in 1..s {
        x = f.square(&x);
        if x == minus_one {
            return true;
        }
    }
    false
}

/// How many zeros a number that is not 0 ends with.
fn zeros(a: &[u32]) -> usize {
    (0..).find(|&i| bit(a, i)).unwrap_or(0)
}

/// The Jacobi symbol (a/m) of an odd m > 0.
fn jacobi_small(mut a: u32, mut m: u32) -> i32 {
    let mut sign = 1;
    a %= m;
    while a != 0 {
        while a % 2 == 0 {
            a /= 2;
            if m % 8 == 3 || m % 8 == 5 {
                sign = -sign;
            }
        }
        std::mem::swap(&mut a, &mut m);
        if a % 4 == 3 && m % 4 == 3 {
            sign = -sign;
        }
        a %= m;
    }
    if m == 1 { sign } else { 0 }
}

/// The Jacobi symbol (d/n) of an odd d and an odd n > 0.
fn jacobi(d: i64, n: &[u32]) -> i32 {
    let m = d.unsigned_abs() as u32;
    let mut sign = jacobi_small(mod_small(n, m), m);
    if m % 4 == 3 && n[0] % 4 == 3 {
        sign = -sign;
    }
    if d < 0 && n[0] % 4 == 3 {
        sign = -sign;
    }
    sign
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The first D of 5, -7, 9, -11, ... with (D/n) = -1. Nothing where a D on the way shows that n is composite.
fn selfridge<const L: usize>(n: &Num<L>) -> Option<i64> {
    let mut d = 5i64;
    loop {
        let m = d.unsigned_abs() as u32;
        match jacobi(d, n) {
            -1 => return Some(d),
            0 => {
                // gcd(d, n) < n: that is no factor only where n divides d.
                let common = gcd(m, mod_small(n, m));
                if bits(n) > 32 || common < n[0] {
                    return None;
                }
            }
            _ => {}
        }
        d = if d > 0 { -d - 2 } else { -d + 2 };
    }
}

fn strong_lucas<const L: usize>(f: &Field<L>) -> bool {
    let d = match selfridge(&f.n) {
        Some(d) => d,
        None => return false,
    };
    let (minus_one, q) = (d == 5, f.small((1 - d) / 4)); // with the first D, which half of all n take, Q is -1
    let (d, mut u, mut v, mut qk) = (f.small(d), f.one, f.one, q);
    // n + 1 is n with its trailing ones turned over: its odd part begins above them.
    let s = (0..bits(&f.n)).find(|&i| !bit(&f.n, i)).unwrap_or_else(|| bits(&f.n));
    let carried = s == bits(&f.n); // n + 1 is a power of two, and its odd part 1
    if !carried {
        // The bits of (n + 1) >> s are those of n >> s, but for the lowest, which is 1.
        for i in (s..bits(&f.n) - 1).rev() {
            u = f.mul(&u, &v);
            v = f.sub(&f.square(&v), &f.double(&qk));
            qk = if minus_one { f.one } else { f.square(&qk) };
            if i == s || bit(&f.n, i) {
                let next = f.half(&f.add(&u, &v));
                v = f.half(&f.add(&v, &f.mul(&d, &u)));
                u = next;
                qk = if minus_one { q } else { f.mul(&qk, &q) };
            }
        }
    }
    if is_zero(&u) || is_zero(&v) {
        return true;
    }
    for _ in 1..s {
        v = f.sub(&f.square(&v), &f.double(&qk));
        if is_zero(&v) {
            return true;
        }
        qk = f.square(&qk);
    }
    false
}

/// Reports whether the odd n is a square. Few of those that are none pass the looks at what they leave.
fn is_square<const L: usize>(n: &Num<L>) -> bool {
    n[0] % 8 == 1 && [63u32, 65, 11, 17, 19, 23, 31].iter().all(|&m| leaves_square(mod_small(n, m), m)) && root_is_whole(n)
}

fn leaves_square(rest: u32, m: u32) -> bool {
    (0..m).any(|r| r * r % m == rest)
}

/// Finds the root bit by bit.
fn root_is_whole<const L: usize>(n: &Num<L>) -> bool {
    let mut root = [0u32; L];
    for i in (0..(bits(n) + 1) / 2).rev() {
        root[i / 32] |= 1 << (i % 32);
        if exceeds(&root, n) {
            root[i / 32] &= !(1 << (i % 32));
        }
    }
    square_of(&root)[..L] == n[..]
}

/// The square of a, in twice as many limbs.
fn square_of(a: &[u32]) -> Vec<u32> {
    let mut product = vec![0u32; 2 * a.len()];
    for (i, &x) in a.iter().enumerate() {
        let mut c = 0u64;
        for (j, &y) in a.iter().enumerate() {
            c += product[i + j] as u64 + x as u64 * y as u64;
            product[i + j] = c as u32;
            c >>= 32;
        }
        product[i + a.len()] = c as u32;
    }
    product
}

/// Whether a² > n.
fn exceeds(a: &[u32], n: &[u32]) -> bool {
    let square = square_of(a);
    !is_zero(&square[n.len()..]) || n.iter().rev().lt(square[..n.len()].iter().rev())
}
