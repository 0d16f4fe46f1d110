use super::json::Json;
use super::refusal::Refusal;

/// What a package.json says about modules.
#[derive(Clone, Debug, Default)]
pub(crate) struct Package {
    /// Its folder.
    pub(crate) folder: String,
    pub(crate) name: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) main: Option<String>,
    pub(crate) kind: PackageKind,
    pub(crate) exports: Option<Json>,
    pub(crate) imports: Option<Json>,
}

/// Its `type`: what files ending in `.js` are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PackageKind {
    /// It says nothing: their syntax tells.
    #[default]
    Unsaid,
    CommonJs,
    Module,
}

impl Package {
    /// # Errors
    /// It is no JSON.
    pub(crate) fn parse(folder: &str, bytes: &[u8]) -> Result<Self, Refusal> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let json: Json = serde_json::from_slice(bytes).map_err(|error| {
            Refusal::error(
                "ERR_INVALID_PACKAGE_CONFIG",
                format!("Invalid package config {folder}/package.json. {error}"),
            )
        })?;
        let text = |name: &str| json.get(name).and_then(Json::text).map(str::to_owned);
        let kind = match json.get("type").and_then(Json::text) {
            Some("module") => PackageKind::Module,
            Some("commonjs") => PackageKind::CommonJs,
            _ => PackageKind::Unsaid,
        };
        let some = |name: &str| json.get(name).filter(|value| **value != Json::Null).cloned();
        Ok(Self {
            folder: folder.to_owned(),
            name: text("name"),
            version: text("version"),
            main: text("main"),
            kind,
            exports: some("exports"),
            imports: json.get("imports").filter(|value| matches!(value, Json::Object(_))).cloned(),
        })
    }

    /// The first number of its version, or 0.
    pub(crate) fn major(&self) -> u32 {
        let major = self.version.as_deref().and_then(|version| version.split('.').next());
        major.and_then(|major| major.parse().ok()).unwrap_or(0)
    }
}
