//! Patterns of RE2, the syntax that CEL names, on Rust's regex: the same family, where a few classes differ in what they hold.

use regex::{Regex, RegexBuilder};

/// The most memory that a compiled pattern may take.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// A compiled pattern. Matching takes time linear in the text.
#[derive(Clone, Debug)]
pub struct Pattern(Regex);

impl Pattern {
    /// Compiles RE2's syntax.
    ///
    /// # Errors
    /// The syntax's mistake, or a pattern that would take too much memory.
    pub fn new(source: &str) -> Result<Pattern, String> {
        RegexBuilder::new(&translated(source))
            .size_limit(PATTERN_BYTES_MAX)
            .dfa_size_limit(PATTERN_BYTES_MAX)
            .build()
            .map(Pattern)
            .map_err(|error| {
                let text = error.to_string();
                let reason = text.lines().rev().find_map(|line| line.strip_prefix("error: ")).unwrap_or(&text);
                format!("the pattern is not valid: {reason}")
            })
    }

    /// Whether the pattern is found anywhere in the text.
    pub fn matches(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

/// RE2's classes `\d \w \s` hold ASCII, as its `\b` does, where Rust's hold Unicode; `\Q…\E` is text; `\z` is the same.
fn translated(source: &str) -> String {
    let mut out = String::with_capacity(source.len() + 16);
    let mut rest = source.chars();
    let mut in_class = false;
    while let Some(each) = rest.next() {
        match each {
            '\\' => match rest.next() {
                Some('d') => out.push_str("[0-9]"),
                Some('D') => out.push_str("[^0-9]"),
                Some('w') => out.push_str("[0-9A-Za-z_]"),
                Some('W') => out.push_str("[^0-9A-Za-z_]"),
                Some('s') => out.push_str(r"[\t\n\f\r ]"),
                Some('S') => out.push_str(r"[^\t\n\f\r ]"),
                Some('b') if !in_class => out.push_str(r"(?-u:\b)"),
                Some('Q') if !in_class => {
                    let text = rest.as_str();
                    let (literal, tail) = text.split_once(r"\E").unwrap_or((text, ""));
                    out.push_str(&regex::escape(literal));
                    rest = tail.chars();
                }
                Some(other) => out.extend(['\\', other]),
                None => out.push('\\'),
            },
            '[' if in_class && !rest.as_str().starts_with(':') => out.push_str(r"\["),
            '[' if in_class => {
                // A class by name, such as [:alpha:], up to its end.
                let text = rest.as_str();
                match text.split_once(":]") {
                    Some((name, tail)) => {
                        out.push('[');
                        out.push_str(name);
                        out.push_str(":]");
                        rest = tail.chars();
                    }
                    None => out.push_str(r"\["),
                }
            }
            '[' => {
                in_class = true;
                out.push('[');
                // A bracket that stands first is a member.
                let mut text = rest.as_str();
                if let Some(tail) = text.strip_prefix('^') {
                    out.push('^');
                    text = tail;
                }
                if let Some(tail) = text.strip_prefix(']') {
                    out.push_str(r"\]");
                    text = tail;
                }
                rest = text.chars();
            }
            ']' if in_class => {
                in_class = false;
                out.push(']');
            }
            // Rust's classes have set operations, which RE2's do not.
            '&' | '~' if in_class => out.extend(['\\', each]),
            '-' if in_class && rest.as_str().starts_with('-') => out.push_str(r"\-"),
            other => out.push(other),
        }
    }
    out
}
