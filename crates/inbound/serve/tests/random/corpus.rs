use std::path::Path;

use serde_json::Value;

/// The bytes of the request cases that are not too long to be varied often.
pub(crate) struct Cases {
    pub(crate) all: Vec<Vec<u8>>,
    /// Those that are accepted to their end, so that another request may follow.
    pub(crate) sound: Vec<Vec<u8>>,
}

pub(crate) fn requests() -> Cases {
    const BYTES_MAX: usize = 4 * 1024;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../corpus/h1/request");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut cases = Cases { all: Vec::new(), sound: Vec::new() };
    for file in files {
        for case in serde_json::from_slice::<Vec<Value>>(&std::fs::read(file).unwrap()).unwrap() {
            let bytes: Vec<u8> = case["pieces"].as_array().unwrap().iter().flat_map(bytes).collect();
            if bytes.len() > BYTES_MAX {
                continue;
            }
            if case["compatible"].as_array().unwrap().iter().all(|entry| entry.get("accept").is_some()) {
                cases.sound.push(bytes.clone());
            }
            cases.all.push(bytes);
        }
    }
    cases
}

/// Each character is one byte; or so many of them.
fn bytes(piece: &Value) -> Vec<u8> {
    let latin1 = |text: &str| -> Vec<u8> { text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect() };
    match piece {
        Value::String(text) => latin1(text),
        _ => latin1(piece["repeat"].as_str().unwrap()).repeat(piece["times"].as_u64().unwrap().try_into().unwrap()),
    }
}
