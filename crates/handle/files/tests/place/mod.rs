//! A directory for a test, and requests for what is in it.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use leat_files::{Files, Settings};
use leat_message::{Exchange, Reason};
use leat_testkit::RecordedExchange;

/// When the files of a test were last changed: long ago, so that tags are strong.
pub(crate) const MODIFIED: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
pub(crate) const BEFORE: &str = "Sun, 06 Nov 1994 08:49:36 GMT";
pub(crate) const AFTER: &str = "Sun, 06 Nov 1994 08:49:38 GMT";

pub(crate) fn modified() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777)
}

/// A directory of its own for each test, removed afterwards. The root is a directory inside it.
pub(crate) struct Place(pub(crate) PathBuf);

impl Place {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let place = std::env::temp_dir().join(format!("leat-files-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(place.join("site")).unwrap();
        Self(place)
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.0.join("site")
    }

    /// Writes a file below the root, and the directories on the way.
    pub(crate) fn file(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        File::options().write(true).open(&path).unwrap().set_modified(modified()).unwrap();
        path
    }

    pub(crate) fn settings(&self) -> Settings {
        Settings::new(self.root())
    }

    pub(crate) fn files(&self) -> Files {
        Files::new(self.settings()).unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The alphabet, again and again.
pub(crate) fn letters(count: usize) -> Vec<u8> {
    (b'a'..=b'z').cycle().take(count).collect()
}

/// What became of a request: the exchange, and the reason if it failed.
pub(crate) struct Outcome {
    pub(crate) x: RecordedExchange,
    pub(crate) reason: Option<Reason>,
}

impl Outcome {
    /// The status that the client sees: of a reply, or of the error reply.
    pub(crate) fn status(&self) -> u16 {
        self.reason.map_or(self.x.status(), Reason::status)
    }

    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.x.reply_field(name)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(self.x.reply_body()).into_owned()
    }
}

pub(crate) fn answer(files: &Files, x: RecordedExchange) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut x = x;
    let path = x.request().path().to_vec();
    let reason = runtime.block_on(files.serve(&path, &mut x)).err().map(|fault| fault.reason);
    assert!(reason.is_some() || x.is_complete(), "{x:?}");
    Outcome { x, reason }
}

pub(crate) fn get(files: &Files, target: &str) -> Outcome {
    answer(files, RecordedExchange::new("GET", target))
}

pub(crate) fn get_with(files: &Files, target: &str, fields: &[(&str, &str)]) -> Outcome {
    let x = RecordedExchange::new("GET", target);
    answer(files, fields.iter().fold(x, |x, (name, value)| x.with_field(name, value)))
}
