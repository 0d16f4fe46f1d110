use std::rc::Rc;

use rquickjs::{CatchResultExt, CaughtError, Context, Ctx, Error, Function, Result, Runtime, Value};

use crate::builtins;
use crate::host::{Host, HostRef};

/// Times that ticks and jobs may call for each other in one turn before the connections have their turn.
const SETTLE_ROUNDS_MAX: usize = 1 << 20;

/// One JavaScript world: a QuickJS runtime with its built-in modules.
pub struct World {
    host: Rc<Host>,
    // Dropped in this order.
    context: Context,
    runtime: Runtime,
}

impl World {
    /// Makes a world, and runs what it begins with (`leat:boot`).
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(host: Rc<Host>) -> Result<Rc<Self>> {
        let runtime = Runtime::new()?;
        let context = Context::full(&runtime)?;
        let world = Rc::new(Self { host, context, runtime });
        world.host.belongs_to(&world);
        world.runtime.set_host_promise_rejection_tracker(Some(Box::new(rejected)));
        world.context.with(|ctx| {
            let _ = ctx.store_userdata(HostRef(Rc::clone(&world.host)));
            builtins::require(&ctx, "leat:boot").map(|_| ())
        })?;
        Ok(world)
    }

    /// The world's host.
    pub fn host(&self) -> &Rc<Host> {
        &self.host
    }

    /// Runs `run` in the world, then ticks and microtasks until none is left. What it throws is reported as uncaught.
    /// Must not be called from within itself.
    pub(crate) fn enter<R: Default>(&self, run: impl for<'js> FnOnce(&Ctx<'js>) -> Result<R>) -> R {
        self.host.turn();
        self.context.with(|ctx| {
            let result = match run(&ctx) {
                Ok(value) => value,
                Err(error) => {
                    self.report(&ctx, error);
                    R::default()
                }
            };
            self.settle(&ctx);
            self.host.end_turn();
            result
        })
    }

    /// Runs ticks and microtasks until none is left, then tells of promises whose rejection nobody handled.
    pub(crate) fn settle(&self, ctx: &Ctx<'_>) {
        for _ in 0..SETTLE_ROUNDS_MAX {
            if self.host.exited().is_some() {
                return;
            }
            self.host.contexts().leave();
            if self.host.take_ticks() {
                self.call_hook(ctx, "ticks");
                continue;
            }
            if self.run_jobs(ctx) {
                continue;
            }
            if self.host.take_rejections() {
                self.call_hook(ctx, "rejections");
                continue;
            }
            return;
        }
    }

    /// Runs microtasks until none is left; whether there was one.
    fn run_jobs(&self, ctx: &Ctx<'_>) -> bool {
        for done in 0..SETTLE_ROUNDS_MAX {
            if self.host.exited().is_some() || !ctx.execute_pending_job() {
                return done > 0;
            }
            self.host.contexts().after_job();
        }
        true
    }

    fn call_hook(&self, ctx: &Ctx<'_>, name: &str) {
        if let Err(error) = self.host.hook(ctx, name).and_then(|hook| hook.call::<_, ()>(())) {
            self.report(ctx, error);
        }
    }

    /// Reports an error that nobody caught: to the program's listeners, or to stderr, which ends the program with 1.
    pub(crate) fn report(&self, ctx: &Ctx<'_>, error: Error) {
        if self.host.exited().is_some() {
            // What ends the program unwinds as an exception.
            let _ = ctx.catch();
            return;
        }
        let thrown: Value<'_> = match Err::<(), _>(error).catch(ctx) {
            Ok(()) => return,
            Err(CaughtError::Exception(exception)) => exception.into_value(),
            Err(CaughtError::Value(value)) => value,
            Err(CaughtError::Error(error)) => {
                eprintln!("leat: {error}");
                self.host.exit(1);
                return;
            }
        };
        let told = self.host.hook(ctx, "uncaught").and_then(|hook: Function<'_>| hook.call::<_, ()>((thrown.clone(),)));
        if told.is_err() && self.host.exited().is_none() {
            let again = ctx.catch();
            for value in [thrown, again] {
                let stack = value.as_object().and_then(|object| object.get::<_, String>("stack").ok());
                let message = value.as_object().and_then(|object| object.get::<_, String>("message").ok());
                eprintln!("{} {}", message.unwrap_or_else(|| format!("{value:?}")), stack.unwrap_or_default());
            }
            self.host.exit(1);
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.host.forget();
    }
}

/// A promise was rejected without a handler, or got one after that.
fn rejected<'js>(ctx: Ctx<'js>, promise: Value<'js>, reason: Value<'js>, handled: bool) {
    let Ok(host) = Host::of(&ctx) else { return };
    host.note_rejection();
    let told = host.hook(&ctx, "rejected").and_then(|hook| hook.call::<_, ()>((promise, reason, handled)));
    if told.is_err() {
        let _ = ctx.catch();
    }
}
