//! The state of an operation: what it has seen so far, as partials carry it.

use crate::json::{join, object, write_object, write_string, Kind, Node};
use crate::map::Map;
use crate::notes::{join_path, Notes};
use crate::op::Op;
use crate::tree::Tree;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

pub enum State {
    Count(u64),
    CountTrue {
        yes: u64,
        left: u64,
    },
    Same(Same),
    Number(Tree),
    Concat {
        values: Vec<String>,
        cut: u64,
    },
    Merge {
        fields: Map<State>,
        left: u64,
        unlisted: Map<u64>,
    },
}

pub enum Same {
    Nothing,
    Value(String),
    Differs,
}

impl State {
    pub fn new(op: &Op) -> State {
        match op {
            Op::Count => State::Count(0),
            Op::CountTrue => State::CountTrue { yes: 0, left: 0 },
            Op::Same => State::Same(Same::Nothing),
            Op::Number { fold, .. } => State::Number(Tree::new(*fold)),
            Op::Concat { .. } => State::Concat {
                values: Vec::new(),
                cut: 0,
            },
            Op::Merge { .. } => State::Merge {
                fields: Map::new(),
                left: 0,
                unlisted: Map::new(),
            },
        }
    }

    pub fn add(&mut self, op: &Op, value: &Node) {
        match (self, op) {
            (State::Count(n), _) => *n += 1,
            (State::CountTrue { yes, left }, _) => match value.kind {
                Kind::Bool(b) => *yes += u64::from(b),
                _ => *left += 1,
            },
            (State::Same(same), _) => same.merge(Same::Value(value.raw.to_string())),
            (State::Number(tree), Op::Number { fold, strings }) => tree.add(*fold, *strings, value),
            (State::Concat { values, cut }, Op::Concat { limit }) => {
                let one = core::slice::from_ref(value);
                let items = if let Kind::Arr(items) = &value.kind {
                    items
                } else {
                    one
                };
                append(values, cut, *limit, items.iter().map(|i| i.raw.to_string()));
            }
            (
                State::Merge {
                    fields,
                    left,
                    unlisted,
                },
                Op::Merge { fields: ops, rest },
            ) => match &value.kind {
                Kind::Obj(list) => {
                    for (name, value) in list {
                        match ops.get(name.as_ref()).or(rest.as_deref()) {
                            Some(op) => fields.entry(name, || State::new(op)).add(op, value),
                            None => *unlisted.entry(name, || 0) += 1,
                        }
                    }
                }
                _ => *left += 1,
            },
            _ => unreachable!("a state belongs to its operation"),
        }
    }

    pub fn merge(&mut self, op: &Op, other: State) {
        match (self, other, op) {
            (State::Count(a), State::Count(b), _) => *a += b,
            (State::CountTrue { yes, left }, State::CountTrue { yes: y, left: l }, _) => {
                *yes += y;
                *left += l;
            }
            (State::Same(a), State::Same(b), _) => a.merge(b),
            (State::Number(a), State::Number(b), Op::Number { fold, .. }) => a.merge(*fold, b),
            (
                State::Concat { values, cut },
                State::Concat {
                    values: more,
                    cut: c,
                },
                Op::Concat { limit },
            ) => {
                append(values, cut, *limit, more.into_iter());
                *cut += c;
            }
            (
                State::Merge {
                    fields,
                    left,
                    unlisted,
                },
                State::Merge {
                    fields: f,
                    left: l,
                    unlisted: u,
                },
                Op::Merge { fields: ops, rest },
            ) => {
                for (name, state) in f.drain() {
                    if let Some(op) = ops.get(&name).or(rest.as_deref()) {
                        fields.entry(&name, || State::new(op)).merge(op, state);
                    }
                }
                for (name, count) in u.drain() {
                    *unlisted.entry(&name, || 0) += count;
                }
                *left += l;
            }
            _ => unreachable!("a state belongs to its operation"),
        }
    }

    pub fn encode(&self, out: &mut String) {
        match self {
            State::Count(n) => put!(out, n),
            State::CountTrue { yes, left } => put!(out, "[", yes, ",", left, "]"),
            State::Same(Same::Nothing) => out.push_str("[]"),
            State::Same(Same::Value(v)) => put!(out, "[", v, "]"),
            State::Same(Same::Differs) => out.push_str("null"),
            State::Number(tree) => tree.encode(out),
            State::Concat { values, cut } => {
                put!(out, "{\"cut\":", cut, ",\"values\":[");
                join(out, values.iter(), |out, v| out.push_str(v));
                out.push_str("]}");
            }
            State::Merge {
                fields,
                left,
                unlisted,
            } => {
                out.push_str("{\"fields\":");
                write_object(out, fields, |out, s| s.encode(out));
                put!(out, ",\"left\":", left, ",\"unlisted\":");
                write_object(out, unlisted, |out, n| put!(out, n));
                out.push('}');
            }
        }
    }

    pub fn decode(op: &Op, node: &Node) -> Result<State, String> {
        State::try_decode(op, node).ok_or_else(|| {
            text!("the partial is not one of ", op.name(), " with these parameters")
        })
    }

    fn try_decode(op: &Op, node: &Node) -> Option<State> {
        Some(match op {
            Op::Count => State::Count(node.unsigned()?),
            Op::CountTrue => match &node.kind {
                Kind::Arr(v) if v.len() == 2 => State::CountTrue {
                    yes: v[0].unsigned()?,
                    left: v[1].unsigned()?,
                },
                _ => return None,
            },
            Op::Same => State::Same(match &node.kind {
                Kind::Null => Same::Differs,
                Kind::Arr(v) => v
                    .first()
                    .map_or(Same::Nothing, |v| Same::Value(v.raw.to_string())),
                _ => return None,
            }),
            Op::Number { fold, .. } => State::Number(Tree::decode(*fold, node)?),
            Op::Concat { .. } => match &node.get("values")?.kind {
                Kind::Arr(v) => State::Concat {
                    values: v.iter().map(|v| v.raw.to_string()).collect(),
                    cut: node.get("cut")?.unsigned()?,
                },
                _ => return None,
            },
            Op::Merge { fields: ops, rest } => {
                let mut fields = Map::new();
                for (name, value) in object(node.get("fields")?)? {
                    let op = ops.get(name.as_ref()).or(rest.as_deref())?;
                    fields.insert(name, State::try_decode(op, value)?);
                }
                let mut unlisted = Map::new();
                for (name, value) in object(node.get("unlisted")?)? {
                    unlisted.insert(name, value.unsigned()?);
                }
                State::Merge {
                    fields,
                    left: node.get("left")?.unsigned()?,
                    unlisted,
                }
            }
        })
    }

    /// Writes the value, and notes what is not in it.
    pub fn finish(&self, op: &Op, path: &str, out: &mut String, notes: &mut Notes) {
        match (self, op) {
            (State::Count(n), _) => put!(out, n),
            (State::CountTrue { yes, left }, _) => {
                put!(out, yes);
                notes.left_out(path, *left, "neither true nor false");
            }
            (State::Same(Same::Value(v)), _) => out.push_str(v),
            (State::Same(same), _) => {
                out.push_str("null");
                if matches!(same, Same::Differs) {
                    notes.say(path, "the values differ");
                }
            }
            (State::Number(tree), Op::Number { strings, .. }) => {
                tree.finish(*strings, path, out, notes)
            }
            (State::Concat { values, cut }, _) => {
                out.push('[');
                join(out, values.iter(), |out, v| out.push_str(v));
                out.push(']');
                notes.left_out(path, *cut, "beyond the limit of concat");
                notes.truncated += cut;
            }
            (
                State::Merge {
                    fields,
                    left,
                    unlisted,
                },
                Op::Merge { fields: ops, rest },
            ) => {
                finish_merge(fields, ops, rest.as_deref(), path, out, notes);
                notes.left_out(path, *left, "not objects");
                for (name, count) in unlisted.iter() {
                    notes.left_out(&join_path(path, name), *count, "no operation given");
                }
            }
            _ => unreachable!("a state belongs to its operation"),
        }
    }
}

/// Every listed field is in the value, seen or not; the others as they were seen.
fn finish_merge(
    fields: &Map<State>,
    ops: &Map<Op>,
    rest: Option<&Op>,
    path: &str,
    out: &mut String,
    notes: &mut Notes,
) {
    let mut all: Map<&Op> = Map::new();
    for (name, op) in ops.iter() {
        all.insert(name, op);
    }
    if let Some(op) = rest {
        for (name, _) in fields.iter() {
            all.entry(name, || op);
        }
    }
    out.push('{');
    let mut comma = false;
    for (name, &op) in all.iter() {
        let inner = join_path(path, name);
        if let (Some(State::Number(tree)), false) = (fields.get(name), ops.get(name).is_some()) {
            // Nobody asked for this field by name: leave it out rather than null.
            if !tree.has_numbers() {
                tree.note_all(&inner, notes);
                continue;
            }
        }
        if comma {
            out.push(',');
        }
        comma = true;
        write_string(out, name);
        out.push(':');
        match fields.get(name) {
            Some(state) => state.finish(op, &inner, out, notes),
            None => State::new(op).finish(op, &inner, out, notes),
        }
    }
    out.push('}');
}

impl Same {
    fn merge(&mut self, other: Same) {
        match (&*self, &other) {
            (_, Same::Nothing) | (Same::Differs, _) => {}
            (Same::Nothing, _) => *self = other,
            (Same::Value(a), Same::Value(b)) if a == b => {}
            _ => *self = Same::Differs,
        }
    }
}

fn append(
    values: &mut Vec<String>,
    cut: &mut u64,
    limit: Option<u64>,
    items: impl Iterator<Item = String>,
) {
    for item in items {
        if limit.map_or(false, |l| values.len() as u64 >= l) {
            *cut += 1;
        } else {
            values.push(item);
        }
    }
}
