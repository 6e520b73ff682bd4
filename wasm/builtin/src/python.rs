//! Python source as tokens: comments are gone, literals are decoded, and what an
//! f-string computes is code again.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

#[derive(Clone, PartialEq)]
pub enum Kind {
    Name,
    Number,
    /// A literal, its escapes decoded. Adjacent and added literals are one.
    Str,
    Op,
    Newline,
}

#[derive(Clone)]
pub struct Token {
    pub kind: Kind,
    pub text: String,
    pub line: usize,
}

/// How deep f-strings may be in one another.
const MAX_NESTED: usize = 8;

pub fn tokens(source: &str) -> Vec<Token> {
    let mut all = Vec::new();
    scan(&source.chars().collect::<Vec<_>>(), 1, 0, &mut all);
    fold(all)
}

fn scan(c: &[char], first_line: usize, depth: usize, out: &mut Vec<Token>) {
    let (mut at, mut line, mut open) = (0, first_line, 0i32);
    let mut push = |kind: Kind, text: String, line: usize| out.push(Token { kind, text, line });
    let mut inner: Vec<(Vec<char>, usize)> = Vec::new();
    while at < c.len() {
        let ch = c[at];
        if ch == '\n' || ch == '\r' {
            if open <= 0 {
                push(Kind::Newline, String::new(), line);
            }
            // A line ends with \n, \r or both, as Python has it.
            at += if ch == '\r' && c.get(at + 1) == Some(&'\n') { 2 } else { 1 };
            line += 1;
        } else if ch == '\\' && matches!(c.get(at + 1), Some('\n') | Some('\r')) {
            at += if c.get(at + 2) == Some(&'\n') && c[at + 1] == '\r' { 3 } else { 2 };
            line += 1;
        } else if ch.is_whitespace() {
            at += 1;
        } else if ch == '#' {
            while at < c.len() && c[at] != '\n' && c[at] != '\r' {
                at += 1;
            }
        } else if let Some((prefix, quote)) = literal(&c[at..]) {
            let raw = prefix.contains('r');
            let (text, used, lines, parts) = string(&c[at + prefix.len()..], quote, raw, prefix.contains('f'), line);
            push(Kind::Str, text, line);
            if depth < MAX_NESTED {
                inner.extend(parts);
            }
            at += prefix.len() + used;
            line += lines;
        } else if ch == '_' || ch.is_alphabetic() {
            let start = at;
            while at < c.len() && (c[at] == '_' || c[at].is_alphanumeric()) {
                at += 1;
            }
            push(Kind::Name, normal(&c[start..at]), line);
        } else if ch.is_ascii_digit() {
            let start = at;
            while at < c.len() && (c[at].is_alphanumeric() || c[at] == '.' || c[at] == '_') {
                at += 1;
            }
            push(Kind::Number, c[start..at].iter().collect(), line);
        } else {
            match ch {
                '(' | '[' | '{' => open += 1,
                ')' | ']' | '}' => open -= 1,
                _ => {}
            }
            push(if ch == ';' { Kind::Newline } else { Kind::Op }, ch.to_string(), line);
            at += 1;
        }
    }
    push(Kind::Newline, String::new(), line);
    for (code, line) in inner {
        scan(&code, line, depth + 1, out);
    }
}

/// Identifiers are normalised as Python does with letters that only look
/// different: full-width and mathematical ones are their plain selves.
fn normal(name: &[char]) -> String {
    let plain = |c: char| {
        let n = c as u32;
        let letter = |offset: u32| {
            let k = offset % 52;
            let base = if k < 26 { b'A' } else { b'a' - 26 };
            char::from(base + k as u8)
        };
        match n {
            0xff21..=0xff3a | 0xff41..=0xff5a | 0xff10..=0xff19 | 0xff3f => char::from_u32(n - 0xfee0).unwrap_or(c),
            0x1d400..=0x1d6a3 => letter(n - 0x1d400),
            _ => c,
        }
    };
    name.iter().map(|&c| plain(c)).collect()
}

/// The prefix, in lower case, and the quote of a literal that begins here.
fn literal(c: &[char]) -> Option<(String, char)> {
    let letters: String = c.iter().take_while(|l| l.is_ascii_alphabetic()).take(3).collect();
    let quote = *c.get(letters.len())?;
    let prefix = letters.to_ascii_lowercase();
    let known = ["", "r", "b", "u", "f", "t", "br", "rb", "fr", "rf", "rt", "tr"].contains(&prefix.as_str());
    if known && (quote == '"' || quote == '\'') {
        return Some((prefix, quote));
    }
    None
}

type Parts = Vec<(Vec<char>, usize)>;

/// Reads a literal from its quote on: its text, how many characters and lines it
/// takes, and what it computes.
fn string(c: &[char], quote: char, raw: bool, format: bool, line: usize) -> (String, usize, usize, Parts) {
    let triple = c.get(1) == Some(&quote) && c.get(2) == Some(&quote);
    let mut at = if triple { 3 } else { 1 };
    let (mut text, mut lines, mut parts) = (String::new(), 0, Vec::new());
    while at < c.len() {
        let ch = c[at];
        if ch == '\n' && !triple {
            return (text, at, lines, parts); // it does not end: Python refuses it
        }
        if ch == quote && (!triple || (c.get(at + 1) == Some(&quote) && c.get(at + 2) == Some(&quote))) {
            at += if triple { 3 } else { 1 };
            return (text, at, lines, parts);
        }
        if ch == '\n' {
            lines += 1;
        }
        if ch == '\\' {
            let used = escape(&c[at..], raw, &mut text);
            lines += c[at..at + used].iter().filter(|&&n| n == '\n').count();
            at += used;
        } else if format && ch == '{' && c.get(at + 1) != Some(&'{') {
            let (code, used) = computed(&c[at + 1..]);
            parts.push((code, line + lines));
            lines += c[at..at + 1 + used].iter().filter(|&&n| n == '\n').count();
            at += 1 + used;
        } else {
            if format && (ch == '{' || ch == '}') && c.get(at + 1) == Some(&ch) {
                at += 1;
            }
            text.push(ch);
            at += 1;
        }
    }
    (text, at, lines, parts)
}

/// The code between the braces of an f-string, without the opening one.
fn computed(c: &[char]) -> (Vec<char>, usize) {
    let (mut depth, mut at) = (0, 0);
    while at < c.len() {
        match c[at] {
            '{' | '(' | '[' => depth += 1,
            '}' if depth == 0 => return (c[..at].to_vec(), at + 1),
            '}' | ')' | ']' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    (c.to_vec(), at)
}

/// Decodes one escape and returns how many characters it takes.
fn escape(c: &[char], raw: bool, text: &mut String) -> usize {
    let next = match c.get(1) {
        Some(&n) => n,
        None => return 1,
    };
    if raw {
        text.push('\\');
        text.push(next);
        return 2;
    }
    let mut hex = |digits: usize| {
        let code: String = c.iter().skip(2).take(digits).collect();
        match u32::from_str_radix(&code, 16).ok().and_then(char::from_u32) {
            Some(ch) if code.len() == digits => {
                text.push(ch);
                2 + digits
            }
            _ => 2,
        }
    };
    match next {
        'x' => hex(2),
        'u' => hex(4),
        'U' => hex(8),
        '0'..='7' => {
            let code: String = c.iter().skip(1).take(3).take_while(|d| ('0'..='7').contains(*d)).collect();
            text.push(u32::from_str_radix(&code, 8).ok().and_then(char::from_u32).unwrap_or('?'));
            1 + code.len()
        }
        '\n' => 2,
        'n' => {
            text.push('\n');
            2
        }
        't' => {
            text.push('\t');
            2
        }
        _ => {
            text.push(next);
            2
        }
    }
}

/// Makes one literal of those that stand beside one another or are added.
fn fold(all: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(all.len());
    for t in all {
        if t.kind == Kind::Str {
            let n = out.len();
            let added = n > 1 && out[n - 1].kind == Kind::Op && out[n - 1].text == "+" && out[n - 2].kind == Kind::Str;
            if added {
                out.pop();
            }
            let joins = matches!(out.last(), Some(last) if last.kind == Kind::Str);
            if joins {
                if let Some(last) = out.last_mut() {
                    last.text.push_str(&t.text);
                }
                continue;
            }
        }
        out.push(t);
    }
    out
}
