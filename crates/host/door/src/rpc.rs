use std::fmt::Display;
use std::sync::Arc;

use bytes::Bytes;
use leat_message::{Head, Method as HttpMethod};
use leat_rpc::serve::Cors;
use leat_rpc::transcode::{Behind, Compressing, Settings, Transcoder, Unknown};
use leat_schema::Sources;

/// A server of RPC: what speaks another protocol than gRPC comes to the program as gRPC.
#[derive(Clone, Debug)]
pub struct Rpc {
    /// The methods.
    pub transcoder: Arc<Transcoder>,
    /// Whether the program answers requests that call none of them.
    pub has_fallback: bool,
    /// Which pages may call.
    pub cors: Cors,
}

/// What is up to the program of such a server.
#[derive(Clone, Debug, Default)]
pub struct RpcSettings {
    /// Longest message of a client, in bytes; the engine's default unless told.
    pub message_bytes_max: Option<f64>,
    /// See [`Rpc::has_fallback`].
    pub has_fallback: bool,
    /// Which pages may call: all of them unless told.
    pub cors: Cors,
    /// The codings that replies are compressed by, the first that a client takes; none unless told.
    pub codings: Vec<String>,
    /// Shortest message that is compressed, in bytes; 0 unless told.
    pub compress_bytes_min: Option<f64>,
}

impl Rpc {
    /// Reads a set of descriptors.
    ///
    /// # Errors
    /// What is wrong with it, as sentences.
    pub fn new(descriptors: Vec<u8>, given: RpcSettings) -> Result<Self, String> {
        let mut sources = Sources::new();
        sources.descriptor_set("descriptors", Bytes::from(descriptors));
        let schema = sources.build().map_err(|problems| sentences(&problems))?;
        let mut settings = Settings { unknown: Unknown::Ignore, behind: Behind::Program, ..Settings::default() };
        if let Some(bytes) = bytes(given.message_bytes_max) {
            settings.message_bytes_max = bytes;
        }
        // A program's own replies are as long as it wants them.
        settings.reply_bytes_max = u32::MAX as usize;
        let names = given.codings.iter().map(String::as_str);
        settings.compressing = Compressing::by_names(names, bytes(given.compress_bytes_min).unwrap_or_default())?;
        let transcoder = Transcoder::new(schema, settings).map_err(|problems| sentences(&problems))?;
        Ok(Self { transcoder: Arc::new(transcoder), has_fallback: given.has_fallback, cors: given.cors })
    }

    /// Whether a request is one of the methods' and no program's: OPTIONS asks about a path, and calls only what it is bound to.
    pub(crate) fn calls(&self, request: Head<'_>) -> bool {
        self.transcoder.knows(request)
            && (request.method() != HttpMethod::Options || self.transcoder.explain(request).is_ok())
    }
}

/// A number of JavaScript's that is one of bytes.
fn bytes(given: Option<f64>) -> Option<usize> {
    given.filter(|bytes| bytes.is_finite() && *bytes >= 0.0).map(|bytes| bytes as usize)
}

fn sentences<P: Display>(problems: &[P]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// A `FileDescriptorSet` of all files that these paths stand for (.proto files, folders of them, descriptor sets), and of what they
/// import, each behind what it needs.
///
/// # Errors
/// What is wrong with them, as sentences with places.
pub fn descriptors(paths: &[String], includes: &[String]) -> Result<Vec<u8>, String> {
    let mut sources = Sources::new();
    for folder in includes {
        sources.include(folder);
    }
    for path in paths {
        sources.path(path);
    }
    let schema = sources.build().map_err(|problems| sentences(&problems))?;
    let mut set = Vec::new();
    for file in schema.files() {
        // Field 1 of the set, a message.
        set.push(0x0a);
        let mut left = file.bytes.len();
        while left > 0x7f {
            set.push((left & 0x7f) as u8 | 0x80);
            left >>= 7;
        }
        set.push(left as u8);
        set.extend_from_slice(&file.bytes);
    }
    Ok(set)
}
