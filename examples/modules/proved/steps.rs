// What proves that a number is prime: Miller-Rabin below a bound, and the steps of a certificate. docs/certificates.md has the theorems.
use crate::number::*;
use std::cmp::Ordering;

/// The most digits of a number, so that it has 32 limbs at most.
pub const MAX_DIGITS: usize = 308;
/// The most steps of a certificate, and the most factors of one.
const MAX_STEPS: usize = 500;
const MAX_FACTORS: usize = 150;

const HEADER: &str = "[MPU - Primality Certificate]";
const BASES: [u32; 13] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41];
const BOUND: &[u8] = b"3317044064679887385961981";

/// Reports whether the odd n > 2 is a strong probable prime to the base. One that is not is composite.
pub fn strong(n: &Nat, base: &Nat, meter: &mut Meter) -> Checked<bool> {
    let m = Modulus::new(n);
    let last = sub(n, &small(1));
    let s = (0..).find(|&i| bit(&last, i)).unwrap_or(0);
    let mut x = m.power(base, &shift_right(&last, s), meter)?;
    if is_one(&x) || x == last {
        return Ok(true);
    }
    for _ in 1..s {
        meter.spend(2 * n.len() * n.len())?;
        x = rest(&mul(&x, &x), n);
        if x == last {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Decides whether n is prime where the first 13 prime bases do: below 3317044064679887385961981, which is composite and passes.
pub fn decide(n: &Nat, meter: &mut Meter) -> Checked<bool> {
    if !less(n, &parse(BOUND, MAX_DIGITS).unwrap_or_default()) {
        return no("Miller-Rabin to the first 13 prime bases decides nothing from 3317044064679887385961981 on");
    }
    if less(n, &small(2)) {
        return Ok(false);
    }
    for base in BASES {
        let b = small(base);
        if rest(n, &b).is_empty() {
            return Ok(*n == b);
        }
        if !strong(n, &b, meter)? {
            return Ok(false);
        }
    }
    Ok(true)
}

struct Field {
    name: String, // N, Q[1], ...
    negative: bool,
    value: Nat,
}

struct Step {
    kind: String,
    line: usize,
    closed: bool, // by a line of dashes
    fields: Vec<Field>,
}

fn field(line: &str) -> Option<Field> {
    let (name, digits) = line.split_once(|c| c == ' ' || c == '\t')?;
    let digits = digits.trim_start_matches(|c| c == ' ' || c == '\t');
    let (negative, digits) = digits.strip_prefix('-').map_or((false, digits), |d| (true, d));
    let known = matches!(name, "N" | "Q" | "A" | "LP" | "LQ") || indexed(name).is_some();
    let value = parse(digits.as_bytes(), MAX_DIGITS)?;
    let signed = matches!(name, "LP" | "LQ");
    (known && (signed || (!negative && !value.is_empty()))).then(|| Field { name: name.to_string(), negative, value })
}

/// The letter and the number of Q[1].
fn indexed(name: &str) -> Option<(&str, usize)> {
    let (letter, index) = name.strip_suffix(']')?.split_once('[')?;
    let plain = !index.is_empty() && index.bytes().all(|b| b.is_ascii_digit()) && (index == "0" || !index.starts_with('0'));
    (plain && matches!(letter, "Q" | "A")).then(|| index.parse().ok().map(|i| (letter, i)))?
}

/// Reads a certificate: the number and the steps.
fn read(text: &str) -> Checked<(Nat, Vec<Step>)> {
    let mut steps: Vec<Step> = Vec::new();
    let (mut header, mut awaited, mut number, mut version, mut base) = (false, false, None, false, false);
    for (i, line) in text.split('\n').enumerate() {
        let line = line.trim_end_matches(|c| c == ' ' || c == '\t' || c == '\r');
        let wrong = |why: &str| Err(format!("line {}: {why}", i + 1));
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if !header {
            if line != HEADER {
                return wrong("this is no certificate");
            }
            header = true;
        } else if awaited {
            match field(line) {
                Some(f) if f.name == "N" => number = Some(f.value),
                _ => return wrong("the number is expected"),
            }
            awaited = false;
        } else if number.is_none() {
            match line {
                "Proof for:" => awaited = true,
                "Version 1.0" if !version => version = true,
                "Base 10" if !base => base = true,
                _ => return wrong("it is not understood"),
            }
        } else if let Some(kind) = line.strip_prefix("Type ") {
            let kind = kind.trim();
            if !matches!(kind, "Small" | "Pocklington" | "BLS3" | "BLS15" | "BLS5" | "Lucas") {
                return wrong("steps of this type are not checked here");
            }
            if steps.len() == MAX_STEPS {
                return wrong("there are too many steps");
            }
            steps.push(Step { kind: kind.to_string(), line: i + 1, closed: false, fields: Vec::new() });
        } else {
            let step = match steps.last_mut() {
                Some(s) if !s.closed => s,
                _ => return wrong("it belongs to no step"),
            };
            if line.bytes().all(|b| b == b'-') && step.kind == "BLS5" {
                step.closed = true;
                continue;
            }
            let f = match field(line) {
                Some(f) => f,
                None => return wrong("a name and a number are expected"),
            };
            if step.fields.iter().any(|o| o.name == f.name) || step.fields.len() > 2 * MAX_FACTORS + 2 {
                return wrong("the step has this already, or too much");
            }
            step.fields.push(f);
        }
    }
    number.map_or_else(|| no("the certificate ends before the number"), |n| Ok((n, steps)))
}

impl Step {
    fn get(&self, name: &str) -> Checked<&Nat> {
        self.fields.iter().find(|f| f.name == name).map_or_else(|| Err(format!("it lacks {name}")), |f| Ok(&f.value))
    }

    /// LP or LQ modulo n.
    fn signed(&self, name: &str, n: &Nat) -> Checked<Nat> {
        let value = self.get(name)?;
        if !less(value, n) {
            return no("LP or LQ is not less than N");
        }
        let negative = self.fields.iter().any(|f| f.name == name && f.negative) && !value.is_empty();
        Ok(if negative { sub(n, value) } else { value.clone() })
    }

    /// Checks which lines there are, and returns the numbers that the step rests on.
    fn rests_on(&self) -> Checked<Vec<Nat>> {
        let factors = self.fields.iter().filter(|f| f.name.starts_with("Q[")).count();
        let fits = |name: &str| match (self.kind.as_str(), indexed(name)) {
            (_, None) if name == "N" => true,
            ("Pocklington" | "BLS3", None) => matches!(name, "Q" | "A"),
            ("BLS15", None) => matches!(name, "Q" | "LP" | "LQ"),
            ("Lucas", None) => name == "A",
            ("Lucas" | "BLS5", Some(("Q", i))) => 0 < i && i <= factors,
            ("BLS5", Some(("A", i))) => i <= factors,
            _ => false,
        };
        if factors > MAX_FACTORS || !self.fields.iter().all(|f| fits(&f.name)) {
            return no("it has a line that does not belong there");
        }
        match self.kind.as_str() {
            "Small" => Ok(Vec::new()),
            "Lucas" | "BLS5" => (1..=factors).map(|i| self.get(&format!("Q[{i}]")).map(Nat::clone)).collect(),
            _ => Ok(vec![self.get("Q")?.clone()]),
        }
    }

    fn check(&self, qs: &[Nat], meter: &mut Meter) -> Checked<()> {
        let n = self.get("N")?;
        if self.kind == "Small" {
            return if bits(n) <= 64 && decide(n, meter)? { Ok(()) } else { no("N is not a prime below 2^64") };
        }
        if is_even(n) || bits(n) < 2 {
            return no("N is even or too small");
        }
        let m = Modulus::new(n);
        match self.kind.as_str() {
            "Pocklington" => pocklington(&m, &qs[0], self.get("A")?, meter),
            "BLS3" => bls3(&m, &qs[0], self.get("A")?, meter),
            "BLS15" => bls15(&m, &qs[0], &self.signed("LP", n)?, &self.signed("LQ", n)?, meter),
            "Lucas" => lucas(&m, qs, self.get("A")?, meter),
            _ if !self.closed => no("it does not end with a line of dashes"),
            _ => {
                let two = small(2);
                let mut with = vec![two.clone()];
                with.extend_from_slice(qs);
                let bases: Vec<Nat> = (0..with.len()).map(|i| self.get(&format!("A[{i}]")).unwrap_or(&two).clone()).collect();
                bls5(&m, &with, &bases, meter)
            }
        }
    }
}

/// (n + sign) / q, where q divides it.
fn cofactor(of: &Nat, q: &Nat) -> Checked<Nat> {
    if bits(q) < 2 {
        return no("Q is not greater than 1");
    }
    let (m, r) = divide(of, q);
    if r.is_empty() && !m.is_empty() { Ok(m) } else { no("Q does not divide N-1, or N+1") }
}

fn base(n: &Nat, a: &Nat) -> Checked<()> {
    if bits(a) > 1 && less(a, n) { Ok(()) } else { no("a base is not between 1 and N") }
}

fn fermat(m: &Modulus, a: &Nat, meter: &mut Meter) -> Checked<()> {
    if is_one(&m.power(a, &sub(&m.n, &small(1)), meter)?) { Ok(()) } else { no("A^(N-1) mod N is not 1") }
}

/// Checks that gcd(x - 1, n) = 1.
fn coprime_less_1(n: &Nat, x: &Nat, meter: &mut Meter) -> Checked<()> {
    let one = small(1);
    let d = if x.is_empty() { sub(n, &one) } else { sub(x, &one) };
    if is_one(&gcd(n, &d, meter)?) { Ok(()) } else { no("a power of A less 1 and N have a common divisor") }
}

fn pocklington(m: &Modulus, q: &Nat, a: &Nat, meter: &mut Meter) -> Checked<()> {
    let k = cofactor(&sub(&m.n, &small(1)), q)?;
    if !less(&k, q) {
        return no("Q is too small");
    }
    base(&m.n, a)?;
    fermat(m, a, meter)?;
    coprime_less_1(&m.n, &m.power(a, &k, meter)?, meter)
}

/// Checks that q is odd, greater than 2, and that (2q ± 1)² > n.
fn large_odd(n: &Nat, q: &Nat, plus: bool) -> Checked<()> {
    if is_even(q) || bits(q) < 2 {
        return no("Q is not an odd number greater than 2");
    }
    let double = shift_left(q, 1);
    let d = if plus { add(&double, &small(1)) } else { sub(&double, &small(1)) };
    if less(n, &mul(&d, &d)) { Ok(()) } else { no("Q is too small") }
}

fn bls3(m: &Modulus, q: &Nat, a: &Nat, meter: &mut Meter) -> Checked<()> {
    let last = sub(&m.n, &small(1));
    let k = cofactor(&last, q)?;
    large_odd(&m.n, q, true)?;
    base(&m.n, a)?;
    if m.power(a, &shift_right(&last, 1), meter)? != last {
        return no("A^((N-1)/2) mod N is not N-1");
    }
    if m.power(a, &shift_right(&k, 1), meter)? == last {
        return no("A^(M/2) mod N is N-1");
    }
    Ok(())
}

fn bls15(m: &Modulus, q: &Nat, p: &Nat, lq: &Nat, meter: &mut Meter) -> Checked<()> {
    let next = add(&m.n, &small(1));
    let k = cofactor(&next, q)?;
    large_odd(&m.n, q, false)?;
    if !less(q, &m.n) {
        return no("Q is not less than N");
    }
    meter.spend(4 * m.n.len() * m.n.len())?;
    let d = m.minus(&rest(&mul(p, p), &m.n), &rest(&shift_left(lq, 2), &m.n));
    if jacobi(&d, &m.n, meter)? != -1 {
        return no("the Jacobi symbol of LP^2-4LQ and N is not -1");
    }
    if !lucas_v(m, p, lq, &shift_right(&next, 1), meter)?.is_empty() {
        return no("V((N+1)/2) mod N is not 0");
    }
    if lucas_v(m, p, lq, &shift_right(&k, 1), meter)?.is_empty() {
        return no("V(M/2) mod N is 0");
    }
    Ok(())
}

/// V_k mod n, in the form of the modulus: 0 is 0 there too.
fn lucas_v(m: &Modulus, p: &Nat, q: &Nat, k: &Nat, meter: &mut Meter) -> Checked<Nat> {
    let (p, q) = (m.enter(p, meter)?, m.enter(q, meter)?);
    let mut power = m.enter(&small(1), meter)?;
    let (mut low, mut high) = (m.plus(&power, &power), p.clone());
    for i in (0..bits(k)).rev() {
        let middle = m.minus(&m.times(&low, &high, meter)?, &m.times(&p, &power, meter)?);
        if bit(k, i) {
            let next = m.times(&power, &q, meter)?;
            high = m.minus(&m.times(&high, &high, meter)?, &m.plus(&next, &next));
            low = middle;
            power = m.times(&power, &next, meter)?;
        } else {
            low = m.minus(&m.times(&low, &low, meter)?, &m.plus(&power, &power));
            high = middle;
            power = m.times(&power, &power, meter)?;
        }
    }
    Ok(low)
}

/// Divides the factors out of n-1 and returns the part that they make, and the rest.
fn factored(n: &Nat, qs: &[Nat], meter: &mut Meter) -> Checked<(Nat, Nat)> {
    let last = sub(n, &small(1));
    let (mut f, mut r) = (small(1), last.clone());
    for (i, q) in qs.iter().enumerate() {
        if bits(q) < 2 || !less(q, &last) || qs[..i].contains(q) {
            return no("a factor is not between 1 and N-1, or stands there twice");
        }
        let before = r.clone();
        loop {
            meter.spend(2 * n.len() * n.len())?;
            let (quotient, left) = divide(&r, q);
            if !left.is_empty() {
                break;
            }
            f = mul(&f, q);
            r = quotient;
        }
        if cmp(&r, &before) == Ordering::Equal {
            return no("a factor does not divide N-1");
        }
    }
    Ok((f, r))
}

fn lucas(m: &Modulus, qs: &[Nat], a: &Nat, meter: &mut Meter) -> Checked<()> {
    let (_, r) = factored(&m.n, qs, meter)?;
    if !is_one(&r) {
        return no("N-1 has a part that no factor covers");
    }
    base(&m.n, a)?;
    fermat(m, a, meter)?;
    let last = sub(&m.n, &small(1));
    for q in qs {
        if is_one(&m.power(a, &divide(&last, q).0, meter)?) {
            return no("A^((N-1)/Q) mod N is 1");
        }
    }
    Ok(())
}

fn bls5(m: &Modulus, qs: &[Nat], bases: &[Nat], meter: &mut Meter) -> Checked<()> {
    let one = small(1);
    let (f, r) = factored(&m.n, qs, meter)?;
    if !is_one(&gcd(&f, &r, meter)?) {
        return no("F and R have a common divisor");
    }
    meter.spend(16 * m.n.len() * m.n.len())?;
    let (s, t) = divide(&r, &shift_left(&f, 1));
    // (F+1)(2F²+(r-1)F+1); r is odd
    let inner = add(&add(&shift_left(&mul(&f, &f), 1), &mul(&sub(&t, &one), &f)), &one);
    if !less(&m.n, &mul(&add(&f, &one), &inner)) {
        return no("the factors make too little of N-1");
    }
    let (square, eight) = (mul(&t, &t), shift_left(&s, 3));
    if !s.is_empty() && !less(&square, &eight) && is_square(&sub(&square, &eight), meter)? {
        return no("r^2-8s is a square");
    }
    let last = sub(&m.n, &one);
    for (i, q) in qs.iter().enumerate() {
        base(&m.n, &bases[i])?;
        if !bases[..i].contains(&bases[i]) {
            fermat(m, &bases[i], meter)?;
        }
        coprime_less_1(&m.n, &m.power(&bases[i], &divide(&last, q).0, meter)?, meter)?;
    }
    Ok(())
}

/// Checks that the certificate proves n.
pub fn certificate(text: &str, n: &Nat, meter: &mut Meter) -> Checked<()> {
    let (about, steps) = read(text)?;
    if about != *n {
        return no("the certificate is about another number");
    }
    let mut proved: Vec<(&Nat, Vec<Nat>)> = Vec::new();
    for step in &steps {
        let at = |why: Refusal| format!("line {}, {} step: {why}", step.line, step.kind);
        let number = step.get("N").map_err(at)?;
        let qs = step.rests_on().map_err(at)?;
        step.check(&qs, meter).map_err(at)?;
        if proved.iter().any(|(n, _)| *n == number) {
            return Err(at("another step proves that number".to_string()));
        }
        proved.push((number, qs));
    }
    let mut open = vec![n];
    let mut seen: Vec<&Nat> = Vec::new();
    while let Some(next) = open.pop() {
        if seen.contains(&next) {
            continue;
        }
        seen.push(next);
        if let Some((_, qs)) = proved.iter().find(|(n, _)| *n == next) {
            open.extend(qs);
        } else if bits(next) > 64 {
            return no("a number from 2^64 on has no step");
        } else if !decide(next, meter)? {
            return no("a number that the proof rests on is not prime");
        }
    }
    Ok(())
}
