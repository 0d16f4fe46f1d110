//! What every server of RPC has beside its own methods: reflection and health.

use std::sync::{Arc, OnceLock};

use leat_message::Step;
use leat_rpc_wire::Status;
use leat_schema::{Method, Schema, Sources};

use crate::health::Health;
use crate::reflection::Reflection;
use crate::{Answer, Call, Conversation, Message, Outcome, Refusal, Service};

/// The schema of reflection (both versions) and health. Made once in a process.
pub fn schema() -> Arc<Schema> {
    static SCHEMA: OnceLock<Arc<Schema>> = OnceLock::new();
    Arc::clone(SCHEMA.get_or_init(|| {
        let reflection = include_str!("../proto/reflection.proto");
        let mut sources = Sources::new();
        sources.proto("grpc/reflection/v1/reflection.proto", reflection);
        sources.proto(
            "grpc/reflection/v1alpha/reflection.proto",
            &reflection.replace("package grpc.reflection.v1;", "package grpc.reflection.v1alpha;"),
        );
        sources.proto("grpc/health/v1/health.proto", include_str!("../proto/health.proto"));
        // These texts are ours, and every test of this module compiles them.
        sources.build().unwrap_or_else(|_| Schema::empty())
    }))
}

/// A service with reflection and health beside it. A method of its own goes before one of theirs of the same path.
pub struct Builtin<S> {
    service: S,
    reflection: Option<Reflection>,
    health: Option<Health>,
    own: Arc<Schema>,
}

impl<S: Service> Builtin<S> {
    /// With these beside it; `None` leaves one out.
    pub fn new(service: S, reflection: Option<Reflection>, health: Option<Health>) -> Self {
        Self { service, reflection, health, own: schema() }
    }

    /// The service itself.
    pub fn service(&self) -> &S {
        &self.service
    }

    /// Whether a method is one of ours: by its place in memory, which costs two comparisons a call.
    fn is_own(&self, method: &Method) -> bool {
        self.own.methods().as_ptr_range().contains(&std::ptr::from_ref(method))
    }
}

impl<S: Service> Service for Builtin<S> {
    type Plan = S::Plan;

    fn method(&self, path: &str) -> Option<&Method> {
        let reflection = || self.reflection.as_ref().and_then(|reflection| reflection.method(path));
        let health = || self.health.as_ref().and_then(|health| health.method(path));
        self.service.method(path).or_else(reflection).or_else(health)
    }

    fn unknown(&self, path: &str) -> Option<Status> {
        self.service.unknown(path)
    }

    fn refused(&self, refused: &Refusal<'_>) {
        self.service.refused(refused);
    }

    fn whole<A: Answer>(&self, call: &Call<'_>, request: Message<'_>, answer: &mut A) -> Step<Self::Plan> {
        match &self.health {
            // Of ours, only health has unary methods.
            Some(health) if self.is_own(call.method) => {
                health.answer(call, request, answer);
                Step::Done
            }
            _ => self.service.whole(call, request, answer),
        }
    }

    async fn converse<C: Conversation>(&self, plan: Option<Self::Plan>, conversation: &mut C) -> Outcome {
        let method = conversation.call().method;
        let (own, path) = (self.is_own(method), method.path());
        match (&self.reflection, &self.health) {
            (Some(reflection), _) if own && reflection.method(path).is_some() => {
                reflection.converse(None, conversation).await
            }
            (_, Some(health)) if own => health.converse(None, conversation).await,
            _ => self.service.converse(plan, conversation).await,
        }
    }
}
