//! Reads decimal numbers as floats: the nearest one, ties to even, however many digits
//! there are. Rust's own reader brings a table of ten kilobytes.

/// Digits that always fit in 64 bits.
const FIT: usize = 19;
/// Digits that can matter: halfway between two floats needs no more than 768. Of the
/// others it counts only whether one is not zero.
const MATTER: usize = 800;
/// Powers of ten that are floats.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];
/// Powers of ten between which floats are: what begins above or below is infinite or
/// nothing.
const HIGHEST: i64 = 310;
const LOWEST: i64 = -345;
/// Exponents beyond this are as good as endless, and do not overflow.
const ENDLESS: i64 = 1 << 40;
/// Words of 32 bits: 800 digits, or 5 to as many powers as a divisor can have.
const WORDS: usize = 128;
/// How many factors of 5 fit in a word.
const FACTORS: u32 = 13;
/// Bits that are kept in a division, more than those of a float.
const SPARE: usize = 70;

/// Reads a number as JSON writes it.
pub fn read(text: &str) -> f64 {
    let d = Digits::of(text.trim_start_matches('-').as_bytes());
    let size = match d.exponent {
        _ if d.first == 0 => 0.0,
        e @ 0..=22 if d.count <= FIT && d.first <= 1 << 53 => d.first as f64 * POWERS[e as usize],
        e @ -22..=-1 if d.count <= FIT && d.first <= 1 << 53 => d.first as f64 / POWERS[-e as usize],
        e if d.count as i64 + e > HIGHEST => f64::INFINITY,
        e if (d.count as i64 + e) < LOWEST => 0.0,
        _ => d.exactly(),
    };
    if text.starts_with('-') {
        -size
    } else {
        size
    }
}

/// The significant digits of a number.
struct Digits<'a> {
    text: &'a [u8],
    /// The first of them, as many as fit.
    first: u64,
    /// How many there are of those that can matter.
    count: usize,
    /// Whether those that cannot matter are not all zero.
    more: bool,
    /// The power of ten of the last that can matter.
    exponent: i64,
}

impl Digits<'_> {
    fn of(text: &[u8]) -> Digits {
        let mut d = Digits { text, first: 0, count: 0, more: false, exponent: 0 };
        let (mut behind, mut given) = (0, 0);
        for (i, &b) in text.iter().enumerate() {
            match b {
                b'0'..=b'9' => d.digit(b, behind),
                b'.' => behind = 1,
                _ => {
                    given = exponent(&text[i + 1..]);
                    break;
                }
            }
        }
        d.exponent += given;
        d
    }

    fn digit(&mut self, b: u8, behind: i64) {
        let zero = b == b'0';
        if self.count == MATTER {
            self.more |= !zero;
            self.exponent += 1 - behind;
            return;
        }
        self.exponent -= behind;
        if self.count == 0 && zero {
            return; // a zero in front
        }
        self.count += 1;
        if self.count <= FIT {
            self.first = self.first * 10 + u64::from(b - b'0');
        }
    }

    fn exactly(&self) -> f64 {
        let mut big = Big { words: [0; WORDS], used: 0 };
        if self.count <= FIT {
            big.multiply(0, (self.first >> 32) as u32);
            big.shift(1);
            big.words[0] = self.first as u32;
        } else {
            let digits = self.text.iter().take_while(|&&b| b == b'.' || b.is_ascii_digit());
            let digits = digits.filter(|&&b| b != b'.').skip_while(|&&b| b == b'0').take(self.count);
            for &b in digits {
                big.multiply(10, u32::from(b - b'0'));
            }
        }
        let (mut left, mut rest) = (self.exponent.unsigned_abs() as u32, self.more);
        let mut power = self.exponent as i32;
        if self.exponent < 0 {
            // 5 is less than 7/3 bits.
            let wanted = (left as usize * 7 / 3 + SPARE) / 32 + 1;
            let shift = (wanted + 1).saturating_sub(big.used);
            big.shift(shift);
            power -= 32 * shift as i32;
        }
        while left > 0 {
            let step = left.min(FACTORS);
            let by = 5u32.pow(step);
            if self.exponent < 0 {
                rest |= big.divide(by) > 0;
            } else {
                big.multiply(by, 0);
            }
            left -= step;
        }
        big.float(power, rest)
    }
}

/// Reads what is behind the e.
fn exponent(text: &[u8]) -> i64 {
    let mut value = 0;
    for &b in text {
        if b.is_ascii_digit() && value < ENDLESS {
            value = value * 10 + i64::from(b - b'0');
        }
    }
    if text.first() == Some(&b'-') {
        -value
    } else {
        value
    }
}

/// A large integer, its least significant word first.
struct Big {
    words: [u32; WORDS],
    used: usize,
}

impl Big {
    fn multiply(&mut self, by: u32, add: u32) {
        let mut carry = u64::from(add);
        for word in &mut self.words[..self.used] {
            carry += u64::from(*word) * u64::from(by);
            *word = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            self.words[self.used] = carry as u32;
            self.used += 1;
        }
    }

    /// Divides, and returns what is left.
    fn divide(&mut self, by: u32) -> u64 {
        let mut rest = 0;
        for word in self.words[..self.used].iter_mut().rev() {
            rest = rest << 32 | u64::from(*word);
            *word = (rest / u64::from(by)) as u32;
            rest %= u64::from(by);
        }
        rest
    }

    /// Multiplies with 2^32 so many times.
    fn shift(&mut self, words: usize) {
        self.words.copy_within(..self.used, words);
        self.words[..words].fill(0);
        self.used += words;
    }

    /// The 64 bits from a place on, and whether any is set below.
    fn bits(&self, at: usize) -> (u64, bool) {
        let word = |i: usize| u128::from(self.words.get(i).copied().unwrap_or(0));
        let (i, shift) = (at / 32, at % 32);
        let wide = word(i) | word(i + 1) << 32 | word(i + 2) << 64;
        let below = self.words.iter().take(i).any(|&w| w != 0) || wide & ((1 << shift) - 1) != 0;
        ((wide >> shift) as u64, below)
    }

    /// The float nearest to the integer, and a rest below it, times a power of two.
    fn float(&self, power: i32, rest: bool) -> f64 {
        let mut used = self.used;
        while used > 0 && self.words[used - 1] == 0 {
            used -= 1;
        }
        if used == 0 {
            return 0.0;
        }
        let length = (32 * used) as i32 - self.words[used - 1].leading_zeros() as i32;
        // The power of two of the float's last bit.
        let last = (length - 53 + power).max(-1074);
        let drop = last - power;
        let mantissa = if drop <= 0 {
            self.bits(0).0 << -drop
        } else {
            let (double, below) = self.bits(drop as usize - 1);
            let (half, whole) = (double & 1 == 1, double >> 1);
            whole + u64::from(half && (below || rest || whole & 1 == 1))
        };
        // The bits of a float count on from one power of two to the next, so that
        // the mantissa carries into the exponent as it should.
        let bits = ((last + 1074) as u64) << 52;
        f64::from_bits((bits + mantissa).min(f64::INFINITY.to_bits()))
    }
}
