//! A map of names in order. All maps share one tree of names, so that its code is in
//! the module once.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::mem::take;

pub struct Map<V> {
    names: Names,
    values: Vec<V>,
}

impl<V> Map<V> {
    pub fn new() -> Map<V> {
        Map {
            names: Names { nodes: Vec::new(), root: NONE },
            values: Vec::new(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub fn get(&self, name: &str) -> Option<&V> {
        self.values.get(self.names.find(name))
    }

    /// The value of a name, made if it is new.
    pub fn entry(&mut self, name: &str, new: impl FnOnce() -> V) -> &mut V {
        let mut place = self.names.find(name);
        if place == NONE {
            place = self.values.len();
            self.names.add(name);
            self.values.push(new());
        }
        &mut self.values[place]
    }

    /// Gives a name its value; true if it is new.
    pub fn insert(&mut self, name: &str, value: V) -> bool {
        let place = self.names.find(name);
        if let Some(old) = self.values.get_mut(place) {
            *old = value;
            return false;
        }
        self.names.add(name);
        self.values.push(value);
        true
    }

    /// Names and values, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &V)> {
        let order = self.names.order().into_iter();
        order.map(move |i| (&self.names.nodes[i].name, &self.values[i]))
    }

    /// The same, giving the values away.
    pub fn drain(mut self) -> impl Iterator<Item = (String, V)> {
        let mut values: Vec<Option<V>> = self.values.into_iter().map(Some).collect();
        self.names
            .order()
            .into_iter()
            .filter_map(move |i| values[i].take().map(|v| (take(&mut self.names.nodes[i].name), v)))
    }
}

/// No node.
const NONE: usize = usize::MAX;

/// Names, numbered in the order in which they came, in a balanced tree: Andersson's,
/// in which a node is at most as high as its parent, and a left child lower.
struct Names {
    nodes: Vec<Node>,
    root: usize,
}

struct Node {
    name: String,
    height: u32,
    /// The nodes below it, before and after.
    sides: [usize; 2],
}

const LEFT: usize = 0;
const RIGHT: usize = 1;

impl Names {
    /// The number of a name, or NONE.
    fn find(&self, name: &str) -> usize {
        let mut at = self.root;
        while let Some(node) = self.nodes.get(at) {
            at = match name.cmp(&node.name) {
                Ordering::Equal => break,
                Ordering::Less => node.sides[LEFT],
                Ordering::Greater => node.sides[RIGHT],
            };
        }
        at
    }

    /// Adds a name that is not there yet.
    fn add(&mut self, name: &str) {
        self.nodes.push(Node { name: name.to_string(), height: 1, sides: [NONE; 2] });
        self.root = self.add_below(self.root);
    }

    /// Adds the last node below another, and returns which is on top then.
    fn add_below(&mut self, at: usize) -> usize {
        let fresh = self.nodes.len() - 1;
        if at == NONE {
            return fresh;
        }
        let side = if self.nodes[fresh].name < self.nodes[at].name { LEFT } else { RIGHT };
        let below = self.add_below(self.nodes[at].sides[side]);
        self.nodes[at].sides[side] = below;
        let mut top = at;
        if self.height(top, &[LEFT]) == self.nodes[top].height {
            top = self.rotate(top, LEFT);
        }
        if self.height(top, &[RIGHT, RIGHT]) == self.nodes[top].height {
            top = self.rotate(top, RIGHT);
            self.nodes[top].height += 1;
        }
        top
    }

    /// How high the node is that a path leads to.
    fn height(&self, mut at: usize, path: &[usize]) -> u32 {
        for &side in path {
            match self.nodes.get(at) {
                Some(node) => at = node.sides[side],
                None => return 0,
            }
        }
        self.nodes.get(at).map_or(0, |n| n.height)
    }

    /// Puts the node of one side on top.
    fn rotate(&mut self, at: usize, side: usize) -> usize {
        let top = self.nodes[at].sides[side];
        self.nodes[at].sides[side] = self.nodes[top].sides[1 - side];
        self.nodes[top].sides[1 - side] = at;
        top
    }

    fn order(&self) -> Vec<usize> {
        let (mut order, mut open, mut at) = (Vec::with_capacity(self.nodes.len()), Vec::new(), self.root);
        loop {
            if let Some(node) = self.nodes.get(at) {
                open.push(at);
                at = node.sides[LEFT];
            } else if let Some(next) = open.pop() {
                order.push(next);
                at = self.nodes[next].sides[RIGHT];
            } else {
                return order;
            }
        }
    }
}
