//! One alarm for all timers of a world: JavaScript keeps the queue, and says when it wants to be called.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rquickjs::function::Func;
use rquickjs::{Ctx, Object, Result};
use tokio::task::AbortHandle;

use crate::host::{Hold, Host};

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
    // Milliseconds since the world began, as a number with fractions.
    group.set("now", Func::from(move || began.elapsed().as_secs_f64() * 1000.0))?;
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
            world.enter(|ctx| world.host().hook(ctx, "timers")?.call::<_, ()>(()));
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
            world.enter(|ctx| world.host().hook(ctx, "immediates")?.call::<_, ()>(()));
        }
    });
    Ok(())
}
