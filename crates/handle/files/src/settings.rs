use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::Coding;
use crate::beneath::{Root, Wait};

/// What a `files` route serves and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The directory. Looked up anew for each request, so that it may be a symbolic link that a deployment switches.
    pub root: PathBuf,
    /// Names tried in turn for a path that ends in a slash. A directory without any of them is not found; directories
    /// are never listed.
    pub index: Vec<String>,
    /// Codings whose precompressed siblings (`app.js.br` beside `app.js`) are served to clients that accept them; the
    /// first is preferred where the client does not mind. Siblings are trusted to match, whatever their age.
    pub precompressed: Vec<Coding>,
    /// What happens to names that begin with a dot.
    pub hidden: Hidden,
    /// The value of Cache-Control; without one the field is not sent.
    pub cache_control: Option<String>,
}

/// What happens to names that begin with a dot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hidden {
    /// They are refused, except for `/.well-known` (RFC 8615).
    #[default]
    Refuse,
    /// They are served like others.
    Serve,
}

/// Why settings cannot be used.
#[derive(Debug)]
pub enum SettingsError {
    /// The root cannot be opened as a directory.
    Root(PathBuf, io::Error),
    /// An index name is empty, has a slash or begins with a dot.
    Index(String),
    /// The Cache-Control value has a byte that a field value must not have.
    CacheControl(String),
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root(path, error) => {
                write!(
                    f,
                    "the root {} is not a directory that can be read: {error}; name an existing one",
                    path.display()
                )
            }
            Self::Index(name) => {
                write!(f, "the index name {name:?} is not a plain file name; write one such as \"index.html\"")
            }
            Self::CacheControl(value) => {
                write!(
                    f,
                    "cache_control {value:?} is not a field value; write printable ASCII such as \"max-age=3600\""
                )
            }
        }
    }
}

impl std::error::Error for SettingsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Root(_, error) => Some(error),
            Self::Index(_) | Self::CacheControl(_) => None,
        }
    }
}

impl Settings {
    /// Serves `root` with the defaults: `index.html`, all codings, no hidden files, no Cache-Control.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            index: vec!["index.html".into()],
            precompressed: vec![Coding::Br, Coding::Zstd, Coding::Gzip],
            hidden: Hidden::Refuse,
            cache_control: None,
        }
    }

    /// The root, where all is as it should be.
    pub(crate) fn check(&self) -> Result<Root, SettingsError> {
        if let Some(name) =
            self.index.iter().find(|name| name.is_empty() || name.starts_with('.') || name.contains(['/', '\0']))
        {
            return Err(SettingsError::Index(name.clone()));
        }
        if let Some(value) = &self.cache_control
            && (value.is_empty() || !value.bytes().all(|byte| (b' '..=b'~').contains(&byte)))
        {
            return Err(SettingsError::CacheControl(value.clone()));
        }
        let root = Root::new(&self.root);
        root.and_then(|root| root.open(Wait::Allowed).map(|_| root))
            .map_err(|error| SettingsError::Root(self.root.clone(), error.into()))
    }
}
