//! Arithmetic modulo an odd number, in Montgomery's form: a stands for a * 2^(32 L) mod n, and products need no division.
//! Limbs have 32 bits, the lowest first: a product of two is one instruction of WebAssembly.

/// A number of L limbs, below the modulus where it is a residue.
pub type Num<const L: usize> = [u32; L];

/// The bits that a number has.
pub fn bits(a: &[u32]) -> usize {
    match a.iter().rposition(|&limb| limb != 0) {
        Some(i) => 32 * (i + 1) - a[i].leading_zeros() as usize,
        None => 0,
    }
}

pub fn bit(a: &[u32], i: usize) -> bool {
    a[i / 32] >> (i % 32) & 1 == 1
}

pub fn is_zero(a: &[u32]) -> bool {
    a.iter().all(|&limb| limb == 0)
}

/// Adds small to a; there is room.
pub fn add_small(a: &mut [u32], small: u64) {
    let mut carry = small;
    for limb in a.iter_mut() {
        if carry == 0 {
            return;
        }
        let sum = *limb as u64 + (carry & 0xffff_ffff);
        *limb = sum as u32;
        carry = (carry >> 32) + (sum >> 32);
    }
}

/// a mod m.
pub fn mod_small(a: &[u32], m: u32) -> u32 {
    let mut rest = 0u64;
    for &limb in a.iter().rev() {
        rest = (rest << 32 | limb as u64) % m as u64;
    }
    rest as u32
}

/// Shifts a to the right by one bit; top is what comes in.
fn halve(a: &mut [u32], top: bool) {
    let mut carry = top as u32;
    for limb in a.iter_mut().rev() {
        let low = *limb & 1;
        *limb = *limb >> 1 | carry << 31;
        carry = low;
    }
}

/// a - b, which wraps around, and whether it did.
fn sub<const L: usize>(a: &Num<L>, b: &Num<L>) -> (Num<L>, bool) {
    let mut result = [0; L];
    let mut borrow = 0i64;
    for i in 0..L {
        let d = a[i] as i64 - b[i] as i64 + borrow;
        result[i] = d as u32;
        borrow = d >> 32;
    }
    (result, borrow != 0)
}

/// a + b, which wraps around, and whether it did.
fn add<const L: usize>(a: &Num<L>, b: &Num<L>) -> (Num<L>, bool) {
    let mut result = [0; L];
    let mut carry = 0u64;
    for i in 0..L {
        carry += a[i] as u64 + b[i] as u64;
        result[i] = carry as u32;
        carry >>= 32;
    }
    (result, carry != 0)
}

/// The residues modulo an odd n > 1.
pub struct Field<const L: usize> {
    pub n: Num<L>,
    inverse: u32, // -1/n mod 2^32
    pub one: Num<L>,
}

impl<const L: usize> Field<L> {
    pub fn new(n: Num<L>) -> Self {
        let mut inverse = 1u32;
        for _ in 0..5 {
            inverse = inverse.wrapping_mul(2u32.wrapping_sub(n[0].wrapping_mul(inverse)));
        }
        let mut f = Field { n, inverse: inverse.wrapping_neg(), one: [0; L] };
        // 2^(32 L) mod n, by doubling the greatest power of two below n.
        let top = bits(&n) - 1;
        let mut r = [0; L];
        r[top / 32] = 1 << (top % 32);
        for _ in top..32 * L {
            r = f.double(&r);
        }
        f.one = r;
        f
    }

    pub fn mul(&self, a: &Num<L>, b: &Num<L>) -> Num<L> {
        let (n, mut t, mut top) = (&self.n, [0u32; L], 0u64);
        for &limb in b {
            let mut c = 0u64;
            for j in 0..L {
                c += t[j] as u64 + a[j] as u64 * limb as u64;
                t[j] = c as u32;
                c >>= 32;
            }
            top += c; // below 2^33: what is above comes down below
            let m = t[0].wrapping_mul(self.inverse) as u64;
            c = (t[0] as u64 + m * n[0] as u64) >> 32;
            for j in 1..L {
                c += t[j] as u64 + m * n[j] as u64;
                t[j - 1] = c as u32;
                c >>= 32;
            }
            c += top & 0xffff_ffff;
            t[L - 1] = c as u32;
            top = (top >> 32) + (c >> 32);
        }
        self.reduce(t, top != 0)
    }

    /// A number below 2n, which has a bit more than fits, or none, as a residue.
    fn reduce(&self, a: Num<L>, more: bool) -> Num<L> {
        let (less, wrapped) = sub(&a, &self.n);
        if more || !wrapped { less } else { a }
    }

    pub fn square(&self, a: &Num<L>) -> Num<L> {
        self.mul(a, a)
    }

    pub fn add(&self, a: &Num<L>, b: &Num<L>) -> Num<L> {
        let (sum, more) = add(a, b);
        self.reduce(sum, more)
    }

    pub fn double(&self, a: &Num<L>) -> Num<L> {
        self.add(a, a)
    }

    pub fn sub(&self, a: &Num<L>, b: &Num<L>) -> Num<L> {
        let (difference, wrapped) = sub(a, b);
        if wrapped { add(&difference, &self.n).0 } else { difference }
    }

    pub fn neg(&self, a: &Num<L>) -> Num<L> {
        if is_zero(a) {
            return *a;
        }
        sub(&self.n, a).0
    }

    /// a / 2.
    pub fn half(&self, a: &Num<L>) -> Num<L> {
        let (mut result, more) = if a[0] & 1 == 1 { add(a, &self.n) } else { (*a, false) };
        halve(&mut result, more);
        result
    }

    /// A small integer as a residue.
    pub fn small(&self, k: i64) -> Num<L> {
        let mut sum = [0; L];
        for i in (0..64 - k.unsigned_abs().leading_zeros()).rev() {
            sum = self.double(&sum);
            if k.unsigned_abs() >> i & 1 == 1 {
                sum = self.add(&sum, &self.one);
            }
        }
        if k < 0 { self.neg(&sum) } else { sum }
    }
}
