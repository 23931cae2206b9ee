import { assertEquals } from "@std/assert";
import type { DeactivationSettings } from "../../src/config/settings/settings.ts";
import { consecutiveFailures } from "../../src/rotation/policy.ts";
import { ModelState } from "../../src/state/model/model_state.ts";
import type { Outcome } from "../../src/state/counters/usage.ts";
import { createTracker } from "../support/_members.ts";
import { CircuitBreaker, type Transition } from "../../src/state/breaker/circuit_breaker.ts";

function model(settings: Partial<DeactivationSettings> = {}) {
  const reported: Transition[] = [];
  const owner = { model: "m", provider: "p" };
  const state = new ModelState({
    name: "m",
    provider: "p",
    weight: 1,
    poolBreaker: new CircuitBreaker({ pool: "chat", ...owner }),
    modelBreaker: new CircuitBreaker(owner),
    providerBreaker: new CircuitBreaker({ provider: "p" }),
    cooldownMs: 60_000,
    policy: consecutiveFailures({ retryLimit: 3, errorCodes: new Set(), ...settings }),
    onTransition: (transition) => reported.push(transition),
    tracker: createTracker({ id: "m" }),
  });
  const request = (outcome: Outcome, now = 0, status?: number) => {
    state.refresh(now);
    state.finish(state.begin(), outcome, { now, end: { status } });
    state.refresh(now);
  };
  return { state, reported, request };
}

Deno.test("a model is active at first and goes to standby after retry_limit failures in a row", () => {
  const { state, reported, request } = model();
  request("failure");
  request("failure");
  request("success");
  request("failure");
  request("failure");
  assertEquals(state.status, "active");
  request("failure");
  assertEquals([state.status, state.reason, state.retryAt], ["standby", "retry_limit", 60_000]);
  assertEquals(reported.map(({ to, reason, standbyMs }) => [to, reason, standbyMs]), [[
    "standby",
    "retry_limit",
    60_000,
  ]]);
});

Deno.test("a request without a outcome changes nothing", () => {
  const { state, request } = model({ retryLimit: 2 });
  request("failure");
  request("none");
  assertEquals(state.consecutiveFailures, 1);
  request("failure");
  assertEquals(state.status, "standby");
});

Deno.test("the reason names a counted code", () => {
  const { state, request } = model({ retryLimit: 1, errorCodes: new Set([400]) });
  request("failure", 0, 400);
  assertEquals(state.reason, "error_code");
});

Deno.test("after the cooldown it is half-open, one trial request at a time, and a success closes its breaker", () => {
  const { state, reported, request } = model({ retryLimit: 1 });
  request("failure");
  state.refresh(59_999);
  assertEquals(state.status, "standby");
  state.refresh(60_000);
  assertEquals([state.status, state.isHalfOpen, state.breakers.hasTrialRequest], ["active", true, false]);
  const begun = state.begin();
  assertEquals(state.breakers.hasTrialRequest, true);
  state.finish(begun, "success", { now: 60_000 });
  assertEquals([state.isHalfOpen, state.breakers.hasTrialRequest], [false, false]);
  assertEquals(reported.map(({ to }) => to), ["standby", "active"]);
});

Deno.test("a failed trial request doubles the cooldown, up to ten minutes; a success resets it", () => {
  const { state, request } = model({ retryLimit: 1 });
  const rests: number[] = [];
  let now = 0;
  for (let n = 0; n < 6; n++) {
    request("failure", now);
    rests.push(state.retryAt! - now);
    now = state.retryAt!;
  }
  assertEquals(rests, [60_000, 120_000, 240_000, 480_000, 600_000, 600_000]);
  request("success", now);
  request("failure", now);
  assertEquals(state.retryAt! - now, 60_000);
});

Deno.test("a trial request without an outcome leaves the model half-open", () => {
  const { state, request } = model({ retryLimit: 1 });
  request("failure");
  request("none", 60_000);
  assertEquals([state.isHalfOpen, state.breakers.hasTrialRequest], [true, false]);
});

Deno.test("a late success of a request begun before the standby does not end it", () => {
  const { state, request } = model({ retryLimit: 1 });
  const early = state.begin();
  request("failure");
  state.finish(early, "success", { now: 1 });
  state.refresh(1);
  assertEquals(state.status, "standby");
});

Deno.test("a later hint extends a standby and never shortens it", () => {
  const { state, reported } = model();
  const ends = [10_000, 5_000, 30_000, 29_000].map((standbyMs) => {
    state.breakers.openModel("rate_limited", 0, standbyMs);
    state.refresh(0);
    return state.retryAt;
  });
  assertEquals(ends, [10_000, 10_000, 30_000, 30_000]);
  assertEquals(reported.length, 1);
});

Deno.test("of several standbys the longest counts", () => {
  const { state, request } = model({ retryLimit: 1 });
  request("failure");
  state.breakers.openProvider("quota_exhausted", 0, 3_600_000);
  state.refresh(0);
  assertEquals([state.reason, state.retryAt], ["quota_exhausted", 3_600_000]);
  state.refresh(60_000);
  assertEquals(state.status, "standby");
});

Deno.test("a failed trial request after a vendor's standby sends the model back for the pool's cooldown", () => {
  const { state, request } = model();
  state.breakers.openModel("rate_limited", 0, 5_000);
  request("failure", 5_000);
  assertEquals([state.status, state.reason, state.retryAt], ["standby", "retry_limit", 65_000]);
});

Deno.test("a request begun before the standby neither passes for a trial request nor ends one under way", () => {
  const { state, request } = model({ retryLimit: 1 });
  const early = state.begin();
  request("failure");
  state.refresh(60_000);
  const trial = state.begin();
  state.finish(early, "success", { now: 60_000 });
  assertEquals([state.isHalfOpen, state.breakers.hasTrialRequest], [true, true]);
  state.finish(trial, "success", { now: 60_000 });
  assertEquals(state.isHalfOpen, false);
});

Deno.test("an earlier trial request neither closes nor opens the breaker after a later one", () => {
  for (const outcome of ["success", "failure"] as const) {
    const { state, request } = model({ retryLimit: 1 });
    request("failure");
    state.refresh(60_000);
    const early = state.begin();
    request("failure", 60_000); // another one, since no other model was left: back for twice the time
    state.refresh(180_000);
    assertEquals([state.status, state.isHalfOpen], ["active", true]);
    const trial = state.begin();
    state.finish(early, outcome, { now: 180_000 });
    if (outcome === "success") assertEquals([state.isHalfOpen, state.breakers.hasTrialRequest], [true, true]);
    state.finish(trial, "success", { now: 180_000 });
  }
});
