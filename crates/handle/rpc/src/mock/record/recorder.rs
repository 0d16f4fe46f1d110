use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use leat_schema::Schema;
use tokio::sync::oneshot;

use super::{Recorded, file_name, rules};

/// Calls of one method that are kept; what comes later is not recorded, and its caller is told.
const CALLS_MAX: usize = 2_000;

/// The same in bytes: the whole file is written anew for each call.
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

/// What is kept of one method.
#[derive(Default)]
struct Calls {
    all: Vec<Recorded>,
    bytes: usize,
}

impl Calls {
    /// Keeps a call, unless there is no more room.
    fn take(&mut self, call: Recorded) -> Result<(), String> {
        let bytes = self.bytes.saturating_add(call.cost());
        if self.all.len() >= CALLS_MAX {
            return Err(format!("more than {CALLS_MAX} calls of {} were recorded", call.method));
        }
        if bytes > METHOD_BYTES_MAX {
            return Err(format!("calls of {} with more than {METHOD_BYTES_MAX} bytes were recorded", call.method));
        }
        self.bytes = bytes;
        self.all.push(call);
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
            let calls = recorded.entry(call.method.clone()).or_default();
            let method = call.method.clone();
            let written =
                schema.method_named(&method).map(|method| rules(&schema, method, upstream, slice::from_ref(&call)));
            match written.unwrap_or(Ok(String::new())).and_then(|_| calls.take(call)) {
                Ok(()) => {
                    changed.insert(method);
                    waiting.push(done);
                }
                // Who asked may have gone; so may those below.
                Err(message) => drop(done.send(Err(message))),
            }
        }
        let mut result = Ok(());
        for name in &changed {
            if let (Some(method), Some(calls)) = (schema.method_named(name), recorded.get(name).map(|calls| &calls.all))
            {
                let written = rules(&schema, method, upstream, calls).and_then(|text| {
                    let replaced = replace(&folder.join(file_name(method)), &text);
                    replaced.map_err(|error| format!("the recording can't be written: {error}"))
                });
                result = result.and(written);
            }
        }
        for done in waiting {
            let _ = done.send(result.clone());
        }
    }
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
            let taken = (0..3_000).take_while(|_| calls.take(call.clone()).is_ok()).count();
            assert_eq!(taken, wanted, "{bytes}");
        }
    }
}
