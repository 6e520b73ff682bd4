//! What a person should know about a value.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What is not in the value, for the summary.
#[derive(Default)]
pub struct Notes {
    texts: Vec<String>,
    more: u64,
    pub truncated: u64,
}

/// How many notes a summary spells out; the others are counted.
const MAX_NOTES: usize = 20;
/// How many characters of a field's path a note shows.
const MAX_PATH: usize = 100;

impl Notes {
    pub fn left_out(&mut self, path: &str, count: u64, why: &str) {
        if count > 0 {
            let noun = if count == 1 { "value" } else { "values" };
            self.say(path, &text!(count, " ", noun, " left out (", why, ")"));
        }
    }

    pub fn say(&mut self, path: &str, text: &str) {
        if self.texts.len() == MAX_NOTES {
            self.more += 1;
            return;
        }
        let shown: String = path.chars().take(MAX_PATH).collect();
        let colon = if path.is_empty() { "" } else { ": " };
        self.texts.push(text!(shown, colon, text));
    }

    pub fn summary(&self, op: &str, n: u64) -> String {
        let noun = if n == 1 { "result" } else { "results" };
        let mut out = text!(op, " of ", n, " ", noun);
        for text in &self.texts {
            out.push_str("; ");
            out.push_str(text);
        }
        if self.more > 0 {
            put!(&mut out, "; and ", self.more, " notes more");
        }
        out
    }
}

/// The path of a field inside a field.
pub fn join_path(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_string()
    } else {
        text!(path, ".", name)
    }
}
