use leat_message::{Head, Reason};
use leat_route::{Entry, Found, Params, Path, Pattern, Table};

use crate::config::Config;

/// The paths of each route with plug-ins: what a path that a plug-in has put means to the route, whose rewriting comes behind.
pub(crate) struct OwnPaths(Vec<Option<Table>>);

impl OwnPaths {
    pub(crate) fn of(config: &Config) -> Self {
        let table = |path: &Path| {
            let pattern = Pattern { path: path.clone(), ..Pattern::default() };
            Table::compile(&[Entry { pattern, route: 0 }]).ok()
        };
        Self(config.routes().iter().map(|route| route.plugins().and_then(|_| table(route.path()))).collect())
    }

    /// Reads a path anew that plug-ins have put in place of `before`. Where it is one of the route's, its parameters are its own;
    /// else they stay those of the path that was matched, and no prefix is taken off.
    ///
    /// # Errors
    /// `route.path_dots`: it leads elsewhere, as the path of no client may.
    pub(crate) fn read(
        &self,
        route: usize,
        before: &[u8],
        after: &Head<'_>,
        params: &mut Params,
    ) -> Result<(), Reason> {
        let Some(Some(table)) = self.0.get(route) else { return Ok(()) };
        let mut found = Params::default();
        match table.find(after, &mut found) {
            Found::Route(_) => *params = found,
            Found::Refused(Reason::RoutePathDots) => return Err(Reason::RoutePathDots),
            Found::Refused(_) | Found::MethodNotAllowed | Found::NotFound => params.keep(before),
        }
        Ok(())
    }
}
