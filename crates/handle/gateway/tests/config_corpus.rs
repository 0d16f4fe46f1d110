//! Every file of `corpus/config` against what it says about itself: lines `# expect: line:column: message`, each followed
//! by `# help: …`, and `# warn: …` for warnings of a good one. A file without `# expect:` is good.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::{Path, PathBuf};

use leat_gateway::config::{self, Problem};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../corpus/config")
}

fn files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(corpus())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "yaml"))
        .collect();
    files.sort();
    files
}

/// What the file expects, as the lines that problems and warnings are written in.
fn expected(text: &str, kinds: &[&str]) -> Vec<String> {
    text.lines()
        .filter_map(|line| {
            let (kind, rest) = line.strip_prefix("# ")?.split_once(": ")?;
            kinds.contains(&kind).then(|| format!("{kind}: {rest}"))
        })
        .collect()
}

fn lines(kind: &str, problems: &[Problem], base: &Path) -> Vec<String> {
    let mut lines = Vec::new();
    for problem in problems {
        let place = problem.place().map(|place| format!("{place}: ")).unwrap_or_default();
        lines.push(format!("{kind}: {place}{}", problem.message()));
        lines.extend(problem.help().map(|help| format!("help: {help}")));
    }
    // Complete paths differ from machine to machine.
    let base = base.display().to_string();
    lines.into_iter().map(|line| line.replace(&base, "BASE")).collect()
}

#[test]
fn every_file_of_the_corpus_is_read_as_it_says() {
    let base = std::fs::canonicalize(corpus()).unwrap();
    let mut failures = Vec::new();
    let (mut good, mut wrong) = (0, 0);
    for path in files() {
        let text = std::fs::read_to_string(&path).unwrap();
        let (wanted, found) = match config::parse(&text, "leat.yaml", &base) {
            Ok(loaded) => {
                good += 1;
                (expected(&text, &["expect", "warn", "help"]), lines("warn", &loaded.warnings, &base))
            }
            Err(problems) => {
                wrong += 1;
                (expected(&text, &["expect", "warn", "help"]), lines("expect", &problems, &base))
            }
        };
        if wanted != found {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            failures.push(format!("==== {name}\n# {}\n", found.join("\n# ")));
        }
    }
    assert!(failures.is_empty(), "these files found something else:\n{}", failures.join("\n"));
    assert!(wrong >= 80, "the corpus has {wrong} wrong files");
    assert!(good >= 10, "the corpus has {good} good files");
}

#[test]
fn problems_are_shown_with_file_line_column_and_help() {
    let problems = config::parse("wrokers: 2\n", "leat.yaml", Path::new(".")).unwrap_err();
    let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["leat.yaml:1:1: unknown key `wrokers` in the configuration\n  help: write `workers`"]);
}

#[test]
fn a_file_that_cannot_be_read_is_a_problem_of_the_file() {
    let problems = config::load(Path::new("no/such/leat.yaml")).unwrap_err();
    assert_eq!(problems[0].to_string(), "no/such/leat.yaml: there is no such file\n  help: check the path");
    let directory = config::load(&corpus()).unwrap_err();
    assert_eq!(directory[0].message(), "this is a directory, not a file");
    let folder = leat_testkit::Folder::new();
    let latin = folder.write("leat.yaml", b"routes:\n  - respond: { body: \"na\xc3\xafve \xe9\" }\n");
    let problem = config::load(&latin).unwrap_err().remove(0).to_string();
    assert!(problem.ends_with("leat.yaml:2:29: this is not UTF-8\n  help: save the file as UTF-8"), "{problem}");
    let long = folder.write("leat.yaml", vec![b'#'; config::FILE_BYTES_MAX + 1]);
    assert!(config::load(&long).unwrap_err()[0].help().is_some());
}
