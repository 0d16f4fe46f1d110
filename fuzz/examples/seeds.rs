//! Writes the cases of `../corpus/h1` as seeds: each as it stands, under a few control bytes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Inputs longer than this teach a fuzzer nothing and slow it down.
const SEED_BYTES_MAX: usize = 4_096;
/// Control bytes: at once and byte by byte, each with both values of the lowest bit.
const CONTROLS: [u8; 4] = [0xe0, 0xe1, 0x00, 0x01];

fn main() -> io::Result<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut seeds = 0;
    for (side, target) in [("request", "head"), ("response", "response")] {
        for case in cases(&here.join("../corpus/h1").join(side))? {
            let Some(bytes) =
                case["pieces"].as_array().map(|pieces| pieces.iter().flat_map(piece).collect::<Vec<u8>>())
            else {
                continue;
            };
            let name = case["name"].as_str().unwrap_or("unnamed");
            seeds += write(&here.join("corpus").join(target), name, &bytes)?;
            let head_end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
            if let Some(body) = head_end.and_then(|at| bytes.get(at + 4..)).filter(|body| !body.is_empty()) {
                seeds += write(&here.join("corpus/chunked"), name, body)?;
            }
        }
    }
    let blocks: Vec<Value> = serde_json::from_slice(&fs::read(here.join("../corpus/h2/hpack.json"))?)?;
    for case in &blocks {
        let name = case["name"].as_str().unwrap_or("unnamed");
        let bytes: Vec<u8> = case["blocks"].as_array().into_iter().flatten().flat_map(block).collect();
        seeds += write(&here.join("corpus/hpack"), name, &bytes)?;
    }
    for (number, script) in scripts().enumerate() {
        seeds += write(&here.join("corpus/h2_connection"), &format!("script-{number}"), &script)?;
    }
    println!("{seeds} seeds");
    Ok(())
}

/// Scripts of games: every choice over and over, in several strides.
fn scripts() -> impl Iterator<Item = Vec<u8>> {
    (1..40_u8).map(|stride| (0..=255_u8).map(|at| at.wrapping_mul(stride)).collect())
}

fn cases(folder: &Path) -> io::Result<Vec<Value>> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    let mut cases = Vec::new();
    for file in files {
        let list: Vec<Value> = serde_json::from_slice(&fs::read(&file)?)?;
        cases.extend(list);
    }
    Ok(cases)
}

/// A piece is a string of bytes, or `{"repeat": string, "times": n}`.
fn piece(piece: &Value) -> Vec<u8> {
    let text = piece.as_str().or_else(|| piece["repeat"].as_str()).unwrap_or_default();
    let bytes: Vec<u8> = text.chars().filter_map(|c| u8::try_from(u32::from(c)).ok()).collect();
    bytes.repeat(piece["times"].as_u64().unwrap_or(1) as usize)
}

/// A block of HPACK behind its length, as the target takes several of them apart.
fn block(block: &Value) -> Vec<u8> {
    let digits = block["bytes"].as_str().unwrap_or_default().chars().filter_map(|c| c.to_digit(16)).collect::<Vec<_>>();
    let bytes = digits.chunks_exact(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect::<Vec<_>>();
    [&[bytes.len() as u8], &bytes[..]].concat()
}

fn write(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<usize> {
    if bytes.len() > SEED_BYTES_MAX {
        return Ok(0);
    }
    fs::create_dir_all(folder)?;
    for control in CONTROLS {
        fs::write(folder.join(format!("{name}-{control:02x}")), [&[control], bytes].concat())?;
    }
    Ok(CONTROLS.len())
}
