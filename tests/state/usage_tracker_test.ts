/** What one model in one pool counts: what denies it a request, and what puts it into standby. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { BudgetSettings, ProviderEntry, RoutingSettings } from "../../src/config/settings/settings.ts";
import type { ModelInfo, RateLimits } from "../../src/contracts/provider.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { SharedCounters } from "../../src/state/counters/shared_counters.ts";
import type { Outcome, RequestEnd } from "../../src/state/counters/usage.ts";
import { LimitedScopes } from "../../src/state/limits/limited_scopes.ts";
import type { Load } from "../../src/state/model/usage.ts";
import { UsageTrackers } from "../../src/state/model/usage_trackers.ts";

const minute = 60_000;
/** A minute, and the second of it that a request came in. */
const rateWindow = 61_000;
const dayMs = 24 * 60 * minute;

/** A dollar per million tokens: 1 000 nano-dollars a token. */
const priced: Partial<ModelInfo> = { pricing: [{ input: 1, output: 1 }] };

/** What a model is limited by. */
interface Limits {
  readonly info?: Partial<ModelInfo>;
  /** The vendor's. */
  readonly limits?: RateLimits;
  /** Nano-dollars a day: the provider's, the pool's, all. */
  readonly provider?: number;
  readonly pool?: number;
  readonly all?: number;
  readonly routing?: { readonly [Section in keyof RoutingSettings]?: unknown };
}

const budgetOf = (dailyNanoUsd: number | undefined): BudgetSettings | undefined =>
  dailyNanoUsd === undefined ? undefined : [{ id: "day", window: "day", limitNanoUsd: dailyNanoUsd }];

function track({ info = {}, limits, provider, pool, all, routing }: Limits = {}) {
  const clock = fakeClock();
  const trackers = new UsageTrackers({ budget: budgetOf(all) }, clock);
  const tracker = trackers.getTracker({
    pool: "chat",
    name: "a",
    info: { id: "a", ...info } as ModelInfo,
    limits,
    provider: { id: "acme", apiKeys: [], budget: budgetOf(provider) } as unknown as ProviderEntry,
    routing: { deactivation: {}, recovery: {}, ...routing } as unknown as RoutingSettings,
    budget: budgetOf(pool),
  });
  return {
    clock,
    tracker,
    /** Why a request is denied, and in how many ms to come back. */
    denial(load: Load = { input: 10, output: 10 }): readonly [string, number] | undefined {
      const now = clock.monotonic();
      const denial = tracker.denial(load, now);
      return denial && [denial.reason, denial.until - now];
    },
    /** Sends a request; it takes what it reserves. */
    send(load: Load = { input: 10, output: 10 }) {
      tracker.quota?.reserveRequest();
      const reservation = tracker.reserve(load, clock.monotonic());
      tracker.quota?.addRequest();
      return reservation;
    },
    finish: (outcome: Outcome, end: RequestEnd = {}) => tracker.requestFinished(outcome, end, clock.monotonic()),
  };
}

describe("A request is denied", () => {
  /** One request of 20 tokens is under way; what denies the next one of 20, and for how long. */
  const cases: readonly (readonly [what: string, limits: Limits, denial?: readonly [string, number]])[] = [
    ["by nothing without limits", {}],
    ["by the vendor's requests a minute", { limits: { rpm: 1 } }, ["rate_limited", rateWindow]],
    ["by the vendor's tokens a minute", { limits: { tpm: 30 } }, ["rate_limited", rateWindow]],
    ["by neither while there is room", { limits: { rpm: 2, tpm: 40 } }],
    ["by the provider's budget, until the day is over", { info: priced, provider: 30_000 }, ["budget", dayMs]],
    ["by the pool's", { info: priced, pool: 30_000 }, ["budget", dayMs]],
    ["by that of all", { info: priced, all: 30_000 }, ["budget", dayMs]],
    ["by no budget that it fits in", { info: priced, all: 40_000 }],
    ["under a budget for good where no price is known", { all: 40_000 }, ["no_price", Infinity]],
    ["by no budget where it is free", { info: { pricing: [{ input: 0, output: 0 }] }, all: 0 }],
    ["by what requests under way reserve of the pool's limit", {
      routing: { deactivation: { tokenLimit: 20 } },
    }, ["token_limit", 1000]],
    ["by the spacing that is configured", { routing: { rateLimit: { minDeltaMs: 300 } } }, ["min_delta", 300]],
    ["by the requests a minute that are configured", { routing: { rateLimit: { maxRpm: 1 } } }, ["max_rpm", 0]],
  ];
  for (const [what, limits, denial] of cases) {
    it(what, () => {
      const model = track(limits);
      if (denial?.[1] !== Infinity) assertEquals(model.denial(), undefined, "the first one fits");
      model.send();
      assertEquals(model.denial(), denial);
    });
  }

  it("by its client's budget, which is the client's alone", () => {
    const model = track({ info: priced });
    const state = { sharedCounters: new SharedCounters(), addBudgetScope() {}, removeBudgetScope() {} };
    const limits = new LimitedScopes({}, { state, clock: model.clock });
    const own = [limits.getClient({ id: "c", name: "c" }, { budget: budgetOf(30_000) })];
    const load = { input: 10, output: 10, scopes: limits.select({ own, client: "c" }) };
    model.send(load);
    assertEquals([model.denial(load), model.denial()], [["budget", dayMs], undefined]);
  });
});

describe("What a call reserves", () => {
  /** How one call of 20 000 nano-dollars ends, and what is left of a budget of 50 000 for the next. */
  const cases: readonly (readonly [
    what: string,
    end: (call: ReturnType<ReturnType<typeof track>["send"]>) => void,
    left: number,
  ])[] = [
    ["is taken while it is under way", () => {}, 30],
    ["is given back when it is not sent", (call) => call.cancel(), 50],
    ["is given back when it fails", (call) => call.fail(true), 50],
    ["becomes what it cost", (call) => call.end({ tokens: 5, costNanoUsd: 5_000 }), 45],
    ["is taken where the cost is unknown", (call) => call.end({}), 30],
    ["is settled by the first end alone", (call) => {
      call.end({ tokens: 5, costNanoUsd: 5_000 });
      call.cancel();
      call.end({});
    }, 45],
  ];
  for (const [what, end, left] of cases) {
    it(what, () => {
      const model = track({ info: priced, all: 50_000 });
      end(model.send());
      assertEquals(model.denial({ input: left, output: 0 }), undefined);
      assertEquals(model.denial({ input: left + 1, output: 0 })?.[0], "budget");
    });
  }

  it("is estimated by what earlier responses took, where the request sets no limit", () => {
    const model = track({ info: priced });
    assertEquals(model.tracker.estimateCost({ input: 10, output: 5 }), 15_000);
    const unknown = model.tracker.estimateCost({ input: 10, output: undefined })!;
    for (let times = 0; times < 100; times++) model.finish("success", { output: 30 });
    const known = model.tracker.estimateCost({ input: 10, output: undefined })!;
    assertEquals([unknown > known, known >= 40_000], [true, true], `${unknown}, then ${known}`);
  });
});

describe("A model goes to standby", () => {
  const decisionOf = ({ finish }: ReturnType<typeof track>, outcome: Outcome = "success", end: RequestEnd = {}) => {
    const { reason, scope, standbyMs } = finish(outcome, end) ?? {};
    return reason && [reason, scope, standbyMs];
  };

  it("when a budget is spent, until it is there again: alone, or with its provider whose budget it is", () => {
    for (
      const [scope, reason] of [["provider", "provider_budget"], ["pool", "budget_limit"], ["all", "budget_limit"]]
    ) {
      const model = track({ info: priced, [scope!]: 20_000 });
      model.send().end({});
      assertEquals(decisionOf(model), [reason, scope === "provider" ? "provider" : "model", dayMs]);
    }
  });

  it("not while the money is only reserved", () => {
    const model = track({ info: priced, all: 20_000 });
    model.send();
    assertEquals(decisionOf(model), undefined);
  });

  it("when its limit in the pool is reached", () => {
    const model = track({ routing: { deactivation: { requestLimit: 1 } } });
    model.send().end({});
    assertEquals(decisionOf(model), ["request_limit", "model", undefined]);
  });

  it("when too large a share of its requests fails, counted from its last standby on", () => {
    const errorRate = { threshold: 0.5, windowMs: minute, minRequests: 4 };
    const model = track({ routing: { deactivation: { errorRate } } });
    const outcomes: Outcome[] = ["failure", "none", "success", "failure"];
    for (const outcome of outcomes) assertEquals(decisionOf(model, outcome), undefined);
    assertEquals(decisionOf(model, "success"), ["error_rate", "model", undefined]);
    model.tracker.recovered();
    assertEquals(decisionOf(model, "failure"), undefined);
  });

  it("with its provider when a key is refused, where the pool asks for that", () => {
    const asked = track({ routing: { providerDeactivation: new Set(["on_auth_failure"]) } });
    assertEquals(decisionOf(asked, "failure", { kind: "auth" }), ["provider_auth_failure", "provider", undefined]);
    assertEquals(decisionOf(track(), "failure", { kind: "auth" }), undefined);
  });
});
