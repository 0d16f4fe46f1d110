//! REST by `google.api.http`: which method a path stands for, what of the request goes into which field, and replies as JSON.
//!
//! The rules are those of google/api/http.proto.

mod binding;
mod elements;
mod escape;
mod parameter;
mod request;
mod response;
mod router;
mod rule;
/// Errors as `google.rpc.Status`.
pub mod status;
mod stream;
mod template;
mod wire;

pub use binding::{Binding, BindingProblem, Bindings, Bound};
pub use elements::{ElementError, Elements};
pub use parameter::ParameterError;
pub use request::Unknown;
pub use response::BytesReply;
pub use router::{Routed, Router};
pub use rule::{HTTP_EXTENSION, Rule, RuleError};
pub use stream::StreamForm;
pub use template::{Template, TemplateError};

#[cfg(test)]
mod tests;
