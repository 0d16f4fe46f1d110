use std::path::Path;

use serde_json::Value;

use crate::project::read_bounded;

/// Those of the largest workspaces have a few tens of megabytes.
const LOCK_BYTES_MAX: u64 = 256 << 20;

/// A lock file, for a program that is not installed. What can't be made out in it is not known; the range is told then.
#[derive(Debug)]
pub(crate) struct Lock {
    form: Form,
    /// The app's folder, relative to the lock file's, with `/`.
    place: String,
}

#[derive(Debug)]
enum Form {
    Npm(Box<Value>),
    Yarn(String),
    Pnpm(String),
    Bun(String),
}

impl Lock {
    /// The lock file in `above` for the app in `folder`, which is there or below.
    pub(crate) fn read(above: &Path, folder: &Path) -> Option<Self> {
        let read = |name: &str| read_bounded(&above.join(name), LOCK_BYTES_MAX).ok().flatten();
        let npm = || ["package-lock.json", "npm-shrinkwrap.json"].into_iter().find_map(read);
        let form = if let Some(text) = npm() {
            Form::Npm(Box::new(serde_json::from_str(&text).ok()?))
        } else if let Some(text) = read("pnpm-lock.yaml") {
            Form::Pnpm(text)
        } else if let Some(text) = read("yarn.lock") {
            Form::Yarn(text)
        } else {
            Form::Bun(read("bun.lock")?)
        };
        let place = folder.strip_prefix(above).ok()?.to_str()?.replace('\\', "/");
        Some(Self { form, place })
    }

    /// The locked version of what `range` asks for.
    pub(crate) fn version(&self, package: &str, range: &str) -> Option<String> {
        match &self.form {
            Form::Npm(lock) => npm(lock, &self.place, package),
            Form::Yarn(text) => yarn(text, package, range),
            Form::Pnpm(text) => pnpm(text, &self.place, package),
            Form::Bun(text) => bun(text, package),
        }
    }
}

/// Versions 2 and 3 have every folder of `node_modules`; version 1 has the names.
fn npm(lock: &Value, place: &str, package: &str) -> Option<String> {
    let text = |value: &Value| value.get("version").and_then(Value::as_str).map(ToOwned::to_owned);
    if let Some(packages) = lock.get("packages") {
        let own = (!place.is_empty()).then(|| format!("{place}/node_modules/{package}"));
        let found = own.and_then(|own| packages.get(own)).or_else(|| packages.get(format!("node_modules/{package}")));
        return found.and_then(text);
    }
    lock.get("dependencies")?.get(package).and_then(text)
}

/// Entries start in the first column with what was asked for; both of Yarn's forms.
fn yarn(text: &str, package: &str, range: &str) -> Option<String> {
    let mut first = None;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with([' ', '#']) || !line.ends_with(':') {
            continue;
        }
        let mut asked = line.trim_end_matches(':').split(',').map(|one| one.trim().trim_matches('"'));
        let wanted =
            |one: &str| one.strip_prefix(package).and_then(|rest| rest.strip_prefix('@')).map(ToOwned::to_owned);
        let ranges: Vec<String> = asked.by_ref().filter_map(wanted).collect();
        if ranges.is_empty() {
            continue;
        }
        let version = lines.by_ref().map(str::trim).find_map(|line| line.strip_prefix("version"));
        let version = version?.trim_start_matches(':').trim().trim_matches('"').to_owned();
        if ranges.iter().any(|one| one.strip_prefix("npm:").unwrap_or(one) == range) {
            return Some(version);
        }
        first.get_or_insert(version);
    }
    first
}

/// An importer's block, or the whole file in old ones; `name: 1.2.3`, or `name:` and below it `version: 1.2.3(peer@1)`.
fn pnpm(text: &str, place: &str, package: &str) -> Option<String> {
    let place = if place.is_empty() { "." } else { place };
    let key = |line: &str| line.trim().strip_suffix(':').map(|key| key.trim_matches(['\'', '"']).to_owned());
    let mut lines = text.lines();
    let is_importer = |line: &str| indent(line) == 2 && key(line).as_deref() == Some(place);
    let mut inside = 0;
    if text.lines().any(|line| line == "importers:") {
        lines.by_ref().find(|line| is_importer(line))?;
        inside = 4;
    }
    let mut block = lines.take_while(|line| {
        line.is_empty() || indent(line) >= inside && !(inside == 0 && line.trim_end() == "packages:")
    });
    while let Some(line) = block.next() {
        if key(line).as_deref() == Some(package) {
            let depth = indent(line);
            let below = block.take_while(|line| indent(line) > depth);
            return below.filter_map(|line| line.trim().strip_prefix("version:")).map(plain).next();
        }
        if let Some((name, version)) = line.trim().split_once(": ")
            && name.trim_matches(['\'', '"']) == package
        {
            return Some(plain(version));
        }
    }
    None
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// A version without what pnpm writes behind it.
fn plain(version: &str) -> String {
    let version = version.trim().trim_matches(['\'', '"']);
    version.split(['(', '_']).next().unwrap_or(version).to_owned()
}

/// `"name": ["name@1.2.3", …`, in JSON with commas that JSON does not have.
fn bun(text: &str, package: &str) -> Option<String> {
    let start = format!("\"{package}\": [\"{package}@");
    let rest = text.lines().find_map(|line| line.trim_start().strip_prefix(&start))?;
    rest.split('"').next().map(ToOwned::to_owned)
}
