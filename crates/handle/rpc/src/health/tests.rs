use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use leat_message::Step;
use leat_rpc_wire::{Code, Status};

use super::{CHECK, Health, LIST, Serving, Statuses, WATCH};
use crate::builtin::Builtin;
use crate::reflection::{PATH, Reflection};
use crate::scripted::{Answered, Script, call, peer, ready};
use crate::{Message, Service};

fn asked(name: &str) -> Vec<u8> {
    let mut out = Vec::new();
    leat_schema::wire::put_bytes(&mut out, 1, name.as_bytes());
    out
}

fn checked(health: &Health, path: &str, request: &[u8]) -> Result<Vec<u8>, Status> {
    let (peer, mut answered) = (peer(), Answered::default());
    let step = health.whole(&call(health.method(path).unwrap(), &peer), Message::binary(request), &mut answered);
    assert!(matches!(step, Step::Done));
    answered.0.unwrap()
}

#[test]
fn check_tells_the_server_and_each_service() {
    let statuses = Statuses::serving(["shop.Orders"]);
    let health = Health::new(Arc::clone(&statuses));
    assert_eq!(checked(&health, CHECK, b""), Ok(vec![8, 1]));
    assert_eq!(checked(&health, CHECK, &asked("shop.Orders")), Ok(vec![8, 1]));
    statuses.set("shop.Orders", Serving::NotServing);
    assert_eq!(checked(&health, CHECK, &asked("shop.Orders")), Ok(vec![8, 2]));
    assert_eq!(checked(&health, CHECK, b""), Ok(vec![8, 1]));
    let unknown = checked(&health, CHECK, &asked("no")).unwrap_err();
    assert_eq!((unknown.code, unknown.message.as_str()), (Code::NotFound, "there is no service \"no\""));
    assert_eq!(checked(&health, CHECK, b"\xff").unwrap_err().code, Code::InvalidArgument);
    statuses.remove("shop.Orders");
    assert_eq!(checked(&health, CHECK, &asked("shop.Orders")).unwrap_err().code, Code::NotFound);
}

#[test]
fn list_tells_all() {
    let health = Health::new(Statuses::serving(["b", "a"]));
    let list = checked(&health, LIST, b"").unwrap();
    let mut json = Vec::new();
    health.method(LIST).unwrap().output().to_json(&list, &mut json).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let serving = serde_json::json!({"status": "SERVING"});
    assert_eq!(json, serde_json::json!({"statuses": {"": serving, "a": serving, "b": serving}}));
}

struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn watch_tells_each_change_once() {
    let statuses = Statuses::serving([]);
    let health = Health::new(Arc::clone(&statuses));
    let mut script = Script::new(health.method(WATCH).unwrap(), [asked("late")]);
    let sent = std::rc::Rc::clone(&script.sent);
    let woken = Arc::new(Woken(AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&woken));
    let mut cx = Context::from_waker(&waker);
    {
        let mut watching = pin!(health.converse(None, &mut script));
        let mut step = |wanted: &[[u8; 2]]| {
            assert!(matches!(watching.as_mut().poll(&mut cx), Poll::Pending));
            assert_eq!(sent.borrow().concat(), wanted.concat());
        };
        step(&[[8, 3]]);
        statuses.set("late", Serving::Serving);
        assert_eq!(woken.0.load(Ordering::Relaxed), 1);
        step(&[[8, 3], [8, 1]]);
        statuses.set("other", Serving::Serving);
        step(&[[8, 3], [8, 1]]);
        statuses.set_all(Serving::NotServing);
        step(&[[8, 3], [8, 1], [8, 2]]);
    }
    let before = woken.0.load(Ordering::Relaxed);
    statuses.set("late", Serving::Serving);
    assert_eq!(woken.0.load(Ordering::Relaxed), before, "nobody watches any more");
}

#[test]
fn both_stand_beside_a_service_whose_own_methods_go_first() {
    let own = Health::new(Statuses::serving([]));
    let beside = Health::new(Statuses::serving(["beside"]));
    let reflection = Reflection::new(leat_schema::Schema::empty(), &[super::SERVICE]);
    // The service is a mock that knows nothing, and then one of health itself.
    let both = Builtin::new(Nothing, Some(reflection), Some(beside));
    let (peer, mut answered) = (peer(), Answered::default());
    let method = both.method(CHECK).unwrap();
    assert!(matches!(both.whole(&call(method, &peer), Message::binary(&asked("beside")), &mut answered), Step::Done));
    assert_eq!(answered.0, Some(Ok(vec![8, 1])));
    let mut script = Script::new(both.method(PATH).unwrap(), [vec![0x3a, 0]]);
    assert!(ready(both.converse(None, &mut script)).status.is_ok());
    assert_eq!(script.sent.borrow().len(), 1);
    assert!(both.method("/shop.Orders/Get").is_none());
    let first = Builtin::new(own, None, None);
    assert!(first.method(CHECK).is_some() && first.method(PATH).is_none());
}

/// A service without methods.
struct Nothing;

impl Service for Nothing {
    type Plan = ();

    fn method(&self, _: &str) -> Option<&leat_schema::Method> {
        None
    }

    fn whole<A: crate::Answer>(&self, _: &crate::Call<'_>, _: Message<'_>, answer: &mut A) -> Step<()> {
        answer.fail(&Status::new(Code::Unimplemented, "nothing"));
        Step::Done
    }

    async fn converse<C: crate::Conversation>(&self, _: Option<()>, _: &mut C) -> crate::Outcome {
        Status::new(Code::Unimplemented, "nothing").into()
    }
}
