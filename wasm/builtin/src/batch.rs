//! What the validator and the heuristics have in common: they read the header and
//! records, and answer each record with one line.

use crate::json::{self, Node};
use std::io::{self, BufRead, Write};

const EXIT_IO: i32 = 1;
const EXIT_UNSUPPORTED: i32 = 64;
pub const EXIT_BAD_INPUT: i32 = 65;

/// How much of stdin is read at once.
const BUFFER: usize = 64 << 10;

pub fn fail(code: i32, message: &str) -> ! {
    eprintln!("{}", message);
    std::process::exit(code)
}

fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> bool {
    line.clear();
    match input.read_until(b'\n', line) {
        Ok(n) => {
            if line.last() == Some(&b'\n') {
                line.pop();
            }
            n > 0
        }
        Err(_) => fail(EXIT_IO, "stdin cannot be read"),
    }
}

/// Runs a module of one kind: start reads the parameters, answer gets all records
/// of the batch and writes one line for each.
pub fn run<P>(
    kind: &str,
    description: &str,
    start: impl Fn(&Node) -> Result<P, String>,
    mut answer: impl FnMut(&P, &[u8], &mut String) -> Result<(), String>,
    finish: impl Fn(&P, &mut String),
) {
    let mut input = io::BufReader::with_capacity(BUFFER, io::stdin());
    let mut line = Vec::new();
    if !read_line(&mut input, &mut line) {
        fail(EXIT_BAD_INPUT, "there is no header");
    }
    let header = json::parse(&line)
        .unwrap_or_else(|e| fail(EXIT_BAD_INPUT, &format!("header: {}", e)));
    let text = |name: &str| header.get(name).and_then(|v| v.text()).unwrap_or_default();
    if text("kind") != kind {
        fail(EXIT_UNSUPPORTED, &format!("this module is a {}", kind));
    }
    let mut out = String::new();
    match text("phase").as_str() {
        "describe" => {
            out.push_str(description);
            out.push('\n');
        }
        "run" => {
            let params = header
                .get("params")
                .unwrap_or_else(|| fail(EXIT_BAD_INPUT, "params are missing"));
            let params = start(params)
                .unwrap_or_else(|e| fail(EXIT_BAD_INPUT, &format!("parameters: {}", e)));
            let mut record = Vec::new();
            let mut number = 0u64;
            while read_line(&mut input, &mut record) {
                number += 1;
                if let Err(e) = answer(&params, &record, &mut out) {
                    fail(EXIT_BAD_INPUT, &format!("record {}: {}", number, e));
                }
            }
            finish(&params, &mut out);
        }
        other => fail(EXIT_UNSUPPORTED, &format!("phase {} is not known", other)),
    }
    let mut stdout = io::stdout();
    if stdout
        .write_all(out.as_bytes())
        .and_then(|_| stdout.flush())
        .is_err()
    {
        fail(EXIT_IO, "stdout cannot be written");
    }
}

/// A parameter that is a number, or its default.
pub fn number(params: &Node, name: &str, default: f64) -> Result<f64, String> {
    match params.get(name) {
        None => Ok(default),
        Some(v) => match v.kind {
            json::Kind::Int | json::Kind::Float => v
                .raw
                .parse()
                .map_err(|_| format!("{} is not a number", name)),
            _ => Err(format!("{} is not a number", name)),
        },
    }
}
