use std::collections::{HashMap, HashSet, VecDeque};

use bytes::Bytes;
use leat_schema::wire::{Reader, Tag, WireType, put_bytes};

/// Files that are taken of a server, and bytes of all of them together.
pub const FILES_MAX: usize = 20_000;
/// See [`FILES_MAX`].
pub const BYTES_MAX: usize = 256 << 20;

/// Collects the schema of a server by its reflection: gives requests and takes answers, one after the other, over one
/// `ServerReflectionInfo` stream that the caller holds. Knows no connection.
///
/// The server's own services of gRPC (`grpc.…`) are left out.
#[derive(Debug)]
pub struct Collector {
    queue: VecDeque<Want>,
    asked: HashSet<Want>,
    waiting: Option<Want>,
    files: HashMap<String, Vec<u8>>,
    order: Vec<String>,
    bytes: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Want {
    Services,
    Symbol(String),
    File(String),
}

/// Why a server's schema cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The answer is no message, or none that the request asked for.
    Malformed,
    /// The server says no, by a code of gRPC's.
    Refused {
        /// What was asked for.
        what: String,
        /// gRPC's number.
        code: i32,
        /// The server's words.
        message: String,
    },
    /// More than [`FILES_MAX`] files or [`BYTES_MAX`] bytes.
    TooMuch,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Malformed => f.write_str("the server's reflection answers with something else than was asked"),
            Error::Refused { what, code, message } => {
                write!(f, "the server's reflection does not give {what}: {message} (code {code})")
            }
            Error::TooMuch => write!(f, "the server's schema has more than {FILES_MAX} files or {BYTES_MAX} bytes"),
        }
    }
}

impl std::error::Error for Error {}

impl Default for Collector {
    fn default() -> Self {
        Self::new()
    }
}

impl Collector {
    /// Begins with the list of services.
    pub fn new() -> Self {
        Self {
            queue: [Want::Services].into(),
            asked: HashSet::new(),
            waiting: None,
            files: HashMap::new(),
            order: Vec::new(),
            bytes: 0,
        }
    }

    /// The next request in binary form. `None`: everything is there, or the answer to the last one is awaited.
    pub fn request(&mut self) -> Option<Vec<u8>> {
        if self.waiting.is_some() {
            return None;
        }
        let want = loop {
            let want = self.queue.pop_front()?;
            let known = matches!(&want, Want::File(name) if self.files.contains_key(name));
            if !known && self.asked.insert(want.clone()) {
                break want;
            }
        };
        let mut out = Vec::new();
        match &want {
            Want::Services => put_bytes(&mut out, 7, b""),
            Want::Symbol(name) => put_bytes(&mut out, 4, name.as_bytes()),
            Want::File(name) => put_bytes(&mut out, 3, name.as_bytes()),
        }
        self.waiting = Some(want);
        Some(out)
    }

    /// Takes the answer to the last request.
    ///
    /// # Errors
    /// What makes the schema incomplete. A file that is only imported may be missing: whether it is needed shows when the
    /// schema is made.
    pub fn answer(&mut self, response: &[u8]) -> Result<(), Error> {
        let want = self.waiting.take().ok_or(Error::Malformed)?;
        let mut reader = Reader::new(response);
        let mut answered = false;
        while !reader.is_empty() {
            let tag = reader.tag().ok_or(Error::Malformed)?;
            match (tag.number, tag.wire, &want) {
                (4, WireType::Length, Want::Symbol(_) | Want::File(_)) => self.take_files(body(&mut reader)?)?,
                (6, WireType::Length, Want::Services) => self.take_services(body(&mut reader)?)?,
                (7, WireType::Length, want) => refused(want, body(&mut reader)?)?,
                _ => {
                    reader.skip(tag).ok_or(Error::Malformed)?;
                    continue;
                }
            }
            answered = true;
        }
        if answered { Ok(()) } else { Err(Error::Malformed) }
    }

    /// What was collected, as a `FileDescriptorSet`.
    pub fn finish(self) -> Bytes {
        let mut set = Vec::with_capacity(self.bytes + 8 * self.order.len());
        for file in self.order.iter().filter_map(|name| self.files.get(name)) {
            put_bytes(&mut set, 1, file);
        }
        set.into()
    }

    fn take_services(&mut self, list: &[u8]) -> Result<(), Error> {
        for service in strings(list, 1)? {
            for name in strings(service, 1)? {
                let name = std::str::from_utf8(name).map_err(|_| Error::Malformed)?;
                if !name.starts_with("grpc.") {
                    self.queue.push_back(Want::Symbol(name.to_owned()));
                }
            }
        }
        Ok(())
    }

    fn take_files(&mut self, files: &[u8]) -> Result<(), Error> {
        for file in strings(files, 1)? {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|_| Error::Malformed);
            let name = strings(file, 1)?.last().map(|name| text(name)).ok_or(Error::Malformed)??;
            if self.files.contains_key(&name) {
                continue;
            }
            self.bytes += file.len();
            if self.files.len() == FILES_MAX || self.bytes > BYTES_MAX {
                return Err(Error::TooMuch);
            }
            for import in strings(file, 3)? {
                self.queue.push_back(Want::File(text(import)?));
            }
            self.order.push(name.clone());
            self.files.insert(name, file.to_vec());
        }
        Ok(())
    }
}

fn refused(want: &Want, error: &[u8]) -> Result<(), Error> {
    let mut reader = Reader::new(error);
    let (mut code, mut message) = (0, String::new());
    while !reader.is_empty() {
        let tag = reader.tag().ok_or(Error::Malformed)?;
        match (tag.number, tag.wire) {
            (1, WireType::Varint) => code = reader.varint().ok_or(Error::Malformed)? as i32,
            (2, WireType::Length) => message = String::from_utf8_lossy(body(&mut reader)?).into_owned(),
            _ => reader.skip(tag).ok_or(Error::Malformed)?,
        }
    }
    match want {
        Want::File(_) => Ok(()),
        Want::Symbol(name) => Err(Error::Refused { what: name.clone(), code, message }),
        Want::Services => Err(Error::Refused { what: "its services".into(), code, message }),
    }
}

fn body<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], Error> {
    reader.length_delimited().ok_or(Error::Malformed)
}

/// All values of a length-delimited field.
fn strings(bytes: &[u8], number: u32) -> Result<Vec<&[u8]>, Error> {
    let mut found = Vec::new();
    let mut reader = Reader::new(bytes);
    while !reader.is_empty() {
        let tag = reader.tag().ok_or(Error::Malformed)?;
        if tag == (Tag { number, wire: WireType::Length }) {
            found.push(body(&mut reader)?);
        } else {
            reader.skip(tag).ok_or(Error::Malformed)?;
        }
    }
    Ok(found)
}
