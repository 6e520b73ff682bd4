//! What the validator and the heuristics have in common: they read the header and
//! records, and answer each record with one line.

use crate::json::{self, Node};
use crate::wasi::{fail, print, Lines, EXIT_BAD_INPUT, EXIT_UNSUPPORTED};
use alloc::string::String;
use alloc::vec::Vec;

/// Runs a module of one kind: start reads the parameters, answer gets all records
/// of the batch and writes one line for each.
pub fn run<P>(
    kind: &str,
    description: &str,
    start: impl Fn(&Node) -> Result<P, String>,
    mut answer: impl FnMut(&P, &[u8], &mut String) -> Result<(), String>,
    finish: impl Fn(&P, &mut String),
) {
    let mut input = Lines::new();
    let mut line = Vec::new();
    if !input.next(&mut line) {
        fail(EXIT_BAD_INPUT, "there is no header");
    }
    let header = json::parse(&line)
        .unwrap_or_else(|e| fail(EXIT_BAD_INPUT, &text!("header: ", e)));
    let text = |name: &str| header.get(name).and_then(|v| v.text()).unwrap_or_default();
    if text("kind") != kind {
        fail(EXIT_UNSUPPORTED, &text!("this module is a ", kind));
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
                .unwrap_or_else(|e| fail(EXIT_BAD_INPUT, &text!("parameters: ", e)));
            let mut record = Vec::new();
            let mut number = 0u64;
            while input.next(&mut record) {
                number += 1;
                if let Err(e) = answer(&params, &record, &mut out) {
                    fail(EXIT_BAD_INPUT, &text!("record ", number, ": ", e));
                }
            }
            finish(&params, &mut out);
        }
        other => fail(EXIT_UNSUPPORTED, &text!("phase ", other, " is not known")),
    }
    print(&out)
}
