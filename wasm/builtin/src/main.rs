//! The aggregator that ships with Ostraka: count, sum, min, max, concat, same,
//! count_true and merge, chosen by the parameters of the job.
//!
//! It keeps the contract ostraka-wasm/1 (docs/modules.md) and its fold is exactly
//! associative: integers of any size and sums of floats are exact until the final
//! prints them, so the shape of the merge tree never shows in the answer.

mod dec;
mod float;
mod json;
mod map;
mod notes;
mod number;
mod op;
mod state;
mod tree;

use json::{Kind, Node};
use notes::Notes;
use op::Op;
use state::State;
use std::io::{self, BufRead, Write};

const EXIT_IO: i32 = 1;
const EXIT_UNSUPPORTED: i32 = 64;
const EXIT_BAD_INPUT: i32 = 65;

/// How much of stdin is read at once.
const BUFFER: usize = 64 << 10;

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

fn fail(code: i32, message: &str) -> ! {
    eprintln!("{}", message);
    std::process::exit(code)
}

fn main() {
    let mut input = io::BufReader::with_capacity(BUFFER, io::stdin());
    let mut line = Vec::new();
    if !read_line(&mut input, &mut line) {
        fail(EXIT_BAD_INPUT, "there is no header");
    }
    let root =
        json::parse(&line).unwrap_or_else(|e| fail(EXIT_BAD_INPUT, &format!("header: {}", e)));
    if root.get("kind").and_then(|v| v.text()).as_deref() == Some("aggregator")
        && root.get("phase").and_then(|v| v.text()).as_deref() == Some("describe")
    {
        return print(DESCRIPTION); // before the parameters, which may be missing
    }
    let header =
        Header::parse(&root).unwrap_or_else(|e| fail(EXIT_BAD_INPUT, &format!("header: {}", e)));
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
        other => fail(EXIT_UNSUPPORTED, &format!("phase {} is not known", other)),
    };
    let mut number = 0u64;
    while read_line(&mut input, &mut line) {
        number += 1;
        let done = json::parse(&line).and_then(|record| add(&mut fold, &header.op, &record));
        if let Err(e) = done {
            fail(EXIT_BAD_INPUT, &format!("record {}: {}", number, e));
        }
    }
    let answer = match header.phase.as_str() {
        "final" => fold.finish(&header.op),
        _ => fold.encode(),
    };
    if answer.len() as u64 > header.max_line {
        eprintln!(
            "the result is {} bytes and at most {} are allowed: give concat a \"limit\", or aggregate more",
            answer.len(),
            header.max_line
        );
    }
    print(&answer)
}

fn print(text: &str) {
    let mut out = io::stdout();
    if out
        .write_all(text.as_bytes())
        .and_then(|_| out.flush())
        .is_err()
    {
        fail(EXIT_IO, "stdout cannot be written");
    }
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
                .ok_or(format!("{} is missing", name))
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
                .ok_or(format!("{} is missing", name))
        };
        let data = record.get("data").ok_or("data is missing")?;
        self.n += field(record, "n")?;
        self.refs += field(data, "refs")?;
        let state = data.get("state").ok_or("data.state is missing")?;
        self.state.merge(op, State::decode(op, state)?);
        Ok(())
    }

    fn encode(&self) -> String {
        let mut out = format!(
            "{{\"t\":\"partial\",\"n\":{},\"data\":{{\"refs\":{},\"state\":",
            self.n, self.refs
        );
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
        let mut out = format!(
            "{{\"t\":\"final\",\"n\":{},\"data\":{},\"summary\":",
            self.n, value
        );
        json::write_string(&mut out, &notes.summary(op.name(), self.n));
        if notes.truncated > 0 {
            out.push_str(&format!(",\"truncated\":{}", notes.truncated));
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
        _ => Err(format!("a record of type {} is expected", want)),
    }
}
