use std::path::PathBuf;

use leat_gateway::config::Problem;
use leat_rpc::mock::{Loaded, Mock, Settings};

use crate::event::{say, tell};

/// Compiles rules of mocks against a schema; prints what is wrong or doubtful.
pub(super) fn check(rules: &[PathBuf], proto: &[PathBuf]) -> bool {
    let settings = Settings { proto: proto.to_vec(), rules: rules.to_vec(), ..Settings::default() };
    let about = |message: String| Problem { file: "--proto".into(), place: None, message, help: None };
    match Loaded::read(&settings, &Mock::new(&settings), &about) {
        Ok(loaded) => {
            for warning in loaded.warnings() {
                say(format_args!("warning: {warning}"));
            }
            let named: Vec<String> = rules.iter().map(|path| path.display().to_string()).collect();
            tell(format_args!("{}: good; {}", named.join(", "), super::check::count(loaded.rules(), "rule")));
            true
        }
        Err(problems) => {
            for problem in &problems {
                say(format_args!("{problem}"));
            }
            say(format_args!("{} to mend", super::check::count(problems.len(), "problem")));
            false
        }
    }
}

/// Whether a file is rules by the look of it: they have methods and replies, and a gateway's configuration has not both.
pub(super) fn are_rules(path: &std::path::Path) -> bool {
    let is_text =
        path.extension().and_then(|end| end.to_str()).is_some_and(|end| ["yaml", "yml", "json"].contains(&end));
    let text = if is_text { std::fs::read_to_string(path).unwrap_or_default() } else { String::new() };
    let has = |key: &str| text.contains(&format!("{key}:")) || text.contains(&format!("\"{key}\""));
    has("method") && has("reply") && !has("routes")
}
