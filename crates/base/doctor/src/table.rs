use std::path::Path;

use serde_json::Value;

use crate::error::DoctorError;
use crate::verdict::Verdict;

/// Where the middleware suite keeps its table; it fails when a verdict is not true.
const SHIPPED: &str = include_str!("../../../../packages/leat/src/doctor/middleware.json");

/// What is known of packages, by their names.
#[derive(Debug)]
pub struct Table {
    packages: serde_json::Map<String, Value>,
}

/// What is known of a package with one major version of Express.
pub(crate) struct Row<'a> {
    /// What the suite ran.
    pub(crate) version: &'a str,
    pub(crate) verdict: Verdict,
    pub(crate) why: Option<&'a str>,
}

/// What is known of a package.
pub(crate) struct Entry<'a> {
    value: &'a Value,
}

impl Table {
    /// The one that the binary was built with.
    ///
    /// # Errors
    /// If it is not JSON, which its tests rule out.
    pub fn shipped() -> Result<Self, DoctorError> {
        Self::parse(SHIPPED)
    }

    /// Reads a table.
    ///
    /// # Errors
    /// If it is not a JSON object.
    pub fn parse(text: &str) -> Result<Self, DoctorError> {
        let packages = serde_json::from_str(text)
            .map_err(|error| DoctorError::json(Path::new("packages/leat/src/doctor/middleware.json"), &error))?;
        Ok(Self { packages })
    }

    pub(crate) fn entry(&self, package: &str) -> Option<Entry<'_>> {
        self.packages.get(package).map(|value| Entry { value })
    }
}

impl<'a> Entry<'a> {
    /// `None` if the package itself is not for that Express.
    pub(crate) fn row(&self, express: u64) -> Option<Row<'a>> {
        let row = self.value.get(format!("express{express}"))?;
        Some(Row {
            version: row.get("version")?.as_str()?,
            verdict: Verdict::named(row.get("verdict")?.as_str()?)?,
            why: row.get("why").and_then(Value::as_str),
        })
    }

    pub(crate) fn instead(&self) -> Option<&'a str> {
        self.value.get("instead").and_then(Value::as_str)
    }

    pub(crate) fn note(&self) -> Option<&'a str> {
        self.value.get("note").and_then(Value::as_str)
    }
}
