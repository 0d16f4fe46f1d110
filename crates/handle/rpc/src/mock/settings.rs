use std::path::PathBuf;

use super::journal::JournalLimits;
use crate::client::Backend;
use crate::validate::Mode;

/// What a mock is made of, and how it answers.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Folders and files of `.proto`, sets of descriptors (`protoc --descriptor_set_out`) and images of buf, told apart by
    /// their content.
    pub proto: Vec<PathBuf>,
    /// Folders that imports are looked up in, beside those of `proto`.
    pub include: Vec<PathBuf>,
    /// A server whose reflection tells the schema.
    pub reflect: Option<Backend>,
    /// Files of rules, and folders of them.
    pub rules: Vec<PathBuf>,
    /// Whether requests are held against the constraints of the schema.
    pub validate: Mode,
    /// Whether a call that no rule answers gets a made-up message.
    pub fake: bool,
    /// What made-up values, weights and delays are drawn from: the same seed, the same answers.
    pub seed: u64,
    /// Metadata whose value tells sessions apart, in lower case.
    pub session_key: Option<String>,
    /// How many calls are kept, to look at and to verify.
    pub journal: JournalLimits,
    /// Names of metadata whose values are neither kept nor recorded, in lower case, beside those that sound secret.
    pub redact: Vec<String>,
    /// Where calls go on to be recorded.
    pub record: Option<Record>,
}

/// Calls go on to a backend, and become rules.
#[derive(Clone, Debug)]
pub struct Record {
    /// The backend.
    pub upstream: Backend,
    /// Where the files of rules go, one for each method.
    pub folder: PathBuf,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            proto: Vec::new(),
            include: Vec::new(),
            reflect: None,
            rules: Vec::new(),
            validate: Mode::Auto,
            fake: false,
            seed: 0,
            session_key: None,
            journal: JournalLimits::default(),
            redact: Vec::new(),
            record: None,
        }
    }
}

impl Settings {
    /// The files and folders whose change is a change of the mock.
    pub fn watched(&self) -> Vec<PathBuf> {
        super::files::watched(&self.rules, &self.proto)
    }
}
