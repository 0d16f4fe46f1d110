use rquickjs::{Coerced, Ctx, Function, Object, Result, Value};

/// Why a module can't be had, as Node's errors say it.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) class: Class,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    /// Further properties of the error, by name.
    pub(crate) fields: Vec<(&'static str, String)>,
}

/// The class of the error that JavaScript gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Error,
    TypeError,
    SyntaxError,
}

impl Refusal {
    pub(crate) fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self { class: Class::Error, code, message: message.into(), fields: Vec::new() }
    }

    pub(crate) fn type_error(code: &'static str, message: impl Into<String>) -> Self {
        Self { class: Class::TypeError, ..Self::error(code, message) }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.fields.push((name, value.into()));
        self
    }

    pub(crate) fn into_error<'js>(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        let class = match self.class {
            Class::Error => "Error",
            Class::TypeError => "TypeError",
            Class::SyntaxError => "SyntaxError",
        };
        let constructor: Function<'js> = ctx.globals().get(class)?;
        let error: Object<'js> = constructor.call((self.message,))?;
        if !self.code.is_empty() {
            error.set("code", self.code)?;
        }
        for (name, value) in self.fields {
            error.set(name, value)?;
        }
        Ok(error.into_value())
    }

    /// Throws it.
    pub(crate) fn throw(self, ctx: &Ctx<'_>) -> rquickjs::Error {
        match self.into_error(ctx) {
            Ok(error) => ctx.throw(error),
            Err(error) => error,
        }
    }
}

/// The text of a property of whatever was thrown.
pub(crate) fn text_of(value: &Value<'_>, name: &str) -> Option<String> {
    let text = value.as_object()?.get::<_, Coerced<String>>(name).ok()?;
    Some(text.0)
}
