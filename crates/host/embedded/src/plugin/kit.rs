//! What native objects of a world of plug-ins are made with.

use std::rc::Rc;

use rquickjs::{Ctx, JsLifetime, Object, Result};

use super::class::Class;
use super::head::{self, View};
use super::headers::{self, Headers};
use super::names::Names;
use super::record;
use super::seat::Seat;

/// Classes and names of a world.
pub(super) struct Kit {
    pub(super) names: Rc<Names>,
    pub(super) views: Class<View>,
    pub(super) headers: Class<Headers>,
    pub(super) records: Class<Seat>,
}

impl Kit {
    /// # Errors
    /// Out of memory.
    pub(super) fn new(ctx: &Ctx<'_>) -> Result<Self> {
        Ok(Self {
            names: Rc::new(Names::new(ctx, record::MEMBERS)),
            views: Class::new(ctx, c"Head", None)?,
            headers: Class::new(ctx, c"Headers", Some(&headers::METHODS))?,
            records: Class::new(ctx, c"Record", None)?,
        })
    }
}

/// The kit and the prototypes, where native functions find them.
#[derive(Clone)]
pub(super) struct Shop<'js> {
    pub(super) kit: Rc<Kit>,
    pub(super) requests: Object<'js>,
    pub(super) responses: Object<'js>,
    pub(super) records: Object<'js>,
}

impl<'js> Shop<'js> {
    /// # Errors
    /// Out of memory.
    pub(super) fn new(ctx: &Ctx<'js>) -> Result<Self> {
        let kit = Rc::new(Kit::new(ctx)?);
        Ok(Self {
            requests: head::requests(ctx, kit.views)?,
            responses: head::responses(ctx, kit.views)?,
            records: record::prototype(ctx, kit.records)?,
            kit,
        })
    }
}

#[allow(unsafe_code, reason = "the derived code has hidden lifetimes, which are warned of")]
// SAFETY: the same type with the other lifetime.
unsafe impl<'js> JsLifetime<'js> for Shop<'js> {
    type Changed<'to> = Shop<'to>;
}
