//! What `process` and the host's hooks are made of.

use std::io::Write;

use rquickjs::function::Func;
use rquickjs::{Ctx, Object, Result};

use crate::host::Host;

pub(super) fn make<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let host = Host::of(ctx)?;
    let group = Object::new(ctx.clone())?;
    group.set("argv", host.arguments().to_vec())?;
    group.set("env", environment(ctx)?)?;
    group.set("pid", std::process::id())?;
    group.set("hooks", Func::from(hooks))?;
    group.set("tick", Func::from(tick))?;
    group.set("exit", Func::from(exit))?;
    group.set("write", Func::from(write))?;
    group.set("cwd", Func::from(cwd))?;
    Ok(group)
}

fn environment<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let env = Object::new(ctx.clone())?;
    for (name, value) in std::env::vars_os() {
        if let (Ok(name), Ok(value)) = (name.into_string(), value.into_string()) {
            env.set(name, value)?;
        }
    }
    for (name, value) in Host::of(ctx)?.seat().environment() {
        env.set(name, value)?;
    }
    Ok(env)
}

fn hooks<'js>(ctx: Ctx<'js>, hooks: Object<'js>) -> Result<()> {
    Host::of(&ctx)?.set_hooks(&ctx, hooks);
    Ok(())
}

fn tick(ctx: Ctx<'_>) -> Result<()> {
    Host::of(&ctx)?.tick();
    Ok(())
}

fn exit(ctx: Ctx<'_>, code: i32) -> Result<()> {
    Host::of(&ctx)?.exit(code);
    Ok(())
}

/// Writes text to descriptor 1 or 2, whole. What the reader does not take any more is lost, as it is nobody's then.
fn write(to: i32, text: String) {
    if to == 1 {
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    } else {
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }
}

fn cwd() -> String {
    std::env::current_dir().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
}
