//! .proto files that are built in, so that nobody needs to have them: what imports of them need, in our own words. Those
//! of `google/protobuf` are protox's.

use std::sync::OnceLock;

use bytes::Bytes;
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver};

/// The number of the option `google.api.http` of a method.
pub const HTTP: u32 = 72_295_728;

const TEXTS: [(&str, &str); 8] = [
    ("buf/validate/validate.proto", include_str!("../proto/buf/validate/validate.proto")),
    ("google/api/annotations.proto", include_str!("../proto/google/api/annotations.proto")),
    ("google/api/field_behavior.proto", include_str!("../proto/google/api/field_behavior.proto")),
    ("google/api/http.proto", include_str!("../proto/google/api/http.proto")),
    ("google/api/httpbody.proto", include_str!("../proto/google/api/httpbody.proto")),
    ("google/rpc/code.proto", include_str!("../proto/google/rpc/code.proto")),
    ("google/rpc/error_details.proto", include_str!("../proto/google/rpc/error_details.proto")),
    ("google/rpc/status.proto", include_str!("../proto/google/rpc/status.proto")),
];

/// What every schema has, imported or not: the types that JSON knows, options, and details of errors.
const ALWAYS: [&str; 10] = [
    "google/protobuf/any.proto",
    "google/protobuf/descriptor.proto",
    "google/protobuf/duration.proto",
    "google/protobuf/empty.proto",
    "google/protobuf/field_mask.proto",
    "google/protobuf/struct.proto",
    "google/protobuf/timestamp.proto",
    "google/protobuf/wrappers.proto",
    "google/rpc/error_details.proto",
    "google/rpc/status.proto",
];

/// The text of a built-in file.
pub fn text(name: &str) -> Option<&'static str> {
    TEXTS.iter().find(|(found, _)| *found == name).map(|(_, text)| *text)
}

/// The names of the built-in files whose text is ours.
pub fn names() -> impl Iterator<Item = &'static str> {
    TEXTS.iter().map(|(name, _)| *name)
}

/// The set of files that every schema has. Compiled once in a process.
pub(crate) fn always() -> &'static Bytes {
    static SET: OnceLock<Bytes> = OnceLock::new();
    SET.get_or_init(|| {
        let mut resolver = ChainFileResolver::new();
        resolver.add(Ours);
        resolver.add(GoogleFileResolver::new());
        let mut compiler = protox::Compiler::with_file_resolver(resolver);
        compiler.include_imports(true);
        // A test compiles each of them: there is nothing to tell here.
        let _ = compiler.open_files(ALWAYS);
        compiler.encode_file_descriptor_set().into()
    })
}

struct Ours;

impl FileResolver for Ours {
    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        File::from_source(name, text(name).ok_or_else(|| protox::Error::file_not_found(name))?)
    }
}
