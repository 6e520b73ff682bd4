//! A map of names in order. All maps share one tree of numbers, so that its code
//! is in the module once.

use std::collections::BTreeMap;

pub struct Map<V> {
    places: BTreeMap<String, usize>,
    values: Vec<V>,
}

impl<V> Map<V> {
    pub fn new() -> Map<V> {
        Map {
            places: BTreeMap::new(),
            values: Vec::new(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub fn get(&self, name: &str) -> Option<&V> {
        self.places.get(name).map(|&i| &self.values[i])
    }

    /// The value of a name, made if it is new.
    pub fn entry(&mut self, name: &str, new: impl FnOnce() -> V) -> &mut V {
        let place = match self.places.get(name) {
            Some(&place) => place,
            None => {
                self.places.insert(name.to_string(), self.values.len());
                self.values.push(new());
                self.values.len() - 1
            }
        };
        &mut self.values[place]
    }

    pub fn insert(&mut self, name: &str, value: V) {
        match self.places.get(name) {
            Some(&place) => self.values[place] = value,
            None => {
                self.entry(name, || value);
            }
        }
    }

    /// Names and values, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &V)> {
        self.places
            .iter()
            .map(move |(name, &i)| (name, &self.values[i]))
    }

    /// The same, giving the values away.
    pub fn drain(self) -> impl Iterator<Item = (String, V)> {
        let mut values: Vec<Option<V>> = self.values.into_iter().map(Some).collect();
        self.places
            .into_iter()
            .filter_map(move |(name, i)| values[i].take().map(|v| (name, v)))
    }
}
