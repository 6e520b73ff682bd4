//! The validator that ships with Ostraka: results are one answer when their
//! structure is the same and their floats are close enough.
//!
//! It keeps the contract ostraka-wasm/1 (docs/modules.md). Integers of any size,
//! strings, booleans and null must be the same; a float may differ by the larger
//! of two tolerances; arrays that are sets may be in any order; fields that are
//! ignored may be anything.

#![no_std]
#![no_main]
#![feature(alloc_error_handler)]

extern crate alloc;

#[macro_use]
mod text;
mod batch;
mod decimal;
mod heap;
#[allow(dead_code)]
mod json;
#[allow(dead_code)]
mod map;
mod wasi;

use alloc::string::{String, ToString};
use alloc::{borrow::Cow, vec, vec::Vec};
use json::{Kind, Node};

const DESCRIPTION: &str = concat!(
    r#"{"t":"describe","name":"tolerant","version":"1.0.0","kinds":["validator"],"#,
    r#""summary":"results are one answer when their floats are close and the rest is the same","#,
    r#""params":{"type":"object","additionalProperties":false,"properties":{"#,
    r#""relative":{"type":"number","minimum":0,"maximum":1,"default":1e-09},"#,
    r#""absolute":{"type":"number","minimum":0,"default":0},"#,
    r#""sets":{"oneOf":[{"type":"boolean"},{"type":"array","maxItems":100,"items":{"type":"string"}}],"default":false},"#,
    r#""ignore":{"type":"array","maxItems":100,"items":{"type":"string"}}},"#,
    r#""examples":[{"relative":1e-06,"sets":["hits"],"ignore":["seconds"]}]}}"#
);

/// How many comparisons of members may be made for one set, before the module
/// says that it is not sure: pairing them off is cubic.
const MAX_PAIRINGS: usize = 1 << 20;

struct Params {
    relative: f64,
    absolute: f64,
    all_sets: bool,
    sets: Vec<String>,
    ignore: Vec<String>,
}

impl Params {
    fn read(node: &Node) -> Result<Params, String> {
        for (name, _) in json::object(node).ok_or("they are not an object")? {
            if !["relative", "absolute", "sets", "ignore"].contains(&name.as_ref()) {
                return Err(text!("there is no parameter \"", name, "\""));
            }
        }
        let p = Params {
            relative: number(node, "relative", 1e-9)?,
            absolute: number(node, "absolute", 0.0)?,
            all_sets: matches!(node.get("sets").map(|s| &s.kind), Some(Kind::Bool(true))),
            sets: paths(node, "sets")?,
            ignore: paths(node, "ignore")?,
        };
        let fine = |n: f64| n.is_finite() && n >= 0.0;
        if !fine(p.relative) || p.relative > 1.0 || !fine(p.absolute) {
            return Err("relative is 0 to 1, absolute is 0 or more".to_string());
        }
        Ok(p)
    }
}

/// A parameter that is a number, or its default.
fn number(params: &Node, name: &str, default: f64) -> Result<f64, String> {
    match params.get(name) {
        None => Ok(default),
        Some(v) => match v.kind {
            Kind::Int | Kind::Float => Ok(decimal::read(v.raw)),
            _ => Err(text!(name, " is not a number")),
        },
    }
}

fn paths(node: &Node, name: &str) -> Result<Vec<String>, String> {
    match node.get(name).map(|n| &n.kind) {
        None | Some(Kind::Bool(_)) => Ok(Vec::new()),
        Some(Kind::Arr(items)) => items
            .iter()
            .map(|i| i.text().ok_or_else(|| text!(name, " is a list of paths")))
            .collect(),
        _ => Err(text!(name, " is a list of paths, such as \"rows.score\"")),
    }
}

/// What became of a comparison.
#[derive(Clone, Copy, PartialEq)]
enum Same {
    Yes,
    No,
    Unsure,
}

struct Comparison<'p> {
    params: &'p Params,
    /// Where the first difference is, and what it is.
    difference: Option<String>,
}

impl Comparison<'_> {
    fn differs(&mut self, path: &str, what: &str) -> Same {
        if self.difference.is_none() {
            let at = if path.is_empty() { "the result" } else { path };
            self.difference = Some(text!(at, ": ", what));
        }
        Same::No
    }

    fn values(&mut self, path: &str, a: &Node, b: &Node) -> Same {
        if a.raw == b.raw || self.params.ignore.iter().any(|p| p == path) {
            return Same::Yes;
        }
        match (&a.kind, &b.kind) {
            (Kind::Int, Kind::Int) => self.differs(path, "other integers"),
            (Kind::Int | Kind::Float, Kind::Int | Kind::Float) => self.floats(path, a, b),
            (Kind::Arr(x), Kind::Arr(y)) if x.len() != y.len() => {
                self.differs(path, &text!(x.len(), " and ", y.len(), " members"))
            }
            (Kind::Arr(x), Kind::Arr(y)) => {
                if self.params.all_sets || self.params.sets.iter().any(|p| p == path) {
                    self.sets(path, x, y)
                } else {
                    self.lists(path, x, y)
                }
            }
            (Kind::Obj(x), Kind::Obj(y)) => self.objects(path, x, y),
            _ => self.differs(path, "other values"),
        }
    }

    fn floats(&mut self, path: &str, a: &Node, b: &Node) -> Same {
        let (x, y) = (decimal::read(a.raw), decimal::read(b.raw));
        let magnitude = |n: f64| n.max(-n);
        let allowed = self
            .params
            .absolute
            .max(self.params.relative * magnitude(x).max(magnitude(y)));
        // An integer beyond every float is equal to nothing but itself.
        if x.is_finite() && y.is_finite() && magnitude(x - y) <= allowed {
            return Same::Yes;
        }
        self.differs(path, &text!(shown(a), " and ", shown(b), " are too far apart"))
    }

    fn lists(&mut self, path: &str, x: &[Node], y: &[Node]) -> Same {
        let mut all = Same::Yes;
        for (a, b) in x.iter().zip(y) {
            match self.values(path, a, b) {
                Same::Yes => {}
                Same::No => return Same::No,
                Same::Unsure => all = Same::Unsure,
            }
        }
        all
    }

    fn objects<'a>(&mut self, path: &str, x: &[Field<'a>], y: &[Field<'a>]) -> Same {
        let mut all = Same::Yes;
        let below = |name: &str| {
            if path.is_empty() {
                name.to_string()
            } else {
                text!(path, ".", name)
            }
        };
        for (name, a) in x {
            let path = below(name);
            match y.iter().find(|(n, _)| n == name) {
                Some((_, b)) => match self.values(&path, a, b) {
                    Same::Yes => {}
                    Same::No => return Same::No,
                    Same::Unsure => all = Same::Unsure,
                },
                None if self.params.ignore.contains(&path) => {}
                None => return self.differs(&path, "only one has it"),
            }
        }
        for (name, _) in y {
            let path = below(name);
            if !x.iter().any(|(n, _)| n == name) && !self.params.ignore.contains(&path) {
                return self.differs(&path, "only one has it");
            }
        }
        all
    }

    /// Pairs the members off, whatever their order. Closeness is not transitive, so
    /// that a pairing which has begun wrongly must be able to change: Kuhn's
    /// augmenting paths, begun with the members that are the same byte by byte.
    fn sets(&mut self, path: &str, x: &[Node], y: &[Node]) -> Same {
        let mut partner: Vec<Option<usize>> = vec![None; y.len()];
        let mut free = Vec::new();
        let mut order: Vec<usize> = (0..y.len()).collect();
        order.sort_by_key(|&j| y[j].raw);
        for (i, a) in x.iter().enumerate() {
            let first = order.partition_point(|&j| y[j].raw < a.raw);
            let same = order[first..]
                .iter()
                .take_while(|&&j| y[j].raw == a.raw)
                .find(|&&j| partner[j].is_none());
            match same {
                Some(&j) => partner[j] = Some(i),
                None => free.push(i),
            }
        }
        let mut left = MAX_PAIRINGS;
        for i in free {
            let mut seen = vec![false; y.len()];
            if !self.pair(path, x, y, i, &mut partner, &mut seen, &mut left) {
                if left == 0 {
                    self.differs(path, "too large a set to be paired off");
                    return Same::Unsure;
                }
                return self.differs(path, "a member of one set has no counterpart in the other");
            }
        }
        Same::Yes
    }

    /// Finds a partner for member i of x, breadth first: a chain of members may have
    /// to change theirs.
    #[allow(clippy::too_many_arguments)]
    fn pair(
        &mut self,
        path: &str,
        x: &[Node],
        y: &[Node],
        start: usize,
        partner: &mut [Option<usize>],
        seen: &mut [bool],
        left: &mut usize,
    ) -> bool {
        let mut queue = vec![start];
        let mut came: Vec<usize> = vec![usize::MAX; y.len()]; // from which member of x
        let mut at = 0;
        while at < queue.len() {
            let i = queue[at];
            at += 1;
            for j in 0..y.len() {
                if seen[j] {
                    continue;
                }
                if *left == 0 {
                    return false;
                }
                *left -= 1;
                let before = self.difference.take();
                let same = self.values(path, &x[i], &y[j]);
                self.difference = before;
                if same != Same::Yes {
                    continue;
                }
                seen[j] = true;
                came[j] = i;
                if let Some(next) = partner[j] {
                    queue.push(next);
                    continue;
                }
                // Go back along the chain: each member takes what it came from.
                let (mut j, mut i) = (j, i);
                loop {
                    let before = partner.iter().position(|&p| p == Some(i));
                    partner[j] = Some(i);
                    match before {
                        Some(previous) if i != start => {
                            j = previous;
                            i = came[previous];
                        }
                        _ => return true,
                    }
                }
            }
        }
        false
    }
}

type Field<'a> = (Cow<'a, str>, Node<'a>);

/// Numbers are shown short.
fn shown(n: &Node) -> String {
    n.raw.chars().take(30).collect()
}

/// One line for a unit: the result that agrees with most of the others counts, if
/// more than half of all agree with it.
fn judge(params: &Params, line: &[u8], out: &mut String) -> Result<(), String> {
    let record = json::parse(line)?;
    let id = record.get("id").and_then(|i| i.text()).ok_or("id is missing")?;
    let results = match record.get("results").map(|r| &r.kind) {
        Some(Kind::Arr(results)) => results,
        _ => return Err("results are missing".to_string()),
    };
    let mut values = Vec::new();
    for r in results {
        let id = r.get("id").and_then(|i| i.text()).ok_or("a result has no id")?;
        values.push((id, r.get("result").ok_or("a result has no result")?));
    }
    let mut best: (usize, Vec<bool>) = (0, Vec::new());
    let mut canonical = 0;
    let mut difference = None;
    let mut unsure = false;
    for (i, (_, a)) in values.iter().enumerate() {
        let mut agrees = Vec::new();
        for (j, (_, b)) in values.iter().enumerate() {
            let mut c = Comparison { params, difference: None };
            let same = if i == j { Same::Yes } else { c.values("", a, b) };
            unsure |= same == Same::Unsure;
            agrees.push(same == Same::Yes);
            difference = difference.or(c.difference);
        }
        let count = agrees.iter().filter(|&&a| a).count();
        if count > best.0 {
            best = (count, agrees);
            canonical = i;
        }
        if values.len() == 2 {
            break; // being close is the same both ways
        }
    }
    out.push_str("{\"id\":");
    json::write_string(out, &id);
    if best.0 * 2 > values.len() {
        out.push_str(",\"verdict\":\"accept\",\"canonical\":");
        json::write_string(out, &values[canonical].0);
    } else {
        let verdict = if values.len() == 2 && !unsure { "reject" } else { "unsure" };
        put!(out, ",\"verdict\":\"", verdict, "\"");
    }
    if let Some(reason) = difference {
        out.push_str(",\"reason\":");
        json::write_string(out, &reason.chars().take(500).collect::<String>());
    }
    out.push_str(",\"results\":[");
    json::join(out, values.iter().zip(&best.1), |out, ((id, _), ok)| {
        out.push_str("{\"id\":");
        json::write_string(out, id);
        out.push_str(if *ok { ",\"ok\":true}" } else { ",\"ok\":false}" });
    });
    out.push_str("]}\n");
    Ok(())
}

fn main() {
    batch::run("validator", DESCRIPTION, Params::read, judge, |_, _| {});
}
