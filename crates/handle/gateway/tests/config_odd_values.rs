//! Every value of every good configuration, replaced by values that no key expects: each is read, or refused with a
//! reason that has a place.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;

use leat_gateway::config;

const ODD: [&str; 18] = [
    "[]",
    "{}",
    "~",
    "\"\"",
    "\" \"",
    "0",
    "-1",
    "0.5",
    "99999999999999999999",
    "0s",
    "off",
    "true",
    "*",
    "[\"\"]",
    "[[]]",
    "[~, ~]",
    "{ a: ~ }",
    "\"é\\t{}\"",
];

/// Where each value begins and ends: behind `key: ` to the end of the scalar or of the brackets.
fn values(text: &str) -> Vec<(usize, usize)> {
    let bytes = text.as_bytes();
    let starts = text.match_indices(": ").map(|(at, _)| at + 2).filter(|start| {
        let line = text[..*start].rfind('\n').map_or(0, |at| at + 1);
        !text[line..*start].contains('#') && bytes.get(*start).is_some_and(|byte| !b" \n|>&".contains(byte))
    });
    starts.map(|start| (start, start + length(&bytes[start..]))).collect()
}

/// How long the value is that these bytes begin with.
fn length(bytes: &[u8]) -> usize {
    let (mut depth, mut quote) = (0, None);
    for (at, &byte) in bytes.iter().enumerate() {
        match (quote, byte) {
            (Some(open), _) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') if at == 0 || !bytes[at - 1].is_ascii_alphanumeric() => quote = Some(byte),
            (None, b'[' | b'{') => depth += 1,
            (None, b']' | b'}' | b',') if depth == 0 => return at,
            (None, b']' | b'}') => depth -= 1,
            (None, b'\n') if depth == 0 => return at,
            _ => {}
        }
    }
    bytes.len()
}

#[test]
fn odd_values_of_every_key_are_read_or_refused_with_a_reason() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../corpus/config");
    let (mut count, mut silent) = (0, Vec::new());
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.starts_with("good-") || !name.ends_with(".yaml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for (start, end) in values(&text) {
            for odd in ODD {
                let changed = format!("{}{odd}{}", &text[..start], &text[end..]);
                let read = std::panic::catch_unwind(|| config::parse(&changed, "leat.yaml", &folder).map(|_| ()));
                let at = text[..start].matches('\n').count() + 1;
                match read {
                    Ok(Ok(())) => {}
                    Ok(Err(problems)) => {
                        let placed = problems.iter().all(|problem| problem.place().is_some());
                        assert!(placed && !problems.is_empty(), "{name}:{at}: {odd}: {problems:?}");
                    }
                    Err(_) => silent.push(format!("{name}:{at}: `{}` as {odd}", &text[start..end])),
                }
                count += 1;
            }
        }
    }
    assert!(silent.is_empty(), "{silent:#?}");
    assert!(count > 5_000, "only {count} cases: the test shows nothing");
}
