//! The way of a request into JavaScript and of its reply back. A request is a call; what follows its head, and replies that are
//! not whole when the call returns, go over a lane whose both ends are on this thread.

mod body;
mod call;
mod direct;
mod field_lines;
mod fields;
mod head;
mod held;
mod http;
mod json;
mod names;
mod natives;
mod records;
mod replies;
mod request;
mod shaken;
mod slabs;
mod usual;

pub(crate) use head::group as head_group;
pub(crate) use held::Held;
pub(crate) use http::group;
pub(crate) use natives::append_text;
