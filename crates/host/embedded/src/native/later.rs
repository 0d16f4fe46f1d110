//! Work on another thread that ends in a call of a function `(error, value)`, as Node's callbacks are: what the callback throws
//! is uncaught, not a rejection.

use rquickjs::{Ctx, Error, Function, IntoJs, Null, Persistent, Result};

use crate::host::{Failure, Hold, Host};

/// Runs `work` on a thread for blocking work, then calls `callback` with null and what it gave, or with the error.
pub(super) fn later<'js, T>(
    ctx: &Ctx<'js>,
    callback: Function<'js>,
    work: impl FnOnce() -> std::result::Result<T, Failure> + Send + 'static,
) -> Result<()>
where
    T: for<'a> IntoJs<'a> + Send + 'static,
{
    let done = async move {
        let lost = Failure { message: "the work was lost".into(), code: "ECANCELED", ..Failure::default() };
        tokio::task::spawn_blocking(work).await.unwrap_or(Err(lost))
    };
    answer(ctx, callback, done)
}

/// Calls `callback` with null and what `work` gives, or with the error. `work` runs on this thread, beside the connections.
pub(super) fn answer<'js, T>(
    ctx: &Ctx<'js>,
    callback: Function<'js>,
    work: impl Future<Output = std::result::Result<T, Failure>> + 'static,
) -> Result<()>
where
    T: for<'a> IntoJs<'a> + 'static,
{
    let hold = Host::of(ctx)?.hold();
    answer_holding(ctx, callback, Some(hold), work)
}

/// As [`answer`], with the hold that keeps the program running until then, if anything shall.
pub(super) fn answer_holding<'js, T>(
    ctx: &Ctx<'js>,
    callback: Function<'js>,
    hold: Option<Hold>,
    work: impl Future<Output = std::result::Result<T, Failure>> + 'static,
) -> Result<()>
where
    T: for<'a> IntoJs<'a> + 'static,
{
    let host = Host::of(ctx)?;
    let context = host.contexts().current(ctx);
    let context = (!context.is_undefined()).then(|| Persistent::save(ctx, context));
    let host = std::rc::Rc::downgrade(&host);
    let callback = Persistent::save(ctx, callback);
    tokio::task::spawn_local(async move {
        let done = work.await;
        let Some(world) = host.upgrade().and_then(|host| host.world()) else { return };
        world.enter(|ctx| {
            if let Some(context) = context {
                world.host().contexts().enter(ctx, context.restore(ctx)?);
            }
            let callback = callback.restore(ctx)?;
            match done {
                Ok(value) => match value.into_js(ctx) {
                    Ok(value) => callback.call::<_, ()>((Null, value)),
                    // There is no room for it.
                    Err(Error::Exception) => callback.call::<_, ()>((ctx.catch(),)),
                    Err(error) => Err(error),
                },
                Err(failure) => callback.call::<_, ()>((failure.into_error(ctx)?,)),
            }
        });
        drop(hold);
    });
    Ok(())
}
