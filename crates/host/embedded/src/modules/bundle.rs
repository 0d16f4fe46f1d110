//! The files that a self-contained executable carries behind its own end: a section, its length and checksum, and a mark.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::OnceLock;

use aws_lc_rs::digest;

use super::files::{Kind, parent};

/// Where carried files are: a folder that no disk has.
pub(crate) const ROOT: &str = "/$leat";

const MARK: &[u8; 16] = b"leat-executable2";
const CHECKSUM_BYTES: usize = 32;
/// Length, checksum, mark.
const TRAILER_BYTES: usize = 8 + CHECKSUM_BYTES + MARK.len();
/// A program of more than this is refused.
const SECTION_BYTES_MAX: u64 = 1 << 30;

static CARRIED: OnceLock<Bundle> = OnceLock::new();

/// What the running executable carries, if it does.
pub(crate) fn carried() -> Option<&'static Bundle> {
    CARRIED.get()
}

/// Files by their paths below [`ROOT`].
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Bundle {
    main: String,
    files: HashMap<String, Carried>,
    folders: BTreeSet<String>,
    /// By who asks, how and for what: the path.
    edges: HashMap<(String, bool, String), String>,
}

/// One file.
#[derive(Debug, PartialEq)]
struct Carried {
    source: Vec<u8>,
    /// What it compiles to, if it is code.
    bytecode: Vec<u8>,
    /// It is an ES module.
    module: bool,
}

impl Bundle {
    /// Of a program whose first file is `main`.
    pub(crate) fn new(main: String) -> Self {
        Self { main, ..Self::default() }
    }

    /// Whether a path can only be a carried file's.
    pub(crate) fn covers(path: &str) -> bool {
        path.strip_prefix(ROOT).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// `bytecode` is empty where it is compiled when it runs, or never.
    pub(crate) fn put(&mut self, path: String, source: Vec<u8>, bytecode: Vec<u8>, module: bool) {
        let mut folder = parent(&path).to_owned();
        while !folder.is_empty() && self.folders.insert(folder.clone()) {
            folder = parent(&folder).to_owned();
        }
        self.files.insert(path, Carried { source, bytecode, module });
    }

    pub(crate) fn link(&mut self, from: String, import: bool, specifier: String, to: String) {
        self.edges.insert((from, import, specifier), to);
    }

    pub(crate) fn kind(&self, path: &str) -> Kind {
        if self.files.contains_key(path) {
            Kind::File
        } else if self.folders.contains(path) {
            Kind::Folder
        } else {
            Kind::Nothing
        }
    }

    pub(crate) fn source(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(|file| file.source.as_slice())
    }

    /// What a file compiles to: a CommonJS module, or with `module` an ES module.
    pub(crate) fn bytecode(&self, path: &str, module: bool) -> Option<&[u8]> {
        let file = self.files.get(path).filter(|file| file.module == module);
        file.map(|file| file.bytecode.as_slice()).filter(|bytes| !bytes.is_empty())
    }

    /// Names in a folder, and whether they are folders, in no order.
    pub(crate) fn list(&self, folder: &str) -> impl Iterator<Item = (&str, bool)> {
        let files = self.files.keys().map(|path| (path.as_str(), false));
        let all = files.chain(self.folders.iter().map(|path| (path.as_str(), true)));
        all.filter(move |(path, _)| parent(path) == folder)
            .map(|(path, is_folder)| (path.rsplit('/').next().unwrap_or_default(), is_folder))
    }

    /// Where a request led when the executable was made.
    pub(crate) fn target(&self, from: &str, import: bool, specifier: &str) -> Option<&str> {
        self.edges.get(&(from.to_owned(), import, specifier.to_owned())).map(String::as_str)
    }

    /// The section and what stands behind it.
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        put(&mut bytes, self.main.as_bytes());
        bytes.extend_from_slice(&(self.files.len() as u64).to_le_bytes());
        for (path, file) in &self.files {
            put(&mut bytes, path.as_bytes());
            put(&mut bytes, &file.source);
            put(&mut bytes, &file.bytecode);
            put(&mut bytes, &[u8::from(file.module)]);
        }
        bytes.extend_from_slice(&(self.edges.len() as u64).to_le_bytes());
        for ((from, import, specifier), to) in &self.edges {
            put(&mut bytes, from.as_bytes());
            put(&mut bytes, &[u8::from(*import)]);
            put(&mut bytes, specifier.as_bytes());
            put(&mut bytes, to.as_bytes());
        }
        let length = bytes.len() as u64;
        let checksum = digest::digest(&digest::SHA256, &bytes);
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(checksum.as_ref());
        bytes.extend_from_slice(MARK);
        bytes
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let mut at = Reader(bytes);
        let mut bundle = Self::new(at.text()?);
        for _ in 0..at.number()? {
            let (path, source, bytecode) = (at.text()?, at.bytes()?.to_vec(), at.bytes()?.to_vec());
            bundle.put(path, source, bytecode, at.bytes()? == [1]);
        }
        for _ in 0..at.number()? {
            let (from, import, specifier, to) = (at.text()?, at.bytes()? == [1], at.text()?, at.text()?);
            bundle.link(from, import, specifier, to);
        }
        (at.0.is_empty() && bundle.files.contains_key(&bundle.main)).then_some(bundle)
    }
}

fn put(to: &mut Vec<u8>, part: &[u8]) {
    to.extend_from_slice(&(part.len() as u64).to_le_bytes());
    to.extend_from_slice(part);
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }
}

/// Looks whether the running executable carries a program; gives its first file. Three system calls if it carries none.
///
/// # Errors
/// What it carries is damaged.
pub fn open_carried() -> Result<Option<&'static Path>, String> {
    let Ok(path) = std::env::current_exe() else { return Ok(None) };
    let Ok(file) = File::open(&path) else { return Ok(None) };
    match section(&file)
        .map_err(|what| format!("{}: the program that it carries is damaged: {what}", path.display()))?
    {
        Some(bundle) => Ok(Some(Path::new(&CARRIED.get_or_init(|| bundle).main))),
        None => Ok(None),
    }
}

fn section(file: &File) -> Result<Option<Bundle>, &'static str> {
    let Ok(size) = file.metadata().map(|data| data.len()) else { return Ok(None) };
    let Some(end) = size.checked_sub(TRAILER_BYTES as u64) else { return Ok(None) };
    let mut trailer = [0; TRAILER_BYTES];
    if file.read_exact_at(&mut trailer, end).is_err() || !trailer.ends_with(MARK) {
        return Ok(None);
    }
    let (length, rest) = trailer.split_first_chunk::<8>().ok_or("no length")?;
    let length = u64::from_le_bytes(*length);
    let start = end.checked_sub(length).filter(|_| length <= SECTION_BYTES_MAX).ok_or("its length can't be right")?;
    let mut bytes = vec![0; usize::try_from(length).map_err(|_| "it is too long")?];
    file.read_exact_at(&mut bytes, start).map_err(|_| "it can't be read")?;
    let checksum = digest::digest(&digest::SHA256, &bytes);
    if rest.get(..CHECKSUM_BYTES) != Some(checksum.as_ref()) {
        return Err("its checksum is wrong");
    }
    Bundle::read(&bytes).map(Some).ok_or("its parts do not fit together")
}

/// The bytes of an executable without what it carries.
pub(crate) fn bare(executable: &[u8]) -> &[u8] {
    let Some(rest) = executable.strip_suffix(MARK) else { return executable };
    let trailer = rest.len().checked_sub(8 + CHECKSUM_BYTES).and_then(|at| rest.split_at_checked(at));
    let Some((body, trailer)) = trailer else { return executable };
    let length = trailer.first_chunk::<8>().and_then(|length| usize::try_from(u64::from_le_bytes(*length)).ok());
    length.and_then(|length| body.get(..body.len().checked_sub(length)?)).unwrap_or(executable)
}
