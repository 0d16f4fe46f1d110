#![allow(clippy::unwrap_used, clippy::panic)]

use leat_testkit::Folder;

use super::*;

const TABLE: &str = r#"{
    "both": { "express4": { "version": "2.1.0", "verdict": "drop-in" }, "express5": { "version": "2.1.0", "verdict": "drop-in" } },
    "early": { "express5": { "version": "0.4.1", "verdict": "drop-in" } },
    "hooks": { "express5": { "version": "1.0.0", "verdict": "register", "why": "It loads Express itself." } },
    "noted": { "express5": { "version": "3.0.0", "verdict": "drop-in" }, "note": "Only behind TLS." },
    "native": { "express5": { "version": "1.0.0", "verdict": "unsupported", "why": "It reads raw sockets." }, "instead": "`ws`" }
}"#;

fn table() -> Table {
    Table::parse(TABLE).unwrap()
}

fn report(folder: &Folder) -> Report {
    examine(folder.path(), &table()).unwrap()
}

/// `name version verdict: remarks` of the packages of the only app.
fn lines(folder: &Folder) -> Vec<String> {
    let report = report(folder);
    let [app] = &report.apps[..] else { panic!("{} apps", report.apps.len()) };
    let line = |each: &Advice| {
        format!("{} {} {}: {}", each.package, each.version, each.verdict.name(), each.remarks.join(" "))
    };
    app.packages.iter().map(line).collect()
}

fn manifest(dependencies: &str) -> String {
    format!(r#"{{ "name": "app", "dependencies": {{ {dependencies} }} }}"#)
}

#[test]
fn the_table_that_ships_is_one() {
    Table::shipped().unwrap();
}

#[test]
fn each_verdict_of_the_table_is_told_with_its_remarks_and_the_worst_first() {
    let folder = Folder::new();
    let all = r#""express": "^5.1.0", "both": "^2.0.0", "hooks": "^1.0.0", "native": "1.x", "noted": "~3.2.0", "left-pad": "1""#;
    folder.write("package.json", manifest(all));
    assert_eq!(
        lines(&folder),
        [
            "native 1.x unsupported: It reads raw sockets. Use `ws` instead.",
            "hooks ^1.0.0 register: It loads Express itself.",
            "both ^2.0.0 drop-in: ",
            "noted ~3.2.0 drop-in: Only behind TLS.",
        ]
    );
    assert!(report(&folder).is_blocked());
}

#[test]
fn another_major_version_than_the_tests_ran_is_not_tested() {
    let folder = Folder::new();
    folder.write(
        "package.json",
        manifest(r#""express": "5", "both": "^1.0.0", "early": "^0.3.0", "noted": "file:../noted""#),
    );
    assert_eq!(
        lines(&folder),
        [
            "both ^1.0.0 untested: Leat's tests run 2.1.0.",
            "early ^0.3.0 untested: Leat's tests run 0.4.1.",
            "noted file:../noted drop-in: Only behind TLS.",
        ]
    );
    assert!(!report(&folder).is_blocked());
}

#[test]
fn the_row_is_that_of_the_apps_express() {
    let folder = Folder::new();
    folder.write("package.json", manifest(r#""express": "^4.18.0", "both": "2", "hooks": "1""#));
    assert_eq!(lines(&folder), ["hooks 1 unsupported: The package itself is not for Express 4.", "both 2 drop-in: "]);
    assert_eq!(report(&folder).apps[0].module, Some("leat/express4"));
}

#[test]
fn versions_are_those_installed_from_the_apps_folder_upwards() {
    let folder = Folder::new();
    folder.write("node_modules/express/package.json", r#"{ "version": "4.21.2" }"#);
    folder.write("node_modules/both/package.json", r#"{ "version": "2.0.7" }"#);
    folder.write("apps/one/node_modules/both/package.json", r#"{ "version": "2.9.9" }"#);
    folder.write("apps/one/package.json", manifest(r#""express": ">=4", "both": "*""#));
    let report = examine(&folder.path().join("apps/one"), &table()).unwrap();
    assert_eq!(report.apps[0].express, "4.21.2");
    assert_eq!(report.apps[0].packages[0].version, "2.9.9");
}

#[test]
fn packages_that_call_themselves_express_middleware_are_told_of() {
    let folder = Folder::new();
    folder.write("package.json", manifest(r#""express": "5", "peer": "1", "word": "1", "neither": "1""#));
    folder.write("node_modules/peer/package.json", r#"{ "version": "1.2.3", "peerDependencies": { "express": "5" } }"#);
    folder.write("node_modules/word/package.json", r#"{ "version": "1.0.0", "keywords": ["http", "Express"] }"#);
    folder.write("node_modules/neither/package.json", r#"{ "version": "1.0.0", "keywords": ["http"] }"#);
    assert_eq!(lines(&folder), ["peer 1.2.3 untested: ", "word 1.0.0 untested: "]);
}

#[test]
fn versions_of_what_is_not_installed_come_from_the_lock_file() {
    let locks = [
        (
            "package-lock.json",
            r#"{ "packages": { "": {}, "node_modules/express": { "version": "5.0.1" }, "node_modules/both": { "version": "2.0.9" } } }"#,
        ),
        (
            "npm-shrinkwrap.json",
            r#"{ "dependencies": { "express": { "version": "5.0.1" }, "both": { "version": "2.0.9" } } }"#,
        ),
        (
            "yarn.lock",
            "# yarn lockfile v1\n\n\nboth@^1.0.0:\n  version \"1.0.0\"\n\n\"both@^2.0.0\", both@~2.0.1:\n  version \"2.0.9\"\n  resolved \"x\"\n\nexpress@^5.0.0:\n  version \"5.0.1\"\n",
        ),
        (
            "yarn.lock",
            "__metadata:\n  version: 8\n\n\"both@npm:^2.0.0\":\n  version: 2.0.9\n  resolution: \"both@npm:2.0.9\"\n\n\"express@npm:^5.0.0, express@npm:^5.0.1\":\n  version: 5.0.1\n",
        ),
        (
            "pnpm-lock.yaml",
            "lockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    dependencies:\n      both:\n        specifier: ^2.0.0\n        version: 2.0.9(express@5.0.1)\n      express:\n        specifier: ^5.0.0\n        version: 5.0.1\n\npackages:\n\n  both@2.0.9:\n    engines: {}\n",
        ),
        (
            "pnpm-lock.yaml",
            "lockfileVersion: 5.4\n\nspecifiers:\n  both: 2.0.9\n  express: 5.0.1\n\ndependencies:\n  both: 2.0.9_express@5.0.1\n  express: 5.0.1\n\npackages:\n",
        ),
        (
            "bun.lock",
            "{\n  \"packages\": {\n    \"both\": [\"both@2.0.9\", \"\", {}, \"sha512-x\"],\n    \"express\": [\"express@5.0.1\", \"\", {}],\n  }\n}\n",
        ),
    ];
    for (name, text) in locks {
        let folder = Folder::new();
        folder.write("package.json", manifest(r#""express": "^5.0.0", "both": "^2.0.0""#));
        folder.write(name, text);
        assert_eq!(report(&folder).apps[0].express, "5.0.1", "{name}: {text}");
        assert_eq!(lines(&folder), ["both 2.0.9 drop-in: "], "{name}: {text}");
    }
}

#[test]
fn a_lock_file_of_a_workspace_has_the_versions_of_its_members() {
    let npm = r#"{ "packages": { "node_modules/both": { "version": "1.0.0" }, "apps/a/node_modules/both": { "version": "2.0.9" } } }"#;
    let pnpm = "importers:\n\n  .: {}\n\n  apps/a:\n    dependencies:\n      both:\n        specifier: '2'\n        version: 2.0.9\n";
    for (name, text) in [("package-lock.json", npm), ("pnpm-lock.yaml", pnpm)] {
        let folder = Folder::new();
        folder.write("package.json", r#"{ "workspaces": ["apps/*"] }"#);
        folder.write("apps/a/package.json", manifest(r#""express": "5", "both": "2""#));
        folder.write(name, text);
        assert_eq!(lines(&folder), ["both 2.0.9 drop-in: "], "{name}");
    }
}

#[test]
fn every_member_of_a_workspace_that_uses_express_is_an_app() {
    let workspaces = [
        ("package.json", r#"{ "workspaces": ["apps/*", "deep/**", "!apps/old"] }"#),
        ("package.json", r#"{ "workspaces": { "packages": ["apps/*", "deep/**", "!apps/old"] } }"#),
        (
            "pnpm-workspace.yaml",
            "packages:\n  # ours\n  - 'apps/*'\n  - \"deep/**\" # all\n  - '!apps/old'\ncatalog: {}\n",
        ),
    ];
    for (name, text) in workspaces {
        let folder = Folder::new();
        folder.write("package.json", "{}");
        folder.write(name, text);
        for member in ["apps/a", "apps/b-2", "apps/old", "deep/x/y", "other", "deep/node_modules/z"] {
            folder.write(&format!("{member}/package.json"), manifest(r#""express": "5""#));
        }
        folder.write("apps/none/package.json", manifest(""));
        let report = report(&folder);
        let folders: Vec<&str> = report.apps.iter().map(|app| app.folder.as_str()).collect();
        assert_eq!(folders, ["apps/a", "apps/b-2", "deep/x/y"], "{name}: {text}");
    }
}

#[test]
fn a_workspace_of_too_many_members_is_refused() {
    let folder = Folder::new();
    for member in ["a", "b", "c"] {
        folder.write(&format!("{member}/package.json"), "{}");
    }
    let mut found = Default::default();
    assert_eq!(glob::folders(folder.path(), &["*".to_owned()], 3, &mut found), Ok(()));
    assert_eq!(glob::folders(folder.path(), &["*".to_owned()], 2, &mut Default::default()), Err(()));
}

#[test]
fn other_majors_of_express_are_not_supported() {
    let folder = Folder::new();
    folder.write("package.json", manifest(r#""express": "^3.0.0""#));
    assert!(report(&folder).is_blocked());
    assert!(report(&folder).text().contains("not supported: Leat has Express 4 and 5"));
}

#[test]
fn a_program_without_express_is_told_what_it_can_do() {
    let folder = Folder::new();
    folder.write("package.json", manifest(r#""koa": "3""#));
    assert_eq!(
        report(&folder).text(),
        "No dependency is named express. Apps of other frameworks run with: node --import leat/register app.js\n"
    );
    assert!(!report(&folder).is_blocked());
    assert_eq!(report(&folder).json(), "{\"apps\":[],\"supported\":true}\n");
}

#[test]
fn an_app_that_has_moved_to_leat_is_looked_at_too() {
    let folder = Folder::new();
    folder.write("package.json", manifest(r#""leat": "0.1.0", "hooks": "1.0.0""#));
    assert_eq!(lines(&folder), ["hooks 1.0.0 register: It loads Express itself."]);
}

#[test]
fn the_text_is_a_table() {
    let folder = Folder::new();
    folder.write(
        "package.json",
        manifest(r#""express": "^5.1.0", "both": "^2.0.0", "hooks": "^1.0.0", "native": "1.x""#),
    );
    let expected = "\
app (.), Express ^5.1.0
  start it unchanged: node --import leat/register app.js

  native  1.x     not supported        It reads raw sockets. Use `ws` instead.
  hooks   ^1.0.0  needs leat/register  It loads Express itself.
  both    ^2.0.0  drop-in

  1 drop-in, 1 needs leat/register, 1 not supported
";
    assert_eq!(report(&folder).text(), expected);
}

#[test]
fn an_app_whose_packages_need_nothing_may_change_its_import() {
    let folder = Folder::new();
    folder.write("package.json", manifest(r#""express": "^4.21.0", "both": "^2.0.0""#));
    let text = report(&folder).text();
    assert!(text.contains("\n  write: import express from \"leat/express4\"\n  or start it unchanged: "), "{text}");
}

#[test]
fn the_json_has_all_of_it() {
    let folder = Folder::new();
    folder.write("package.json", manifest(r#""express": "^5.1.0", "hooks": "^1.0.0""#));
    let expected = serde_json::json!({ "supported": true, "apps": [{
        "folder": ".", "name": "app", "express": "^5.1.0", "module": "leat/express",
        "packages": [{ "name": "hooks", "version": "^1.0.0", "verdict": "register", "tested": "1.0.0", "remarks": ["It loads Express itself."] }],
    }] });
    let found: serde_json::Value = serde_json::from_str(&report(&folder).json()).unwrap();
    assert_eq!(found, expected);
}

#[test]
fn what_can_not_be_looked_at_says_what_to_write() {
    let folder = Folder::new();
    folder.write("broken/package.json", "{\n  \"name\": \"app\",\n  dependencies: {}\n}\n");
    folder.write("list/package.json", "[]");
    folder.write("empty/README.md", "");
    let cases = [
        ("broken", "package.json:3:3: key must be a string"),
        ("list", "package.json:1:1: a package.json is an object"),
        ("empty", "empty: there is no package.json; write the folder of an app: leat doctor path/to/app"),
        ("nowhere", "No such file or directory (os error 2); write the folder of an app: leat doctor path/to/app"),
    ];
    for (name, expected) in cases {
        let outcome = doctor(&folder.path().join(name), false);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{name}");
        assert!(outcome.stderr.starts_with("leat doctor: ") && outcome.stderr.contains(expected), "{}", outcome.stderr);
    }
}

#[test]
fn the_exit_code_tells_whether_something_is_in_the_way() {
    let folder = Folder::new();
    folder.write("package.json", manifest(r#""express": "^5.1.0""#));
    assert_eq!(doctor(folder.path(), false).code, 0);
    folder.write("package.json", manifest(r#""express": "^3.1.0""#));
    assert_eq!(doctor(folder.path(), true).code, 1);
}

#[test]
fn versions_and_ranges_are_told_from_addresses() {
    let cases = [
        ("5.1.0", Some((5, 1))),
        ("^4", Some((4, 0))),
        (">=4.2 <6", Some((4, 2))),
        ("v3.0.0", Some((3, 0))),
        ("npm:express@^4.18.2", Some((4, 18))),
        ("workspace:*", None),
        ("file:../express-5", None),
        ("git+ssh://x/y.git#v5", None),
        ("latest", None),
        ("*", None),
    ];
    for (text, expected) in cases {
        assert_eq!(verdict::numbers(text), expected, "{text}");
    }
}
