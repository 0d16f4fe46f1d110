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
        (
            "syntax = 'proto3';\nmessage M {\n  Nope a = 1;\n}",
            "t.proto:3:3: name 'Nope' is not defined",
            "import the file",
        ),
        ("syntax = 'proto3';\nmessage M { int32 a = ; }", "t.proto:2:23: expected", "in its place"),
        ("syntax = 'proto3';\nmessage M {\n  int32 a = 1;\n", "t.proto:4:1: expected", "close what is open"),
        ("syntax = 'proto3';\nenum E { A = 1; }", "t.proto:2:", "begin with a value of 0"),
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
fn what_has_options_knows_where_it_is_declared() {
    let text = "syntax = 'proto3';\npackage a.b;\nimport 'google/api/annotations.proto';\nmessage M {\n  int32 plain = 1;\n  message N { int32 old = 1 [deprecated = true]; }\n}\nservice S {\n  rpc Get(M) returns (M) { option (google.api.http) = { get: '/m' }; }\n  rpc Put(M) returns (M);\n}\n";
    let folder = Folder::new("declared", &[("a/b/t.proto", text)]);
    let mut sources = Sources::new();
    sources.path(&folder.0);
    let schema = sources.build().unwrap();
    let at = |name: &str| schema.declared_at(name).map(|(file, place)| format!("{file}:{place}"));
    let file = folder.0.join("a/b/t.proto");
    for (name, place) in [("a.b.S/Get", "9:3"), ("a.b.S.Get", "9:3"), ("a.b.M.N.old", "6:15")] {
        assert_eq!(at(name), Some(format!("{}:{place}", file.display())), "{name}");
    }
    for name in ["a.b.S.Put", "a.b.M.plain", "a.b.M", "a.b.Nothing"] {
        assert_eq!(at(name), None, "{name}");
    }
    // Places are no part of what reflection tells.
    let file = schema.files().iter().find(|file| &*file.name == "a/b/t.proto").unwrap();
    assert!(file.bytes.len() < text.len());
    assert!(schema.method_named("a.b.S/Get").unwrap().option(crate::bundled::HTTP).is_some());
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

/// A descriptor set of edition 2023, as `protoc` or `buf` would make it; protox reads no editions.
fn editions() -> Bytes {
    use buffa::Message;
    use buffa_descriptor::generated::descriptor::field_descriptor_proto::{Label, Type};
    use buffa_descriptor::generated::descriptor::*;

    let features = |set: FeatureSet| Some(set);
    let field = |name: &str, number, kind, type_name: Option<&str>| FieldDescriptorProto {
        name: Some(name.into()),
        number: Some(number),
        label: Some(Label::LABEL_OPTIONAL),
        r#type: Some(kind),
        type_name: type_name.map(Into::into),
        ..Default::default()
    };
    let with = |mut field: FieldDescriptorProto, set: FeatureSet| {
        field.options.get_or_insert_default().features = features(set).into();
        field
    };
    let implicit = FeatureSet { field_presence: Some(feature_set::FieldPresence::IMPLICIT), ..Default::default() };
    let delimited =
        FeatureSet { message_encoding: Some(feature_set::MessageEncoding::DELIMITED), ..Default::default() };
    let expanded = FeatureSet {
        repeated_field_encoding: Some(feature_set::RepeatedFieldEncoding::EXPANDED),
        ..Default::default()
    };
    let closed = FeatureSet { enum_type: Some(feature_set::EnumType::CLOSED), ..Default::default() };
    let mut list = field("list", 5, Type::TYPE_INT32, None);
    list.label = Some(Label::LABEL_REPEATED);
    let mut default = field("default", 6, Type::TYPE_INT32, None);
    default.default_value = Some("7".into());
    let value = |name: &str, number| EnumValueDescriptorProto {
        name: Some(name.into()),
        number: Some(number),
        ..Default::default()
    };
    let mut kind = EnumDescriptorProto {
        name: Some("Kind".into()),
        value: vec![value("ONE", 1), value("TWO", 2)],
        ..Default::default()
    };
    kind.options.get_or_insert_default().features = features(closed).into();
    let file = FileDescriptorProto {
        name: Some("e.proto".into()),
        package: Some("e".into()),
        syntax: Some("editions".into()),
        edition: Some(Edition::EDITION_2023),
        message_type: vec![DescriptorProto {
            name: Some("M".into()),
            field: vec![
                field("plain", 1, Type::TYPE_INT32, None),
                with(field("implicit", 2, Type::TYPE_INT32, None), implicit),
                with(field("group", 3, Type::TYPE_MESSAGE, Some(".e.M")), delimited),
                field("kind", 4, Type::TYPE_ENUM, Some(".e.Kind")),
                with(list, expanded),
                default,
            ],
            ..Default::default()
        }],
        enum_type: vec![kind],
        ..Default::default()
    };
    FileDescriptorSet { file: vec![file], ..Default::default() }.encode_to_vec().into()
}

#[test]
fn editions_are_read_from_descriptor_sets() {
    let mut sources = Sources::new();
    sources.descriptor_set("e.binpb", editions());
    let schema = sources.build().unwrap_or_else(|problems| panic!("{problems:?}"));
    let of = schema.message("e.M").unwrap();
    let field = |name: &str| of.field_named(name).unwrap();
    assert_eq!(field("plain").presence(), crate::Presence::Explicit);
    assert_eq!(field("implicit").presence(), crate::Presence::Implicit);
    assert!(field("group").is_delimited() && field("kind").is_closed() && !field("list").is_packed());
    assert_eq!(field("default").default(), Some(&crate::Default::Int(7)));
    let mut binary = Vec::new();
    let json = br#"{"plain":0,"implicit":0,"group":{"plain":1},"kind":"TWO","list":[1,2]}"#;
    of.to_binary_strict(json, &mut binary).unwrap();
    assert_eq!(binary, [8, 0, 0x1b, 8, 1, 0x1c, 0x20, 2, 0x28, 1, 0x28, 2]);
    let mut again = Vec::new();
    of.to_json(&binary, &mut again).unwrap();
    assert_eq!(again, br#"{"plain":0,"group":{"plain":1},"kind":"TWO","list":[1,2]}"#);
    let read =
        |path: &str| crate::path::Path::compile(&of, path).unwrap().read(&binary).map(|seen| format!("{seen:?}"));
    assert_eq!(read("group.plain").unwrap(), "Seen { value: Int(1), present: true }");
    assert_eq!(read("group.kind").unwrap(), "Seen { value: Enum(1), present: false }");
    assert_eq!(read("default").unwrap(), "Seen { value: Int(7), present: false }");
}

#[test]
fn images_of_buf_are_descriptor_sets_with_more_in_them() {
    let set = editions();
    // Of the file: buf's own extension, field 8042, behind its other fields.
    let (header, file) = set.split_at(3);
    assert_eq!(header[0], 0x0a);
    let mut longer = file.to_vec();
    crate::wire::put_bytes(&mut longer, 8042, b"\x08\x01");
    let mut image = Vec::new();
    crate::wire::put_bytes(&mut image, 1, &longer);
    let mut sources = Sources::new();
    sources.descriptor_set("image.binpb", image.into());
    let schema = sources.build().unwrap_or_else(|problems| panic!("{problems:?}"));
    assert!(schema.message("e.M").is_some());
    assert_eq!(schema.files().iter().find(|file| &*file.name == "e.proto").unwrap().bytes, longer);
}
