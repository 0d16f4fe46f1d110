use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use bytes::Bytes;
use leat_schema::{Method, Schema};
use tokio::sync::oneshot;

use super::write::rule;
use super::{Recorded, file_name, rules};

/// Calls of one method that are kept; what comes later is not recorded, and its caller is told.
const CALLS_MAX: usize = 2_000;

/// The same in bytes: all of them are held, since a request that is answered otherwise makes another rule of an old one.
const METHOD_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Writes recorded calls down, on a thread of its own that ends with the last of its users.
#[derive(Debug)]
pub struct Recorder {
    folder: PathBuf,
    upstream: String,
    calls: Sender<Note>,
}

struct Note {
    schema: Arc<Schema>,
    call: Recorded,
    done: oneshot::Sender<Result<(), String>>,
}

impl Recorder {
    /// Makes the folder, and starts the thread. A file that is there is replaced when a call of its method is recorded.
    ///
    /// # Errors
    /// The folder can't be made.
    pub fn start(folder: &Path, upstream: &str) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let (calls, received) = channel();
        let (into, from) = (folder.to_owned(), upstream.to_owned());
        std::thread::Builder::new().name("leat-recorder".into()).spawn(move || write_all(&received, &into, &from))?;
        Ok(Self { folder: folder.to_owned(), upstream: upstream.to_owned(), calls })
    }

    /// Whether it writes what was asked for.
    pub fn is_for(&self, folder: &Path, upstream: &str) -> bool {
        self.folder == folder && self.upstream == upstream
    }

    /// Writes a call down; ready when the file has it.
    ///
    /// # Errors
    /// Why it could not be written, in words.
    pub async fn note(&self, schema: Arc<Schema>, call: Recorded) -> Result<(), String> {
        let (done, written) = oneshot::channel();
        let gone = || "the recorder has ended".to_owned();
        self.calls.send(Note { schema, call, done }).map_err(|_| gone())?;
        written.await.unwrap_or_else(|_| Err(gone()))
    }
}

/// What is kept of one method, and what its file has.
#[derive(Default)]
struct Calls {
    all: Vec<Recorded>,
    bytes: usize,
    /// The answer that each rule gave last, as its place in `all`.
    rules: HashMap<Vec<Bytes>, usize>,
    /// Rules that the file does not have yet.
    added: String,
    /// A rule that the file has is another one now.
    is_changed: bool,
    /// The file's length; 0 where it is not written yet.
    file_bytes: u64,
}

impl Calls {
    /// Keeps a call, unless there is no more room.
    fn take(&mut self, schema: &Schema, method: Option<&Method>, call: Recorded) -> Result<(), String> {
        let bytes = self.bytes.saturating_add(call.cost());
        if self.all.len() >= CALLS_MAX {
            return Err(format!("more than {CALLS_MAX} calls of {} were recorded", call.method));
        }
        if bytes > METHOD_BYTES_MAX {
            return Err(format!("calls of {} with more than {METHOD_BYTES_MAX} bytes were recorded", call.method));
        }
        let last = self.rules.get(&call.requests).and_then(|&last| self.all.get(last));
        let is_new = last.is_none();
        if last.is_none_or(|last| !last.answer.says_the_same(&call.answer)) {
            // What can't be written is known before it is kept: it would spoil what is written with it.
            let mut text = String::new();
            if let Some(method) = method {
                rule(&mut text, schema, method, self.rules.len() + 1, &call, &[&call.answer])?;
            }
            match is_new {
                true => self.added.push_str(&text),
                // The rule becomes a sequence, or a longer one.
                false => self.is_changed = true,
            }
            self.rules.insert(call.requests.clone(), self.all.len());
        }
        self.bytes = bytes;
        self.all.push(call);
        Ok(())
    }

    /// Brings the file up to date. New rules are appended in one write; where another one has changed, or somebody has touched the
    /// file, it is replaced.
    fn write(&mut self, path: &Path, schema: &Schema, method: &Method, upstream: &str) -> Result<(), String> {
        let wrong = |error: io::Error| format!("the recording can't be written: {error}");
        let added = std::mem::take(&mut self.added);
        let before = std::mem::take(&mut self.file_bytes);
        let is_changed = std::mem::take(&mut self.is_changed);
        if before > 0 && !is_changed && std::fs::metadata(path).is_ok_and(|file| file.len() == before) {
            append(path, &added).map_err(wrong)?;
            self.file_bytes = before + added.len() as u64;
            return Ok(());
        }
        let text = rules(schema, method, upstream, &self.all)?;
        replace(path, &text).map_err(wrong)?;
        self.file_bytes = text.len() as u64;
        Ok(())
    }
}

/// Takes what has come together, writes each file once, and then says that it was done.
fn write_all(received: &Receiver<Note>, folder: &Path, upstream: &str) {
    let mut recorded: BTreeMap<String, Calls> = BTreeMap::new();
    while let Ok(first) = received.recv() {
        let mut changed = BTreeSet::new();
        let mut waiting = Vec::new();
        let schema = Arc::clone(&first.schema);
        for Note { schema, call, done } in std::iter::once(first).chain(received.try_iter()) {
            let name = call.method.clone();
            let calls = recorded.entry(name.clone()).or_default();
            match calls.take(&schema, schema.method_named(&name), call) {
                Ok(()) => {
                    changed.insert(name);
                    waiting.push(done);
                }
                // Who asked may have gone; so may those below.
                Err(message) => drop(done.send(Err(message))),
            }
        }
        let mut result = Ok(());
        for name in &changed {
            if let (Some(method), Some(calls)) = (schema.method_named(name), recorded.get_mut(name)) {
                result = result.and(calls.write(&folder.join(file_name(method)), &schema, method, upstream));
            }
        }
        for done in waiting {
            let _ = done.send(result.clone());
        }
    }
}

/// Appends to a file that is there, in one write.
fn append(path: &Path, text: &str) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    OpenOptions::new().append(true).open(path)?.write_all(text.as_bytes())
}

/// Whoever reads the file sees the old one or the new one.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let beside = path.with_extension("yaml.new");
    std::fs::write(&beside, text)?;
    std::fs::rename(&beside, path)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use leat_rpc_wire::{Metadata, Status};

    use super::*;
    use crate::mock::record::Answered;

    #[test]
    fn the_calls_of_a_method_are_bounded_in_number_and_in_bytes() {
        for (bytes, wanted) in [(0, CALLS_MAX), (1_000_000, 67), (40_000_000, 1), (70_000_000, 0)] {
            let answer = Answered {
                headers: Metadata::new(),
                messages: Vec::new(),
                status: Status::OK,
                end_ms: 0,
                trailers: Metadata::new(),
            };
            let requests = vec![Bytes::from(vec![0; bytes])];
            let call = Recorded { method: "a.B/C".to_owned(), metadata: Metadata::new(), requests, answer };
            let mut calls = Calls::default();
            let schema = schema();
            let taken = (0..3_000).take_while(|_| calls.take(&schema, None, call.clone()).is_ok()).count();
            assert_eq!(taken, wanted, "{bytes}");
        }
    }

    fn schema() -> Arc<Schema> {
        let mut sources = leat_schema::Sources::new();
        sources.proto(
            "a.proto",
            "syntax = \"proto3\"; package a; message M { int32 id = 1; } service B { rpc C(M) returns (M); }",
        );
        sources.build().unwrap()
    }

    fn call(request: u8, answer: u8) -> Recorded {
        let message = |id: u8| Bytes::from(vec![8, id]);
        let answer = Answered {
            headers: Metadata::new(),
            messages: vec![(message(answer), 0)],
            status: Status::OK,
            end_ms: 0,
            trailers: Metadata::new(),
        };
        Recorded { method: "a.B/C".to_owned(), metadata: Metadata::new(), requests: vec![message(request)], answer }
    }

    #[test]
    fn new_requests_are_appended_and_the_file_is_what_it_would_be_anew() {
        let schema = schema();
        let method = schema.method_named("a.B/C").unwrap();
        let folder = leat_testkit::Folder::new();
        let path = folder.path().join("a.yaml");
        let mut calls = Calls::default();
        let inode = || std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(&path).unwrap());
        let mut last = None;
        for (request, answer, what, is_same_file) in [
            (1, 1, "the first", false),
            (2, 1, "another request", true),
            (3, 1, "one more", true),
            (2, 1, "the same answer again", true),
            (2, 9, "another answer: a sequence", false),
            (4, 1, "another request behind it", true),
            (2, 9, "the sequence's last answer again", true),
        ] {
            calls.take(&schema, Some(method), call(request, answer)).unwrap();
            calls.write(&path, &schema, method, "h2c://b").unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            assert_eq!(text, rules(&schema, method, "h2c://b", &calls.all).unwrap(), "{what}");
            assert_eq!(last.replace(inode()) == Some(inode()), is_same_file, "{what}");
        }
    }

    #[test]
    fn a_file_that_somebody_touched_is_written_anew() {
        let schema = schema();
        let method = schema.method_named("a.B/C").unwrap();
        let folder = leat_testkit::Folder::new();
        let path = folder.path().join("a.yaml");
        let mut calls = Calls::default();
        type Touch = fn(&Path);
        let touches: [(&str, Touch); 3] = [
            ("removed", |path| std::fs::remove_file(path).unwrap()),
            ("cut", |path| std::fs::write(path, "rules:\n").unwrap()),
            ("untouched", |_| {}),
        ];
        for (id, (what, touch)) in (1..).zip(touches) {
            calls.take(&schema, Some(method), call(id, 1)).unwrap();
            calls.write(&path, &schema, method, "h2c://b").unwrap();
            touch(&path);
            calls.take(&schema, Some(method), call(id + 10, 1)).unwrap();
            calls.write(&path, &schema, method, "h2c://b").unwrap();
            let text = std::fs::read_to_string(&path).unwrap();
            assert_eq!(text, rules(&schema, method, "h2c://b", &calls.all).unwrap(), "{what}");
        }
    }
}
