// Proved is a validator in Rust: it accepts a statement that a number is prime or composite when the statement proves itself. It needs no
// second opinion, and no library for large numbers.
//
//   rustc --target wasm32-wasi -C opt-level=3 -o proved.wasm proved.rs
//
// The input of a shard is the number as a string of digits, or an object with it as "n". A result is what examples/certify returns.
mod number;
mod steps;

use number::{bits, is_even, less, no, parse, rest, Checked, Meter};
use std::io::{self, BufRead, Write};
use std::process::exit;
use steps::{certificate, decide, strong, MAX_DIGITS};

const UNSUPPORTED: i32 = 64;
const BAD_INPUT: i32 = 65;

/// What is spent on one result, in products of two limbs of 32 bits: some thirty powers of numbers with 300 digits, and about a seventh of
/// the fuel of a batch. A hostile result ends in a verdict, not in a batch that fails.
const MAX_WORK: u64 = 100_000_000;

const DESCRIPTION: &str = concat!(
    r#"{"t":"describe","name":"proved","version":"1.0.0","kinds":["validator"],"#,
    r#""summary":"accepts a statement that a number is prime or composite when it proves itself","#,
    r#""params":{"type":"object","additionalProperties":false}}"#
);

fn fail(code: i32, why: &str) -> ! {
    eprintln!("{why}");
    exit(code)
}

/// Returns how many bytes of s the JSON value takes that s starts with. The host sends well-formed JSON.
fn length(s: &str) -> usize {
    let (b, mut at, mut depth) = (s.as_bytes(), 0, 0);
    while at < b.len() {
        match b[at] {
            b'"' => {
                at += 1;
                while at < b.len() && b[at] != b'"' {
                    at += if b[at] == b'\\' { 2 } else { 1 };
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
                while at < b.len() && !b",:]}".contains(&b[at]) {
                    at += 1;
                }
            }
        }
        if depth <= 0 {
            break;
        }
    }
    at.min(b.len())
}

/// Returns the values of an array, or the members of an object as name and value.
fn parts(s: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut left = s.get(1..s.len().saturating_sub(1)).unwrap_or("");
    while !left.is_empty() {
        let n = length(left);
        all.push(left.get(..n).unwrap_or(""));
        left = left.get(n + 1..).unwrap_or(""); // after the comma or the colon
    }
    all
}

/// Returns a member of an object; nothing, if it is there twice.
fn member<'a>(s: &'a str, name: &str) -> Option<&'a str> {
    if !s.starts_with('{') {
        return None;
    }
    let all = parts(s);
    let mut found = all.chunks_exact(2).filter(|p| p[0].strip_prefix('"').and_then(|q| q.strip_suffix('"')) == Some(name));
    match (found.next(), found.next()) {
        (Some(p), None) => Some(p[1]),
        _ => None,
    }
}

/// Returns the text of a string. Nothing but line feeds is ever escaped in ours.
fn text(s: Option<&str>) -> Option<String> {
    let s = s?.strip_prefix('"')?.strip_suffix('"')?;
    let plain = s.replace("\\n", "\n");
    (!plain.contains('\\') && !plain.contains('"')).then(|| plain)
}

fn judge(input: &str, result: &str) -> Checked<()> {
    let asked = text(member(input, "n").or(Some(input)));
    let said = text(member(result, "n"));
    if said.is_none() || asked != said {
        return no("it is not about the number that was asked for");
    }
    let n = match said.and_then(|d| parse(d.as_bytes(), MAX_DIGITS)) {
        Some(n) if !n.is_empty() => n,
        _ => return no("the number is 0, or has more than 308 digits"),
    };
    let verdict = text(member(result, "verdict")).unwrap_or_default();
    let proof = text(member(result, "proof")).unwrap_or_default();
    let field = match (verdict.as_str(), proof.as_str()) {
        ("prime", "miller-rabin-13") => "bases",
        ("prime", "certificate") | ("composite", "factor" | "witness") => proof.as_str(),
        _ => return no("the verdict and the proof are none that are known"),
    };
    if parts(result).len() != 8 {
        return no("it does not have exactly a number, a verdict, a proof and its evidence");
    }
    let evidence = member(result, field);
    let meter = &mut Meter::new(MAX_WORK);
    if field == "bases" {
        if evidence != Some("[2,3,5,7,11,13,17,19,23,29,31,37,41]") {
            return no("its bases are not the first 13 primes");
        }
        return if decide(&n, meter)? { Ok(()) } else { no("the number is not prime") };
    }
    let evidence = match text(evidence) {
        Some(e) => e,
        None => return no("its evidence is not there"),
    };
    if field == "certificate" {
        return certificate(&evidence, &n, meter);
    }
    let x = match parse(evidence.as_bytes(), MAX_DIGITS) {
        Some(x) if bits(&x) > 1 && less(&x, &n) => x,
        _ => return no("the evidence is not between 1 and the number"),
    };
    if field == "factor" {
        return if rest(&n, &x).is_empty() { Ok(()) } else { no("the factor does not divide the number") };
    }
    if is_even(&n) || strong(&n, &x, meter)? {
        return no("the number is a strong probable prime to the base that is named, or even");
    }
    Ok(())
}

fn unit(line: &str, out: &mut impl Write) -> io::Result<()> {
    let id = member(line, "id").unwrap_or_else(|| fail(BAD_INPUT, "a unit has no id"));
    let input = member(line, "input").unwrap_or("null");
    let mut first = None;
    let (mut why, mut opinions) = (String::new(), String::new());
    for result in parts(member(line, "results").unwrap_or("[]")) {
        let (rid, value) = match (member(result, "id"), member(result, "result")) {
            (Some(rid), Some(value)) => (rid, value),
            _ => fail(BAD_INPUT, "a result has no id, or no value"),
        };
        let judged = judge(input, value);
        let comma = if opinions.is_empty() { "" } else { "," };
        opinions += &format!("{comma}{{\"id\":{rid},\"ok\":{}}}", judged.is_ok());
        match judged {
            Ok(()) => first = first.or(Some(rid)),
            Err(reason) => why = reason,
        }
    }
    match first {
        Some(rid) => writeln!(out, "{{\"id\":{id},\"verdict\":\"accept\",\"canonical\":{rid},\"results\":[{opinions}]}}"),
        None => writeln!(out, "{{\"id\":{id},\"verdict\":\"reject\",\"reason\":\"{why}\",\"results\":[{opinions}]}}"),
    }
}

fn main() -> io::Result<()> {
    let mut lines = io::BufReader::with_capacity(64 << 10, io::stdin()).lines();
    let header = lines.next().unwrap_or_else(|| fail(BAD_INPUT, "there is no header"))?;
    let mut out = io::BufWriter::with_capacity(64 << 10, io::stdout());
    match member(&header, "phase").unwrap_or("") {
        "\"describe\"" => return writeln!(out, "{DESCRIPTION}"),
        "\"run\"" => {}
        _ => fail(UNSUPPORTED, "this phase is not known"),
    }
    for line in lines {
        unit(&line?, &mut out)?;
    }
    out.flush()
}
