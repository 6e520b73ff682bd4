// Numbers of up to some thousand bits, in limbs of 32 bits, the lowest first, without zeros at the top. Nothing but this file computes.
use std::cmp::Ordering;

pub type Nat = Vec<u32>;

/// What may still be spent on one result, in products of two limbs.
pub struct Meter {
    left: u64,
}

/// Why a result is not accepted.
pub type Refusal = String;
pub type Checked<T> = Result<T, Refusal>;

pub fn no<T>(why: &str) -> Checked<T> {
    Err(why.to_string())
}

impl Meter {
    pub fn new(left: u64) -> Meter {
        Meter { left }
    }

    pub fn spend(&mut self, products: usize) -> Checked<()> {
        match self.left.checked_sub(products as u64) {
            Some(left) => self.left = left,
            None => return no("checking it takes more work than one result may"),
        }
        Ok(())
    }
}

pub fn small(x: u32) -> Nat {
    trim(vec![x])
}

fn trim(mut a: Nat) -> Nat {
    while a.last() == Some(&0) {
        a.pop();
    }
    a
}

/// Reads digits without leading zeros; 0 is "0".
pub fn parse(digits: &[u8], max_digits: usize) -> Option<Nat> {
    if digits.is_empty() || digits.len() > max_digits || (digits[0] == b'0' && digits.len() > 1) {
        return None;
    }
    let mut n = Nat::new();
    for &d in digits {
        if !d.is_ascii_digit() {
            return None;
        }
        let mut carry = u64::from(d - b'0');
        for limb in n.iter_mut() {
            carry += u64::from(*limb) * 10;
            *limb = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            n.push(carry as u32);
        }
    }
    Some(n)
}

pub fn bits(a: &Nat) -> usize {
    a.last().map_or(0, |top| a.len() * 32 - top.leading_zeros() as usize)
}

pub fn bit(a: &Nat, i: usize) -> bool {
    a.get(i / 32).map_or(false, |limb| limb >> (i % 32) & 1 == 1)
}

pub fn is_even(a: &Nat) -> bool {
    !bit(a, 0)
}

pub fn cmp(a: &Nat, b: &Nat) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.iter().rev().cmp(b.iter().rev()))
}

pub fn less(a: &Nat, b: &Nat) -> bool {
    cmp(a, b) == Ordering::Less
}

pub fn is_one(a: &Nat) -> bool {
    a.as_slice() == [1]
}

pub fn add(a: &Nat, b: &Nat) -> Nat {
    let mut sum = Nat::with_capacity(a.len().max(b.len()) + 1);
    let mut carry = 0u64;
    for i in 0..a.len().max(b.len()) {
        carry += u64::from(*a.get(i).unwrap_or(&0)) + u64::from(*b.get(i).unwrap_or(&0));
        sum.push(carry as u32);
        carry >>= 32;
    }
    sum.push(carry as u32);
    trim(sum)
}

/// a - b, for b <= a.
pub fn sub(a: &Nat, b: &Nat) -> Nat {
    let mut rest = a.clone();
    let mut borrow = 0i64;
    for (i, limb) in rest.iter_mut().enumerate() {
        let d = i64::from(*limb) - i64::from(*b.get(i).unwrap_or(&0)) + borrow;
        *limb = d as u32;
        borrow = d >> 32;
    }
    trim(rest)
}

pub fn mul(a: &Nat, b: &Nat) -> Nat {
    let mut product = vec![0u32; a.len() + b.len()];
    for (i, &x) in a.iter().enumerate() {
        let mut carry = 0u64;
        for (j, &y) in b.iter().enumerate() {
            carry += u64::from(product[i + j]) + u64::from(x) * u64::from(y);
            product[i + j] = carry as u32;
            carry >>= 32;
        }
        product[i + b.len()] = carry as u32;
    }
    trim(product)
}

pub fn shift_left(a: &Nat, by: usize) -> Nat {
    let mut out = vec![0u32; by / 32];
    let mut carry = 0u64;
    for &limb in a {
        carry |= u64::from(limb) << (by % 32);
        out.push(carry as u32);
        carry >>= 32;
    }
    out.push(carry as u32);
    trim(out)
}

pub fn shift_right(a: &Nat, by: usize) -> Nat {
    let from = a.get(by / 32..).unwrap_or(&[]);
    let out = (0..from.len()).map(|i| {
        let both = u64::from(from[i]) | u64::from(*from.get(i + 1).unwrap_or(&0)) << 32;
        (both >> (by % 32)) as u32
    });
    trim(out.collect())
}

/// a / b and what is left, for b > 0 (Knuth's algorithm D).
pub fn divide(a: &Nat, b: &Nat) -> (Nat, Nat) {
    if less(a, b) {
        return (Nat::new(), a.clone());
    }
    let shift = b[b.len() - 1].leading_zeros() as usize;
    let v = shift_left(b, shift);
    let mut u = shift_left(a, shift);
    u.resize(a.len() + 1, 0);
    let n = v.len();
    let top = u64::from(v[n - 1]);
    let second = if n > 1 { u64::from(v[n - 2]) } else { 0 };
    let mut quotient = vec![0u32; u.len() - n];
    for j in (0..quotient.len()).rev() {
        let head = u64::from(u[j + n]) << 32 | u64::from(u[j + n - 1]);
        let below = if n > 1 { u64::from(u[j + n - 2]) } else { 0 };
        let (mut q, mut r) = (head / top, head % top);
        while q >> 32 != 0 || q * second > (r << 32 | below) {
            q -= 1;
            r += top;
            if r >> 32 != 0 {
                break;
            }
        }
        let (mut borrow, mut carry) = (0i64, 0u64);
        for i in 0..n {
            carry += q * u64::from(v[i]);
            let d = i64::from(u[i + j]) - i64::from(carry as u32) + borrow;
            u[i + j] = d as u32;
            borrow = d >> 32;
            carry >>= 32;
        }
        let d = i64::from(u[j + n]) - carry as i64 + borrow;
        u[j + n] = d as u32;
        if d < 0 {
            q -= 1;
            let mut carry = 0u64;
            for i in 0..n {
                carry += u64::from(u[i + j]) + u64::from(v[i]);
                u[i + j] = carry as u32;
                carry >>= 32;
            }
            u[j + n] = u[j + n].wrapping_add(carry as u32);
        }
        quotient[j] = q as u32;
    }
    (trim(quotient), shift_right(&trim(u), shift))
}

pub fn rest(a: &Nat, b: &Nat) -> Nat {
    divide(a, b).1
}

pub fn gcd(a: &Nat, b: &Nat, meter: &mut Meter) -> Checked<Nat> {
    let (mut a, mut b) = (a.clone(), b.clone());
    while !b.is_empty() {
        meter.spend(4 * (a.len() + 1))?;
        let r = rest(&a, &b);
        a = b;
        b = r;
    }
    Ok(a)
}

/// The Jacobi symbol (a/n) for an odd n.
pub fn jacobi(a: &Nat, n: &Nat, meter: &mut Meter) -> Checked<i32> {
    let (mut a, mut n, mut sign) = (rest(a, n), n.clone(), 1);
    while !a.is_empty() {
        meter.spend(8 * (n.len() + 1))?;
        let zeros = (0..).find(|&i| bit(&a, i)).unwrap_or(0);
        a = shift_right(&a, zeros);
        if zeros % 2 == 1 && matches!(n[0] % 8, 3 | 5) {
            sign = -sign;
        }
        if a[0] % 4 == 3 && n[0] % 4 == 3 {
            sign = -sign;
        }
        let r = rest(&n, &a);
        n = a;
        a = r;
    }
    Ok(if is_one(&n) { sign } else { 0 })
}

pub fn is_square(a: &Nat, meter: &mut Meter) -> Checked<bool> {
    if a.is_empty() {
        return Ok(true);
    }
    // Newton's steps from above.
    let mut root = shift_left(&small(1), bits(a) / 2 + 1);
    loop {
        meter.spend(4 * a.len() * a.len() + 16)?;
        let next = shift_right(&add(&root, &divide(a, &root).0), 1);
        if !less(&next, &root) {
            return Ok(cmp(&mul(&root, &root), a) == Ordering::Equal);
        }
        root = next;
    }
}

/// Arithmetic modulo an odd n > 1, with numbers as x·2^(32k) mod n (Montgomery).
pub struct Modulus {
    pub n: Nat,
    inverse: u32, // -1/n modulo 2^32
    square: Nat,  // 2^(64k) mod n
}

impl Modulus {
    pub fn new(n: &Nat) -> Modulus {
        let mut inverse = 1u32;
        for _ in 0..5 {
            inverse = inverse.wrapping_mul(2u32.wrapping_sub(n[0].wrapping_mul(inverse)));
        }
        let square = rest(&shift_left(&small(1), 64 * n.len()), n);
        Modulus { n: n.clone(), inverse: inverse.wrapping_neg(), square }
    }

    /// The product of a and b, which have as many limbs as n, into out; t has two more.
    fn product(&self, a: &[u32], b: &[u32], t: &mut [u32], out: &mut [u32]) {
        let k = self.n.len();
        let (n, b) = (&self.n[..k], &b[..k]);
        t.fill(0);
        for &x in a {
            let low = &mut t[..k];
            let mut carry = 0u64;
            for (limb, y) in low.iter_mut().zip(b) {
                carry += u64::from(*limb) + u64::from(x) * u64::from(*y);
                *limb = carry as u32;
                carry >>= 32;
            }
            let m = low[0].wrapping_mul(self.inverse);
            let mut again = 0u64;
            for (limb, y) in low.iter_mut().zip(n) {
                again += u64::from(*limb) + u64::from(m) * u64::from(*y);
                *limb = again as u32;
                again >>= 32;
            }
            let top = u64::from(t[k]) + carry + again;
            t[k] = top as u32;
            t[k + 1] = (top >> 32) as u32;
            t.copy_within(1.., 0); // the lowest limb is 0 now
        }
        out.copy_from_slice(&t[..k]);
        if t[k] != 0 || out.iter().rev().cmp(n.iter().rev()) != Ordering::Less {
            let mut borrow = 0i64;
            for (limb, y) in out.iter_mut().zip(n) {
                let d = i64::from(*limb) - i64::from(*y) + borrow;
                *limb = d as u32;
                borrow = d >> 32;
            }
        }
    }

    fn padded(&self, a: &Nat) -> Nat {
        let mut a = a.clone();
        a.resize(self.n.len(), 0);
        a
    }

    /// What a product costs.
    fn cost(&self) -> usize {
        2 * self.n.len() * self.n.len() + self.n.len()
    }

    pub fn times(&self, a: &Nat, b: &Nat, meter: &mut Meter) -> Checked<Nat> {
        meter.spend(self.cost())?;
        let (mut t, mut out) = (vec![0; self.n.len() + 2], vec![0; self.n.len()]);
        self.product(&self.padded(a), &self.padded(b), &mut t, &mut out);
        Ok(trim(out))
    }

    /// Into the form in which the others compute.
    pub fn enter(&self, a: &Nat, meter: &mut Meter) -> Checked<Nat> {
        self.times(&rest(a, &self.n), &self.square, meter)
    }

    pub fn leave(&self, a: &Nat, meter: &mut Meter) -> Checked<Nat> {
        self.times(a, &small(1), meter)
    }

    pub fn minus(&self, a: &Nat, b: &Nat) -> Nat {
        if less(a, b) {
            sub(&add(a, &self.n), b)
        } else {
            sub(a, b)
        }
    }

    pub fn plus(&self, a: &Nat, b: &Nat) -> Nat {
        let sum = add(a, b);
        if less(&sum, &self.n) {
            sum
        } else {
            sub(&sum, &self.n)
        }
    }

    /// a^e mod n.
    pub fn power(&self, a: &Nat, e: &Nat, meter: &mut Meter) -> Checked<Nat> {
        let base = self.padded(&self.enter(a, meter)?);
        let mut x = self.padded(&self.enter(&small(1), meter)?);
        let (mut t, mut out) = (vec![0; x.len() + 2], x.clone());
        for i in (0..bits(e)).rev() {
            meter.spend(2 * self.cost())?;
            self.product(&x, &x, &mut t, &mut out);
            if bit(e, i) {
                self.product(&out, &base, &mut t, &mut x);
            } else {
                std::mem::swap(&mut x, &mut out);
            }
        }
        self.leave(&trim(x), meter)
    }
}
