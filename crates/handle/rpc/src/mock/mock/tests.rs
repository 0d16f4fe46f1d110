use std::path::PathBuf;
use std::sync::{Arc, Barrier};

use leat_config::{Place, Problem};

use super::{Mock, Mocks};
use crate::mock::journal::JournalLimits;
use crate::mock::{Loaded, Settings};

const PROTO: &str =
    "syntax = \"proto3\"; package t; message M { string id = 1; } service S { rpc Get(M) returns (M); }";
const RULE: &str = "{ name: first, method: t.S/Get, reply: { message: {} } }";

/// A folder with a schema and a rule, gone at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("leat-mock-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("t.proto"), PROTO).unwrap();
        std::fs::write(path.join("rules.yaml"), RULE).unwrap();
        Self(path)
    }

    fn settings(&self) -> Settings {
        Settings { proto: vec![self.0.join("t.proto")], rules: vec![self.0.join("rules.yaml")], ..Settings::default() }
    }

    fn read(&self, mock: &Mock) -> Arc<Loaded> {
        let about = |message| Problem::new("test", Place::default(), message);
        Arc::new(Loaded::read(&self.settings(), mock, &about).unwrap())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn rule(name: &str) -> String {
    format!("{{ name: {name}, method: t.S/Get, times: 1, reply: {{ message: {{}} }} }}")
}

fn names(loaded: &Loaded) -> Vec<String> {
    let mut names: Vec<String> = loaded.names().into_iter().collect();
    names.sort();
    names
}

#[test]
fn rules_that_are_added_at_once_are_all_there() {
    let folder = Folder::new("at-once");
    let mock = Mock::new(&folder.settings());
    let loaded = folder.read(&mock);
    mock.adopt(&loaded).unwrap();
    let together = Barrier::new(8);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (mock, together) = (&mock, &together);
            scope.spawn(move || {
                together.wait();
                mock.put_rules(&format!("n{number}"), &rule(&format!("late{number}"))).unwrap();
            });
        }
    });
    assert_eq!(loaded.rules(), 9, "{:?}", names(&loaded));
    assert_eq!(mock.added_names().len(), 8);
}

#[test]
fn what_was_added_or_removed_while_a_reload_read_counts_after_it() {
    let folder = Folder::new("reload");
    let mock = Mock::new(&folder.settings());
    mock.adopt(&folder.read(&mock)).unwrap();
    mock.put_rules("gone", &rule("gone")).unwrap();
    let next = folder.read(&mock);
    mock.put_rules("late", &rule("late")).unwrap();
    assert!(mock.remove_rules("gone").unwrap().is_some());
    mock.adopt(&next).unwrap();
    assert_eq!(names(&next), ["first", "late"]);
    // What does not go together is told, and the old rules go on.
    std::fs::write(folder.0.join("rules.yaml"), RULE.replace("first", "twice")).unwrap();
    let next = folder.read(&mock);
    mock.put_rules("twice", &rule("twice")).unwrap();
    let problems = mock.adopt(&next).unwrap_err();
    assert!(problems.iter().any(|problem| problem.message().contains("two rules are called")), "{problems:?}");
    assert_eq!(names(&mock.loaded().unwrap()), ["first", "late", "twice"]);
}

#[test]
fn a_rule_that_was_removed_is_a_new_one_when_it_comes_again() {
    let folder = Folder::new("removed");
    let mock = Mock::new(&folder.settings());
    mock.adopt(&folder.read(&mock)).unwrap();
    mock.put_rules("late", &rule("late")).unwrap();
    let (first, before) = (mock.state.rule("first"), mock.state.rule("late"));
    assert!(mock.remove_rules("late").unwrap().is_some());
    assert!(mock.remove_rules("late").unwrap().is_none());
    mock.put_rules("late", &rule("late")).unwrap();
    assert_ne!(mock.state.rule("late"), before, "its counts went with it");
    assert_eq!(mock.state.rule("first"), first, "the others stay");
}

#[test]
fn a_mock_stands_for_its_route_once_it_is_put_to_use() {
    let mocks = Mocks::default();
    let settings = Settings::default();
    let first = mocks.fitting("r", &settings);
    assert!(mocks.get("r").is_none());
    mocks.put_to_use("r", &first);
    let smaller = JournalLimits { entries_max: 1, ..settings.journal };
    let other = mocks.fitting("r", &Settings { journal: smaller, ..settings.clone() });
    assert!(!Arc::ptr_eq(&first, &other));
    assert!(Arc::ptr_eq(&first, &mocks.get("r").unwrap()), "it goes on until the other is put to use");
    assert!(Arc::ptr_eq(&first, &mocks.fitting("r", &settings)));
}
