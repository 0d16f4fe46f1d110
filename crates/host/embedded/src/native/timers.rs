//! One alarm for all timers of a world: JavaScript keeps the queue, and says when it wants to be called.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rquickjs::function::Func;
use rquickjs::{Ctx, Object, Result};
use tokio::task::AbortHandle;

use crate::host::{Hold, Host};
use crate::world::{Entered, World};

/// What an alarm is set with.
#[derive(Default)]
struct Alarm {
    task: Option<AbortHandle>,
    hold: Option<Hold>,
}

pub(super) fn make<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let began = Instant::now();
    let alarm = Rc::new(RefCell::new(Alarm::default()));
    let immediate = Rc::new(RefCell::new(None::<Hold>));
    let group = Object::new(ctx.clone())?;
    // Whole milliseconds since the world began, the same all through a turn, so that timers of one turn are due together.
    group.set("now", {
        Func::from(move |ctx: Ctx<'js>| -> Result<f64> {
            let now = Host::of(&ctx)?.now();
            Ok((now.duration_since(began).as_secs_f64() * 1000.0).floor())
        })
    })?;
    // The clock is looked at again in this turn.
    group.set("refresh", Func::from(|ctx: Ctx<'js>| Host::of(&ctx).map(|host| host.turn())))?;
    // Calls the hook `timers` in `ms` milliseconds, in place of what was asked for before; below 0: never.
    group.set("alarm", {
        let alarm = Rc::clone(&alarm);
        Func::from(move |ctx: Ctx<'js>, ms: f64| set(&ctx, &alarm, ms))
    })?;
    // Whether timers keep the program running.
    group.set("hold", {
        Func::from(move |ctx: Ctx<'js>, hold: bool| -> Result<()> {
            let host = Host::of(&ctx)?;
            alarm.borrow_mut().hold = hold.then(|| host.hold());
            Ok(())
        })
    })?;
    // Calls the hook `immediates` after what is ready on the connections had its turn.
    group.set("immediate", Func::from(|ctx: Ctx<'js>| soon(&ctx)))?;
    group.set("holdImmediate", {
        Func::from(move |ctx: Ctx<'js>, hold: bool| -> Result<()> {
            let host = Host::of(&ctx)?;
            *immediate.borrow_mut() = hold.then(|| host.hold());
            Ok(())
        })
    })?;
    Ok(group)
}

fn set(ctx: &Ctx<'_>, alarm: &Rc<RefCell<Alarm>>, ms: f64) -> Result<()> {
    let host = Host::of(ctx)?;
    let mut alarm = alarm.borrow_mut();
    if let Some(task) = alarm.task.take() {
        task.abort();
    }
    if ms < 0.0 {
        return Ok(());
    }
    let host = Rc::downgrade(&host);
    let task = tokio::task::spawn_local(async move {
        tokio::time::sleep(Duration::from_secs_f64(ms / 1000.0)).await;
        if let Some(world) = host.upgrade().and_then(|host| host.world()) {
            one_by_one(&world, "timers");
        }
    });
    alarm.task = Some(task.abort_handle());
    Ok(())
}

fn soon(ctx: &Ctx<'_>) -> Result<()> {
    let host = Rc::downgrade(&Host::of(ctx)?);
    tokio::task::spawn_local(async move {
        tokio::task::yield_now().await;
        if let Some(world) = host.upgrade().and_then(|host| host.world()) {
            one_by_one(&world, "immediates");
        }
    });
    Ok(())
}

/// Calls a hook until it has nothing more to run: each call is a turn of its own, with ticks and microtasks behind it. One that is
/// stopped has still others behind it.
fn one_by_one(world: &Rc<World>, hook: &'static str) {
    let mut first = true;
    while world.host().exited().is_none() {
        match world.try_enter(|ctx| world.host().hook(ctx, hook)?.call::<_, bool>((first,))) {
            Entered::Done(true) | Entered::Interrupted => first = false,
            Entered::Done(false) | Entered::Lost => return,
        }
    }
}
