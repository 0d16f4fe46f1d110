//! WHATWG URLs: parsing and setting by the `url` crate. JavaScript keeps the text and where its parts are, so its getters are
//! slices.

use rquickjs::function::{Func, Opt};
use rquickjs::{Array, Ctx, Object, Result};
use url::{Position, Url, form_urlencoded, quirks};

/// Longest URL that is taken, in bytes: above it a URL is invalid.
const URL_BYTES_MAX: usize = 1 << 20;

pub(super) fn make<'js>(ctx: &Ctx<'js>) -> Result<Object<'js>> {
    let group = Object::new(ctx.clone())?;
    // `parse(text, base?)`: the parts of a URL, undefined where it is none.
    group.set("parse", Func::from(parse))?;
    // `change(href, part, value)`: the parts after a setter; undefined where it changes nothing.
    group.set("change", Func::from(change))?;
    group.set("isValid", Func::from(|text: String, base: Opt<String>| read(&text, base.0.as_deref()).is_some()))?;
    // The names and values of a query, in turn, decoded.
    group.set("readQuery", Func::from(read_query))?;
    group.set("writeQuery", Func::from(write_query))?;
    group.set("domainToASCII", Func::from(|domain: String| quirks::domain_to_ascii(&domain)))?;
    group.set("domainToUnicode", Func::from(|domain: String| quirks::domain_to_unicode(&domain)))?;
    Ok(group)
}

fn read(text: &str, base: Option<&str>) -> Option<Url> {
    if text.len() > URL_BYTES_MAX {
        return None;
    }
    match base {
        Some(base) => Url::options().base_url(Some(&read(base, None)?)).parse(text).ok(),
        None => Url::parse(text).ok(),
    }
}

fn parse<'js>(ctx: Ctx<'js>, text: String, base: Opt<String>) -> Result<Option<Array<'js>>> {
    read(&text, base.0.as_deref()).map(|url| parts(&ctx, &url)).transpose()
}

/// The href, its origin, and where in the href (all of it is ASCII) its parts begin and end.
fn parts<'js>(ctx: &Ctx<'js>, url: &Url) -> Result<Array<'js>> {
    let at = |position: Position| url[..position].len() as u32;
    let user_end = at(Position::AfterUsername);
    let (password, password_end) = match url.password() {
        Some(_) => (at(Position::BeforePassword), at(Position::AfterPassword)),
        None => (user_end, user_end),
    };
    let array = Array::new(ctx.clone())?;
    array.set(0, url.as_str())?;
    array.set(1, quirks::origin(url))?;
    let places = [
        at(Position::AfterScheme) + 1,
        at(Position::BeforeUsername),
        user_end,
        password,
        password_end,
        at(Position::BeforeHost),
        at(Position::AfterHost),
        at(Position::BeforePort),
        at(Position::AfterPort),
        at(Position::BeforePath),
        at(Position::AfterPath),
        at(Position::AfterQuery),
    ];
    for (index, place) in places.into_iter().enumerate() {
        array.set(index + 2, place)?;
    }
    Ok(array)
}

fn change<'js>(ctx: Ctx<'js>, href: String, part: String, value: String) -> Result<Option<Array<'js>>> {
    let Ok(mut url) = Url::parse(&href) else { return Ok(None) };
    if value.len() > URL_BYTES_MAX {
        return Ok(None);
    }
    let done = match part.as_str() {
        "protocol" => quirks::set_protocol(&mut url, &value),
        "username" => quirks::set_username(&mut url, &value),
        "password" => quirks::set_password(&mut url, &value),
        "host" => quirks::set_host(&mut url, &value),
        "hostname" => quirks::set_hostname(&mut url, &value),
        "port" => quirks::set_port(&mut url, &value),
        "pathname" => {
            quirks::set_pathname(&mut url, &value);
            Ok(())
        }
        "search" => {
            quirks::set_search(&mut url, &value);
            Ok(())
        }
        "hash" => {
            quirks::set_hash(&mut url, &value);
            Ok(())
        }
        _ => Err(()),
    };
    done.ok().map(|()| parts(&ctx, &url)).transpose()
}

fn read_query<'js>(ctx: Ctx<'js>, query: String) -> Result<Array<'js>> {
    let array = Array::new(ctx)?;
    let mut count = 0;
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        array.set(count, name.as_ref())?;
        array.set(count + 1, value.as_ref())?;
        count += 2;
    }
    Ok(array)
}

fn write_query(pairs: Vec<String>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    for pair in pairs.chunks_exact(2) {
        if let [name, value] = pair {
            query.append_pair(name, value);
        }
    }
    query.finish()
}
