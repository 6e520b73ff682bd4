//! Sum, min and max: of numbers, and of objects field by field.

use crate::json::{object, write_object, write_string, Kind, Node};
use crate::map::Map;
use crate::notes::{join_path, Notes};
use crate::number::{Acc, Fold, Number};
use alloc::string::String;

/// Numbers, and for objects the same again for each field.
pub struct Tree {
    acc: Acc,
    numbers: u64,
    objects: u64,
    /// Values that are neither.
    left: u64,
    fields: Map<Tree>,
}

impl Tree {
    pub fn new(fold: Fold) -> Tree {
        Tree {
            acc: Acc::new(fold),
            numbers: 0,
            objects: 0,
            left: 0,
            fields: Map::new(),
        }
    }

    pub fn add(&mut self, fold: Fold, strings: bool, value: &Node) {
        if let Kind::Obj(list) = &value.kind {
            self.objects += 1;
            for (name, value) in list {
                self.fields
                    .entry(name, || Tree::new(fold))
                    .add(fold, strings, value);
            }
        } else if let Some(n) = Number::read(value, strings) {
            self.numbers += 1;
            self.acc.add(n);
        } else {
            self.left += 1;
        }
    }

    pub fn merge(&mut self, fold: Fold, other: Tree) {
        self.acc.merge(other.acc);
        self.numbers += other.numbers;
        self.objects += other.objects;
        self.left += other.left;
        for (name, tree) in other.fields.drain() {
            self.fields
                .entry(&name, || Tree::new(fold))
                .merge(fold, tree);
        }
    }

    pub fn encode(&self, out: &mut String) {
        put!(out, "{\"c\":[", self.numbers, ",", self.objects, ",", self.left, "]");
        self.acc.encode(out);
        if !self.fields.is_empty() {
            out.push_str(",\"d\":");
            write_object(out, &self.fields, |out, t| t.encode(out));
        }
        out.push('}');
    }

    pub fn decode(fold: Fold, node: &Node) -> Option<Tree> {
        let mut tree = Tree::new(fold);
        match &node.get("c")?.kind {
            Kind::Arr(c) if c.len() == 3 => {
                tree.numbers = c[0].unsigned()?;
                tree.objects = c[1].unsigned()?;
                tree.left = c[2].unsigned()?;
            }
            _ => return None,
        }
        tree.acc = Acc::decode(fold, node)?;
        if let Some(fields) = node.get("d") {
            for (name, value) in object(fields)? {
                tree.fields.insert(name, Tree::decode(fold, value)?);
            }
        }
        Some(tree)
    }

    pub fn has_numbers(&self) -> bool {
        !self.acc.is_empty() || self.fields.iter().any(|(_, t)| t.has_numbers())
    }

    pub fn finish(&self, strings: bool, path: &str, out: &mut String, notes: &mut Notes) {
        notes.left_out(path, self.left, "not numbers");
        if self.objects == 0 {
            self.finish_number(strings, path, out, notes);
            return;
        }
        notes.left_out(path, self.numbers, "numbers among objects");
        let mut comma = false;
        out.push('{');
        for (name, tree) in self.fields.iter() {
            let inner = join_path(path, name);
            if !tree.has_numbers() {
                tree.note_all(&inner, notes);
                continue;
            }
            if comma {
                out.push(',');
            }
            comma = true;
            write_string(out, name);
            out.push(':');
            tree.finish(strings, &inner, out, notes);
        }
        out.push('}');
    }

    fn finish_number(&self, strings: bool, path: &str, out: &mut String, notes: &mut Notes) {
        let quoted = strings && !self.acc.is_empty();
        if quoted {
            out.push('"');
        }
        if !self.acc.finish(out) {
            notes.say(path, "the sum is beyond the largest float");
        }
        if quoted {
            out.push('"');
        }
    }

    /// Notes a field that has no number anywhere in it.
    pub fn note_all(&self, path: &str, notes: &mut Notes) {
        notes.left_out(path, self.left + self.objects, "not numbers");
    }
}
