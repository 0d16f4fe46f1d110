use std::fmt;

use crate::{Host, Methods, Path, Predicate};

/// Which requests a route is for: all of its parts must match.
#[derive(Clone, Debug, Default)]
pub struct Pattern {
    /// The host.
    pub host: Host,
    /// The path.
    pub path: Path,
    /// The method.
    pub methods: Methods,
    /// Conditions on fields and query.
    pub predicates: Vec<Predicate>,
}

impl Pattern {
    /// How many conditions there are besides host and path: more of them make a route more specific.
    pub(crate) fn weight(&self) -> usize {
        self.predicates.len() + usize::from(!self.methods.is_any())
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.methods.is_any() {
            f.write_str("any method")?;
        } else {
            f.write_str(&self.methods.names().join(","))?;
        }
        match &self.host {
            Host::Any => f.write_str(", any host")?,
            host => write!(f, ", {host}")?,
        }
        write!(f, ", {}", self.path)
    }
}
