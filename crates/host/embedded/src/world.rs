use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rquickjs::function::Func;
use rquickjs::{CatchResultExt, CaughtError, Context, Ctx, Error, Function, Result, Runtime, Value};

use crate::builtins;
use crate::heap::{Counted, Heap};
use crate::host::{Host, HostRef, Life, Trouble};
use crate::limits::{Guard, Stopped};
use crate::modules;

/// Times that ticks and jobs may call for each other in one turn before the connections have their turn.
const SETTLE_ROUNDS_MAX: usize = 1 << 20;

/// How often something may be stopped in one turn until the ticks that are left are given up: one of them makes others.
const STOPS_MAX: u32 = 3;

/// How often something may be stopped in one turn until the world is given up. Ticks can be dropped, but QuickJS's queue of
/// microtasks can't: a thousand loops that `await` take a thousand times the time of a turn, and nobody else is answered.
const STOPS_UNTIL_LOST: u32 = 10;

/// One JavaScript world: a QuickJS runtime with its built-in modules.
pub struct World {
    host: Rc<Host>,
    guard: Rc<Guard>,
    heap: Rc<Heap>,
    /// Garbage is collected when the heap is larger than this.
    collect_above: Cell<usize>,
    /// How often something was stopped in the turn that runs.
    stops: Cell<u32>,
    // Dropped in this order.
    context: Context,
    runtime: Runtime,
}

/// How a turn of JavaScript went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entered<R> {
    /// To its end; what it threw was reported.
    Done(R),
    /// It was stopped because it ran too long. The world lives; who waits for what this turn was to do waits in vain.
    Interrupted,
    /// The world is lost, now or before: it is out of memory, or its microtasks have no end. JavaScript was not run to its end.
    Lost,
}

impl World {
    /// Makes a world, and runs what it begins with (`leat:boot`).
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(host: Rc<Host>) -> Result<Rc<Self>> {
        let options = &host.seat().process.options;
        let limits = &options.limits;
        let heap = Heap::new(limits.memory.bytes());
        let guard = Guard::new(Rc::clone(&heap), limits.turn);
        let runtime = Runtime::new_with_alloc(Counted(Rc::clone(&heap)))?;
        // Garbage is collected between turns; within one only where it would fill the heap.
        runtime.set_gc_threshold(limits.memory.bytes() / 4 * 3);
        let asked = Rc::clone(&guard);
        runtime.set_interrupt_handler(Some(Box::new(move || asked.must_stop())));
        let context = Context::full(&runtime)?;
        let expose_gc = options.expose_gc;
        let world =
            Rc::new(Self { host, guard, heap, collect_above: Cell::new(0), stops: Cell::new(0), context, runtime });
        world.host.belongs_to(&world);
        world.runtime.set_host_promise_rejection_tracker(Some(Box::new(rejected)));
        modules::prepare(&world.runtime);
        world.context.with(|ctx| {
            let _ = ctx.store_userdata(HostRef(Rc::clone(&world.host)));
            if expose_gc {
                ctx.globals().set("gc", Func::from(|ctx: Ctx<'_>| ctx.run_gc()))?;
            }
            builtins::require(&ctx, "leat:boot").map(|_| ())
        })?;
        world.next_collection();
        Ok(world)
    }

    /// The world's host.
    pub fn host(&self) -> &Rc<Host> {
        &self.host
    }

    /// Runs `run` in the world, then ticks and microtasks until none is left. What it throws is reported as uncaught.
    /// Must not be called from within itself.
    pub(crate) fn enter<R: Default>(&self, run: impl for<'js> FnOnce(&Ctx<'js>) -> Result<R>) -> R {
        match self.try_enter(run) {
            Entered::Done(value) => value,
            Entered::Interrupted | Entered::Lost => R::default(),
        }
    }

    /// As [`World::enter`], and tells whether it was stopped. Costs a few nanoseconds more than the JavaScript does.
    pub fn try_enter<R: Default>(&self, run: impl for<'js> FnOnce(&Ctx<'js>) -> Result<R>) -> Entered<R> {
        let life = self.host.life();
        if life == Life::Lost {
            return Entered::Lost;
        }
        if life != Life::Runs {
            self.guard.begin();
        }
        self.host.turn();
        self.stops.set(0);
        let value = self.context.with(|ctx| {
            let result = match run(&ctx) {
                Ok(value) => value,
                Err(error) => {
                    self.report(&ctx, error);
                    R::default()
                }
            };
            self.notice(None);
            self.settle(&ctx);
            self.host.end_turn();
            result
        });
        self.guard.end();
        if let Some(why) = self.guard.stopped().filter(|why| why.is_final()) {
            self.tell_lost(why);
            self.host.turn_to(Life::Lost);
            return Entered::Lost;
        }
        if self.heap.used() > self.collect_above.get() {
            self.collect();
        }
        if let Some(metrics) = self.host.seat().metrics() {
            metrics.heap_bytes.set(self.heap.used() as u64);
        }
        if self.stops.get() == 0 {
            return Entered::Done(value);
        }
        self.host.tell_stopped();
        Entered::Interrupted
    }

    /// Whether the world was given up since what runs in it has no end.
    pub(crate) fn is_endless(&self) -> bool {
        self.guard.stopped() == Some(Stopped::Endless)
    }

    fn tell_lost(&self, why: Stopped) {
        let seat = self.host.seat();
        let limits = &seat.process.options.limits;
        let what = match why {
            Stopped::Memory => {
                format!("is out of memory: it holds more than {} ({})", limits.memory, limits.names.memory)
            }
            _ => format!(
                "has no end: {STOPS_UNTIL_LOST} times in one turn its JavaScript ran for too long ({})",
                limits.names.turn
            ),
        };
        self.host.tell(Trouble::Lost, what, |what| format!("leat: worker {} {what}", seat.worker));
    }

    /// Sets how long a turn may be, from the next one on.
    pub(crate) fn limit_turns(&self, limit: Duration) {
        self.guard.set_limit(Some(limit));
    }

    /// Looks at values of the world from outside: nothing of JavaScript may run in it.
    pub(crate) fn look<R>(&self, look: impl for<'js> FnOnce(&Ctx<'js>) -> R) -> R {
        self.context.with(|ctx| look(&ctx))
    }

    /// Tells of what was stopped for its time, if anything was; what runs next has time of its own. Where it was is the most
    /// useful thing to know.
    fn notice(&self, thrown: Option<&Value<'_>>) {
        if self.guard.stopped() != Some(Stopped::Time) {
            return;
        }
        self.guard.take_stopped();
        self.stops.set(self.stops.get() + 1);
        if let Some(metrics) = self.host.seat().metrics() {
            metrics.interrupted.add(1);
        }
        let limit = self.guard.limit().unwrap_or_default().as_millis();
        let name = self.host.seat().process.options.limits.names.turn;
        let stack = thrown.and_then(|thrown| thrown.as_object()?.get::<_, String>("stack").ok()).unwrap_or_default();
        let stack = if stack.is_empty() { stack } else { format!("\n{}", stack.trim_end()) };
        self.host.tell(Trouble::Stopped, stack, |stack| {
            format!("leat: JavaScript ran for more than {limit} ms and was stopped ({name}){stack}")
        });
    }

    /// Collects garbage, and says when next.
    fn collect(&self) {
        let began = Instant::now();
        self.runtime.run_gc();
        if let Some(metrics) = self.host.seat().metrics() {
            metrics.collected(began.elapsed());
        }
        self.next_collection();
    }

    /// After the growth that was asked for, and half of what there is: so a large heap, which takes longer to look
    /// through, is looked through less often.
    fn next_collection(&self) {
        let used = self.heap.used();
        let growth = self.host.seat().process.options.limits.collect.bytes().max(used / 2);
        self.collect_above.set(used.saturating_add(growth));
    }

    /// Runs ticks and microtasks until none is left, then tells of promises whose rejection nobody handled.
    pub(crate) fn settle(&self, ctx: &Ctx<'_>) {
        for _ in 0..SETTLE_ROUNDS_MAX {
            if self.stops.get() >= STOPS_UNTIL_LOST {
                self.guard.give_up();
            }
            if self.host.exited().is_some() || self.guard.stopped().is_some_and(Stopped::is_final) {
                return;
            }
            self.host.contexts().leave();
            if self.host.take_ticks() {
                let stops = self.stops.get();
                self.call_hook(ctx, "ticks");
                match self.stops.get() {
                    now if now == stops => {}
                    // What is queued may be other requests'.
                    now if now < STOPS_MAX => self.host.tick(),
                    _ => self.call_hook(ctx, "dropTicks"),
                }
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
            let stops = self.host.exited().is_some() || self.guard.stopped().is_some();
            if stops || self.stops.get() >= STOPS_UNTIL_LOST || !ctx.execute_pending_job() {
                return done > 0;
            }
            self.notice(None);
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
        if self.guard.stopped().is_some() {
            let thrown = ctx.catch();
            self.notice(Some(&thrown));
            return;
        }
        let thrown: Value<'_> = match Err::<(), _>(error).catch(ctx) {
            Ok(()) => return,
            Err(CaughtError::Exception(exception)) => exception.into_value(),
            Err(CaughtError::Value(value)) => value,
            Err(CaughtError::Error(error)) => {
                self.host.tell(Trouble::Uncaught, error.to_string(), |error| format!("leat: {error}"));
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
                let shown =
                    format!("{} {}", message.unwrap_or_else(|| format!("{value:?}")), stack.unwrap_or_default());
                self.host.tell(Trouble::Uncaught, shown, str::to_owned);
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
    if reason.is_uncatchable_error() {
        // What was stopped is told of where it is noticed, and is nobody's rejection.
        return;
    }
    host.note_rejection();
    let told = host.hook(&ctx, "rejected").and_then(|hook| hook.call::<_, ()>((promise, reason, handled)));
    if told.is_err() {
        let _ = ctx.catch();
    }
}

#[cfg(test)]
#[path = "world_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "served_tests.rs"]
mod served_tests;
