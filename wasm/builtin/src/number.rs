//! The accumulators of sum, min and max.

use crate::dec::Dec;
use crate::decimal;
use crate::float::{fraction, write_float, ExactSum};
use crate::json::{Kind, Node};
use alloc::boxed::Box;
use alloc::string::String;
use core::cmp::Ordering;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    Sum,
    Min,
    Max,
}

/// What a value that is to be accumulated turned out to be.
pub enum Number {
    Int(Dec),
    /// An integer of at most 18 digits, which most are.
    Small(i64),
    Float(f64),
}

const SMALL_DIGITS: usize = 18;

impl Number {
    /// Reads a JSON number, or, with strings, an integer written as a string.
    pub fn read(node: &Node, strings: bool) -> Option<Number> {
        match node.kind {
            Kind::Int => Number::integer(node.raw),
            Kind::Str(text) if strings => Number::integer(text),
            Kind::Float if !strings => Some(decimal::read(node.raw))
                .filter(|f| f.is_finite())
                .map(Number::Float),
            _ => None,
        }
    }

    fn integer(text: &str) -> Option<Number> {
        if text.len() <= SMALL_DIGITS && !text.starts_with('+') {
            if let Ok(v) = text.parse() {
                return Some(Number::Small(v));
            }
        }
        Dec::parse(text).map(Number::Int)
    }
}

/// Integers and floats apart, both exact, so that neither order nor grouping of
/// what is accumulated can show.
#[derive(Clone)]
pub struct Acc {
    fold: Fold,
    int: Option<Int>,
    float: Option<Float>,
}

#[derive(Clone)]
struct Int {
    small: i128,
    big: Dec,
}

#[derive(Clone)]
enum Float {
    Sum(Box<ExactSum>),
    Best(f64),
}

impl Acc {
    pub fn new(fold: Fold) -> Acc {
        Acc {
            fold,
            int: None,
            float: None,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.int.is_none() && self.float.is_none()
    }

    pub fn add(&mut self, n: Number) {
        match n {
            Number::Small(v) => self.add_int(Int {
                small: i128::from(v),
                big: Dec::default(),
            }),
            Number::Int(d) => self.add_int(Int { small: 0, big: d }),
            Number::Float(f) if self.fold == Fold::Sum => {
                let float = self
                    .float
                    .get_or_insert_with(|| Float::Sum(Box::new(ExactSum::new())));
                if let Float::Sum(sum) = float {
                    sum.add(f);
                }
            }
            Number::Float(f) => self.add_best(f),
        }
    }

    fn add_int(&mut self, new: Int) {
        let fold = self.fold;
        match &mut self.int {
            None => self.int = Some(new),
            Some(old) if fold == Fold::Sum => old.add(new),
            Some(old) => {
                if prefers(fold, new.compare(old)) {
                    *old = new;
                }
            }
        }
    }

    fn add_best(&mut self, new: f64) {
        match self.float {
            Some(Float::Best(old)) if !prefers(self.fold, new.total_cmp(&old)) => {}
            _ => self.float = Some(Float::Best(new)),
        }
    }

    pub fn merge(&mut self, other: Acc) {
        if let Some(int) = other.int {
            self.add_int(int);
        }
        match (other.float, &mut self.float) {
            (Some(Float::Best(f)), _) => self.add_best(f),
            (Some(Float::Sum(theirs)), Some(Float::Sum(ours))) => ours.merge(&theirs),
            (Some(sum), _) => self.float = Some(sum),
            (None, _) => {}
        }
    }

    /// Writes "i" and "f", the fields of a partial; nothing if empty.
    pub fn encode(&self, out: &mut String) {
        if let Some(int) = &self.int {
            out.push_str(",\"i\":\"");
            int.total().write(out);
            out.push('"');
        }
        match &self.float {
            Some(Float::Sum(sum)) => {
                out.push_str(",\"f\":");
                sum.encode(out);
            }
            Some(Float::Best(f)) => {
                out.push_str(",\"f\":");
                write_float(out, *f);
            }
            None => {}
        }
    }

    pub fn decode(fold: Fold, node: &Node) -> Option<Acc> {
        let mut acc = Acc::new(fold);
        if let Some(i) = node.get("i") {
            let total = Dec::parse(&i.text()?)?;
            acc.add_int(Int {
                small: 0,
                big: total,
            });
        }
        match node.get("f").map(|f| (f, &f.kind)) {
            Some((_, Kind::Arr(parts))) if parts.len() == 2 && fold == Fold::Sum => {
                let sum = ExactSum::decode(&parts[0].text()?, parts[1].unsigned()? as usize)?;
                acc.float = Some(Float::Sum(Box::new(sum)));
            }
            Some((f, Kind::Float)) if fold != Fold::Sum => {
                acc.float = Some(Float::Best(decimal::read(f.raw)))
            }
            None => {}
            _ => return None,
        }
        Some(acc)
    }

    /// Writes the value; false, and null, if it is beyond every float.
    pub fn finish(&self, out: &mut String) -> bool {
        match (&self.int, &self.float) {
            (None, None) => out.push_str("null"),
            (Some(int), None) => int.total().write(out),
            (int, Some(Float::Sum(sum))) => {
                let mut sum = sum.clone();
                let fits = int.as_ref().map_or(true, |i| sum.add_integer(&i.total()));
                return write_finite(out, if fits { sum.round() } else { f64::INFINITY });
            }
            (None, Some(Float::Best(f))) => write_float(out, *f),
            (Some(int), Some(Float::Best(f))) => {
                let int = int.total();
                if prefers(self.fold, compare(&int, *f).reverse()) {
                    write_float(out, *f);
                } else {
                    int.write(out);
                }
            }
        }
        true
    }
}

fn write_finite(out: &mut String, f: f64) -> bool {
    if f.is_finite() {
        // Python's sum of zeros is 0.0, whatever their signs.
        write_float(out, f);
    } else {
        out.push_str("null");
    }
    f.is_finite()
}

/// Whether a new value that compares so with the old one takes its place.
fn prefers(fold: Fold, order: Ordering) -> bool {
    match fold {
        Fold::Min => order == Ordering::Less,
        Fold::Max => order == Ordering::Greater,
        Fold::Sum => false,
    }
}

/// Compares an integer with a float, exactly.
fn compare(int: &Dec, f: f64) -> Ordering {
    int.cmp(&Dec::from_float(f))
        .then_with(|| 0.0f64.partial_cmp(&fraction(f)).unwrap_or(Ordering::Equal))
}

impl Int {
    fn total(&self) -> Dec {
        Dec::from_i128(self.small).add(&self.big)
    }

    fn add(&mut self, other: Int) {
        match self.small.checked_add(other.small) {
            Some(sum) => self.small = sum,
            None => {
                self.big = self.total().add(&Dec::from_i128(other.small));
                self.small = 0;
            }
        }
        if other.big != Dec::default() {
            self.big = self.big.add(&other.big);
        }
    }

    fn compare(&self, other: &Int) -> Ordering {
        let zero = Dec::default();
        if self.big == zero && other.big == zero {
            return self.small.cmp(&other.small);
        }
        self.total().cmp(&other.total())
    }
}
