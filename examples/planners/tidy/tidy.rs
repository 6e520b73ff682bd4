// Tidy is a planner in Rust: it cleans and filters what a job has found, and has the
// rule's function run once for each value that is left.
//
//   rustc --edition 2021 --target wasm32-wasi -C opt-level=3 -o tidy.wasm tidy.rs
//
// The aggregate is a list of objects, as the built-in `concat` makes it. Parameters:
// {"field": "value", "min": 0, "max": 100}. An object without a finite number in that
// field is dirt, one whose number lies outside is filtered out, and what there is twice
// counts once. Nothing but the standard library is used: the host sends well-formed JSON.
use std::collections::BTreeSet;
use std::io::{self, BufRead, Write};
use std::process::exit;

const UNSUPPORTED: i32 = 64;
const BAD_INPUT: i32 = 65;

const DESCRIPTION: &str = concat!(
    r#"{"t":"describe","name":"tidy","version":"1.0.0","kinds":["planner"],"#,
    r#""summary":"a unit for each value that is clean and within bounds","#,
    r#""params":{"type":"object","additionalProperties":false,"properties":{"#,
    r#""field":{"type":"string","pattern":"^[a-z_]{1,32}$","default":"value"},"min":{"type":"number"},"max":{"type":"number"}}}}"#
);

fn fail(code: i32, why: &str) -> ! {
    eprintln!("{why}");
    exit(code)
}

/// Returns how many bytes of s the JSON value takes that s starts with.
fn length(s: &[u8]) -> usize {
    let (mut at, mut depth) = (0, 0);
    while at < s.len() {
        match s[at] {
            b'"' => {
                at += 1;
                while at < s.len() && s[at] != b'"' {
                    at += if s[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'{' | b'[' => {
                depth += 1;
                at += 1;
                continue;
            }
            b'}' | b']' => {
                depth -= 1;
                at += 1;
            }
            b',' | b':' => {
                at += 1;
                continue;
            }
            _ => {
                while at < s.len() && !b",:]}".contains(&s[at]) {
                    at += 1;
                }
            }
        }
        if depth <= 0 {
            break;
        }
    }
    at.min(s.len())
}

/// Returns the values of an array, or the members of an object as name and value.
fn parts(s: &[u8]) -> Vec<&[u8]> {
    let mut all = Vec::new();
    let mut rest = s.get(1..s.len().saturating_sub(1)).unwrap_or(&[]);
    while !rest.is_empty() {
        let n = length(rest);
        all.push(&rest[..n]);
        rest = rest.get(n + 1..).unwrap_or(&[]); // after the comma or the colon
    }
    all
}

/// Returns a member of an object; its name must need no escapes.
fn member<'a>(s: &'a [u8], name: &str) -> Option<&'a [u8]> {
    if s.first() != Some(&b'{') {
        return None;
    }
    let quoted = format!("\"{name}\"");
    parts(s).chunks_exact(2).find(|p| p[0] == quoted.as_bytes()).map(|p| p[1])
}

fn number(s: &[u8]) -> Option<f64> {
    std::str::from_utf8(s).ok()?.parse().ok().filter(|x: &f64| x.is_finite())
}

/// What is left of the values, and how many were dirt, outside and there before.
#[derive(Default)]
struct Tidied<'a> {
    left: Vec<&'a [u8]>,
    dirt: usize,
    outside: usize,
    twice: usize,
}

fn tidy<'a>(values: Vec<&'a [u8]>, field: &str, min: f64, max: f64) -> Tidied<'a> {
    let mut t = Tidied::default();
    let mut seen = BTreeSet::new();
    for value in values {
        match member(value, field).and_then(number) {
            None => t.dirt += 1,
            Some(x) if x < min || x > max => t.outside += 1,
            Some(_) if !seen.insert(value) => t.twice += 1,
            Some(_) => t.left.push(value),
        }
    }
    t
}

/// Prints what is to be done: a unit for each value that is left, or that the chain is over.
fn plan(t: &Tidied, most: usize, out: &mut impl Write) -> io::Result<()> {
    let why = format!("{} left; {} dirt, {} outside, {} twice", t.left.len(), t.dirt, t.outside, t.twice);
    if t.left.is_empty() || t.left.len() > most {
        let instead = if t.left.is_empty() { "nothing".to_string() } else { format!("more than {most}") };
        return writeln!(out, "{{\"t\":\"stop\",\"reason\":\"{instead} to do: {why}\"}}");
    }
    for (i, value) in t.left.iter().enumerate() {
        write!(out, "{{\"t\":\"unit\",\"key\":\"{i}\",\"input\":")?;
        out.write_all(value)?;
        out.write_all(b"}\n")?;
    }
    writeln!(out, "{{\"t\":\"note\",\"reason\":\"{why}\"}}")
}

fn main() -> io::Result<()> {
    let mut lines = io::BufReader::with_capacity(64 << 10, io::stdin()).split(b'\n');
    let header = lines.next().unwrap_or_else(|| fail(BAD_INPUT, "there is no header"))?;
    let mut out = io::BufWriter::with_capacity(64 << 10, io::stdout());
    match member(&header, "phase").unwrap_or(b"") {
        b"\"describe\"" => return writeln!(out, "{DESCRIPTION}"),
        b"\"run\"" => {}
        _ => fail(UNSUPPORTED, "this phase is not known"),
    }
    let params = member(&header, "params").unwrap_or(b"{}");
    let field = member(params, "field").map_or("value".into(), |f| String::from_utf8_lossy(&f[1..f.len() - 1]).into_owned());
    let bound = |name, usual| member(params, name).and_then(number).unwrap_or(usual);
    let most = member(&header, "budget").and_then(|b| member(b, "units")).and_then(number).unwrap_or(0.0) as usize;
    let last = lines.next().unwrap_or_else(|| fail(BAD_INPUT, "there is no final"))?;
    let values = member(&last, "data").filter(|d| d.first() == Some(&b'[')).unwrap_or(b"[]");
    plan(&tidy(parts(values), &field, bound("min", f64::MIN), bound("max", f64::MAX)), most, &mut out)?;
    out.flush()
}
