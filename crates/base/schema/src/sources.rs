use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use buffa_descriptor::DescriptorPool;
use buffa_descriptor::generated::descriptor::{DescriptorProto, FileDescriptorProto, FileDescriptorSet};
use bytes::Bytes;
use leat_config::Problem;

use crate::compile::{Compiled, Text};
use crate::declared::{self, Declared};
use crate::schema::{File, Schema};
use crate::types::join;
use crate::wire::{Reader, Tag, WireType};
use crate::{bundled, compile};

/// Files below a folder that are looked at; folders inside folders that are entered.
const FILES_MAX: usize = 50_000;
/// See [`FILES_MAX`].
const FOLDER_DEPTH_MAX: usize = 64;
/// Memory that the library may take for the lists of a descriptor set: many times what schemas of thousands of files take.
const ELEMENT_BYTES_MAX: usize = 2 << 30;

/// What a schema is made of: .proto files, folders of them, descriptor sets and images of `buf`, in any number.
///
/// Imports are found among the files given, in the folders they are in, in the folders of [`Sources::include`], in the
/// descriptor sets, and last among the files that are built in ([`bundled`]). A file's name for imports is its path below
/// the folder that fits its package (`shop/v1/a.proto` for `package shop.v1`), or below the folder that was given.
#[derive(Default)]
pub struct Sources {
    includes: Vec<PathBuf>,
    texts: Vec<Text>,
    sets: Vec<(Arc<str>, Bytes)>,
    problems: Vec<Problem>,
}

impl Sources {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A folder in which imports are looked for, and whose files are named below it.
    pub fn include(&mut self, folder: impl Into<PathBuf>) -> &mut Self {
        self.includes.push(folder.into());
        self
    }

    /// A .proto file, a folder of them, or else a descriptor set, read at once. What is wrong is told by [`Sources::build`].
    pub fn path(&mut self, path: impl AsRef<Path>) -> &mut Self {
        let path = path.as_ref();
        if path.is_dir() {
            let before = self.texts.len();
            self.folder(path, path, FOLDER_DEPTH_MAX);
            if self.texts.len() == before && self.problems.is_empty() {
                self.problem(path, "there is no .proto file in this folder".into(), None);
            }
        } else if path.extension().is_some_and(|extension| extension == "proto") {
            self.proto_file(path, path.parent().unwrap_or(Path::new("")));
        } else {
            match std::fs::read(path) {
                Ok(bytes) => _ = self.descriptor_set(&path.display().to_string(), bytes.into()),
                Err(error) => self.problem(path, format!("cannot be read: {error}"), None),
            }
        }
        self
    }

    /// A `FileDescriptorSet`, or an image of `buf` in binary form. `name` is for messages.
    pub fn descriptor_set(&mut self, name: &str, bytes: Bytes) -> &mut Self {
        self.sets.push((name.into(), bytes));
        self
    }

    /// The text of a .proto file whose name in imports is `name`.
    pub fn proto(&mut self, name: &str, text: &str) -> &mut Self {
        self.texts.push(Text { path: None, name: Some(name.into()), root: PathBuf::new(), text: text.into() });
        self
    }

    /// Compiles and links everything.
    ///
    /// # Errors
    /// All that is wrong, with places in .proto files. A descriptor set that is no descriptor set is one problem.
    pub fn build(self) -> Result<Arc<Schema>, Vec<Problem>> {
        let Self { includes, texts, sets, mut problems } = self;
        let mut given = Vec::new();
        for (name, bytes) in &sets {
            match split(bytes) {
                Some(files) if !files.is_empty() || bytes.is_empty() => given.extend(files),
                _ => problems.push(not_a_set(name)),
            }
        }
        let Compiled { files: compiled, problems: found, paths } = compile::compile(texts, includes, &sets);
        problems.extend(found);
        problems.dedup();
        if !problems.is_empty() {
            return Err(problems);
        }
        let names = || match sets.iter().map(|(name, _)| &**name).collect::<Vec<_>>().join(", ") {
            names if names.is_empty() => "the .proto files together".to_owned(),
            names => names,
        };
        let whole = |message: String| vec![Problem { file: names().into(), place: None, message, help: None }];
        let mut linked = Linked { paths, ..Linked::default() };
        for file in split(&compiled).unwrap_or_default() {
            linked.add(file, Origin::Text).map_err(whole)?;
        }
        for file in given {
            linked.add(file, Origin::Set).map_err(whole)?;
        }
        for file in split(bundled::always()).unwrap_or_default() {
            linked.add(file, Origin::BuiltIn).map_err(whole)?;
        }
        let pool = DescriptorPool::new(FileDescriptorSet { file: linked.descriptors, ..Default::default() })
            .map_err(|error| whole(error.to_string()))?;
        Ok(Arc::new(Schema::new(pool, linked.files.into(), linked.declared)))
    }

    fn folder(&mut self, folder: &Path, root: &Path, depth: usize) {
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => return self.problem(folder, format!("cannot be read: {error}"), None),
        };
        let mut paths: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
        // The order of a folder differs between file systems; what is told first should not.
        paths.sort();
        for path in paths {
            if path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b".")) {
                continue;
            }
            if self.texts.len() >= FILES_MAX {
                let message = format!("there are more than {FILES_MAX} .proto files below this folder");
                return self.problem(root, message, Some("give the folders that are needed".into()));
            }
            if path.is_dir() {
                if depth > 0 {
                    self.folder(&path, root, depth - 1);
                }
            } else if path.extension().is_some_and(|extension| extension == "proto") {
                self.proto_file(&path, root);
            }
        }
    }

    fn proto_file(&mut self, path: &Path, root: &Path) {
        match std::fs::read_to_string(path) {
            Ok(text) => self.texts.push(Text { path: Some(path.into()), name: None, root: root.into(), text }),
            Err(error) => self.problem(path, format!("cannot be read: {error}"), None),
        }
    }

    fn problem(&mut self, path: &Path, message: String, help: Option<String>) {
        self.problems.push(Problem { file: path.display().to_string().into(), place: None, message, help });
    }
}

fn not_a_set(name: &Arc<str>) -> Problem {
    let help = "give a .proto file, a folder of them, or what `protoc --include_imports -o FILE` or `buf build -o FILE.binpb` wrote";
    Problem {
        file: Arc::clone(name),
        place: None,
        message: "is neither a .proto file nor a descriptor set".into(),
        help: Some(help.into()),
    }
}

/// The files of a set, each as its own bytes. `None` if it is no message.
pub(crate) fn split(set: &Bytes) -> Option<Vec<Bytes>> {
    let mut reader = Reader::new(set);
    let mut files = Vec::new();
    while !reader.is_empty() {
        let tag = reader.tag()?;
        if tag == (Tag { number: 1, wire: WireType::Length }) {
            files.push(set.slice_ref(reader.length_delimited()?));
        } else {
            reader.skip(tag)?;
        }
    }
    Some(files)
}

/// Where a file is from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Text,
    Set,
    BuiltIn,
}

/// Files that were taken, by name, and what they define.
#[derive(Default)]
struct Linked {
    files: Vec<File>,
    descriptors: Vec<FileDescriptorProto>,
    by_name: HashMap<Arc<str>, usize>,
    defined: HashSet<String>,
    /// Where files are, by their names.
    paths: HashMap<String, String>,
    declared: Declared,
}

impl Linked {
    /// Takes a file. Those that are built in give way to what defines the same names.
    fn add(&mut self, bytes: Bytes, origin: Origin) -> Result<(), String> {
        let options = buffa::DecodeOptions::new().with_element_memory_limit(ELEMENT_BYTES_MAX);
        let mut file: FileDescriptorProto =
            options.decode_from_slice(&bytes).map_err(|error| format!("is no descriptor set: {error}"))?;
        let name: Arc<str> = file.name.as_deref().unwrap_or_default().into();
        let package = file.package.as_deref().unwrap_or_default();
        let names: Vec<String> = file
            .message_type
            .iter()
            .map(|message| message.name.as_deref())
            .chain(file.enum_type.iter().map(|found| found.name.as_deref()))
            .map(|found| join(package, found.unwrap_or_default()))
            .collect();
        if let Some(&at) = self.by_name.get(&name) {
            let same = origin == Origin::BuiltIn
                || well_known(&name)
                || self.descriptors.get(at).is_some_and(|other| same(other, &file));
            return if same {
                Ok(())
            } else {
                Err(format!("{name} is given twice, with different contents: give one of them"))
            };
        }
        if origin == Origin::BuiltIn && names.iter().any(|found| self.defined.contains(found)) {
            return Ok(());
        }
        self.defined.extend(names);
        self.by_name.insert(Arc::clone(&name), self.files.len());
        self.declared.add(&file, self.paths.get(&*name).map_or(&name, String::as_str));
        file.source_code_info = Default::default();
        // What a set says is told as it is; whoever has the text needs no places.
        let bytes = if origin == Origin::Text { declared::without_places(&bytes) } else { bytes };
        self.files.push(File { name, bytes });
        self.descriptors.push(file);
        Ok(())
    }
}

/// Files that everybody has, in versions of their own: the first one is as good as the others.
fn well_known(name: &str) -> bool {
    ["google/protobuf/", "google/api/", "google/rpc/", "buf/validate/"].iter().any(|folder| name.starts_with(folder))
}

/// Whether two files say the same, but for comments.
fn same(one: &FileDescriptorProto, other: &FileDescriptorProto) -> bool {
    let shapes = |file: &FileDescriptorProto| -> Vec<DescriptorProto> { file.message_type.clone() };
    one.package == other.package
        && one.dependency == other.dependency
        && shapes(one) == shapes(other)
        && one.enum_type == other.enum_type
        && one.service == other.service
        && one.extension == other.extension
}

#[cfg(test)]
#[path = "sources_tests.rs"]
mod tests;
