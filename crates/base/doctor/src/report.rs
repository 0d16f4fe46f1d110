use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::project::Project;
use crate::table::Table;
use crate::verdict::{Advice, Verdict, advise, numbers};

/// What is said of an app, or of every member of a workspace that uses Express.
#[derive(Debug)]
pub struct Report {
    /// One for each that has Express among its dependencies.
    pub apps: Vec<App>,
}

/// What is said of one app.
#[derive(Debug)]
pub struct App {
    /// Its folder, relative to what was asked for; `.` is itself.
    pub folder: String,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// The version of Express that is installed, locked or asked for.
    pub express: String,
    /// Its major version, if that can be told.
    pub major: Option<u64>,
    /// What stands for it, if anything does.
    pub module: Option<&'static str>,
    /// What is known of its other packages, the worst first.
    pub packages: Vec<Advice>,
}

/// In the order in which they are counted.
const VERDICTS: [Verdict; 4] = [Verdict::DropIn, Verdict::Register, Verdict::Unsupported, Verdict::Untested];

impl Report {
    pub(crate) fn new(projects: &[Project], table: &Table) -> Self {
        Self { apps: projects.iter().filter_map(|project| App::new(project, table)).collect() }
    }

    /// Whether something does not work.
    #[must_use]
    pub fn is_blocked(&self) -> bool {
        self.apps.iter().any(|app| app.module.is_none() || app.count(Verdict::Unsupported) > 0)
    }

    /// For people.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        if self.apps.is_empty() {
            text.push_str("No dependency is named express. Apps of other frameworks run with: node --import leat/register app.js\n");
        }
        for (at, app) in self.apps.iter().enumerate() {
            if at > 0 {
                text.push('\n');
            }
            app.write(&mut text);
        }
        text
    }

    /// For programs: one object, on one line.
    #[must_use]
    pub fn json(&self) -> String {
        let apps: Vec<Value> = self.apps.iter().map(App::json).collect();
        format!("{}\n", json!({ "supported": !self.is_blocked(), "apps": apps }))
    }
}

impl App {
    fn new(project: &Project, table: &Table) -> Option<Self> {
        // An app that was moved already may have no Express any more.
        let dependency = project.dependency("express").or_else(|| project.dependency("leat"))?;
        let (express, major) = if dependency.name == "express" {
            let version = project.version_of(dependency).unwrap_or_else(|| dependency.range.clone());
            let major = numbers(&version).map(|(major, _)| major);
            (version, major)
        } else {
            ("Leat's own".to_owned(), Some(5))
        };
        let module = match major {
            Some(4) => Some("leat/express4"),
            // `latest` is 5.
            Some(5) | None => Some("leat/express"),
            Some(_) => None,
        };
        let mut packages: Vec<Advice> = project
            .dependencies
            .iter()
            .filter(|each| !matches!(each.name.as_str(), "express" | "leat"))
            .filter_map(|each| advise(project, each, major.unwrap_or(5), table))
            .collect();
        packages.sort_by(|one, other| (one.verdict, &one.package).cmp(&(other.verdict, &other.package)));
        let folder = match project.place.to_string_lossy() {
            place if place.is_empty() => ".".to_owned(),
            place => place.replace('\\', "/"),
        };
        Some(Self { folder, name: project.name.clone(), express, major, module, packages })
    }

    fn count(&self, verdict: Verdict) -> usize {
        self.packages.iter().filter(|advice| advice.verdict == verdict).count()
    }

    fn write(&self, text: &mut String) {
        let name = self.name.as_deref().unwrap_or("app");
        let _ = writeln!(text, "{name} ({}), Express {}", self.folder, self.express);
        match self.module {
            None => text.push_str("  not supported: Leat has Express 4 and 5\n"),
            Some(_) if self.count(Verdict::Register) > 0 => {
                text.push_str("  start it unchanged: node --import leat/register app.js\n");
            }
            Some(module) => {
                let _ = writeln!(text, "  write: import express from \"{module}\"");
                text.push_str("  or start it unchanged: node --import leat/register app.js\n");
            }
        }
        if self.packages.is_empty() {
            text.push_str("  none of its dependencies is known middleware\n");
            return;
        }
        text.push('\n');
        let widest =
            |of: fn(&Advice) -> &str| self.packages.iter().map(|each| of(each).chars().count()).max().unwrap_or(0);
        let names = widest(|each| &each.package);
        let versions = widest(|each| &each.version);
        let verdicts = widest(|each| each.verdict.words());
        for each in &self.packages {
            let line = format!(
                "  {:names$}  {:versions$}  {:verdicts$}  {}",
                each.package,
                each.version,
                each.verdict.words(),
                each.remarks.join(" ")
            );
            let _ = writeln!(text, "{}", line.trim_end());
        }
        let counts: Vec<String> = VERDICTS
            .iter()
            .filter(|verdict| self.count(**verdict) > 0)
            .map(|verdict| format!("{} {}", self.count(*verdict), verdict.words()))
            .collect();
        let _ = writeln!(text, "\n  {}", counts.join(", "));
    }

    fn json(&self) -> Value {
        let packages: Vec<Value> = self
            .packages
            .iter()
            .map(|each| {
                json!({
                    "name": each.package,
                    "version": each.version,
                    "verdict": each.verdict.name(),
                    "tested": each.tested,
                    "remarks": each.remarks,
                })
            })
            .collect();
        json!({ "folder": self.folder, "name": self.name, "express": self.express, "module": self.module, "packages": packages })
    }
}
