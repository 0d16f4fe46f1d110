use std::sync::Arc;

use super::*;

fn state(sessions_max: usize) -> State {
    State::new(Settings { sessions_max, seed: 7 })
}

fn step(scenario: ScenarioId, required: &str, to: &str) -> Option<Step> {
    Some(Step { scenario, required: Some(required.into()), to: Some(to.into()) })
}

#[test]
fn a_rule_answers_as_often_as_times_allows_in_each_session() {
    let state = state(8);
    let claim = Claim { times: Some(2), ..Claim::counted(state.rule("a")) };
    for key in [None, Some(&b"one"[..]), Some(b"two")] {
        let session = state.session(key);
        assert_eq!(session.claim(&claim), Ok(1));
        assert_eq!(state.session(key).claim(&claim), Ok(2));
        assert_eq!(session.claim(&claim), Err(Blocked::Times { limit: 2 }));
        assert_eq!(session.calls(claim.rule), 2);
    }
}

#[test]
fn times_holds_for_calls_at_the_same_time() {
    let state = Arc::new(state(8));
    let claim = Claim { times: Some(1000), ..Claim::counted(state.rule("a")) };
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let (state, claim) = (Arc::clone(&state), claim.clone());
            std::thread::spawn(move || (0..500).filter(|_| state.session(None).claim(&claim).is_ok()).count())
        })
        .collect();
    let answered: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    assert_eq!(answered, 1000);
}

#[test]
fn a_scenario_goes_from_state_to_state() {
    let state = state(8);
    let order = state.scenario("order");
    let place = Claim { scenario: step(order, INITIAL_STATE, "placed"), ..Claim::counted(state.rule("place")) };
    let ship = Claim { scenario: step(order, "placed", "shipped"), ..Claim::counted(state.rule("ship")) };
    let session = state.session(None);
    let blocked = Blocked::Scenario { required: "placed".into(), seen: INITIAL_STATE.into() };
    assert_eq!(blocked.to_string(), "its scenario must be in `placed` and is in `start`");
    assert_eq!(session.claim(&ship), Err(blocked));
    assert_eq!(session.claim(&place), Ok(1));
    assert_eq!(session.check(&place), session.claim(&place).map(|_| ()));
    assert_eq!(session.claim(&ship), Ok(1));
    assert_eq!(session.scenario(order).as_deref(), Some("shipped"));
    assert_eq!(state.session(Some(b"other")).scenario(order), None);
}

#[test]
fn a_blocked_claim_changes_nothing() {
    let state = state(8);
    let order = state.scenario("order");
    let claim = Claim { times: Some(1), scenario: step(order, INITIAL_STATE, INITIAL_STATE), rule: state.rule("a") };
    let session = state.session(None);
    assert_eq!(session.claim(&claim), Ok(1));
    assert!(session.claim(&claim).is_err());
    assert_eq!(session.calls(claim.rule), 1);
}

#[test]
fn the_sessions_that_were_used_longest_ago_make_room() {
    let state = state(16);
    let claim = Claim::counted(state.rule("a"));
    for number in 0..16u8 {
        state.session(Some(&[number])).claim(&claim).unwrap();
    }
    state.session(Some(&[0]));
    state.session(Some(b"new"));
    assert_eq!(state.session_count(), 15);
    assert_eq!(state.evicted(), 2);
    assert_eq!(state.session(Some(&[0])).calls(claim.rule), 1, "it was used just now");
    assert_eq!(state.session(Some(&[3])).calls(claim.rule), 1);
    assert_eq!(state.session(Some(&[1])).calls(claim.rule), 0, "it made room");
}

#[test]
fn resets_forget_all_or_one_session() {
    let state = state(8);
    let claim = Claim::counted(state.rule("a"));
    let keys = [None, Some(&b"one"[..]), Some(b"two")];
    let count = || keys.map(|key| state.session(key).calls(claim.rule));
    let fill = || keys.map(|key| state.session(key).claim(&claim).unwrap());
    fill();
    assert!(state.reset_session(Some(b"one")));
    assert!(!state.reset_session(Some(b"three")));
    assert_eq!(count(), [1, 0, 1]);
    assert!(state.reset_session(None));
    assert_eq!(count(), [0, 0, 1]);
    fill();
    state.reset();
    assert_eq!(count(), [0, 0, 0]);
}

#[test]
fn names_keep_their_counts_over_a_reload_and_rules_that_are_gone_lose_them() {
    let state = state(8);
    let (a, b) = (state.rule("a"), state.rule("b"));
    for key in [None, Some(&b"one"[..])] {
        state.session(key).claim(&Claim::counted(a)).unwrap();
        state.session(key).claim(&Claim::counted(b)).unwrap();
    }
    state.retain_rules(|name| name == "a");
    assert_eq!(state.rule("a"), a);
    assert_ne!(state.rule("b"), b);
    assert_eq!(state.session(Some(b"one")).calls(a), 1);
    assert_eq!(state.session(Some(b"one")).calls(state.rule("b")), 0);
}

#[test]
fn the_view_has_names() {
    let state = state(8);
    state.session(Some(b"one")).claim(&Claim::counted(state.rule("a"))).unwrap();
    state.set_scenario(None, "order", "placed");
    let view = state.view();
    assert_eq!(view[0].scenarios, [("order".to_owned(), "placed".to_owned())]);
    assert_eq!((&*view[1].key, &*view[1].calls), ("one", &[("a".to_owned(), 1)][..]));
}

#[test]
fn long_keys_are_cut_and_still_told_apart() {
    let state = state(8);
    let claim = Claim::counted(state.rule("a"));
    let (one, two) = (vec![b'x'; 5000], [vec![b'x'; 4999], vec![b'y']].concat());
    state.session(Some(&one)).claim(&claim).unwrap();
    assert_eq!(state.session(Some(&one)).calls(claim.rule), 1);
    assert_eq!(state.session(Some(&two)).calls(claim.rule), 0);
    assert!(state.session(Some(&one)).key().len() < 300);
}

#[test]
fn draws_follow_from_seed_session_rule_and_call() {
    let state = state(8);
    let (a, b) = (state.rule("a"), state.rule("b"));
    let (plain, keyed) = (state.session(None), state.session(Some(b"one")));
    let first = |session: &Session, rule, call| state.draws(session, rule, call).wide();
    assert_eq!(first(&plain, a, 1), first(&plain, a, 1));
    let all = [first(&plain, a, 1), first(&plain, a, 2), first(&plain, b, 1), first(&keyed, a, 1)];
    for (index, draw) in all.iter().enumerate() {
        assert!(!all[..index].contains(draw));
    }
}

#[test]
fn draws_stay_in_their_ranges_and_follow_weights() {
    let mut draws = Draws::new(1, &[]);
    let mut chosen = [0; 3];
    for _ in 0..10_000 {
        assert!((-3..=4).contains(&draws.between(-3, 4)));
        assert!((0.0..1.0).contains(&draws.fraction()));
        chosen[draws.weighted([1, 0, 3])] += 1;
    }
    assert_eq!(chosen[1], 0);
    assert!((2200..2800).contains(&chosen[0]), "{chosen:?}");
    assert_eq!(draws.between(i64::MIN, i64::MIN), i64::MIN);
    draws.between(i64::MIN, i64::MAX);
    assert_eq!(draws.weighted([0, 0]), 0);
    let mut list: Vec<u8> = (0..50).collect();
    draws.shuffle(&mut list);
    assert_ne!(list, (0..50).collect::<Vec<_>>());
    list.sort_unstable();
    assert_eq!(list, (0..50).collect::<Vec<_>>());
}
