//! Whatever the text: the reader answers with a configuration or with problems that have a place in the text, and does
//! not panic. Bounded and the same every time.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};

use leat_gateway::config;

const ROUNDS: usize = 3_000;

/// Xorshift: the tests need variety, not quality.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}

fn corpus() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../corpus/config");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    // The bomb is refused too, but takes a while to be.
    files.retain(|path| {
        path.extension().is_some_and(|ext| ext == "yaml") && !path.ends_with("wrong-yaml-alias-bomb.yaml")
    });
    files.sort();
    files.iter().map(|path| std::fs::read_to_string(path).unwrap()).filter(|text| text.len() < 5_000).collect()
}

fn check(text: &str) {
    let Err(problems) = config::parse(text, "leat.yaml", Path::new(".")) else { return };
    assert!(!problems.is_empty(), "refused without a reason: {text}");
    let lines = text.lines().count() as u32 + 1;
    for problem in &problems {
        let shown = problem.to_string();
        assert!(shown.starts_with("leat.yaml:"), "{shown}");
        assert!(problem.place().is_none_or(|place| (1..=lines).contains(&place.line) && place.column >= 1), "{shown}");
        assert!(!problem.message().contains('\n'), "{shown}");
    }
}

#[test]
fn mutated_configurations_are_read_or_refused() {
    let corpus = corpus();
    let pieces = [
        ":",
        "- ",
        "[",
        "]",
        "{",
        "}",
        "\"",
        "'",
        "&a ",
        "*a",
        "!",
        "|",
        ">",
        "%",
        "#",
        "\n",
        "  ",
        "\t",
        "~",
        "null",
        "<<: ",
        "? ",
        "---\n",
        "...\n",
        "é",
        "\u{feff}",
        "\0",
        "\u{7f}",
        "\\",
        "99999999999999999999",
        "-1",
        "off",
        "/",
        "://",
        "@",
        "{*",
        "\r\n",
        "\u{2028}",
    ];
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for _ in 0..ROUNDS {
        let mut text: Vec<char> = corpus[random.below(corpus.len())].chars().collect();
        for _ in 0..1 + random.below(4) {
            let at = random.below(text.len() + 1);
            match random.below(4) {
                0 => {
                    let piece = pieces[random.below(pieces.len())];
                    text.splice(at..at, piece.chars());
                }
                1 => {
                    let end = (at + random.below(12)).min(text.len());
                    text.drain(at..end);
                }
                2 => {
                    let other: Vec<char> = corpus[random.below(corpus.len())].chars().collect();
                    let start = random.below(other.len() + 1);
                    let end = (start + random.below(60)).min(other.len());
                    text.splice(at..at, other[start..end].iter().copied());
                }
                _ => text.truncate(at),
            }
        }
        check(&text.into_iter().collect::<String>());
    }
}

#[test]
fn arbitrary_characters_are_read_or_refused() {
    let mut random = Random(7);
    for _ in 0..ROUNDS {
        let text: String = (0..random.below(60))
            .filter_map(|_| match random.below(3) {
                0 => char::from_u32(random.below(128) as u32),
                1 => Some([' ', '\n', ':', '-', '{', '}', '[', ']', ',', '"'][random.below(10)]),
                _ => char::from_u32(random.below(0x11_0000) as u32),
            })
            .collect();
        check(&text);
    }
}

#[test]
fn large_and_deep_files_are_refused_in_bounded_time() {
    check(&"a".repeat(config::FILE_BYTES_MAX + 1));
    check(&"[".repeat(100_000));
    check(&"- ".repeat(100_000));
    check(&"{a: ".repeat(50_000));
    check(&"? ".repeat(50_000));
    check(&format!("routes: [{}]", "x, ".repeat(20_000)));
    check(&format!("x-a: &a {}\nx-b: [{}]\n", "b".repeat(100), "*a, ".repeat(600_000)));
    check(&(0..5_000).map(|n| format!("k{n}: 1\n")).collect::<String>());
}
