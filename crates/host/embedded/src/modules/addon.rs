//! Native addons: they are made for Node's own engine.

use super::refusal::Refusal;

/// Packages that are addons, and what does the same in JavaScript.
const SUBSTITUTES: &[(&str, &str)] = &[
    ("bcrypt", "bcryptjs"),
    ("argon2", "hash-wasm"),
    ("node-sass", "sass"),
    ("bufferutil", "nothing: ws works without it"),
    ("utf-8-validate", "nothing: ws works without it"),
    ("farmhash", "farmhash-modern"),
    ("xxhash", "xxhash-wasm"),
    ("snappy", "snappyjs"),
    ("re2", "re2-wasm"),
    ("pg-native", "pg"),
    ("hiredis", "redis"),
    ("fsevents", "nothing: it is optional"),
    ("cpu-features", "nothing: it is optional"),
];

/// Packages whose whole purpose is to load addons.
const LOADERS: [&str; 5] = ["bindings", "node-gyp-build", "node-pre-gyp", "@mapbox/node-pre-gyp", "prebuild-install"];

/// The refusal of an addon's file.
pub(crate) fn refusal(path: &str, from: &str) -> Refusal {
    let package = package_of(path).or_else(|| package_of(from));
    let mut message = match package {
        Some(name) => format!("{name} is a native addon, which only Node.js can load ({path})"),
        None => format!("{path} is a native addon, which only Node.js can load"),
    };
    message.push_str(&format!("\nRequired by {from}"));
    if let Some(other) = package.and_then(substitute) {
        message.push_str(&format!("\nIn plain JavaScript: {other}"));
    }
    message.push_str("\nOr run the program on Node.js: node --import leat/register APP");
    Refusal::error("ERR_DLOPEN_FAILED", message)
}

/// What does the same as an addon's package.
pub(crate) fn substitute(package: &str) -> Option<&'static str> {
    SUBSTITUTES.iter().find(|(name, _)| *name == package).map(|(_, other)| *other)
}

/// Whether a package does nothing but load addons.
pub(crate) fn is_loader(package: &str) -> bool {
    LOADERS.contains(&package)
}

/// The package that a path is in.
pub(crate) fn package_of(path: &str) -> Option<&str> {
    let (_, inside) = path.rsplit_once("/node_modules/")?;
    let mut end = inside.find('/')?;
    if inside.starts_with('@') {
        end += 1 + inside.get(end + 1..)?.find('/')?;
    }
    inside.get(..end)
}
