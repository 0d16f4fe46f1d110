// What policies decide, by corpus/policy: the gateway's Rust reads the same files.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { load } from "./load.mjs";

const { backoffUs } = load("backoff");
const { Budget } = load("budget");
const { Breaker } = load("breaker");
const { hasPassed, leftUs, ofTry } = load("deadline");
const { afterTry, isIdempotentMethod } = load("retry");
const { retryAfterUs } = load("retry_after");
const { betterOfTwo, requestLoad } = load("balance/two_choices");
const { Latency } = load("balance/peak_ewma");
const { Outliers } = load("balance/outliers");
const { RoundRobin } = load("balance/round_robin");
const { Weighted } = load("balance/weighted");

/** Policies that the transport has no use for. */
const NOT_HERE = {
    limits: "the transport limits no rate; that is the gateway's",
    maglev: "nodes are not chosen by a key",
    priorities: "nodes have no tiers",
    slow_start: "a node that comes back gets its whole weight",
};

const given = (time) => time ?? Infinity;
const shown = (time) => (time === undefined || time === Infinity ? null : time);

const backoffOf = ({ base_us: baseUs, max_us: maxUs, jitter }) => ({ baseUs, maxUs, jitter });
const budgetOf = ({ ratio, per_second: perSecond, burst }) => new Budget({ ratio, perSecond, burst });

/** By the policy: makes an instance of the settings, and gives what a step comes to. */
const POLICIES = {
    backoff: (settings) => (step, random) => ({ wait_us: backoffUs(backoffOf(settings), step.retry, random) }),
    retry_after: () => (step) => ({ wait_us: shown(retryAfterUs(step.value, step.at_us)) }),
    budget(settings) {
        const budget = budgetOf(settings);
        return ({ event, at_us }) => {
            const granted = event === "withdraw" ? budget.withdraw(at_us) : budget.deposit(at_us);
            return { granted, available: budget.available(at_us) };
        };
    },
    retry(settings) {
        const rules = {
            retriesMax: settings.retries_max,
            backoff: backoffOf(settings),
            retryAfterMaxUs: settings.retry_after_max_us,
            statuses: new Set(settings.statuses),
            statusesAnyMethod: new Set(settings.statuses_any_method),
            notSent: settings.not_sent,
            broken: settings.broken,
            timedOut: settings.timed_out,
        };
        const budget = settings.budget && budgetOf(settings.budget);
        return (step, random) => {
            const ended = {
                number: step.number,
                outcome: step.outcome,
                status: step.status ?? 0,
                retryAfterUs: step.retry_after_us,
                isIdempotent: isIdempotentMethod(step.method),
                isBodyConsumed: step.body_consumed ?? false,
            };
            const verdict = afterTry(rules, ended, step.at_us, given(step.deadline_us), budget, random);
            return typeof verdict === "number" ? { wait_us: verdict } : { stop: verdict };
        };
    },
    deadline(settings) {
        const deadline = given(settings.deadline_us);
        return ({ at_us, per_try_us }) => ({ passed: hasPassed(deadline, at_us), left_us: shown(leftUs(deadline, at_us)), try_us: shown(ofTry(deadline, at_us, given(per_try_us))) });
    },
    breaker(settings) {
        const { window } = settings;
        const breaker = new Breaker({
            window: window.calls === undefined ? { timeUs: window.time_us } : { calls: window.calls },
            callsMin: settings.calls_min,
            failureRate: settings.failure_rate,
            slowRate: settings.slow_rate,
            slowCallUs: settings.slow_call_us ?? 0,
            consecutiveFailures: settings.consecutive_failures,
            probes: settings.probes,
            openUs: settings.open_us,
            openMaxUs: settings.open_max_us,
        });
        const permits = new Map();
        const events = {
            ask({ at_us, call }) {
                const { answer, permit, retryAfterUs: wait } = breaker.ask(at_us);
                if (call !== undefined) permits.set(call, permit);
                return { answer, retry_after_us: shown(wait) };
            },
            record: ({ call, at_us, failed, took_us }) => breaker.record(permits.get(call), at_us, failed, took_us),
            release: ({ call }) => breaker.release(permits.get(call)),
        };
        return (step) => ({ ...events[step.event](step), state: breaker.state });
    },
    round_robin({ endpoints }) {
        const robin = new RoundRobin();
        return ({ usable }) => ({ pick: shown(robin.pick(endpoints, (index) => usable[index])) });
    },
    weighted({ endpoints }) {
        const weighted = new Weighted();
        return ({ weights }) => ({ pick: shown(weighted.pick(endpoints, (index) => weights[index])) });
    },
    least_request:
        () =>
        ({ in_flight, weights }, random) => ({ pick: shown(betterOfTwo(weights.length, (at) => requestLoad(in_flight[at], weights[at]), random)) }),
    peak_ewma(settings) {
        const endpoints = Array.from({ length: settings.endpoints }, () => new Latency({ halfLifeUs: settings.half_life_us, firstUs: settings.first_us }, 0));
        const events = {
            record: ({ endpoint, at_us, latency_us }) => endpoints[endpoint].record(at_us, latency_us),
            load: ({ endpoint, at_us, in_flight }) => ({ load_us: Math.floor(endpoints[endpoint].loadUs(at_us, in_flight)) }),
            pick: ({ at_us, in_flight }, random) => ({ pick: betterOfTwo(endpoints.length, (at) => endpoints[at].loadUs(at_us, in_flight[at]), random) }),
        };
        return (step, random) => events[step.event](step, random);
    },
    outliers(settings) {
        const count = settings.endpoints;
        const outliers = new Outliers(
            { consecutiveFailures: settings.consecutive_failures, ejectionUs: settings.ejection_us, ejectionMaxUs: settings.ejection_max_us, partMax: settings.part_max },
            count,
        );
        return ({ endpoint, failed, at_us }) => {
            const ejected = outliers.record(endpoint, failed, at_us);
            return { ejected_us: shown(ejected), ejected: Array.from({ length: count }, (_, index) => outliers.isEjected(index, at_us)) };
        };
    },
};

const corpus = new URL("../../../../../corpus/policy/", import.meta.url);
const cases = ["limits.json", "retry.json", "breaker.json", "balance.json"].flatMap((file) => JSON.parse(readFileSync(new URL(file, corpus), "utf8")));

for (const { name, policy, settings, steps } of cases) {
    test(name, { skip: NOT_HERE[policy] }, () => {
        const run = POLICIES[policy](settings);
        steps.forEach((step, at) => {
            const draws = [...(step.draws ?? [])];
            const random = () => {
                assert.ok(draws.length > 0, `step ${at} draws once more`);
                return draws.shift();
            };
            const found = run(step, random) ?? {};
            assert.equal(draws.length, 0, `step ${at} leaves draws`);
            for (const [key, expected] of Object.entries(step.expect ?? {})) assert.deepEqual(found[key], expected, `step ${at}: ${key}`);
        });
    });
}

test("every policy of the corpus is either here or left out with a reason", () => {
    const named = new Set(cases.map(({ policy }) => policy));
    assert.deepEqual([...named].sort(), [...Object.keys(POLICIES), ...Object.keys(NOT_HERE)].sort());
});
