use crate::project::{Dependency, Project};
use crate::table::Table;

/// What a package needs to work on Leat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It does not work.
    Unsupported,
    /// It works under `node --import leat/register` only.
    Register,
    /// It is middleware, but nobody has tested it, or not in this version.
    Untested,
    /// It works as it is.
    DropIn,
}

impl Verdict {
    /// By its name in the table.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name {
            "drop-in" => Some(Self::DropIn),
            "register" => Some(Self::Register),
            "unsupported" => Some(Self::Unsupported),
            _ => None,
        }
    }

    /// Its name in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::DropIn => "drop-in",
            Self::Register => "register",
            Self::Unsupported => "unsupported",
            Self::Untested => "untested",
        }
    }

    /// Its name for people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::DropIn => "drop-in",
            Self::Register => "needs leat/register",
            Self::Unsupported => "not supported",
            Self::Untested => "not tested",
        }
    }
}

/// What is said of one package.
#[derive(Debug, PartialEq, Eq)]
pub struct Advice {
    /// Its name.
    pub package: String,
    /// The version that is installed or locked, or else the range that was asked for.
    pub version: String,
    /// What it needs.
    pub verdict: Verdict,
    /// The version that the suite ran.
    pub tested: Option<String>,
    /// Why, what to use instead, and what else there is to know: a sentence each.
    pub remarks: Vec<String>,
}

/// What is said of `dependency`, or nothing if it has nothing to do with Express.
pub(crate) fn advise(project: &Project, dependency: &Dependency, express: u64, table: &Table) -> Option<Advice> {
    let package = dependency.name.as_str();
    let installed = project.version_of(dependency);
    let advice = |verdict, tested: Option<&str>, remarks: Vec<String>| Advice {
        package: package.to_owned(),
        version: installed.clone().unwrap_or_else(|| dependency.range.clone()),
        verdict,
        tested: tested.map(ToOwned::to_owned),
        remarks,
    };
    let Some(entry) = table.entry(package) else {
        return project.is_middleware(package).then(|| advice(Verdict::Untested, None, Vec::new()));
    };
    let note = entry.note().map(ToOwned::to_owned);
    let instead = entry.instead().map(|instead| format!("Use {instead} instead."));
    let Some(row) = entry.row(express) else {
        let why = format!("The package itself is not for Express {express}.");
        return Some(advice(Verdict::Unsupported, None, [Some(why), instead, note].into_iter().flatten().collect()));
    };
    let version = installed.as_deref().unwrap_or(&dependency.range);
    if !is_compatible(version, row.version) {
        let why = format!("Leat's tests run {}.", row.version);
        return Some(advice(Verdict::Untested, Some(row.version), [Some(why), note].into_iter().flatten().collect()));
    }
    let instead = if row.verdict == Verdict::Unsupported { instead } else { None };
    let why = row.why.map(ToOwned::to_owned);
    Some(advice(row.verdict, Some(row.version), [why, instead, note].into_iter().flatten().collect()))
}

/// Whether what was tested tells of `version` too: the same number in the first place that is not 0, as `^` has it.
fn is_compatible(version: &str, tested: &str) -> bool {
    match (numbers(version), numbers(tested)) {
        (Some((0, minor)), Some((0, other))) => minor == other,
        (Some((major, _)), Some((other, _))) => major == other,
        // Such as `latest`, or a folder.
        _ => true,
    }
}

/// The first two numbers of a version or a range.
pub(crate) fn numbers(version: &str) -> Option<(u64, u64)> {
    let start = version.find(|c: char| c.is_ascii_digit())?;
    // `npm:express@5`, `file:../2`, a git address: what counts stands behind the last `@`, and else there is no version.
    let text = match version.rsplit_once('@') {
        Some((_, behind)) => behind.get(behind.find(|c: char| c.is_ascii_digit())?..)?,
        None if version.contains(':') || version.contains('/') => return None,
        None => version.get(start..)?,
    };
    let mut parts = text.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next().and_then(|part| part.parse().ok()).unwrap_or(0)))
}
