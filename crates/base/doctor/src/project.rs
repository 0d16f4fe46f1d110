use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::DoctorError;
use crate::glob;
use crate::installed::Installed;

/// No manifest is longer, by far.
const MANIFEST_BYTES_MAX: u64 = 4 << 20;
/// The largest workspaces have hundreds.
pub(crate) const MEMBERS_MAX: usize = 5000;

const GROUPS: [&str; 3] = ["dependencies", "optionalDependencies", "devDependencies"];

/// An app, or a member of a workspace.
#[derive(Debug)]
pub(crate) struct Project {
    /// Relative to the folder that was asked for; empty for itself.
    pub(crate) place: PathBuf,
    pub(crate) name: Option<String>,
    pub(crate) dependencies: Vec<Dependency>,
    installed: Installed,
}

/// What a manifest asks for.
#[derive(Debug)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) range: String,
}

impl Project {
    /// The app in `folder` and the members of its workspace, in the order of their places.
    pub(crate) fn all_in(folder: &Path) -> Result<Vec<Self>, DoctorError> {
        let root = folder.canonicalize().map_err(|error| DoctorError::Folder { path: folder.to_owned(), error })?;
        let Some(manifest) = read_manifest(&folder.join("package.json"))? else {
            return Err(DoctorError::NoManifest { folder: folder.to_owned() });
        };
        let mut projects = vec![Self::new(&root, PathBuf::new(), &manifest)];
        let patterns = workspaces(&root, &manifest);
        let mut places = BTreeSet::new();
        glob::folders(&root, &patterns, MEMBERS_MAX, &mut places)
            .map_err(|()| DoctorError::TooManyMembers { folder: folder.to_owned(), members_max: MEMBERS_MAX })?;
        for place in places {
            if let Some(manifest) = read_manifest(&folder.join(&place).join("package.json"))? {
                projects.push(Self::new(&root, place, &manifest));
            }
        }
        Ok(projects)
    }

    fn new(root: &Path, place: PathBuf, manifest: &Value) -> Self {
        let mut dependencies: Vec<Dependency> = Vec::new();
        for (name, range) in GROUPS.iter().filter_map(|group| manifest.get(group)?.as_object()).flatten() {
            if dependencies.iter().any(|known| &known.name == name) {
                continue;
            }
            dependencies.push(Dependency { name: name.clone(), range: range.as_str().unwrap_or("*").to_owned() });
        }
        dependencies.sort_by(|one, other| one.name.cmp(&other.name));
        let name = manifest.get("name").and_then(Value::as_str).map(ToOwned::to_owned);
        Self { installed: Installed::new(&root.join(&place)), place, name, dependencies }
    }

    pub(crate) fn dependency(&self, name: &str) -> Option<&Dependency> {
        self.dependencies.iter().find(|dependency| dependency.name == name)
    }

    /// The version that is installed or, if it is not, locked.
    pub(crate) fn version_of(&self, dependency: &Dependency) -> Option<String> {
        self.installed.version(&dependency.name, &dependency.range)
    }

    /// Whether an installed package calls itself Express's.
    pub(crate) fn is_middleware(&self, package: &str) -> bool {
        let Some(manifest) = self.installed.manifest(package) else { return false };
        let peer = manifest.get("peerDependencies").and_then(|peers| peers.get("express")).is_some();
        let keywords = manifest.get("keywords").and_then(Value::as_array);
        peer || keywords.is_some_and(|words| words.iter().filter_map(Value::as_str).any(is_express))
    }
}

fn is_express(keyword: &str) -> bool {
    matches!(
        keyword.to_ascii_lowercase().as_str(),
        "express" | "expressjs" | "express-middleware" | "express middleware"
    )
}

/// The patterns of members: npm, Yarn and Bun have them in the manifest, pnpm has a file.
fn workspaces(root: &Path, manifest: &Value) -> Vec<String> {
    let listed = manifest.get("workspaces");
    let listed = listed.and_then(|found| found.get("packages")).or(listed).and_then(Value::as_array);
    if let Some(listed) = listed {
        return listed.iter().filter_map(Value::as_str).map(ToOwned::to_owned).collect();
    }
    let Ok(text) = fs::read_to_string(root.join("pnpm-workspace.yaml")) else { return Vec::new() };
    let mut lines = text.lines().skip_while(|line| line.trim_end() != "packages:").skip(1);
    let item = |line: &str| {
        let item = line.trim().strip_prefix("- ")?;
        let item = item.split(" #").next().unwrap_or(item).trim();
        Some(item.trim_matches(['"', '\'']).to_owned())
    };
    let mut patterns = Vec::new();
    for line in lines.by_ref() {
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        match item(line) {
            Some(pattern) => patterns.push(pattern),
            None => break,
        }
    }
    patterns
}

/// `None` if there is no such file.
pub(crate) fn read_manifest(path: &Path) -> Result<Option<Value>, DoctorError> {
    let Some(text) = read_bounded(path, MANIFEST_BYTES_MAX)? else { return Ok(None) };
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let manifest: Value = serde_json::from_str(text).map_err(|error| DoctorError::json(path, &error))?;
    if manifest.is_object() {
        return Ok(Some(manifest));
    }
    let what = "a package.json is an object: { \"name\": …, \"dependencies\": … }".to_owned();
    Err(DoctorError::Malformed { path: path.to_owned(), line: 1, column: 1, what })
}

/// `None` if there is no such file.
pub(crate) fn read_bounded(path: &Path, bytes_max: u64) -> Result<Option<String>, DoctorError> {
    let unreadable = |error| DoctorError::Unreadable { path: path.to_owned(), error };
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(unreadable(error)),
    };
    let mut text = String::new();
    file.take(bytes_max + 1).read_to_string(&mut text).map_err(unreadable)?;
    if text.len() as u64 > bytes_max {
        return Err(DoctorError::TooLong { path: path.to_owned(), bytes_max });
    }
    Ok(Some(text))
}
