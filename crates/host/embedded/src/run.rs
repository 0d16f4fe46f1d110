//! Runs a program from its first line to its exit code.

use std::path::PathBuf;

use tokio::task::LocalSet;

use crate::host::{Host, OnError};
use crate::modules;
use crate::world::World;

/// What a program is run with.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program's file.
    pub app: PathBuf,
    /// What stands behind it on the command line.
    pub arguments: Vec<String>,
    /// What an error does that nobody caught.
    pub on_error: OnError,
}

/// Runs a program until it ends; gives its exit code.
///
/// # Errors
/// The event loop can't start.
pub fn run(options: &Options) -> std::io::Result<i32> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    Ok(LocalSet::new().block_on(&runtime, main(options)))
}

async fn main(options: &Options) -> i32 {
    tokio::task::spawn_local(leat_stream::clock::run());
    let app = std::path::absolute(&options.app).unwrap_or_else(|_| options.app.clone());
    let mut arguments = vec![app.to_string_lossy().into_owned()];
    arguments.extend_from_slice(&options.arguments);
    let host = Host::new(arguments, options.on_error);
    let world = match World::new(host) {
        Ok(world) => world,
        Err(error) => {
            eprintln!("leat: JavaScript can't start: {error}");
            return 1;
        }
    };
    world.enter(|ctx| modules::start(ctx, &app));
    let host = world.host();
    loop {
        host.over().await;
        if let Some(code) = host.exited() {
            return code;
        }
        // Listeners of 'beforeExit' may find something to do.
        world.enter(|ctx| host.hook(ctx, "beforeExit")?.call::<_, ()>(()));
        if !host.is_held() && host.exited().is_none() {
            world.enter(|ctx| host.hook(ctx, "exit")?.call::<_, ()>(()));
            return host.exited().unwrap_or(0);
        }
    }
}
