//! A JSON reader that keeps the text of every value: results are canonical and
//! are passed on byte by byte.

use crate::map::Map;
use crate::text::put_digits;
use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Deeper values are refused: reading them is recursive.
const MAX_DEPTH: usize = 160;

pub struct Node<'a> {
    pub raw: &'a str,
    pub kind: Kind<'a>,
}

pub enum Kind<'a> {
    Null,
    Bool(bool),
    Int,
    Float,
    /// The text between the quotes, escapes still in it.
    Str(&'a str),
    Arr(Vec<Node<'a>>),
    Obj(Vec<(Cow<'a, str>, Node<'a>)>),
}

impl<'a> Node<'a> {
    pub fn get(&self, name: &str) -> Option<&Node<'a>> {
        match &self.kind {
            Kind::Obj(fields) => fields.iter().find(|(k, _)| k == name).map(|(_, v)| v),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<String> {
        match self.kind {
            Kind::Str(s) => unescape(s).ok().map(Cow::into_owned),
            _ => None,
        }
    }

    pub fn unsigned(&self) -> Option<u64> {
        match self.kind {
            Kind::Int => self.raw.parse().ok(),
            _ => None,
        }
    }
}

pub fn parse(line: &[u8]) -> Result<Node<'_>, String> {
    let text = core::str::from_utf8(line).map_err(|_| "it is not UTF-8".to_string())?;
    let mut p = Parser { text, pos: 0 };
    let node = p.value(0)?;
    p.space();
    if p.pos != text.len() {
        return Err(p.wrong("the end"));
    }
    Ok(node)
}

struct Parser<'a> {
    text: &'a str,
    pos: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.pos).copied().unwrap_or(0)
    }

    fn wrong(&self, wanted: &str) -> String {
        text!("it is not JSON: ", wanted, " is expected at byte ", self.pos)
    }

    fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\r' | b'\n') {
            self.pos += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node<'a>, String> {
        if depth > MAX_DEPTH {
            return Err(text!("it is nested deeper than ", MAX_DEPTH));
        }
        self.space();
        let start = self.pos;
        let kind = match self.peek() {
            b'{' => self.object(depth)?,
            b'[' => self.array(depth)?,
            b'"' => Kind::Str(self.string()?),
            b't' => self.word("true", Kind::Bool(true))?,
            b'f' => self.word("false", Kind::Bool(false))?,
            b'n' => self.word("null", Kind::Null)?,
            b'-' | b'0'..=b'9' => self.number()?,
            _ => return Err(self.wrong("a value")),
        };
        Ok(Node {
            raw: &self.text[start..self.pos],
            kind,
        })
    }

    fn word(&mut self, word: &str, kind: Kind<'a>) -> Result<Kind<'a>, String> {
        if !self.text[self.pos..].starts_with(word) {
            return Err(self.wrong(word));
        }
        self.pos += word.len();
        Ok(kind)
    }

    fn digits(&mut self) -> Result<(), String> {
        let start = self.pos;
        while self.peek().is_ascii_digit() {
            self.pos += 1;
        }
        if self.pos == start {
            return Err(self.wrong("a digit"));
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Kind<'a>, String> {
        let mut kind = Kind::Int;
        if self.peek() == b'-' {
            self.pos += 1;
        }
        self.digits()?;
        if self.peek() == b'.' {
            self.pos += 1;
            self.digits()?;
            kind = Kind::Float;
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.pos += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.pos += 1;
            }
            self.digits()?;
            kind = Kind::Float;
        }
        Ok(kind)
    }

    fn string(&mut self) -> Result<&'a str, String> {
        self.pos += 1;
        let start = self.pos;
        loop {
            match self.peek() {
                b'"' => break,
                b'\\' => self.pos += 2,
                0..=0x1f => return Err(self.wrong("the end of a string")),
                _ => self.pos += 1,
            }
        }
        let text = self
            .text
            .get(start..self.pos)
            .ok_or_else(|| self.wrong("an escape"))?;
        self.pos += 1;
        Ok(text)
    }

    fn array(&mut self, depth: usize) -> Result<Kind<'a>, String> {
        let mut items = Vec::new();
        self.pos += 1;
        self.space();
        if self.peek() == b']' {
            self.pos += 1;
            return Ok(Kind::Arr(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.space();
            match self.peek() {
                b',' => self.pos += 1,
                b']' => break,
                _ => return Err(self.wrong("a comma")),
            }
        }
        self.pos += 1;
        Ok(Kind::Arr(items))
    }

    fn object(&mut self, depth: usize) -> Result<Kind<'a>, String> {
        let mut fields = Vec::new();
        self.pos += 1;
        self.space();
        if self.peek() == b'}' {
            self.pos += 1;
            return Ok(Kind::Obj(fields));
        }
        loop {
            self.space();
            if self.peek() != b'"' {
                return Err(self.wrong("a name"));
            }
            let name = unescape(self.string()?)?;
            self.space();
            if self.peek() != b':' {
                return Err(self.wrong("a colon"));
            }
            self.pos += 1;
            fields.push((name, self.value(depth + 1)?));
            self.space();
            match self.peek() {
                b',' => self.pos += 1,
                b'}' => break,
                _ => return Err(self.wrong("a comma")),
            }
        }
        self.pos += 1;
        Ok(Kind::Obj(fields))
    }
}

pub fn unescape(text: &str) -> Result<Cow<'_, str>, String> {
    if !text.contains('\\') {
        return Ok(Cow::Borrowed(text));
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let escape = rest.as_bytes().get(at + 1).copied().unwrap_or(0);
        let mut used = 2;
        out.push(match escape {
            b'"' | b'\\' | b'/' => escape as char,
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let (c, length) = unicode(&rest[at..])?;
                used = length;
                c
            }
            _ => return Err("it is not JSON: an unknown escape".to_string()),
        });
        rest = &rest[at + used..];
    }
    out.push_str(rest);
    Ok(Cow::Owned(out))
}

/// Reads \uXXXX, or two of them that make a pair.
fn unicode(text: &str) -> Result<(char, usize), String> {
    let unit = |at: usize| {
        text.get(at..at + 4)
            .and_then(|h| u32::from_str_radix(h, 16).ok())
    };
    let pair = |high: u32| match text.get(6..8) {
        Some("\\u") => match unit(8) {
            Some(low @ 0xdc00..=0xdfff) => {
                char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00))
            }
            _ => None,
        },
        _ => None,
    };
    let found = match unit(2) {
        Some(high @ 0xd800..=0xdbff) => pair(high).map(|c| (c, 12)),
        Some(code) => char::from_u32(code).map(|c| (c, 6)),
        None => None,
    };
    found.ok_or_else(|| "it is not JSON: a broken \\u escape".to_string())
}

/// Writes a string in the canonical form: escapes only where they must be.
pub fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\0'..='\u{1f}' => {
                out.push_str("\\u");
                put_digits(out, u64::from(c as u32), 16, 4);
            },
            _ => out.push(c),
        }
    }
    out.push('"');
}

/// The fields of an object.
pub fn object<'n, 'a>(node: &'n Node<'a>) -> Option<&'n Vec<(Cow<'a, str>, Node<'a>)>> {
    match &node.kind {
        Kind::Obj(fields) => Some(fields),
        _ => None,
    }
}

pub fn join<T>(out: &mut String, items: impl Iterator<Item = T>, write: impl Fn(&mut String, T)) {
    for (i, item) in items.enumerate() {
        if i > 0 {
            out.push(',');
        }
        write(out, item);
    }
}

/// Writes a map as an object, sorted by name.
pub fn write_object<V>(out: &mut String, map: &Map<V>, write: impl Fn(&mut String, &V)) {
    out.push('{');
    join(out, map.iter(), |out, (name, value)| {
        write_string(out, name);
        out.push(':');
        write(out, value);
    });
    out.push('}');
}
