//! The heuristic code-risk: what in Python source deserves a look before strangers
//! run it. It reads tokens, so that comments and texts do not count, aliases and
//! literals put together do, and says for every mark where it is and what it weighs.
//!
//! It is advice: code that wants to hide finds a way, and the sandbox is what holds.

#![no_std]
#![no_main]
#![feature(alloc_error_handler)]

extern crate alloc;

#[macro_use]
mod text;
mod command;
#[allow(dead_code)]
mod batch;
mod heap;
#[allow(dead_code)]
mod json;
#[allow(dead_code)]
mod map;
mod python;
mod wasi;

use json::Node;
use map::Map;
use python::{Kind, Token};
use text::put_digits;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

const DESCRIPTION: &str = concat!(
    r#"{"t":"describe","name":"code-risk","version":"1.1.0","kinds":["heuristic"],"#,
    r#""summary":"marks process, command, network, file, native, dynamic, hidden and mining code in Python source","#,
    r#""params":{"type":"object","additionalProperties":false,"properties":{}}}"#
);

/// How many marks are named for a file; the score counts all.
const MAX_SHOWN: usize = 32;
/// How much of a line is shown, in characters.
const MAX_LINE: usize = 120;

struct Mark {
    line: usize,
    label: &'static str,
    /// In hundredths.
    weight: u32,
    what: String,
}

/// Paths of functions and modules, by prefix, what they are and what they weigh in hundredths.
/// The first that fits counts.
const PATHS: &[(&str, &str, u32)] = &[
    ("os.system", "process", 60), ("os.popen", "process", 60), ("os.exec", "process", 60), ("os.spawn", "process", 60),
    ("os.posix_spawn", "process", 60), ("os.fork", "process", 50), ("os.kill", "process", 40), ("os.setuid", "process", 50),
    ("os.setsid", "process", 30), ("subprocess", "process", 55), ("pty", "process", 55), ("multiprocessing", "process", 20),
    ("concurrent.futures.ProcessPoolExecutor", "process", 20), ("commands", "process", 40), ("signal.alarm", "process", 10),
    ("socket", "network", 50), ("ssl", "network", 30), ("http", "network", 40), ("urllib.parse", "", 0), ("urllib", "network", 45),
    ("requests", "network", 45), ("httpx", "network", 45), ("aiohttp", "network", 45), ("ftplib", "network", 50),
    ("smtplib", "network", 50), ("telnetlib", "network", 50), ("paramiko", "network", 50), ("xmlrpc", "network", 40),
    ("socketserver", "network", 50), ("asyncio.open_connection", "network", 50), ("asyncio.start_server", "network", 50),
    ("asyncio.create_subprocess", "process", 55), ("webbrowser", "network", 40), ("poplib", "network", 50), ("imaplib", "network", 50),
    ("_socket", "network", 60), ("_posixsubprocess", "process", 70), ("posix", "process", 60), ("nt", "process", 50),
    ("ctypes", "native", 55), ("_ctypes", "native", 60), ("cffi", "native", 50), ("mmap", "native", 20),
    ("pickle.load", "dynamic", 30), ("marshal", "dynamic", 45), ("shelve", "dynamic", 25), ("dill", "dynamic", 35),
    ("importlib", "dynamic", 25), ("imp", "dynamic", 30), ("code.Interactive", "dynamic", 50), ("codeop", "dynamic", 40),
    ("builtins.exec", "dynamic", 55), ("builtins.eval", "dynamic", 55), ("builtins.compile", "dynamic", 40), ("builtins.__import__", "dynamic", 50),
    ("types.CodeType", "dynamic", 50), ("types.FunctionType", "dynamic", 30), ("sys.settrace", "dynamic", 30), ("sys._getframe", "dynamic", 30),
    ("gc.get_objects", "dynamic", 30), ("os.remove", "file", 25), ("os.unlink", "file", 25), ("os.chmod", "file", 25), ("os.symlink", "file", 30),
    ("os.environ", "environment", 15), ("os.getenv", "environment", 15), ("os.walk", "file", 15), ("os.scandir", "file", 15), ("os.listdir", "file", 10),
    ("pip", "install", 40), ("ensurepip", "install", 40), ("scapy", "scanner", 60), ("nmap", "scanner", 60), ("masscan", "scanner", 60),
    ("os.open", "file", 30), ("shutil.rmtree", "file", 30), ("tempfile", "", 0), ("resource.setrlimit", "process", 30),
];

/// Built-in functions, where they are not defined anew, and their weights.
const BUILTINS: &[(&str, u32)] = &[("exec", 55), ("eval", 55), ("compile", 40), ("__import__", 50), ("breakpoint", 20)];

/// Attributes by which code climbs out of what it was given.
const CLIMBS: &[&str] = &[
    "__subclasses__", "__globals__", "__builtins__", "__code__", "__bases__", "__mro__", "__closure__", "f_globals", "f_back", "f_builtins", "gi_frame", "cr_frame", "tb_frame",
    "__getattribute__", "__reduce__", "__reduce_ex__", "__loader__",
];

/// Names that are dangerous wherever they are looked up by a text.
const HIDDEN: &[&str] = &[
    "system", "popen", "exec", "eval", "compile", "__import__", "fork", "execv", "execve", "Popen", "check_output", "socket", "CDLL", "import_module", "spawn", "os", "subprocess", "builtins",
    "ctypes", "posix",
];

/// What coin miners are made of.
const MINING: &[&str] = &[
    "stratum+tcp", "stratum+ssl", "stratum2+", "xmrig", "cryptonight", "randomx", "minerd", "cpuminer", "coinhive", "nicehash", "monero", "ethash", "kawpow", "minexmr", "nanopool",
    "supportxmr", "mining.subscribe", "mining.authorize", "hashvault",
];

/// Places outside of a function's own folder.
const PLACES: &[&str] = &["/etc/", "/proc/", "/sys/", "/dev/", "/root", "/home/", "/var/", "~/", ".ssh", "id_rsa", ".aws/", ".bashrc", "/boot/", "docker.sock"];

struct Reader<'a> {
    t: &'a [Token],
    /// What a name stands for: a module, or something of one.
    names: Map<String>,
    /// Modules of which everything was imported.
    stars: Vec<String>,
    /// Functions and variables of the file's own.
    own: Map<()>,
    /// Literals by the names that they were given.
    texts: Map<Vec<String>>,
    marks: Vec<Mark>,
}

impl<'a> Reader<'a> {
    fn is(&self, at: usize, text: &str) -> bool {
        matches!(self.t.get(at), Some(t) if t.kind == Kind::Op && t.text == text)
    }

    fn name(&self, at: usize) -> Option<&'a str> {
        match self.t.get(at) {
            Some(t) if t.kind == Kind::Name => Some(&t.text),
            _ => None,
        }
    }

    fn text(&self, at: usize) -> Option<&'a str> {
        match self.t.get(at) {
            Some(t) if t.kind == Kind::Str => Some(&t.text),
            _ => None,
        }
    }

    fn mark(&mut self, at: usize, label: &'static str, weight: u32, what: &str) {
        let line = self.t.get(at).map_or(0, |t| t.line);
        self.marks.push(Mark { line, label, weight, what: what.to_string() });
    }

    fn path(&mut self, at: usize, path: &str) {
        let fits = |prefix: &str| {
            path == prefix
                || (path.starts_with(prefix) && (path[prefix.len()..].starts_with('.') || prefix.contains('.')))
        };
        if let Some((_, label, weight)) = PATHS.iter().find(|(prefix, _, _)| fits(prefix)) {
            if *weight > 0 {
                self.mark(at, label, *weight, path);
            }
        }
    }

    /// Reads what the file defines and imports, before anything is judged: a name may
    /// be used above the line that gives it its meaning.
    fn definitions(&mut self) {
        for at in 0..self.t.len() {
            match self.name(at) {
                Some("def") | Some("class") => {
                    if let Some(name) = self.name(at + 1) {
                        self.own.insert(name, ());
                    }
                }
                Some("import") if !self.is(at.wrapping_sub(1), ".") && self.begins(at) => self.imports(at + 1),
                Some("from") if self.begins(at) => self.imports_from(at + 1),
                _ => {}
            }
        }
        for at in 1..self.t.len() {
            if self.is(at, "=") && self.begins(at - 1) {
                self.constant(at);
            }
        }
        // Simple aliases, a few steps deep: e = exec; run = os.system.
        for _ in 0..3 {
            for at in 1..self.t.len() {
                if !self.is(at, "=") || self.is(at + 1, "=") || at < 1 || !self.begins(at - 1) {
                    continue;
                }
                if let (Some(name), Some((path, end))) = (self.name(at - 1), self.chain(at + 1)) {
                    let ends = matches!(self.t.get(end), Some(t) if t.kind == Kind::Newline);
                    let known = path.contains('.') || BUILTINS.iter().any(|(b, _)| *b == path) || self.names.get(&path).is_some();
                    if ends && known && name != path {
                        self.names.insert(name, path);
                    }
                }
            }
        }
    }

    /// Whether a statement begins here.
    fn begins(&self, at: usize) -> bool {
        at == 0 || matches!(self.t.get(at - 1), Some(t) if t.kind == Kind::Newline || t.text == ":")
    }

    fn dotted(&self, mut at: usize) -> (String, usize) {
        let mut path = String::new();
        while self.is(at, ".") {
            path.push('.');
            at += 1;
        }
        while let Some(name) = self.name(at) {
            path.push_str(name);
            at += 1;
            if !self.is(at, ".") {
                break;
            }
            path.push('.');
            at += 1;
        }
        (path, at)
    }

    fn imports(&mut self, mut at: usize) {
        loop {
            let (path, next) = self.dotted(at);
            if path.is_empty() {
                return;
            }
            if self.name(next) == Some("as") {
                if let Some(alias) = self.name(next + 1) {
                    self.names.insert(alias, path.clone());
                }
            } else {
                let first = path.split('.').next().unwrap_or("");
                self.names.insert(first, first.to_string());
            }
            self.path(at, &path);
            at = if self.name(next) == Some("as") { next + 2 } else { next };
            if !self.is(at, ",") {
                return;
            }
            at += 1;
        }
    }

    fn imports_from(&mut self, at: usize) {
        let (module, next) = self.dotted(at);
        if self.name(next) != Some("import") {
            return;
        }
        self.path(at, &module);
        let mut at = next + 1;
        if self.is(at, "*") {
            self.stars.push(module);
            return;
        }
        if self.is(at, "(") {
            at += 1;
        }
        while let Some(name) = self.name(at) {
            let path = text!(module, ".", name);
            let mut alias = name;
            if self.name(at + 1) == Some("as") {
                alias = self.name(at + 2).unwrap_or(name);
                at += 2;
            }
            self.names.insert(alias, path.clone());
            self.path(at, &path);
            at += 1;
            if !self.is(at, ",") {
                return;
            }
            at += 1;
        }
    }

    /// Reads a chain of attributes that begins here, with what it stands for, and where
    /// it ends: os.path.join, __import__("os").system, sys.modules["os"].popen.
    fn chain(&self, at: usize) -> Option<(String, usize)> {
        let first = self.name(at)?;
        let mut path = match self.names.get(first) {
            Some(path) => path.clone(),
            None => first.to_string(),
        };
        let mut at = at + 1;
        loop {
            if self.is(at, ".") && self.name(at + 1).is_some() {
                path = text!(path, ".", self.name(at + 1).unwrap_or(""));
                at += 2;
            } else if self.is(at, "(") && self.text(at + 1).is_some() && ["__import__", "importlib.import_module", "builtins.__import__"].contains(&path.as_str()) {
                path = self.text(at + 1).unwrap_or("").to_string();
                while at < self.t.len() && !self.is(at, ")") {
                    at += 1;
                }
                at += 1;
            } else if self.is(at, "[") && self.text(at + 1).is_some() && self.is(at + 2, "]") && (path == "sys.modules" || path.ends_with("__builtins__") || path.ends_with("__dict__")) {
                let name = self.text(at + 1).unwrap_or("");
                path = if path == "sys.modules" { name.to_string() } else { text!("builtins.", name) };
                at += 3;
            } else {
                return Some((path, at));
            }
        }
    }

    fn read(&mut self) {
        self.definitions();
        let mut at = 0;
        while at < self.t.len() {
            match self.t[at].kind {
                Kind::Str => self.literal(at),
                Kind::Name => {
                    at = self.names_at(at);
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Judges the chain that begins here; returns where to go on.
    fn names_at(&mut self, at: usize) -> usize {
        let word = &self.t[at].text;
        if CLIMBS.contains(&word.as_str()) {
            self.mark(at, "escape", 45, word);
        }
        let lower = lower(word);
        if MINING.iter().any(|m| contains(&lower, m)) {
            self.mark(at, "mining", 60, word);
        }
        let attribute = at > 0 && self.is(at - 1, ".");
        let (path, end) = match self.chain(at) {
            Some(chain) if !attribute => chain,
            _ => return at + 1,
        };
        for i in at + 1..end {
            if let Some(name) = self.name(i) {
                if CLIMBS.contains(&name) {
                    self.mark(i, "escape", 45, name);
                }
            }
        }
        let is_import = matches!(at.checked_sub(1).and_then(|b| self.name(b)), Some("import") | Some("from") | Some("as") | Some("def") | Some("class"));
        let keyword = self.is(end, "=") && !self.is(end + 1, "=");
        if is_import {
            return end;
        }
        let bare = !path.contains('.');
        if bare {
            self.bare(at, end, &path, keyword);
        } else if self.names.get(word).is_some() || path.starts_with("builtins.") || end > at + 1 && !self.own.get(word).is_some() && self.imported(&path) {
            self.path(at, &path);
            self.command(at, end, &path);
        }
        for i in at + 1..end {
            if self.t[i].kind == Kind::Str {
                self.literal(i);
            }
        }
        end
    }

    /// Whether a path begins with something that was not imported by its name: by
    /// __import__ or from sys.modules.
    fn imported(&self, path: &str) -> bool {
        let first = path.split('.').next().unwrap_or("");
        self.names.get(first).is_some() || PATHS.iter().any(|(p, _, _)| p.split('.').next() == Some(first)) && self.t.iter().any(|t| t.kind == Kind::Str && t.text == first)
    }

    fn bare(&mut self, at: usize, end: usize, path: &str, keyword: bool) {
        let own = self.own.get(path).is_some();
        if let Some((_, weight)) = BUILTINS.iter().find(|(name, _)| *name == path) {
            if !own && !keyword {
                self.mark(at, "dynamic", *weight, path);
            }
        }
        for module in self.stars.clone() {
            if !own {
                let path = text!(module, ".", path);
                self.path(at, &path);
                self.command(at, end, &path);
            }
        }
        if ["getattr", "setattr", "hasattr"].contains(&path) && self.is(end, "(") {
            self.looked_up(at, end + 1);
        }
        if ["globals", "locals", "vars"].contains(&path) && self.is(end, "(") && self.subscripted(end) {
            self.mark(at, "dynamic", 30, &text!(path, "()[…]"));
        }
        if path == "open" && self.is(end, "(") {
            if let Some(name) = self.text(end + 1) {
                if name.starts_with('/') || name.starts_with("..") || name.starts_with('~') {
                    self.mark(at, "file", 30, &text!("open ", shorten(name)));
                }
            }
        }
    }

    /// Notes a name that is given a literal, or a list of literals: cmd = ["rm", "-rf", "/"].
    fn constant(&mut self, equals: usize) {
        let mut texts = Vec::new();
        let mut at = equals + 1;
        while let Some(t) = self.t.get(at) {
            match t.kind {
                Kind::Newline => break,
                Kind::Str => texts.push(t.text.clone()),
                Kind::Op if ["[", "]", "(", ")", ","].contains(&t.text.as_str()) => {}
                _ => return,
            }
            at += 1;
        }
        if let (Some(name), false) = (self.name(equals - 1), texts.is_empty()) {
            let all = self.texts.entry(name, Vec::new);
            all.push(";".to_string()); // another one may stand there already
            all.extend(texts);
        }
    }

    /// Judges what a call starts or deletes, by the literals among its arguments.
    fn command(&mut self, at: usize, end: usize, path: &str) {
        let runs = command::STARTS.iter().any(|p| path.starts_with(p));
        if !self.is(end, "(") || !(runs || path == "shutil.rmtree") {
            return;
        }
        let texts = self.arguments(end);
        let found = if runs { command::judge(&texts) } else { command::removed(&texts) };
        for (label, weight, what) in found {
            self.mark(at, label, weight, &shorten(&what));
        }
    }

    /// The literals among the arguments of the call that opens here, and those that names stand for. What is given by
    /// another name than that of the command, such as env, is passed over.
    fn arguments(&self, open: usize) -> Vec<String> {
        let (mut texts, mut depth, mut at, mut counts) = (Vec::new(), 0, open, true);
        while let Some(t) = self.t.get(at) {
            let text = t.text.as_str();
            match t.kind {
                Kind::Op if ["(", "[", "{"].contains(&text) => depth += 1,
                Kind::Op if [")", "]", "}"].contains(&text) => depth -= 1,
                Kind::Op if text == "," && depth == 1 => counts = true,
                Kind::Name if depth == 1 && self.is(at + 1, "=") && !self.is(at + 2, "=") => counts = ["args", "cmd", "executable", "path"].contains(&text),
                Kind::Str if counts => texts.push(t.text.clone()),
                Kind::Name if counts && !self.is(at.wrapping_sub(1), ".") => texts.extend(self.texts.get(text).into_iter().flatten().cloned()),
                _ => {}
            }
            at += 1;
            if depth == 0 {
                break;
            }
        }
        texts
    }

    /// Whether the call that opens here is followed by a subscript.
    fn subscripted(&self, mut at: usize) -> bool {
        let mut depth = 0;
        while at < self.t.len() {
            if self.is(at, "(") {
                depth += 1;
            } else if self.is(at, ")") {
                depth -= 1;
                if depth == 0 {
                    return self.is(at + 1, "[");
                }
            }
            at += 1;
        }
        false
    }

    /// getattr(x, NAME): a name that is a dangerous one, or that is computed.
    fn looked_up(&mut self, call: usize, mut at: usize) {
        let mut depth = 0;
        while at < self.t.len() && !(depth == 0 && (self.is(at, ",") || self.is(at, ")"))) {
            if self.is(at, "(") || self.is(at, "[") {
                depth += 1;
            } else if self.is(at, ")") || self.is(at, "]") {
                depth -= 1;
            }
            at += 1;
        }
        match self.text(at + 1) {
            Some(name) if self.is(at + 2, ",") || self.is(at + 2, ")") => {
                if HIDDEN.contains(&name) || CLIMBS.contains(&name) {
                    self.mark(call, "hidden", 50, &text!("getattr of ", shorten(name)));
                }
            }
            _ if self.is(at, ",") => self.mark(call, "dynamic", 15, "getattr of a computed name"),
            _ => {}
        }
    }

    fn literal(&mut self, at: usize) {
        let text = &self.t[at].text;
        let backwards = self.is(at + 1, "[") && self.is(at + 2, ":") && self.is(at + 3, ":") && self.is(at + 4, "-");
        if backwards {
            self.mark(at, "hidden", 40, "a text written backwards");
            let right: String = text.chars().rev().collect();
            if HIDDEN.contains(&right.as_str()) {
                self.mark(at, "hidden", 50, &right);
            }
        }
        // A text that stands alone is documentation.
        let documentation = self.begins(at) && matches!(self.t.get(at + 1), None | Some(Token { kind: Kind::Newline, .. }));
        let lower = lower(text);
        if !documentation {
            if let Some(word) = MINING.iter().find(|m| contains(&lower, m)) {
                self.mark(at, "mining", 85, word);
            }
            if let Some(place) = PLACES.iter().find(|p| text.starts_with(*p) || (p.starts_with('.') || p.contains('_')) && contains(text, p)) {
                self.mark(at, "file", 30, &text!("the place ", place));
            }
            if self.is(at.wrapping_sub(1), "[") && self.is(at + 1, "]") && HIDDEN.contains(&text.as_str()) && !["os", "socket", "exec", "system", "spawn"].contains(&text.as_str()) {
                self.mark(at, "hidden", 40, &text!("[", shorten(text), "]"));
            }
        }
        self.blob(at);
    }

    /// Long literals that look like packed code or data.
    fn blob(&mut self, at: usize) {
        let text = &self.t[at].text;
        let length = text.bytes().filter(|b| b & 0xc0 != 0x80).count();
        if length < 120 {
            return;
        }
        let bits = entropy(text);
        let packed = text.chars().filter(|c| !c.is_whitespace()).all(|c| c.is_ascii_alphanumeric() || "+/=-_".chars().any(|known| known == c));
        let hex = text.chars().filter(|c| !c.is_whitespace()).all(|c| c.is_ascii_hexdigit());
        let binary = text.chars().fold(0, |n, c| n + usize::from((c as u32) < 9 || (c as u32) > 126)) * 4 > length;
        if hex && bits > 3.0 && length >= 200 {
            self.mark(at, "blob", 25, &text!(length, " hexadecimal digits"));
        } else if packed && !hex && bits > 4.5 {
            self.mark(at, "blob", 35, &text!(length, " characters of base64, ", each(bits)));
        } else if (binary || bits > 5.8) && length >= 200 {
            self.mark(at, "blob", 35, &text!("a literal of ", length, " characters, ", each(bits)));
        }
    }
}

/// Whether one text is in another.
fn contains(text: &str, part: &str) -> bool {
    let (text, part) = (text.as_bytes(), part.as_bytes());
    (0..text.len()).any(|i| text[i] == part[0] && text[i..].starts_with(part))
}

/// The text in lower case, as far as ASCII goes, and with the one other letter that is
/// ASCII in lower case: the sign for Kelvin.
fn lower(text: &str) -> String {
    text.chars().map(|c| if c == '\u{212a}' { 'k' } else { c.to_ascii_lowercase() }).collect()
}

/// The logarithm to base 2.
fn log2(x: f64) -> f64 {
    mod c {
        #[link(name = "c")]
        extern "C" {
            pub fn log2(x: f64) -> f64;
        }
    }
    // SAFETY: it computes from its argument alone.
    unsafe { c::log2(x) }
}

/// Shannon's entropy, in bits a character.
fn entropy(text: &str) -> f64 {
    let mut counts = Map::new();
    let mut n = 0.0;
    for c in text.chars() {
        *counts.entry(c.encode_utf8(&mut [0; 4]), || 0.0) += 1.0;
        n += 1.0;
    }
    -counts.iter().map(|(_, k)| k / n * log2(k / n)).sum::<f64>()
}

/// Writes a number from 0 to 2^30 with so many digits behind the point, at most 9,
/// exactly rounded, ties to even.
fn put_fixed(out: &mut String, number: f64, digits: usize) {
    let bits = number.to_bits();
    let exponent = (bits >> 52) as i32 - 1075;
    let scale = 10u64.pow(digits as u32);
    let scaled = u128::from((bits & ((1 << 52) - 1)) | (1 << 52)) * u128::from(scale);
    let shift = exponent.unsigned_abs().min(127); // of less than 10^-9 nothing is left
    let (mut whole, rest, half) = (scaled >> shift, scaled & ((1 << shift) - 1), 1 << shift >> 1);
    if shift > 0 && (rest > half || rest == half && whole & 1 == 1) {
        whole += 1;
    }
    let whole = whole as u64;
    put_digits(out, whole / scale, 10, 1);
    out.push('.');
    put_digits(out, whole % scale, 10, digits);
}

fn each(bits: f64) -> String {
    let mut out = String::new();
    put_fixed(&mut out, bits, 1);
    out.push_str(" bits each");
    out
}

fn shorten(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(40).collect()
}

/// Each label counts with its heaviest mark, and each further mark brings a tenth of
/// what is missing; labels are put together as if they were independent. The marks
/// are sorted, the heaviest first.
fn score(labels: &Map<()>, marks: &[Mark]) -> f64 {
    let mut left = 1.0;
    for (label, _) in labels.iter() {
        let weights = marks.iter().filter(|m| m.label == label).map(|m| f64::from(m.weight) / 100.0);
        left *= weights.take(11).enumerate().fold(1.0, |clean, (i, w)| clean * (1.0 - if i == 0 { w } else { w / 10.0 }));
    }
    1.0 - left
}

fn judge(_: &(), line: &[u8], out: &mut String) -> Result<(), String> {
    let record = json::parse(line)?;
    let id = record.get("id").and_then(|i| i.text()).ok_or("id is missing")?;
    let source = record.get("text").and_then(|t| t.text()).unwrap_or_default();
    let tokens = python::tokens(&source);
    let mut reader = Reader { t: &tokens, names: Map::new(), stars: Vec::new(), own: Map::new(), texts: Map::new(), marks: Vec::new() };
    reader.read();
    let mut marks = reader.marks;
    // A line counts once for the same thing.
    let (mut seen, mut labels) = (Map::new(), Map::new());
    marks.retain(|m| {
        labels.insert(m.label, ());
        seen.insert(&text!(m.line, ":", m.label, ":", m.what), ())
    });
    marks.sort_by(|a, b| b.weight.cmp(&a.weight).then(a.line.cmp(&b.line)));
    let lines: Vec<&str> = source.lines().collect();
    out.push_str("{\"id\":");
    json::write_string(out, &id);
    put!(out, ",\"score\":");
    put_fixed(out, score(&labels, &marks), 4);
    put!(out, ",\"labels\":[");
    json::join(out, labels.iter(), |out, (label, _)| json::write_string(out, label));
    out.push_str("],\"explain\":");
    let mut words: Vec<String> = marks.iter().take(8).map(|m| text!("line ", m.line, ": ", m.what)).collect();
    if marks.len() > 8 {
        words.push(text!("and ", marks.len() - 8, " more"));
    }
    json::write_string(out, &words.join("; "));
    out.push_str(",\"findings\":[");
    json::join(out, marks.iter().take(MAX_SHOWN), |out, m| {
        let text: String = lines.get(m.line.wrapping_sub(1)).unwrap_or(&"").trim().chars().take(MAX_LINE).collect();
        put!(out, "{\"line\":", m.line, ",\"label\":\"", m.label, "\",\"weight\":0.");
        put_digits(out, u64::from(m.weight), 10, 2);
        if out.ends_with('0') {
            out.pop(); // 0.5 is not 0.50
        }
        put!(out, ",\"what\":");
        json::write_string(out, &m.what);
        out.push_str(",\"text\":");
        json::write_string(out, &text);
        out.push('}');
    });
    out.push_str("]}\n");
    Ok(())
}

fn start(params: &Node) -> Result<(), String> {
    match json::object(params) {
        Some(fields) if fields.is_empty() => Ok(()),
        _ => Err("there are none".to_string()),
    }
}

fn main() {
    batch::run("heuristic", DESCRIPTION, start, judge, |_, _| {});
}
