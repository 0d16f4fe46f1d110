//! Which arguments a function takes, and what it yields: the table that calls are checked against.

use super::Type;
use super::function::Function;

/// What a parameter accepts, or a function yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Any,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    List,
    Strings,
    Map,
    Timestamp,
    Duration,
    Type,
}

impl Kind {
    fn accepts(self, given: &Type) -> bool {
        match self {
            Kind::Any => true,
            Kind::List => matches!(given, Type::List(_) | Type::Dyn),
            Kind::Map => matches!(given, Type::Map(_) | Type::Dyn),
            kind => given.fits(&kind.exact()),
        }
    }

    fn exact(self) -> Type {
        match self {
            Kind::Any => Type::Dyn,
            Kind::Bool => Type::Bool,
            Kind::Int => Type::Int,
            Kind::Uint => Type::Uint,
            Kind::Double => Type::Double,
            Kind::String => Type::String,
            Kind::Bytes => Type::Bytes,
            Kind::List => Type::list(Type::Dyn),
            Kind::Strings => Type::list(Type::String),
            Kind::Map => Type::map(Type::Dyn, Type::Dyn),
            Kind::Timestamp => Type::Timestamp,
            Kind::Duration => Type::Duration,
            Kind::Type => Type::Type,
        }
    }
}

/// How a function is written: `f(x)`, `x.f()`, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Global,
    Member,
    Both,
}

/// One way to call a function. The target of `x.f()` is the first parameter.
struct Overload {
    name: &'static str,
    style: Style,
    function: Function,
    parameters: &'static [Kind],
    result: Kind,
}

const fn global(name: &'static str, function: Function, parameters: &'static [Kind], result: Kind) -> Overload {
    Overload { name, style: Style::Global, function, parameters, result }
}

const fn member(name: &'static str, function: Function, parameters: &'static [Kind], result: Kind) -> Overload {
    Overload { name, style: Style::Member, function, parameters, result }
}

const fn both(name: &'static str, function: Function, parameters: &'static [Kind], result: Kind) -> Overload {
    Overload { name, style: Style::Both, function, parameters, result }
}

/// Why a call has no function.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unresolved {
    /// No function has the name, or not in this style.
    Unknown,
    /// The arguments fit no overload.
    Arguments,
}

/// The function of a call and the type that it yields: `Dyn` where several overloads are possible and differ.
pub(super) fn resolve(name: &str, has_target: bool, arguments: &[Type]) -> Result<(Function, Type), Unresolved> {
    let mut known = false;
    let mut found: Option<(Function, Type)> = None;
    for each in OVERLOADS {
        let styled = match each.style {
            Style::Both => true,
            Style::Member => has_target,
            Style::Global => !has_target,
        };
        if each.name != name || !styled {
            continue;
        }
        known = true;
        let fits = each.parameters.len() == arguments.len()
            && each.parameters.iter().zip(arguments).all(|(kind, given)| kind.accepts(given));
        if fits {
            let result = each.result.exact();
            found = Some(match found {
                None => (each.function, result),
                Some((function, before)) => (function, before.join(&result)),
            });
        }
    }
    found.ok_or(if known { Unresolved::Arguments } else { Unresolved::Unknown })
}

/// All names, to offer the nearest.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    OVERLOADS.iter().map(|each| each.name)
}

use Function as F;
use Kind as K;

const OVERLOADS: &[Overload] = &[
    both("size", F::Size, &[K::String], K::Int),
    both("size", F::Size, &[K::Bytes], K::Int),
    both("size", F::Size, &[K::List], K::Int),
    both("size", F::Size, &[K::Map], K::Int),
    member("contains", F::Contains, &[K::String, K::String], K::Bool),
    member("contains", F::Contains, &[K::Bytes, K::Bytes], K::Bool),
    member("startsWith", F::StartsWith, &[K::String, K::String], K::Bool),
    member("startsWith", F::StartsWith, &[K::Bytes, K::Bytes], K::Bool),
    member("endsWith", F::EndsWith, &[K::String, K::String], K::Bool),
    member("endsWith", F::EndsWith, &[K::Bytes, K::Bytes], K::Bool),
    both("matches", F::Matches, &[K::String, K::String], K::Bool),
    global("int", F::Int, &[K::Int], K::Int),
    global("int", F::Int, &[K::Uint], K::Int),
    global("int", F::Int, &[K::Double], K::Int),
    global("int", F::Int, &[K::String], K::Int),
    global("int", F::Int, &[K::Timestamp], K::Int),
    global("uint", F::Uint, &[K::Uint], K::Uint),
    global("uint", F::Uint, &[K::Int], K::Uint),
    global("uint", F::Uint, &[K::Double], K::Uint),
    global("uint", F::Uint, &[K::String], K::Uint),
    global("double", F::Double, &[K::Double], K::Double),
    global("double", F::Double, &[K::Int], K::Double),
    global("double", F::Double, &[K::Uint], K::Double),
    global("double", F::Double, &[K::String], K::Double),
    global("string", F::String, &[K::String], K::String),
    global("string", F::String, &[K::Int], K::String),
    global("string", F::String, &[K::Uint], K::String),
    global("string", F::String, &[K::Double], K::String),
    global("string", F::String, &[K::Bool], K::String),
    global("string", F::String, &[K::Bytes], K::String),
    global("string", F::String, &[K::Timestamp], K::String),
    global("string", F::String, &[K::Duration], K::String),
    global("bytes", F::Bytes, &[K::Bytes], K::Bytes),
    global("bytes", F::Bytes, &[K::String], K::Bytes),
    global("bool", F::Bool, &[K::Bool], K::Bool),
    global("bool", F::Bool, &[K::String], K::Bool),
    global("dyn", F::Dyn, &[K::Any], K::Any),
    global("type", F::Type, &[K::Any], K::Type),
    global("timestamp", F::Timestamp, &[K::Timestamp], K::Timestamp),
    global("timestamp", F::Timestamp, &[K::String], K::Timestamp),
    global("timestamp", F::Timestamp, &[K::Int], K::Timestamp),
    global("duration", F::Duration, &[K::Duration], K::Duration),
    global("duration", F::Duration, &[K::String], K::Duration),
    global("duration", F::Duration, &[K::Int], K::Duration),
    member("getFullYear", F::FullYear, &[K::Timestamp], K::Int),
    member("getFullYear", F::FullYear, &[K::Timestamp, K::String], K::Int),
    member("getMonth", F::Month, &[K::Timestamp], K::Int),
    member("getMonth", F::Month, &[K::Timestamp, K::String], K::Int),
    member("getDayOfYear", F::DayOfYear, &[K::Timestamp], K::Int),
    member("getDayOfYear", F::DayOfYear, &[K::Timestamp, K::String], K::Int),
    member("getDayOfMonth", F::DayOfMonth, &[K::Timestamp], K::Int),
    member("getDayOfMonth", F::DayOfMonth, &[K::Timestamp, K::String], K::Int),
    member("getDate", F::Date, &[K::Timestamp], K::Int),
    member("getDate", F::Date, &[K::Timestamp, K::String], K::Int),
    member("getDayOfWeek", F::DayOfWeek, &[K::Timestamp], K::Int),
    member("getDayOfWeek", F::DayOfWeek, &[K::Timestamp, K::String], K::Int),
    member("getHours", F::Hours, &[K::Timestamp], K::Int),
    member("getHours", F::Hours, &[K::Timestamp, K::String], K::Int),
    member("getHours", F::Hours, &[K::Duration], K::Int),
    member("getMinutes", F::Minutes, &[K::Timestamp], K::Int),
    member("getMinutes", F::Minutes, &[K::Timestamp, K::String], K::Int),
    member("getMinutes", F::Minutes, &[K::Duration], K::Int),
    member("getSeconds", F::Seconds, &[K::Timestamp], K::Int),
    member("getSeconds", F::Seconds, &[K::Timestamp, K::String], K::Int),
    member("getSeconds", F::Seconds, &[K::Duration], K::Int),
    member("getMilliseconds", F::Milliseconds, &[K::Timestamp], K::Int),
    member("getMilliseconds", F::Milliseconds, &[K::Timestamp, K::String], K::Int),
    member("getMilliseconds", F::Milliseconds, &[K::Duration], K::Int),
    member("charAt", F::CharAt, &[K::String, K::Int], K::String),
    member("indexOf", F::IndexOf, &[K::String, K::String], K::Int),
    member("lastIndexOf", F::LastIndexOf, &[K::String, K::String], K::Int),
    member("join", F::Join, &[K::Strings], K::String),
    member("join", F::Join, &[K::Strings, K::String], K::String),
    member("lowerAscii", F::LowerAscii, &[K::String], K::String),
    member("upperAscii", F::UpperAscii, &[K::String], K::String),
    member("replace", F::Replace, &[K::String, K::String, K::String], K::String),
    member("split", F::Split, &[K::String, K::String], K::Strings),
    member("substring", F::Substring, &[K::String, K::Int], K::String),
    member("substring", F::Substring, &[K::String, K::Int, K::Int], K::String),
    member("trim", F::Trim, &[K::String], K::String),
    member("format", F::Format, &[K::String, K::List], K::String),
    global("getField", F::GetField, &[K::Any, K::String], K::Any),
    member("unique", F::Unique, &[K::List], K::Bool),
    member("isNan", F::IsNan, &[K::Double], K::Bool),
    member("isInf", F::IsInf, &[K::Double], K::Bool),
    member("isInf", F::IsInf, &[K::Double, K::Int], K::Bool),
    member("isEmail", F::IsEmail, &[K::String], K::Bool),
    member("isHostname", F::IsHostname, &[K::String], K::Bool),
    member("isHostAndPort", F::IsHostAndPort, &[K::String, K::Bool], K::Bool),
    member("isIp", F::IsIp, &[K::String], K::Bool),
    member("isIp", F::IsIp, &[K::String, K::Int], K::Bool),
    member("isIpPrefix", F::IsIpPrefix, &[K::String], K::Bool),
    member("isIpPrefix", F::IsIpPrefix, &[K::String, K::Int], K::Bool),
    member("isIpPrefix", F::IsIpPrefix, &[K::String, K::Bool], K::Bool),
    member("isIpPrefix", F::IsIpPrefix, &[K::String, K::Int, K::Bool], K::Bool),
    member("isUri", F::IsUri, &[K::String], K::Bool),
    member("isUriRef", F::IsUriRef, &[K::String], K::Bool),
];
