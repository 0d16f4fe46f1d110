use std::borrow::Cow;
use std::cell::RefCell;
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::Arc;

use leat_dial::Pools;
use leat_message::Step;
use leat_rpc_wire::{Code, Metadata, Status};
use leat_schema::{DecodeProblem, Method};

use super::answering::{Answering, Held};
use super::counts::Block;
use super::journal::{Unmatched, Way};
use super::noted::{self, Noted, begun, peer, wall_time};
use super::record::Forward;
use super::reply::{Action, Answered, Facts, RequestFields, Sent, Steps};
use super::rules::{Choice, Request};
use super::secret::hidden;
use super::state::Session;
use super::{Loaded, Mock};
use crate::call::{Answer, Call, Conversation, Form, Message, Outcome, Refusal, Service};
use crate::client::Client;
use crate::metadata::CallMetadata;

/// Memory of a core that is kept between calls, in bytes, for requests that are put into binary form.
const ROOM_BYTES_MAX: usize = 64 * 1024;

thread_local! {
    static ROOM: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Answers calls by rules: one core's part of a mock.
///
/// A unary call whose rule has a fixed reply costs the choice, two counts, and no allocation; with a journal, a copy of its
/// messages and a lock.
pub struct MockService {
    mock: Arc<Mock>,
    loaded: Arc<Loaded>,
    block: Arc<Block>,
    /// Where calls go on that no rule answers.
    forward: Option<Forward>,
    /// Whether there is a journal.
    keeps_calls: bool,
}

/// What becomes of a call that is not answered at once.
#[derive(Debug)]
pub struct MockPlan(Chosen);

/// What the rules say to a call.
#[derive(Debug)]
enum Chosen {
    /// This rule answers, for the so manieth time in this session.
    Rule { answering: Arc<Answering>, call: u64, session: Option<Arc<Session>> },
    /// It goes on to the backend.
    Forward(Unmatched),
    /// A made-up message.
    Fake(Unmatched, Vec<u8>),
    /// It fails.
    Fail(Status, Unmatched),
}

impl Chosen {
    /// The rule that answers, or why none does.
    fn rule(&self) -> Result<&Arc<str>, &Unmatched> {
        match self {
            Self::Rule { answering, .. } => Ok(&answering.name),
            Self::Forward(unmatched) | Self::Fake(unmatched, _) | Self::Fail(_, unmatched) => Err(unmatched),
        }
    }
}

impl MockService {
    /// One core's part. `keeps_calls`: whether somebody can look at the journal, so that it is worth its cost.
    ///
    /// # Errors
    /// The folder of a recording can't be made.
    pub fn new(
        mock: Arc<Mock>,
        loaded: Arc<Loaded>,
        pools: &Rc<Pools>,
        keeps_calls: bool,
    ) -> Result<Self, std::io::Error> {
        let forward = match &loaded.settings().record {
            None => None,
            Some(record) => {
                let client = Client::new(&record.upstream, Rc::clone(pools));
                let recorder = mock.recorder(record)?;
                Some(Forward::new(client, recorder, Arc::clone(loaded.schema()), loaded.settings().redact.clone()))
            }
        };
        let block = mock.counts.block(loaded.schema());
        Ok(Self { mock, loaded, block, forward, keeps_calls })
    }

    /// The key of the call's session as the call has it.
    fn sent_key<'c>(&self, metadata: &CallMetadata<'c>) -> Option<&'c [u8]> {
        metadata.get(self.loaded.settings().session_key.as_deref()?)
    }

    /// The key that its session is remembered and shown by.
    fn session_key<'c>(&self, metadata: &CallMetadata<'c>) -> Option<Cow<'c, [u8]>> {
        let key = self.sent_key(metadata)?;
        let is_hidden = self.loaded.hides_sessions() && !key.is_empty();
        Some(if is_hidden { hidden(key).into_bytes().into() } else { key.into() })
    }

    fn redact(&self) -> &[String] {
        &self.loaded.settings().redact
    }

    /// Asks the rules. `message` is the first one, in binary form; without one they see an empty one, which is not validated.
    fn choose(&self, call: &Call<'_>, message: Option<&[u8]>) -> Chosen {
        if let Some(Err(status)) = message.map(|message| self.loaded.validate(call.method, Message::binary(message))) {
            return refused(*status);
        }
        let message = message.unwrap_or_default();
        let live = self.loaded.live();
        let key = self.session_key(&call.metadata);
        let mut held = Held::new(&self.mock.state, key.as_deref());
        let request = Request { method: call.method, metadata: &call.metadata, message };
        match live.choose(&request, &mut held) {
            Choice::Found { rule, number } => {
                let answering = Arc::clone(rule.reply());
                answering.count(&self.mock.counts);
                Chosen::Rule { answering, call: number.max(1), session: held.into_session() }
            }
            Choice::Malformed => {
                let text = format!("the request is no {}", call.method.input().full_name());
                let unmatched = Unmatched { why: text.as_str().into(), faked: false };
                Chosen::Fail(Status::new(Code::InvalidArgument, text), unmatched)
            }
            Choice::TooLarge => {
                let text = format!("the request: {}", DecodeProblem::TooLarge);
                let unmatched = Unmatched { why: text.as_str().into(), faked: false };
                Chosen::Fail(Status::new(Code::ResourceExhausted, text), unmatched)
            }
            Choice::Unmatched(unmatched) => self.unmatched(call, &unmatched),
        }
    }

    #[cold]
    fn unmatched(&self, call: &Call<'_>, unmatched: &super::rules::Unmatched) -> Chosen {
        self.mock.counts.unmatched();
        let why = unmatched.to_string();
        let noted = |faked| Unmatched { why: why.as_str().into(), faked };
        if self.forward.is_some() {
            return Chosen::Forward(noted(false));
        }
        if self.loaded.settings().fake {
            let number = self.mock.counts.of_unmatched();
            return match self.loaded.fake(call.method, number) {
                Ok(message) => Chosen::Fake(noted(true), message),
                Err(message) => Chosen::Fail(Status::new(Code::Internal, message), noted(false)),
            };
        }
        // A method without rules is not there; one with rules has nothing for this request.
        let code = if unmatched.has_rules() { Code::NotFound } else { Code::Unimplemented };
        Chosen::Fail(Status::new(code, why.clone()), noted(false))
    }

    /// Puts a call into the journal, if there is one.
    fn note(&self, noted: &mut Noted<'_>, call: &Call<'_>, rule: Result<&Arc<str>, &Unmatched>) {
        if self.keeps_calls {
            let rule = rule.map(Arc::clone).map_err(Unmatched::clone);
            noted.begin(begun(call, self.session_key(&call.metadata).as_deref(), rule, self.redact()));
        }
    }

    /// Answers by the rule where that takes neither time nor templates; says whether it did.
    fn at_once<A: Answer>(
        &self,
        mut noted: Noted<'_>,
        (answering, number): (&Answering, u64),
        session: Option<&Session>,
        (call, request): (&Call<'_>, Message<'_>),
        answer: &mut A,
    ) -> bool {
        let mut draws = answering.draws(&self.mock.state, session, number);
        let Some(reply) = answering.replies.pick(number, &mut draws).at_once() else {
            noted.forget();
            return false;
        };
        self.note(&mut noted, call, Ok(&answering.name));
        noted.message(Way::In, request);
        reply.headers.iter().for_each(|(name, value)| answer.header(name, value));
        reply.trailers.iter().for_each(|(name, value)| answer.trailer(name, value));
        let mut status = &Status::OK;
        match reply.answer {
            Answered::Prepared(message) => {
                noted.message(Way::Out, message.message(Form::Binary));
                answer.prepared(message);
            }
            Answered::Echo => {
                noted.message(Way::Out, request);
                answer.message(request);
            }
            Answered::Fail(fails) => {
                status = fails;
                answer.fail(fails);
            }
        }
        if reply.trailers.is_empty() || !self.keeps_calls {
            noted.end_with(status);
        } else {
            noted.end(&Outcome { status: status.clone(), trailers: reply.trailers.clone() }, self.redact());
        }
        true
    }

    /// Gives a rule's reply, step by step.
    async fn run<C: Conversation>(
        &self,
        (answering, number): (&Answering, u64),
        session: Option<&Session>,
        (requests, first): (usize, &[u8]),
        noted: &Noted<'_>,
        conversation: &mut C,
    ) -> Outcome {
        let told = Told::of(&conversation.call(), self.sent_key(&conversation.call().metadata));
        let state = answering.scenario_state(session);
        let facts = Facts {
            method: &told.method,
            metadata: &told,
            peer: &told.peer,
            timeout_ms: told.timeout_ms,
            session: &told.session,
            state: state.as_deref().unwrap_or_default(),
            call: number,
        };
        let mut draws = answering.draws(&self.mock.state, session, number);
        let reply = answering.replies.pick(number, &mut draws);
        let form = conversation.message().form;
        let mut steps = Steps::new(reply, form, draws, requests, reply.reads_requests().then_some(first));
        let mut room = Vec::new();
        loop {
            let done = match steps.next(&facts, wall_time()) {
                Action::Headers(headers) => {
                    headers.iter().for_each(|(name, value)| conversation.header(name, value));
                    Ok(())
                }
                Action::SendHeaders => {
                    conversation.send_headers();
                    Ok(())
                }
                Action::Fault(fault) => {
                    conversation.fault(fault);
                    Ok(())
                }
                Action::Wait(ms) => {
                    wait(ms).await;
                    Ok(())
                }
                Action::Send(sent) => {
                    let sent = match sent {
                        Sent::Prepared(message) => {
                            noted.message(Way::Out, message.message(Form::Binary));
                            conversation.send_prepared(message);
                            Ok(())
                        }
                        Sent::Echo => {
                            let Message { form, bytes } = conversation.message();
                            room.clear();
                            room.extend_from_slice(bytes);
                            let message = Message { form, bytes: &room };
                            noted.message(Way::Out, message);
                            conversation.send(message)
                        }
                        Sent::Made(message) => {
                            noted.message(Way::Out, message);
                            conversation.send(message)
                        }
                    };
                    match sent {
                        Ok(()) => conversation.room().await,
                        failed => failed,
                    }
                }
                Action::Receive => match conversation.receive().await {
                    Ok(true) => {
                        noted.message(Way::In, conversation.message());
                        if let Err(status) = self.loaded.validate(conversation.call().method, conversation.message()) {
                            return (*status).into();
                        }
                        if reply.reads_requests() {
                            let method = conversation.call().method;
                            match conversation.message().request_binary(method, &mut room) {
                                Ok(bytes) => steps.received(Some(bytes)),
                                Err(status) => Err(status),
                            }
                        } else {
                            steps.received(None)
                        }
                    }
                    Ok(false) => {
                        steps.half_closed();
                        Ok(())
                    }
                    Err(status) => Err(status),
                },
                Action::Finish(outcome) => return outcome,
            };
            if let Err(status) = done {
                return status.into();
            }
        }
    }
}

impl Service for MockService {
    type Plan = MockPlan;

    fn method(&self, path: &str) -> Option<&Method> {
        let method = self.loaded.schema().method(path)?;
        // A schema that a server told has reflection and health too: ours answer, unless there are rules for them.
        if path.starts_with("/grpc.") && is_builtin(path) && !self.loaded.has_rules(method) {
            return None;
        }
        Some(method)
    }

    fn unknown(&self, path: &str) -> Option<Status> {
        let known = self.loaded.schema().services();
        let service = path.strip_prefix('/').and_then(|path| path.rsplit_once('/')).map(|(service, _)| service)?;
        let text = match known.iter().find(|own| own.full_name() == service) {
            Some(own) => {
                let methods = self.loaded.schema().methods_of(own).iter().map(Method::name).collect::<Vec<_>>();
                format!("{service} has no such method: it has {}", methods.join(", "))
            }
            None => {
                let names = known.iter().take(10).map(leat_schema::Service::full_name).collect::<Vec<_>>();
                format!("the mock's schema has no service {}: it has {}", service.escape_debug(), names.join(", "))
            }
        };
        Some(Status::new(Code::Unimplemented, text))
    }

    fn refused(&self, refused: &Refusal<'_>) {
        if self.keeps_calls {
            let session = self.session_key(&CallMetadata::new(refused.head.fields()));
            let begun = noted::refused(refused, session.as_deref(), self.redact());
            let number = self.mock.journal.begin(begun);
            self.mock.journal.end(number, refused.status.clone(), Metadata::new(), 0);
        }
    }

    fn whole<A: Answer>(&self, call: &Call<'_>, request: Message<'_>, answer: &mut A) -> Step<MockPlan> {
        let mut noted = Noted::new(&self.mock, &self.block, call);
        let chosen = with_room(|room| match request.request_binary(call.method, room) {
            Ok(bytes) => self.choose(call, Some(bytes)),
            Err(status) => refused(status),
        });
        match chosen {
            Chosen::Rule { answering, call: number, session } => {
                let rule = (&*answering, number);
                if self.at_once(noted, rule, session.as_deref(), (call, request), answer) {
                    return Step::Done;
                }
                Step::Exchange(MockPlan(Chosen::Rule { answering, call: number, session }))
            }
            Chosen::Fail(status, unmatched) => {
                self.note(&mut noted, call, Err(&unmatched));
                noted.message(Way::In, request);
                answer.fail(&status);
                noted.end_with(&status);
                Step::Done
            }
            Chosen::Fake(unmatched, message) => {
                self.note(&mut noted, call, Err(&unmatched));
                noted.message(Way::In, request);
                noted.message(Way::Out, Message::binary(&message));
                answer.message(Message::binary(&message));
                noted.end_with(&Status::OK);
                Step::Done
            }
            forward @ Chosen::Forward(_) => {
                noted.forget();
                Step::Exchange(MockPlan(forward))
            }
        }
    }

    async fn converse<C: Conversation>(&self, plan: Option<MockPlan>, conversation: &mut C) -> Outcome {
        let mut noted = Noted::new(&self.mock, &self.block, &conversation.call());
        let mut first = Vec::new();
        let received = match &plan {
            // The recorder takes all messages itself.
            Some(MockPlan(Chosen::Forward(_))) => Ok(false),
            _ => conversation.receive().await,
        };
        let requests = usize::from(matches!(received, Ok(true)));
        let mut taken = received.map(drop);
        if requests > 0 {
            let mut room = Vec::new();
            let bytes = conversation.message().request_binary(conversation.call().method, &mut room);
            taken = bytes.map(|bytes| first.extend_from_slice(bytes));
        }
        let chosen = match (taken, plan) {
            (Err(status), _) => refused(status),
            (Ok(()), Some(MockPlan(chosen))) => chosen,
            (Ok(()), None) => self.choose(&conversation.call(), (requests > 0).then_some(&*first)),
        };
        self.note(&mut noted, &conversation.call(), chosen.rule());
        if requests > 0 {
            noted.message(Way::In, conversation.message());
        }
        let outcome = match (chosen, &self.forward) {
            (Chosen::Rule { answering, call, session }, _) => {
                let session = session.as_deref();
                self.run((&answering, call), session, (requests, &first), &noted, conversation).await
            }
            (Chosen::Fail(status, _), _) => status.into(),
            (Chosen::Fake(_, message), _) => {
                noted.message(Way::Out, Message::binary(&message));
                conversation.send(Message::binary(&message)).into()
            }
            (Chosen::Forward(_), Some(forward)) => {
                let first = (requests > 0).then_some(&*first);
                let method = conversation.call().method.clone();
                let seen = |way, message: Message<'_>| {
                    noted.message(way, message);
                    // A call of one message was validated before it came here; that again costs little beside the backend.
                    if way == Way::In {
                        self.loaded.validate(&method, message).map_err(|status| *status)
                    } else {
                        Ok(())
                    }
                };
                forward.converse(first, conversation, &seen).await
            }
            (Chosen::Forward(unmatched), None) => Status::new(Code::Unimplemented, &*unmatched.why).into(),
        };
        noted.end(&outcome, self.redact());
        outcome
    }
}

/// A call that no rule is asked for.
fn refused(status: Status) -> Chosen {
    let unmatched = Unmatched { why: status.message.as_str().into(), faked: false };
    Chosen::Fail(status, unmatched)
}

fn is_builtin(path: &str) -> bool {
    ["/grpc.health.v1.", "/grpc.reflection.v1.", "/grpc.reflection.v1alpha."]
        .iter()
        .any(|start| path.starts_with(start))
}

/// Lends the core's room for a request; a room of its own where it is lent already.
fn with_room<T>(work: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    ROOM.with(|room| match room.try_borrow_mut() {
        Ok(mut room) => {
            let done = work(&mut room);
            if room.capacity() > ROOM_BYTES_MAX {
                *room = Vec::new();
            }
            done
        }
        Err(_) => work(&mut Vec::new()),
    })
}

async fn wait(ms: u64) {
    let mut timer = leat_stream::Timer::default();
    timer.set_after(ms);
    poll_fn(|cx| timer.poll_due(cx)).await;
}

/// What a reply is told of its call, in memory of its own.
struct Told {
    method: String,
    metadata: Vec<(String, String)>,
    peer: String,
    timeout_ms: Option<u64>,
    session: String,
    query: Option<String>,
}

impl Told {
    fn of(call: &Call<'_>, session: Option<&[u8]>) -> Self {
        let text = |bytes: &[u8]| std::str::from_utf8(bytes).map(str::to_owned).ok();
        Self {
            method: call.method.full_name().to_owned(),
            metadata: call.metadata.iter().filter_map(|(name, value)| Some((text(name)?, text(value)?))).collect(),
            peer: peer(call.peer),
            timeout_ms: call.timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)),
            session: String::from_utf8_lossy(session.unwrap_or_default()).into_owned(),
            query: call.get_query.and_then(text),
        }
    }
}

impl RequestFields for Told {
    fn first(&self, name: &str) -> Option<&str> {
        self.metadata.iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    fn all(&self) -> Vec<(&str, &str)> {
        self.metadata.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    fn query(&self) -> Option<&str> {
        self.query.as_deref()
    }
}
