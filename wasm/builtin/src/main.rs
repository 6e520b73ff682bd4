//! The aggregator that ships with Ostraka: count, sum, min, max, concat, same,
//! count_true and merge, chosen by the parameters of the job.
//!
//! It keeps the contract ostraka-wasm/1 (docs/modules.md) and its fold is exactly
//! associative: integers of any size and sums of floats are exact until the final
//! prints them, so the shape of the merge tree never shows in the answer.

#![no_std]
#![no_main]
#![feature(alloc_error_handler)]

extern crate alloc;

#[macro_use]
mod text;
mod dec;
mod decimal;
mod float;
mod heap;
mod json;
mod map;
mod notes;
mod number;
mod op;
mod state;
mod tree;
mod wasi;

use json::{Kind, Node};
use notes::Notes;
use op::Op;
use state::State;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use wasi::{fail, print, warn, Lines, EXIT_BAD_INPUT, EXIT_UNSUPPORTED};

/// What `describe` answers. What an operation may be is written out only once, at the
/// top: those of `merge` and its `fields` are checked when the parameters are read.
const DESCRIPTION: &str = concat!(
    r#"{"t":"describe","name":"aggregate","version":"1.0.0","kinds":["aggregator"],"associative":true,"#,
    r#""summary":"counts, sums, extremes, collections and merges of results, exact and in any shape of merges","#,
    r#""params":{"type":"object","additionalProperties":false,"properties":{"#,
    r#""op":{"enum":["count","count_true","sum","min","max","concat","same","merge"],"description":"what is made of the results; count, if there are no parameters"},"#,
    r#""as":{"const":"integer_string","description":"of sum, min and max: the numbers are strings of digits"},"#,
    r#""limit":{"type":"integer","minimum":0,"description":"of concat: how many values are kept, the first ones"},"#,
    r#""fields":{"type":"object","additionalProperties":{"type":["string","object"]},"description":"of merge: an operation for each field, by name or as parameters like these"},"#,
    r#""default":{"type":["string","object"],"description":"of merge: the operation for all other fields"}},"#,
    r#""dependentRequired":{"as":["op"],"limit":["op"],"fields":["op"],"default":["op"]},"#,
    r#""examples":[{"op":"count"},{"op":"sum"},{"op":"concat","limit":100},{"op":"merge","fields":{"passed":"sum"},"default":"max"}]}}"#,
    "\n"
);

fn main() {
    let mut input = Lines::new();
    let mut line = Vec::new();
    if !input.next(&mut line) {
        fail(EXIT_BAD_INPUT, "there is no header");
    }
    let root =
        json::parse(&line).unwrap_or_else(|e| fail(EXIT_BAD_INPUT, &text!("header: ", e)));
    if root.get("kind").and_then(|v| v.text()).as_deref() == Some("aggregator")
        && root.get("phase").and_then(|v| v.text()).as_deref() == Some("describe")
    {
        return print(DESCRIPTION); // before the parameters, which may be missing
    }
    let header =
        Header::parse(&root).unwrap_or_else(|e| fail(EXIT_BAD_INPUT, &text!("header: ", e)));
    if header.kind != "aggregator" {
        fail(EXIT_UNSUPPORTED, "this module is an aggregator");
    }
    let mut fold = Fold {
        n: 0,
        refs: 0,
        state: State::new(&header.op),
    };
    let add = match header.phase.as_str() {
        "leaf" => Fold::item,
        "merge" | "final" => Fold::partial,
        other => fail(EXIT_UNSUPPORTED, &text!("phase ", other, " is not known")),
    };
    let mut number = 0u64;
    while input.next(&mut line) {
        number += 1;
        let done = json::parse(&line).and_then(|record| add(&mut fold, &header.op, &record));
        if let Err(e) = done {
            fail(EXIT_BAD_INPUT, &text!("record ", number, ": ", e));
        }
    }
    let answer = match header.phase.as_str() {
        "final" => fold.finish(&header.op),
        _ => fold.encode(),
    };
    if answer.len() as u64 > header.max_line {
        warn(&text!("the result is ", answer.len(), " bytes and at most ", header.max_line, " are allowed: give concat a \"limit\", or aggregate more"));
    }
    print(&answer)
}

struct Header {
    kind: String,
    phase: String,
    op: Op,
    max_line: u64,
}

impl Header {
    fn parse(root: &Node) -> Result<Header, String> {
        let text = |name: &str| {
            root.get(name)
                .and_then(|v| v.text())
                .ok_or_else(|| text!(name, " is missing"))
        };
        let limits = root.get("limits");
        let limit = |name: &str| {
            limits
                .and_then(|l| l.get(name))
                .and_then(|v| v.unsigned())
                .unwrap_or(u64::MAX)
        };
        let params = root.get("params").ok_or("params are missing")?;
        Ok(Header {
            kind: text("kind")?,
            phase: text("phase")?,
            op: Op::parse_params(params)?,
            max_line: limit("line").min(limit("output")).saturating_sub(1),
        })
    }
}

/// What all records so far amount to.
struct Fold {
    n: u64,
    /// Results that were passed by reference: counted, and left out.
    refs: u64,
    state: State,
}

impl Fold {
    fn item(&mut self, op: &Op, record: &Node) -> Result<(), String> {
        expect_type(record, "item")?;
        self.n += 1;
        match (record.get("result"), record.get("ref")) {
            (Some(result), _) => self.state.add(op, result),
            (None, Some(_)) => self.refs += 1,
            (None, None) => return Err("the item has neither a result nor a reference".to_string()),
        }
        Ok(())
    }

    fn partial(&mut self, op: &Op, record: &Node) -> Result<(), String> {
        expect_type(record, "partial")?;
        let field = |from: &Node, name: &str| {
            from.get(name)
                .and_then(|v| v.unsigned())
                .ok_or_else(|| text!(name, " is missing"))
        };
        let data = record.get("data").ok_or("data is missing")?;
        self.n += field(record, "n")?;
        self.refs += field(data, "refs")?;
        let state = data.get("state").ok_or("data.state is missing")?;
        self.state.merge(op, State::decode(op, state)?);
        Ok(())
    }

    fn encode(&self) -> String {
        let mut out = text!("{\"t\":\"partial\",\"n\":", self.n, ",\"data\":{\"refs\":", self.refs, ",\"state\":");
        self.state.encode(&mut out);
        out.push_str("}}\n");
        out
    }

    fn finish(&self, op: &Op) -> String {
        let mut notes = Notes::default();
        let mut value = String::new();
        if self.refs > 0 {
            notes.left_out("", self.refs, "too large to be passed to the aggregator");
        }
        self.state.finish(op, "", &mut value, &mut notes);
        let mut out = text!("{\"t\":\"final\",\"n\":", self.n, ",\"data\":", value, ",\"summary\":");
        json::write_string(&mut out, &notes.summary(op.name(), self.n));
        if notes.truncated > 0 {
            put!(&mut out, ",\"truncated\":", notes.truncated);
        }
        out.push_str("}\n");
        out
    }
}

fn expect_type(record: &Node, want: &str) -> Result<(), String> {
    match record.get("t").map(|t| &t.kind) {
        Some(Kind::Str(_)) if record.get("t").and_then(|t| t.text()).as_deref() == Some(want) => {
            Ok(())
        }
        _ => Err(text!("a record of type ", want, " is expected")),
    }
}
