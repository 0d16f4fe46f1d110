use std::path::PathBuf;

use bytes::Bytes;

use crate::Sources;

/// A folder of this test's own, which is removed when it ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let path = std::env::temp_dir().join(format!("leat-schema-{}-{name}", std::process::id()));
        for (file, text) in files {
            let file = path.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const ORDERS: &str =
    "syntax = 'proto3'; package shop.v1; import 'shop/v1/item.proto'; message Order { Item item = 1; }";
const ITEM: &str = "syntax = 'proto3'; package shop.v1; message Item { string name = 1; }";

fn told(sources: Sources) -> Vec<String> {
    sources.build().unwrap_err().iter().map(ToString::to_string).collect()
}

#[test]
fn imports_are_found_from_the_folder_that_fits_the_package() {
    let folder = Folder::new("package", &[("deep/shop/v1/orders.proto", ORDERS), ("deep/shop/v1/item.proto", ITEM)]);
    for path in ["", "deep", "deep/shop", "deep/shop/v1", "deep/shop/v1/orders.proto"] {
        let mut sources = Sources::new();
        sources.path(folder.0.join(path));
        let schema = sources.build().unwrap_or_else(|problems| panic!("{path}: {problems:?}"));
        assert!(schema.message("shop.v1.Order").is_some(), "{path}");
        assert!(schema.files().iter().any(|file| &*file.name == "shop/v1/orders.proto"), "{path}");
    }
}

#[test]
fn imports_are_found_from_the_folder_that_was_given_and_from_includes() {
    let files = [("a/orders.proto", ORDERS), ("lib/shop/v1/item.proto", ITEM)];
    let folder = Folder::new("include", &files);
    let mut sources = Sources::new();
    sources.include(folder.0.join("lib")).path(folder.0.join("a"));
    assert!(sources.build().unwrap().message("shop.v1.Order").is_some());
    // Names that do not fit the package, as some repositories have them.
    let files = [
        ("a.proto", "syntax = 'proto3'; package x.y; import 'x/y/b.proto'; message A { B b = 1; }"),
        ("x/y/b.proto", "syntax = 'proto3'; package x.y; message B {}"),
    ];
    let folder = Folder::new("given", &files);
    let mut sources = Sources::new();
    sources.path(&folder.0);
    assert!(sources.build().unwrap().message("x.y.A").is_some());
}

#[test]
fn sets_are_merged_with_each_other_and_with_texts() {
    let mut sources = Sources::new();
    sources.proto("shop/v1/item.proto", ITEM);
    let item = sources.build().unwrap();
    let mut set = Vec::new();
    for file in item.files() {
        set.push(0x0a);
        crate::wire::put_varint(&mut set, file.bytes.len() as u64);
        set.extend_from_slice(&file.bytes);
    }
    let set = Bytes::from(set);
    let mut sources = Sources::new();
    sources
        .proto("orders.proto", ORDERS)
        .descriptor_set("item.binpb", set.clone())
        .descriptor_set("again.binpb", set.clone());
    let schema = sources.build().unwrap();
    assert!(schema.message("shop.v1.Order").is_some());
    let of = |schema: &crate::Schema| {
        schema.files().iter().find(|file| &*file.name == "shop/v1/item.proto").cloned().unwrap().bytes
    };
    assert_eq!(of(&schema), of(&item));

    let mut sources = Sources::new();
    sources.proto("shop/v1/item.proto", &ITEM.replace("name", "title")).descriptor_set("item.binpb", set);
    assert_eq!(
        told(sources),
        ["item.binpb: shop/v1/item.proto is given twice, with different contents: give one of them"]
    );
}

#[test]
fn what_is_wrong_has_its_place_and_a_way_out() {
    let cases = [
        ("syntax = 'proto3';\nmessage M {\n  Nope a = 1;\n}", "t.proto:3:3: name 'Nope' is not defined", ""),
        ("syntax = 'proto3';\nmessage M { int32 a = ; }", "t.proto:2:23: expected", ""),
        ("syntax = 'proto3';\nimport 'no.proto';", "t.proto:2:1: import 'no.proto' not found", "include"),
        ("edition = \"2023\";", "t.proto:1:1: ", "descriptor set"),
        ("syntax = 'proto3'; message M { int32 a = 1; int32 b = 1; }", "t.proto:1:", ""),
        ("syntax = 'proto3'; message M {} message M {}", "t.proto:1:", ""),
    ];
    for (text, message, help) in cases {
        let mut sources = Sources::new();
        sources.proto("t.proto", text);
        let told = told(sources);
        assert!(told[0].starts_with(message) && told[0].contains(help), "{text}\n{told:?}");
    }
}

#[test]
fn all_files_with_problems_are_told_by_their_paths() {
    let folder =
        Folder::new("wrong", &[("a.proto", "message {"), ("b.proto", "syntax = 'proto3'; message B { X x = 1; }")]);
    let mut sources = Sources::new();
    sources.path(&folder.0).path(folder.0.join("none.binpb")).descriptor_set("set", Bytes::from_static(b"no set"));
    let told = told(sources);
    for file in ["a.proto:1:9: ", "b.proto:1:32: ", "none.binpb: cannot be read", "set: is neither a .proto file"] {
        assert!(told.iter().any(|problem| problem.contains(file)), "{file}: {told:?}");
    }
}
