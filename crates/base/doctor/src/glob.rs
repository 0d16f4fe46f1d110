//! The patterns of workspaces: `packages/*`, `apps/**`, `!packages/old`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Deeper folders are no members.
const DEPTH_MAX: usize = 12;

/// Adds the folders below `root` that `patterns` name, relative to it; an error if there are more than `count_max`.
pub(crate) fn folders(
    root: &Path,
    patterns: &[String],
    count_max: usize,
    found: &mut BTreeSet<PathBuf>,
) -> Result<(), ()> {
    for pattern in patterns {
        let (excluded, pattern) = pattern.strip_prefix('!').map_or((false, pattern.as_str()), |rest| (true, rest));
        let segments: Vec<&str> = pattern.split('/').filter(|segment| !matches!(*segment, "" | ".")).collect();
        if segments.is_empty() || segments.contains(&"..") {
            continue;
        }
        let mut some = BTreeSet::new();
        expand(root, Path::new(""), &segments, DEPTH_MAX, count_max, &mut some)?;
        if excluded {
            found.retain(|folder| !some.contains(folder));
        } else {
            found.extend(some);
        }
    }
    if found.len() > count_max { Err(()) } else { Ok(()) }
}

fn expand(
    root: &Path,
    at: &Path,
    segments: &[&str],
    depth: usize,
    count_max: usize,
    found: &mut BTreeSet<PathBuf>,
) -> Result<(), ()> {
    let Some((segment, rest)) = segments.split_first() else {
        if !at.as_os_str().is_empty() && root.join(at).join("package.json").is_file() {
            found.insert(at.to_owned());
        }
        return if found.len() > count_max { Err(()) } else { Ok(()) };
    };
    if depth == 0 {
        return Ok(());
    }
    if !segment.contains('*') {
        return expand(root, &at.join(segment), rest, depth - 1, count_max, found);
    }
    if *segment == "**" {
        expand(root, at, rest, depth, count_max, found)?;
    }
    let Ok(entries) = fs::read_dir(root.join(at)) else { return Ok(()) };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(text) = name.to_str() else { continue };
        // Links are not followed, since they may lead in a circle.
        if text == "node_modules" || text.starts_with('.') || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        if *segment == "**" {
            expand(root, &at.join(text), segments, depth - 1, count_max, found)?;
        } else if matches(segment, text) {
            expand(root, &at.join(text), rest, depth - 1, count_max, found)?;
        }
    }
    Ok(())
}

/// Whether `name` is `pattern`, in which `*` stands for anything.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else { return pattern == name };
    let Some(rest) = name.strip_prefix(head) else { return false };
    (0..=rest.len()).filter_map(|at| rest.get(at..)).any(|behind| matches(tail, behind))
}
