//! Plug-ins on their core's thread, from a head to a decision.

use std::rc::Rc;

use leat_embedded::{Decision, PluginFile, PluginLimits, Plugins};
use leat_h1::{Limits, Profile, Progress, parse_request};
use leat_message::{Head, RequestLines};
use leat_testkit::{Counting, Folder};
use tokio::task::LocalSet;

use crate::{COUNTED, ROUNDS, WARM_UP, get};

/// A plug-in, and what a request comes to with it.
pub(crate) struct PluginPath {
    pub(crate) name: &'static str,
    hooks: &'static str,
    decision: Decision,
}

pub(crate) const PATHS: [PluginPath; 4] = [
    PluginPath { name: "plug-in, looks at nothing", hooks: "onRequest() {}", decision: Decision::Unchanged },
    PluginPath {
        name: "plug-in, reads method, path and a header",
        hooks: "onRequest({ request }) { this.last = request.method + request.path + request.headers.accept; }",
        decision: Decision::Unchanged,
    },
    PluginPath {
        name: "plug-in, reads a header and sets one",
        hooks: "onRequest: ({ request }) => ({ headers: { 'x-agent': request.headers['user-agent'] } })",
        decision: Decision::Changed,
    },
    PluginPath {
        name: "plug-in, answers itself",
        hooks: "onRequest: () => ({ respond: { status: 403, headers: {}, body: 'no' } })",
        decision: Decision::Respond,
    },
];

/// Allocations for each request, those of JavaScript's heap included.
pub(crate) fn count(path: &PluginPath) -> u64 {
    let folder = Folder::new();
    let head = "import { middleware } from 'leat/middleware';";
    let text = format!("{head}\nexport default middleware({{ name: 'it', scope: 'call', {} }});", path.hooks);
    let file = folder.write("it.mjs", text);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    LocalSet::new().block_on(&runtime, async {
        let plugins = Plugins::load(&[PluginFile::new(file)], &[vec![0]], PluginLimits::default()).unwrap();
        let bytes = get("/users/12");
        let mut lines = RequestLines::default();
        let mut progress = Progress::default();
        parse_request(bytes.as_bytes(), &mut progress, Profile::Compatible, &Limits::default(), &mut lines).unwrap();
        let head = Head::new(bytes.as_bytes(), &lines);
        let ask =
            |plugins: &Rc<Plugins>| assert_eq!(plugins.request(0, head).decision(), path.decision, "{}", path.name);
        (0..WARM_UP).for_each(|_| ask(&plugins));
        if std::env::var("LEAT_TRACE_ALLOCATIONS").is_ok_and(|name| name == path.name) {
            Counting::trace(100);
            ask(&plugins);
            Counting::trace(0);
        }
        let rounds = (0..ROUNDS).map(|_| {
            let before = Counting::of_thread();
            (0..COUNTED).for_each(|_| ask(&plugins));
            Counting::of_thread().since(before).count
        });
        (rounds.min().unwrap() + COUNTED / 2) / COUNTED
    })
}
