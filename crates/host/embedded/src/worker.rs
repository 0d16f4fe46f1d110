//! The life of one worker: a world and its program, and another one where the first ran out of memory or its files changed.

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::task::{LocalSet, spawn_local};

use crate::control::DRAIN;
use crate::host::{Host, Life};
use crate::metrics::micros;
use crate::modules;
use crate::process::{Phase, Process, Seat};
use crate::unmap;
use crate::world::World;

/// A world that lives longer than this is no failed start of its program.
const SETTLED: Duration = Duration::from_secs(10);
/// Worlds that run out of memory one after the other, each before it has settled, until the process gives up.
const LOST_MAX: u32 = 5;
/// How long answers without JavaScript may take to be written when a world is lost.
const LOST_GRACE: Duration = Duration::from_secs(1);
/// How often the delay of the loop is measured, where metrics are asked for.
const PROBE_EVERY: Duration = Duration::from_millis(100);

/// How a world ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// The program did, with this code: by itself, or for the whole process.
    Program { code: i32, whole: bool },
    /// A signal asked for it.
    Drained,
    /// Its files have changed.
    Changed,
    /// It is out of memory; whether it was serving.
    Lost { served: bool },
}

/// Runs the program until it is over; gives its exit code.
pub(crate) async fn work(process: &Arc<Process>, worker: usize) -> i32 {
    spawn_local(leat_stream::clock::run());
    if worker == 0 {
        spawn_local(unmap::run());
    }
    let options = &process.options;
    if options.watch || options.metrics.is_some() {
        process.control();
    }
    let mut phase = process.phase.subscribe();
    let mut lost = 0;
    loop {
        let began = Instant::now();
        match live(process, worker, &mut phase).await {
            Ended::Program { code, .. } if options.watch => {
                eprintln!("leat: the program ended with {code}; waiting for a change of its files");
                changed(&mut phase).await;
                if *phase.borrow_and_update() == Phase::Drain {
                    return code;
                }
            }
            Ended::Program { code, whole: true } => std::process::exit(code),
            Ended::Program { code, whole: false } => return code,
            Ended::Drained => return 0,
            Ended::Changed => {}
            Ended::Lost { served: false } => {
                eprintln!("leat: the program ran out of memory before it listened anywhere");
                return 1;
            }
            Ended::Lost { served: true } => {
                lost = if began.elapsed() < SETTLED { lost + 1 } else { 1 };
                if lost >= LOST_MAX {
                    eprintln!("leat: {lost} worlds in a row were lost at once: giving up");
                    return 1;
                }
                if let Some(metrics) = process.metrics.get(worker) {
                    metrics.rebuilt.add(1);
                }
            }
        }
    }
}

/// One world, from its first line on. Its tasks end before it does: they hold values of it.
async fn live(process: &Arc<Process>, worker: usize, phase: &mut watch::Receiver<Phase>) -> Ended {
    let tasks = LocalSet::new();
    let (world, ended) = tasks.run_until(program(process, worker, phase)).await;
    if matches!(ended, Ended::Program { .. } | Ended::Drained) && !process.options.watch {
        // The process ends: what the system takes back at once needs no clearing up.
        std::mem::forget((tasks, world));
        return ended;
    }
    drop(tasks);
    drop(world);
    ended
}

async fn program(
    process: &Arc<Process>,
    worker: usize,
    phase: &mut watch::Receiver<Phase>,
) -> (Option<Rc<World>>, Ended) {
    let options = &process.options;
    let mut arguments = vec![process.app.to_string_lossy().into_owned()];
    arguments.extend_from_slice(&options.arguments);
    let host = Host::new(arguments, options.on_error, Seat::new(process, worker));
    let world = match World::new(Rc::clone(&host)) {
        Ok(world) => world,
        Err(error) => {
            eprintln!("leat: JavaScript can't start: {error}");
            return (None, Ended::Program { code: 1, whole: true });
        }
    };
    if options.metrics.is_some() {
        spawn_local(probe(Rc::clone(&host)));
    }
    world.enter(|ctx| modules::start(ctx, &process.app));
    let ended = loop {
        tokio::select! {
            biased;
            () = host.over() => {}
            () = changed(phase) => {}
        }
        if let Some(ended) = ended(&world, phase).await {
            break ended;
        }
    };
    (Some(world), ended)
}

/// Whether the world is at its end, after something happened.
async fn ended(world: &Rc<World>, phase: &mut watch::Receiver<Phase>) -> Option<Ended> {
    let host = world.host();
    if let Some(code) = host.exited() {
        return Some(Ended::Program { code, whole: true });
    }
    if host.life() == Life::Lost {
        host.seat().keep_sockets();
        // Connections answer what they owe.
        let _ = tokio::time::timeout(LOST_GRACE, host.idle()).await;
        return Some(Ended::Lost { served: host.served() });
    }
    if phase.has_changed().unwrap_or(false) {
        let drains = *phase.borrow_and_update() == Phase::Drain;
        if !drains {
            host.seat().keep_sockets();
        }
        host.turn_to(Life::Stops);
        if drains {
            leat_stream::begin_drain();
        }
        let _ = tokio::time::timeout(DRAIN, host.idle()).await;
        if drains {
            world.enter(|ctx| host.hook(ctx, "exit")?.call::<_, ()>(()));
        }
        return Some(if drains { Ended::Drained } else { Ended::Changed });
    }
    // Listeners of 'beforeExit' may find something to do.
    world.enter(|ctx| host.hook(ctx, "beforeExit")?.call::<_, ()>(()));
    if host.is_held() || host.exited().is_some() || host.life() == Life::Lost {
        return None;
    }
    world.enter(modules::before_exit);
    world.enter(|ctx| host.hook(ctx, "exit")?.call::<_, ()>(()));
    let code = host.exited();
    Some(Ended::Program { code: code.unwrap_or(0), whole: code.is_some_and(|code| code != 0) })
}

/// Returns at the next change that has not been seen.
async fn changed(phase: &mut watch::Receiver<Phase>) {
    // Seen by who asks next; nobody to tell of changes is no change.
    while !phase.has_changed().unwrap_or(false) {
        if phase.changed().await.is_err() {
            return std::future::pending().await;
        }
        phase.mark_changed();
    }
}

/// Measures how late this thread's wake-ups run.
async fn probe(host: Rc<Host>) {
    loop {
        let due = tokio::time::Instant::now() + PROBE_EVERY;
        tokio::time::sleep_until(due).await;
        if let Some(metrics) = host.seat().metrics() {
            metrics.loop_delay.record(micros(due.elapsed()));
        }
    }
}
