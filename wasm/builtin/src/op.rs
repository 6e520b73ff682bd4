//! The operation that the parameters choose.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::json::{write_string, Kind, Node};
use crate::map::Map;
use crate::number::Fold;

pub enum Op {
    Count,
    CountTrue,
    Same,
    Number {
        fold: Fold,
        strings: bool,
    },
    Concat {
        limit: Option<u64>,
    },
    Merge {
        fields: Map<Op>,
        rest: Option<Box<Op>>,
    },
}

const NAMES: &str = "count, count_true, sum, min, max, concat, same and merge";

impl Op {
    /// Reads the parameters of the job; with none, results are counted.
    pub fn parse_params(params: &Node) -> Result<Op, String> {
        match params.get("op") {
            None if matches!(&params.kind, Kind::Obj(fields) if fields.is_empty()) => Ok(Op::Count),
            None => Err(text!("the parameter \"op\" is missing; it is one of ", NAMES)),
            Some(_) => Op::parse(params),
        }
    }

    /// Reads {"op":NAME, …} or just "NAME".
    fn parse(node: &Node) -> Result<Op, String> {
        let name = node
            .text()
            .or_else(|| node.get("op").and_then(|n| n.text()))
            .ok_or("an operation is a name or an object with \"op\"")?;
        let number = |fold| -> Result<Op, String> {
            Ok(Op::Number {
                fold,
                strings: integer_strings(node)?,
            })
        };
        let (op, options): (Op, &[&str]) = match name.as_str() {
            "count" => (Op::Count, &[]),
            "count_true" => (Op::CountTrue, &[]),
            "same" => (Op::Same, &[]),
            "sum" => (number(Fold::Sum)?, &["as"]),
            "min" => (number(Fold::Min)?, &["as"]),
            "max" => (number(Fold::Max)?, &["as"]),
            "concat" => (
                Op::Concat {
                    limit: limit(node)?,
                },
                &["limit"],
            ),
            "merge" => (merge(node)?, &["fields", "default"]),
            other => {
                return Err(text!("the operation ", quoted(other), " is not known; it is one of ", NAMES))
            }
        };
        if let Kind::Obj(fields) = &node.kind {
            for (key, _) in fields {
                if key != "op" && !options.contains(&key.as_ref()) {
                    let known: Vec<String> = options.iter().map(|o| quoted(o)).collect();
                    return Err(text!("the operation ", name, " has no parameter ", quoted(key), "; it has [", known.join(", "), "]"));
                }
            }
        }
        Ok(op)
    }

    pub fn name(&self) -> &'static str {
        match self {
            Op::Count => "count",
            Op::CountTrue => "count_true",
            Op::Same => "same",
            Op::Number {
                fold: Fold::Sum, ..
            } => "sum",
            Op::Number {
                fold: Fold::Min, ..
            } => "min",
            Op::Number {
                fold: Fold::Max, ..
            } => "max",
            Op::Concat { .. } => "concat",
            Op::Merge { .. } => "merge",
        }
    }
}

fn integer_strings(node: &Node) -> Result<bool, String> {
    match node.get("as").map(|v| v.text()) {
        None => Ok(false),
        Some(Some(text)) if text == "integer_string" => Ok(true),
        Some(_) => Err("the parameter \"as\" can only be \"integer_string\"".to_string()),
    }
}

fn limit(node: &Node) -> Result<Option<u64>, String> {
    match node.get("limit") {
        None => Ok(None),
        Some(v) => v
            .unsigned()
            .map(Some)
            .ok_or_else(|| "the parameter \"limit\" must be an integer from 0".to_string()),
    }
}

fn merge(node: &Node) -> Result<Op, String> {
    let mut fields = Map::new();
    match node.get("fields").map(|f| &f.kind) {
        None => {}
        Some(Kind::Obj(list)) => {
            for (name, value) in list {
                let op = Op::parse(value).map_err(|e| text!("field ", quoted(name), ": ", e))?;
                fields.insert(name, op);
            }
        }
        Some(_) => return Err("the parameter \"fields\" must be an object".to_string()),
    }
    let rest = match node.get("default") {
        Some(op) => Some(Box::new(
            Op::parse(op).map_err(|e| text!("default: ", e))?,
        )),
        // Nothing said at all: add up what can be added up.
        None if node.get("fields").is_none() => Some(Box::new(Op::Number {
            fold: Fold::Sum,
            strings: false,
        })),
        None => None,
    };
    Ok(Op::Merge { fields, rest })
}

fn quoted(text: &str) -> String {
    let mut out = String::new();
    write_string(&mut out, text);
    out
}
