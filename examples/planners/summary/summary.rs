// Summary is a planner in Rust: it has a report made of a job that has ended. The rule's
// function gets one item: the aggregate, with how well it is verified.
//
//   rustc --edition 2021 --target wasm32-wasi -C opt-level=3 -o summary.wasm summary.rs
//
// Parameters: {"least": 0.99}. Of a job of which a smaller share was accepted no report
// is made: the chain is over, and says so. Nothing but the standard library is used.
use std::io::{self, BufRead, Write};
use std::process::exit;

const UNSUPPORTED: i32 = 64;
const BAD_INPUT: i32 = 65;

const DESCRIPTION: &str = concat!(
    r#"{"t":"describe","name":"summary","version":"1.0.0","kinds":["planner"],"#,
    r#""summary":"one item for a report: the aggregate, and how it is verified","#,
    r#""params":{"type":"object","additionalProperties":false,"properties":{"least":{"type":"number","minimum":0,"maximum":1,"default":1}}}}"#
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
    std::str::from_utf8(s).ok()?.parse().ok()
}

/// Writes a member of an object, null where there is none.
fn write_member(out: &mut impl Write, name: &str, of: &[u8], member_name: &str) -> io::Result<()> {
    write!(out, "\"{name}\":")?;
    out.write_all(member(of, member_name).unwrap_or(b"null"))
}

/// Asks for the report of a job, with all that its function needs.
fn ask(last: &[u8], job: &[u8], metrics: &[u8], out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"{\"t\":\"unit\",\"key\":\"report\",\"input\":{")?;
    write_member(out, "job", job, "id")?;
    out.write_all(b",")?;
    write_member(out, "results", last, "n")?;
    out.write_all(b",")?;
    write_member(out, "answer", last, "data")?;
    out.write_all(b",")?;
    write_member(out, "shards", metrics, "shards")?;
    out.write_all(b",")?;
    write_member(out, "verification", metrics, "verification")?;
    out.write_all(b"}}\n{\"t\":\"note\",\"reason\":\"a report is made\"}\n")
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
    let least = member(&header, "params").and_then(|p| member(p, "least")).and_then(number).unwrap_or(1.0);
    let (mut last, mut job, mut metrics) = (Vec::new(), Vec::new(), Vec::new());
    for line in lines {
        let line = line?;
        match member(&line, "t").unwrap_or(b"") {
            b"\"final\"" => last = line,
            b"\"job\"" => job = line,
            b"\"metrics\"" => metrics = line,
            _ => {}
        }
    }
    let count = |name| member(&metrics, "shards").and_then(|s| member(s, name)).and_then(number).unwrap_or(0.0);
    let share = if count("total") > 0.0 { count("accepted") / count("total") } else { 0.0 };
    if last.is_empty() || share < least {
        writeln!(out, "{{\"t\":\"stop\",\"reason\":\"no report: {share:.4} of the shards were accepted, {least} must be\"}}")?;
    } else {
        ask(&last, &job, &metrics, &mut out)?;
    }
    out.flush()
}
