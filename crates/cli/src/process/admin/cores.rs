use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::spawn_local;

use super::live::Live;
use crate::process::core::CoreReport;

/// How long a core may take to say how it is: one that is held up is a finding, not a reason to wait.
const CORE_WITHIN: Duration = Duration::from_secs(1);

/// What each core says of itself, `None` where it says nothing in time; and how long that took.
async fn ask(live: &Live) -> Vec<(Option<CoreReport>, Duration)> {
    let asked = live.cores.iter().map(|core| {
        let answer = core.ask();
        // All at once: one that is held up costs no more than its own time.
        spawn_local(async move {
            let began = Instant::now();
            let answer = tokio::time::timeout(CORE_WITHIN, answer).await;
            (answer.ok().and_then(Result::ok), began.elapsed())
        })
    });
    let asked: Vec<_> = asked.collect();
    let mut reports = Vec::with_capacity(asked.len());
    for answer in asked {
        reports.push(answer.await.unwrap_or((None, CORE_WITHIN)));
    }
    reports
}

/// Each core with its connections, and the time that it took to say so.
pub(super) async fn cores(live: &Live) -> Vec<Value> {
    let reports = ask(live).await.into_iter().enumerate();
    reports
        .map(|(number, (report, took))| {
            let took = report.as_ref().map(|_| u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
            json!({ "core": number, "answered_us": took, "connections": report.map(|report| report.connections) })
        })
        .collect()
}

/// The plug-ins of the configuration, and the world of each core that runs them.
pub(super) async fn plugins(live: &Live) -> Value {
    let reports = ask(live).await.into_iter().enumerate();
    let worlds = reports.map(|(number, (report, _))| {
        let world = report.as_ref().and_then(|report| report.plugins.as_ref());
        json!({
            "core": number,
            "answered": report.is_some(),
            "loaded": world.map(|world| world.is_loaded),
            "age_s": world.map(|world| world.age.as_secs()),
            "lost": world.map(|world| world.lost),
        })
    });
    let worlds: Vec<Value> = worlds.collect();
    let config = live.config();
    let plugins = config.plugins();
    let list = plugins.list().iter().enumerate().map(|(at, plugin)| {
        let uses =
            |set: Option<usize>| set.and_then(|set| plugins.sets().get(set)).is_some_and(|set| set.contains(&at));
        let routes = config.routes().iter().filter(|route| uses(route.plugins())).take(leat_gateway::PAGE);
        let routes: Vec<&str> = routes.map(|route| route.name()).collect();
        json!({
            "plugin": plugin.name(),
            "file": plugin.file().display().to_string(),
            "line": plugin.place().line,
            "column": plugin.place().column,
            "on_error": match plugin.on_error() {
                leat_gateway::config::OnPluginError::Refuse => "refuse",
                leat_gateway::config::OnPluginError::Bypass => "bypass",
            },
            "routes": routes,
        })
    });
    let list: Vec<Value> = list.collect();
    let limits = plugins.limits();
    json!({
        "plugins": list,
        "worlds": if list.is_empty() { Vec::new() } else { worlds },
        "limits": {
            "turn_time_ms": limits.turn_time_ms(),
            "wait_time_ms": limits.wait_time_ms(),
            "memory_bytes": limits.memory_bytes(),
        },
    })
}
