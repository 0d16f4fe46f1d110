use std::path::{Path, PathBuf};
use std::sync::Arc;

use leat_rpc::transcode::Transcoder;

use super::mirror::Mirror;
use super::template::Template;

/// A redirect.
#[derive(Clone, Debug)]
pub struct Redirect {
    pub(super) to: Template,
    pub(super) status: u16,
}

impl Redirect {
    /// What `Location` says.
    pub fn to(&self) -> &Template {
        &self.to
    }

    /// 301, 302, 303, 307 or 308.
    pub fn status(&self) -> u16 {
        self.status
    }
}

/// A directory whose files are served.
#[derive(Clone, Debug)]
pub struct Files {
    pub(super) root: PathBuf,
    pub(super) index: Vec<String>,
    pub(super) precompressed: Vec<Coding>,
    pub(super) hidden: bool,
    pub(super) cache_control: Option<String>,
}

impl Files {
    /// The directory; it was there when the configuration was read.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Names of files that stand for their directory, in order of preference.
    pub fn index(&self) -> &[String] {
        &self.index
    }

    /// Codings of files that lie beside the plain ones, in order of preference.
    pub fn precompressed(&self) -> &[Coding] {
        &self.precompressed
    }

    /// Whether names that start with a dot are served.
    pub fn hidden(&self) -> bool {
        self.hidden
    }

    /// The value of `Cache-Control`, if any.
    pub fn cache_control(&self) -> Option<&str> {
        self.cache_control.as_deref()
    }
}

/// A content coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// Brotli, in files that end in `.br`.
    Br,
    /// Zstandard, in files that end in `.zst`.
    Zstd,
    /// gzip, in files that end in `.gz`.
    Gzip,
}

/// How requests are passed on.
#[derive(Clone, Debug)]
pub struct Proxy {
    pub(super) upstream: usize,
    pub(super) splits: Vec<Split>,
    pub(super) mirror: Option<Mirror>,
    pub(super) host: ProxyHost,
    pub(super) response_time_ms: Option<u64>,
    pub(super) idle_time_ms: Option<u64>,
    pub(super) total_time_ms: Option<u64>,
    pub(super) transcoder: Option<Arc<Transcoder>>,
}

impl Proxy {
    /// Index of the upstream in the configuration.
    pub fn upstream(&self) -> usize {
        self.upstream
    }

    /// Requests that go elsewhere; the first that takes a request gets it.
    pub fn splits(&self) -> &[Split] {
        &self.splits
    }

    /// Copies of the requests that go to another upstream as well.
    pub fn mirror(&self) -> Option<&Mirror> {
        self.mirror.as_ref()
    }

    /// Which host the upstream is asked for.
    pub fn host(&self) -> &ProxyHost {
        &self.host
    }

    /// From the end of the request to the response's head, in milliseconds.
    pub fn response_time_ms(&self) -> Option<u64> {
        self.response_time_ms
    }

    /// How long the upstream may send or take nothing while a body is under way, in milliseconds.
    pub fn idle_time_ms(&self) -> Option<u64> {
        self.idle_time_ms
    }

    /// The whole exchange, in milliseconds.
    pub fn total_time_ms(&self) -> Option<u64> {
        self.total_time_ms
    }
}

/// Requests of a route that go to another upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    pub(super) upstream: usize,
    pub(super) when: SplitWhen,
}

impl Split {
    /// Index of the upstream in the configuration.
    pub fn upstream(&self) -> usize {
        self.upstream
    }

    /// Which requests.
    pub fn when(&self) -> &SplitWhen {
        &self.when
    }
}

/// Which requests a split takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SplitWhen {
    /// This part of them, each by chance.
    Percent(u32),
    /// Those with a header.
    Header {
        /// Its name, in lower case.
        name: String,
        /// What its first value must be, if it matters.
        value: Option<String>,
    },
    /// Those with a cookie.
    Cookie {
        /// Its name.
        name: String,
        /// What it must be, if it matters.
        value: Option<String>,
    },
}

/// Which host an upstream is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProxyHost {
    /// What the client asked for.
    Keep,
    /// The endpoint's own name and port.
    Endpoint,
    /// This one.
    Literal(String),
}
