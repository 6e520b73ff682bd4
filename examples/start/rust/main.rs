//! Counts the palindromes among the integers of a range: a command for WASI.
//! The shard's input is one line of JSON on standard input, {"from":"...","to":"..."},
//! and the result one JSON value on standard output. It must be the same for the same input.
use std::io::Read;

fn fail(why: &str) -> ! {
    eprintln!("{why}");
    std::process::exit(1)
}

/// A decimal text of the input, such as "from":"12".
fn bound(input: &str, name: &str) -> u64 {
    let start = match input.find(name) {
        Some(at) => at + name.len(),
        None => fail(r#"the input must be {"from":"...","to":"..."}"#),
    };
    let digits: String = input[start..].chars().take_while(|&c| c != '"').collect();
    digits.parse().unwrap_or_else(|_| fail("a bound is no decimal number of 64 bits"))
}

fn is_palindrome(n: u64) -> bool {
    let digits = n.to_string();
    digits.bytes().eq(digits.bytes().rev())
}

fn main() {
    let mut input = String::new();
    if std::io::stdin().read_to_string(&mut input).is_err() {
        fail("the input is no text");
    }
    let (from, to) = (bound(&input, r#""from":""#), bound(&input, r#""to":""#));
    if to < from {
        fail("the range is reversed");
    }
    let palindromes = (from..to).filter(|&n| is_palindrome(n)).count();
    println!(r#"{{"palindromes":{},"tested":{}}}"#, palindromes, to - from);
}
