//! A world with its plug-ins loaded and their plan compiled.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use rquickjs::{Array, CatchResultExt, CaughtError, Ctx, Function, Object, Persistent, Result, Value};
use tokio::task::{AbortHandle, LocalSet};

use super::counters::WorldCounters;
use super::failure::Failure;
use super::kit::Shop;
use super::natives::SeatsRef;
use super::run::PENDING;
use super::seat::{Objects, Seat, Seats};
use super::straight::{self, Layers, Walk};
use super::{LOAD, PluginCounters, PluginFile, PluginLimits, PluginsError};
use crate::builtins;
use crate::host::{Host, Life, OnError, Trouble};
use crate::modules;
use crate::options::Options;
use crate::process::{Process, Seat as Place};
use crate::serve::Held;
use crate::world::{Entered, World};

/// A function of `leat:plugins`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step<'a> {
    /// With the plan of this set.
    Begin {
        set: usize,
    },
    Answered,
    /// Why there is no response.
    Unanswered {
        reason: &'a str,
    },
    /// A body that was waited for is there, or won't be.
    Bodied,
    /// Nobody waits for the run any more, and why.
    Left {
        reason: &'a str,
    },
}

/// What calling one came to.
pub(super) enum Called {
    /// The bits of a step, as `leat:plugins` has them.
    Step(u32),
    /// It ran too long.
    Stopped,
    /// It cost the world.
    Lost,
    /// The world was lost before.
    Gone,
}

/// The world.
pub(super) struct Prepared {
    pub(super) seats: Rc<Seats>,
    pub(super) explained: String,
    /// The files that it was made of.
    pub(super) sources: Vec<PathBuf>,
    /// `None` once the world is lost.
    steps: RefCell<Option<Rc<Steps>>>,
    driver: AbortHandle,
    /// What plug-ins wait for runs here. It ends before the world, whose values it holds.
    tasks: Rc<LocalSet>,
    world: Rc<World>,
    /// Objects are used again: it is known whether somebody keeps them, and whether they are still as they were made.
    counts: bool,
}

/// Runs what plug-ins wait for. The tasks end before the world, whose values they hold, also where this is the last that has them.
struct Driven {
    seats: Rc<Seats>,
    tasks: Rc<LocalSet>,
    world: Rc<World>,
}

impl Driven {
    async fn run(self) {
        tokio::select! {
            () = self.tasks.run_until(std::future::pending()) => {}
            () = self.world.host().ended() => {}
        }
        // One of the tasks may have done that: whoever waits would wait in vain.
        self.seats.wake();
    }
}

struct Steps {
    /// Of each set, where the host calls the hooks itself.
    straight: Vec<Option<Layers>>,
    walk: Rc<Walk>,
    make: Persistent<Function<'static>>,
    begin: Persistent<Function<'static>>,
    answered: Persistent<Function<'static>>,
    unanswered: Persistent<Function<'static>>,
    bodied: Persistent<Function<'static>>,
    left: Persistent<Function<'static>>,
}

impl Prepared {
    pub(super) fn new(
        files: &[PluginFile],
        sets: &[Vec<usize>],
        limits: &PluginLimits,
        counters: &Arc<PluginCounters>,
    ) -> std::result::Result<Self, PluginsError> {
        let first = &files.first().ok_or_else(|| PluginsError::new("no plug-in is named"))?.path;
        let options = Options {
            limits: limits.of_world(),
            on_error: OnError::Keep,
            is_guest: true,
            ..Options::new(first.clone())
        };
        let process = Process::new(options);
        let host = Host::new(vec![first.to_string_lossy().into_owned()], OnError::Keep, Place::new(&process, 0));
        let failed = |error: rquickjs::Error| PluginsError::new(format!("JavaScript can't start: {error}"));
        let world = World::new(Rc::clone(&host)).map_err(failed)?;
        let tasks = Rc::new(LocalSet::new());
        let seats: Rc<Seats> = Rc::default();
        // Turns have an end from the first one on.
        host.turn_to(Life::Serves);
        let loaded = {
            let _inside = tasks.enter();
            let mut loaded = None;
            let entered = world.try_enter(|ctx| {
                let _ = ctx.store_userdata(SeatsRef(Rc::clone(&seats)));
                let _ = ctx.store_userdata(WorldCounters::new(Arc::clone(counters)));
                loaded = Some(load(ctx, files, sets));
                Ok(())
            });
            match (entered, loaded) {
                (Entered::Interrupted, _) => Err(PluginsError::new(format!(
                    "{}: plug-ins took more than {} ms to load{}",
                    first.display(),
                    LOAD.as_millis(),
                    host.take_trouble(Trouble::Stopped).map(|stack| frames(&stack)).unwrap_or_default()
                ))),
                (Entered::Lost, _) if world.is_endless() => {
                    Err(PluginsError::new("what plug-ins run while they are loaded has no end"))
                }
                (Entered::Lost, _) => Err(PluginsError::new("out of memory while plug-ins were loaded")),
                (_, Some(loaded)) => loaded,
                (_, None) => Err(PluginsError::new("plug-ins can't be loaded")),
            }
        };
        if host.exited().is_some() {
            return Err(PluginsError::new("a plug-in ended the process while it was loaded; leave process.exit out"));
        }
        let (steps, explained, counts) = loaded?;
        if let Some(clean) = seats.take() {
            world.enter(|ctx| {
                steps.make(ctx, &clean)?;
                seats.compare_with(clean);
                Ok(())
            });
        }
        world.limit_turns(limits.turn);
        let driven = Driven { seats: Rc::clone(&seats), tasks: Rc::clone(&tasks), world: Rc::clone(&world) };
        let driver = tokio::task::spawn_local(driven.run());
        Ok(Self {
            seats,
            explained,
            sources: process.loaded.own(),
            steps: RefCell::new(Some(Rc::new(steps))),
            driver: driver.abort_handle(),
            tasks,
            world,
            counts,
        })
    }

    /// Runs a step of the run in `seat`, and the microtasks behind it.
    pub(super) fn call(&self, seat: &Rc<Seat>, step: Step<'_>) -> Called {
        let Some(steps) = self.steps.borrow().clone() else { return Called::Gone };
        if self.is_lost() {
            return Called::Gone;
        }
        let _inside = self.tasks.enter();
        let mut came = None;
        let entered = self.world.try_enter(|ctx| {
            came = Some(steps.step(ctx, seat, step)?);
            Ok(())
        });
        match (entered, came) {
            (Entered::Lost, _) => Called::Lost,
            _ if self.world.host().exited().is_some() => Called::Lost,
            // What it waits for was to be done in this turn's microtasks.
            (Entered::Interrupted, Some(PENDING)) if !seat.has_decided() && !seat.wants_body() => Called::Stopped,
            (_, Some(step)) => Called::Step(step),
            (_, None) => Called::Stopped,
        }
    }

    /// The run is over: its seat is another's, if nothing of it goes on.
    pub(super) fn give_back(&self, seat: &Rc<Seat>, whole: bool) {
        if self.is_lost() || whole && self.counts && self.seats.keep(seat) {
            return;
        }
        self.world.look(|ctx| {
            // What can't be released was released before.
            let _ = self.seats.give_back(ctx, seat, whole && self.counts);
        });
    }

    pub(super) fn is_lost(&self) -> bool {
        self.steps.borrow().is_none() || self.world.host().life() == Life::Lost || self.world.host().exited().is_some()
    }

    #[cfg(test)]
    pub(super) fn straight(&self) -> Vec<bool> {
        self.steps.borrow().iter().flat_map(|steps| steps.straight.iter().map(Option::is_some)).collect()
    }

    /// What went wrong where no run waited for it, in words.
    pub(super) fn take_troubles(&self, limits: &PluginLimits) -> Vec<(Failure, String)> {
        let told = |(trouble, text): (Trouble, String)| match trouble {
            Trouble::Uncaught => (Failure::Threw, text),
            Trouble::Stopped => (Failure::TurnTime, limits.stopped(&text)),
            Trouble::Lost => (Failure::Lost, self.why_lost().to_owned()),
        };
        self.world.host().take_troubles().into_iter().map(told).collect()
    }

    /// What was stopped for its time is a run's business: where that was, if it is known.
    pub(super) fn take_stopped(&self) -> String {
        self.world.host().take_trouble(Trouble::Stopped).unwrap_or_default()
    }

    /// So is that it was lost.
    pub(super) fn take_lost(&self) {
        let _ = self.world.host().take_trouble(Trouble::Lost);
    }

    /// Why the world is lost.
    pub(super) fn why_lost(&self) -> &'static str {
        match self.world.host().exited() {
            Some(_) => "a plug-in ended the process: its world is made anew instead",
            None if self.world.is_endless() => "what plug-ins run has no end: their world is made anew",
            None => "plug-ins are out of memory: their world is made anew",
        }
    }

    /// Nothing of the world is kept or run any more.
    pub(super) fn forget(&self) {
        self.driver.abort();
        self.seats.forget();
        self.steps.take();
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        self.forget();
    }
}

impl Steps {
    fn step(&self, ctx: &Ctx<'_>, seat: &Rc<Seat>, step: Step<'_>) -> Result<u32> {
        if seat.objects.borrow().is_none() {
            self.make(ctx, seat)?;
        }
        let layers = |set: usize| self.straight.get(set).and_then(Option::as_ref);
        let is_straight = seat.is_straight();
        match step {
            Step::Begin { set } => match layers(set) {
                Some(layers) => straight::begin(ctx, &self.walk, seat, layers, set),
                None => self.begin.clone().restore(ctx)?.call((self.run(ctx, seat), set)),
            },
            Step::Answered => match layers(seat.set()).filter(|_| is_straight) {
                Some(layers) => straight::answered(ctx, &self.walk, seat, layers),
                None => self.answered.clone().restore(ctx)?.call((self.run(ctx, seat),)),
            },
            Step::Unanswered { reason } => {
                if is_straight {
                    if layers(seat.set()).is_some_and(|layers| !layers.hears_errors) {
                        seat.forget_straight();
                        return Ok(0);
                    }
                    seat.leave_to(ctx, &self.walk)?;
                }
                self.unanswered.clone().restore(ctx)?.call((self.run(ctx, seat), reason))
            }
            // Only what waits is told of either, which is the walk's.
            Step::Bodied => self.bodied.clone().restore(ctx)?.call((self.run(ctx, seat),)),
            Step::Left { reason } => self.left.clone().restore(ctx)?.call((self.run(ctx, seat), reason)),
        }
    }

    fn run<'js>(&self, ctx: &Ctx<'js>, seat: &Seat) -> Option<Value<'js>> {
        seat.object(|objects| objects.run.value(ctx))
    }

    /// Makes the objects of a seat.
    fn make(&self, ctx: &Ctx<'_>, seat: &Rc<Seat>) -> Result<()> {
        let run: Object<'_> = self.make.clone().restore(ctx)?.call((seat.number,))?;
        let of = |name: &str| Ok::<_, rquickjs::Error>(Held::from_value(run.get::<_, Value<'_>>(name)?));
        let (request, response, record) = (of("request")?, of("response")?, of("straight")?);
        let run = Held::from_value(run.into_value());
        *seat.objects.borrow_mut() = Some(Objects { run, request, response, record, walk: Rc::clone(&self.walk) });
        Ok(())
    }
}

/// The places of a stack, without the error that it begins with: that says no more than that it was stopped.
pub(super) fn frames(stack: &str) -> String {
    stack.lines().filter(|line| line.trim_start().starts_with("at ")).map(|line| format!("\n{line}")).collect()
}

type Loaded = (Steps, String, bool);

fn load(ctx: &Ctx<'_>, files: &[PluginFile], sets: &[Vec<usize>]) -> std::result::Result<Loaded, PluginsError> {
    compile(ctx, files, sets).catch(ctx).map_err(|error| PluginsError::new(text_of(&error)))
}

fn compile<'js>(ctx: &Ctx<'js>, files: &[PluginFile], sets: &[Vec<usize>]) -> Result<Loaded> {
    let given = Array::new(ctx.clone())?;
    let paths: Vec<PathBuf> = files.iter().map(|file| file.path.clone()).collect();
    for (at, ((path, exports), file)) in modules::load_all(ctx, &paths)?.into_iter().zip(files).enumerate() {
        let one = Object::new(ctx.clone())?;
        one.set("name", file.name.as_str())?;
        one.set("file", path)?;
        one.set("exports", exports)?;
        if let Some(options) = &file.options {
            one.set("options", ctx.json_parse(options.as_str())?)?;
        }
        one.set("bypass", file.bypass)?;
        given.set(at, one)?;
    }
    let exports = Object::from_value(builtins::require(ctx, "leat:plugins")?)?;
    let explained: String = exports.get::<_, Function<'js>>("prepare")?.call((given, sets.to_vec()))?;
    let step = |name: &str| -> Result<Persistent<Function<'static>>> {
        Ok(Persistent::save(ctx, exports.get::<_, Function<'js>>(name)?))
    };
    let mut shapes_tell = false;
    if let Some(shop) = ctx.userdata::<Shop<'js>>() {
        shop.kit.names.learn(ctx, &exports.get("walked")?);
        shapes_tell = shop.kit.names.shapes_tell;
    }
    let layers: Function<'js> = exports.get("straightLayers")?;
    let layers_of = |set: usize| -> Result<Option<Layers>> {
        let Some(given) = layers.call::<_, Option<Array<'js>>>((set,))? else { return Ok(None) };
        Layers::new((given.get(0)?, given.get(1)?, given.get(2)?, given.get(3)?)).map(Some)
    };
    let walk = Walk {
        changed_request: step("changedRequest")?,
        changed_response: step("changedResponse")?,
        adopt: step("adopt")?,
        went: step("went")?,
    };
    let steps = Steps {
        straight: (0..sets.len()).map(layers_of).collect::<Result<_>>()?,
        walk: Rc::new(walk),
        make: step("makeRun")?,
        begin: step("begin")?,
        answered: step("answered")?,
        unanswered: step("unanswered")?,
        bodied: step("bodied")?,
        left: step("left")?,
    };
    Ok((steps, explained, super::head::counts(ctx)? && shapes_tell))
}

/// An error with the place in a plug-in's file that it comes from, where there is one: `file:line:column: what`.
fn text_of(error: &CaughtError<'_>) -> String {
    let (value, thrown) = match error {
        CaughtError::Exception(exception) => (exception.as_value(), exception.message().unwrap_or_default()),
        CaughtError::Value(value) => (value, format!("{} was thrown", shown(value))),
        CaughtError::Error(error) => return error.to_string(),
    };
    let text = |name: &str| modules::text_of_thrown(value, name);
    if text("code").as_deref() == Some("ERR_REQUIRE_ASYNC_MODULE") {
        // Node's words speak of require() and of an option that is not here.
        let file = thrown.rsplit_once("Requiring ").map_or("", |(_, file)| file);
        return format!(
            "{file}: it has a top-level await, and plug-ins are loaded at once; begin the work there and await its promise in a hook"
        );
    }
    let name = text("name").filter(|_| value.is_error()).map(|name| format!("{name}: ")).unwrap_or_default();
    match text("stack").as_deref().and_then(place) {
        Some(place) => format!("{place}: {name}{thrown}"),
        // Those of a plan name the file, or the middleware, themselves.
        None => thrown,
    }
}

/// A value that is no error, as text.
fn shown(value: &Value<'_>) -> String {
    match value.as_string().map(rquickjs::String::to_string) {
        Some(Ok(text)) => format!("{text:?}"),
        _ if value.is_object() => "an object that is no error".to_owned(),
        _ => value.type_name().to_owned(),
    }
}

/// The first place of a stack that is not in a built-in module.
fn place(stack: &str) -> Option<&str> {
    let frames = stack.lines().filter_map(|line| line.trim_start().strip_prefix("at "));
    let places = frames.map(|frame| frame.rsplit_once('(').map_or(frame, |(_, place)| place.trim_end_matches(')')));
    let files = places.map(|place| place.strip_prefix("file://").unwrap_or(place));
    files.into_iter().find(|place| place.starts_with('/') && place.ends_with(|last: char| last.is_ascii_digit()))
}
