use std::sync::Arc;

use leat_gateway::redis::{News, Servers};

use crate::event::{Level, event};

/// Follows the Redis servers of all configurations, and says in the log what becomes of them.
pub(super) async fn follow(servers: Arc<Servers>) {
    leat_gateway::redis::follow(servers, tell).await;
}

fn tell(news: News) {
    match news {
        News::Down { target, problem } => event(
            Level::Warn,
            "redis_down",
            &format!("a Redis server cannot be used: {problem}"),
            &[("server", &target.to_string())],
        ),
        News::Well { target } => {
            event(Level::Info, "redis_well", "a Redis server can be used again", &[("server", &target.to_string())]);
        }
        News::Master { target } => {
            event(Level::Info, "redis_master", "the sentinels name a master", &[("server", &target.to_string())]);
        }
        News::Masters { targets } => {
            let targets: Vec<String> = targets.iter().map(ToString::to_string).collect();
            event(Level::Info, "redis_masters", "a cluster has these masters", &[("servers", &targets.join(" "))]);
        }
    }
}
