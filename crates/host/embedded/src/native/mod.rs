//! Native functions, in groups that built-in modules ask for by name (`native("fs")`) and that are made when they are first
//! asked for. One group is one file.

mod buffer;
mod crypto;
pub(crate) mod direct;
mod encoding;
mod errno;
mod events;
mod fetch;
mod fs;
mod later;
mod members;
mod modules;
mod net;
mod os;
mod process;
pub(crate) mod require;
mod timers;
mod types;
mod url;
mod view;
mod zlib;

use rquickjs::{Ctx, Exception, Object, Result};

pub(crate) use view::copied as bytes_of;

/// Makes a group.
type Make = for<'js> fn(&Ctx<'js>) -> Result<Object<'js>>;

/// All groups by name: one a line, sorted, so that additions stand apart.
const GROUPS: &[(&str, Make)] = &[
    ("buffer", buffer::make),
    ("context", crate::contexts::group),
    ("crypto", crypto::make),
    ("encoding", encoding::make),
    ("events", events::make),
    ("fetch", fetch::make),
    ("fs", fs::make),
    ("head", crate::serve::head_group),
    ("http", crate::serve::group),
    ("members", members::make),
    ("modules", modules::make),
    ("net", net::make),
    ("os", os::make),
    ("plugins", crate::plugin::group),
    ("process", process::make),
    ("timers", timers::make),
    ("types", types::make),
    ("url", url::make),
    ("zlib", zlib::make),
];

/// The group called `name`. Built-in modules keep what they get.
pub(crate) fn get<'js>(ctx: Ctx<'js>, name: String) -> Result<Object<'js>> {
    match GROUPS.iter().find(|(other, _)| *other == name) {
        Some((_, make)) => make(&ctx),
        None => Err(Exception::throw_message(&ctx, &format!("there are no native functions called {name}"))),
    }
}
