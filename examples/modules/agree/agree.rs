// Agree is a validator in Rust: it accepts a unit when enough of its results
// are the same, byte by byte.
//
//   rustc --target wasm32-wasi -C opt-level=3 -o agree.wasm agree.rs
//
// Parameters: {"quorum": 2}. Nothing but the standard library is used: the host
// sends well-formed JSON, so finding where a value ends is enough.
use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::process::exit;

const UNSUPPORTED: i32 = 64;
const BAD_INPUT: i32 = 65;

const DESCRIPTION: &str = concat!(
    r#"{"t":"describe","name":"agree","version":"1.0.0","kinds":["validator"],"#,
    r#""summary":"accepts what enough results agree on, byte by byte","#,
    r#""params":{"type":"object","additionalProperties":false,"properties":{"quorum":{"type":"integer","minimum":1,"maximum":100,"default":2}}}}"#
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

fn judge(unit: &[u8], quorum: usize, out: &mut impl Write) -> io::Result<()> {
    let id = member(unit, "id").unwrap_or_else(|| fail(BAD_INPUT, "a unit has no id"));
    let results: Vec<(&[u8], &[u8])> = parts(member(unit, "results").unwrap_or(b"[]"))
        .iter()
        .filter_map(|r| Some((member(r, "id")?, member(r, "result")?)))
        .collect();
    let mut votes: BTreeMap<&[u8], usize> = BTreeMap::new();
    for (_, result) in &results {
        *votes.entry(result).or_default() += 1;
    }
    let most = votes.values().copied().max().unwrap_or(0);
    // The first of the results that most agree on, and nobody else as many.
    let leaders = votes.values().filter(|&&n| n == most).count();
    let canonical = results.iter().find(|(_, r)| votes[r] == most).filter(|_| leaders == 1 && most >= quorum);
    out.write_all(b"{\"id\":")?;
    out.write_all(id)?;
    match canonical {
        Some((winner, value)) => {
            out.write_all(b",\"verdict\":\"accept\",\"canonical\":")?;
            out.write_all(winner)?;
            write!(out, ",\"score\":{}", most as f64 / results.len() as f64)?;
            out.write_all(b",\"results\":[")?;
            for (i, (id, result)) in results.iter().enumerate() {
                out.write_all(if i > 0 { b",{\"id\":" } else { b"{\"id\":" })?;
                out.write_all(id)?;
                write!(out, ",\"ok\":{}}}", result == value)?;
            }
            out.write_all(b"]}\n")
        }
        None if results.len() < quorum => out.write_all(b",\"verdict\":\"retry\",\"reason\":\"too few results\"}\n"),
        None => writeln!(out, ",\"verdict\":\"unsure\",\"reason\":\"{most} of {} results agree, {quorum} must\"}}", results.len()),
    }
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
    let quorum = match member(&header, "params").and_then(|p| member(p, "quorum")) {
        None => 2,
        Some(q) => std::str::from_utf8(q).ok().and_then(|q| q.parse().ok()).unwrap_or_else(|| fail(BAD_INPUT, "quorum is not a number")),
    };
    for line in lines {
        judge(&line?, quorum, &mut out)?;
    }
    out.flush()
}
