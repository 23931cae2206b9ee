/** The right to ask one model, for one request: counted from its admission, given back once. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { ProviderEntry, RoutingSettings } from "../../src/config/settings/settings.ts";
import type { ModelInfo } from "../../src/contracts/provider.ts";
import { type FakeClock, fakeClock } from "../../src/runtime/test.ts";
import { StoreReplication } from "../../src/state/sharing/store_replication.ts";
import { MeshState } from "../../src/state/model/mesh_state.ts";
import type { ModelState } from "../../src/state/model/model_state.ts";
import type { RequestEnd } from "../../src/state/counters/usage.ts";
import type { Permit } from "../../src/state/model/permit.ts";
import { MemoryShared } from "../support/memory_shared.ts";

/** A token read costs 1 000 nano-dollars. */
const load = { input: 100, output: 0 };
const cost = 100_000;

/** A model with three calls' worth of money a day, and two calls at once unless said. */
function createModelState(
  clock: FakeClock,
  { concurrent, rpm, rpd, calls = 3, ...deactivation }: Record<string, unknown> = {},
): ModelState {
  const budget = [{ id: "day", window: "day", limitNanoUsd: (calls as number) * cost }];
  const routing = {
    deactivation: { retryLimit: 1, errorCodes: new Set<number>(), ...deactivation },
    recovery: { cooldownMs: 60_000 },
  } as unknown as RoutingSettings;
  const state = new MeshState({ settings: {}, clock, onTransition: () => {} });
  const provider = { id: "one", budget, apiKeys: [] } as unknown as ProviderEntry;
  const info = { id: "a", pricing: [{ input: 1, output: 1 }] } as unknown as ModelInfo;
  return state.add({
    pool: "chat",
    name: "a",
    info,
    provider,
    weight: 1,
    routing,
    limits: { concurrent, rpm, rpd } as object,
  });
}

const reasonOf = (model: ModelState, clock: FakeClock) => model.tracker.denial(load, clock.monotonic())?.reason;

/** Admits and sends one request. */
function send(model: ModelState, clock: FakeClock): Permit {
  const permit = model.admit(load, clock.monotonic());
  assertEquals(permit.confirm(clock), undefined); // nothing is shared
  permit.take();
  return permit;
}

describe("A permit", () => {
  it("holds its place among the calls at once until it is released, once", () => {
    const clock = fakeClock();
    const model = createModelState(clock, { concurrent: 2 });
    const [one, other] = [send(model, clock), send(model, clock)];
    assertEquals([reasonOf(model, clock), model.inFlight], ["rate_limited", 2]);
    one.release("success", 0, { tokens: 1, costNanoUsd: 1 });
    one.release("failure", 0);
    one.withdraw();
    assertEquals([reasonOf(model, clock), model.inFlight, model.consecutiveFailures], [undefined, 1, 0]);
    other.release("success", 0, { tokens: 1, costNanoUsd: 1 });
    assertEquals(model.inFlight, 0);
  });

  it("counts beyond a limit, too: what is sent is spent", () => {
    const clock = fakeClock();
    const model = createModelState(clock);
    const permits = Array.from({ length: 5 }, () => send(model, clock));
    assertEquals(reasonOf(model, clock), "budget");
    for (const permit of permits) permit.release("success", 0, { tokens: 100, costNanoUsd: cost });
    model.refresh(0);
    assertEquals([model.status, model.reason], ["standby", "provider_budget"]);
  });

  it("that is withdrawn leaves nothing behind", () => {
    const clock = fakeClock();
    const model = createModelState(clock, { concurrent: 1, requestLimit: 1, tokenLimit: 100, quotaWindow: "daily" });
    const permit = model.admit(load, 0);
    assertEquals([reasonOf(model, clock), model.inFlight], ["rate_limited", 1]);
    permit.withdraw();
    permit.release("failure", 0);
    model.refresh(0);
    assertEquals([reasonOf(model, clock), model.inFlight, model.status], [undefined, 0, "active"]);
  });

  it("reserves what its pool allows the model: the last request is the last one before it is sent", () => {
    const clock = fakeClock();
    const model = createModelState(clock, { requestLimit: 1, quotaWindow: "daily" });
    const permit = model.admit(load, 0);
    model.refresh(0);
    assertEquals([reasonOf(model, clock), model.status], ["request_limit", "active"]);
    assertEquals(permit.confirm(clock), undefined);
    assertEquals(model.status, "active"); // as of the last look
    model.refresh(0);
    assertEquals([model.status, model.reason], ["standby", "quota_window"]);
    permit.release("none", 0);
  });

  it("is the trial request of a half-open model", () => {
    const clock = fakeClock();
    const model = createModelState(clock);
    send(model, clock).release("failure", 0);
    model.refresh(60_000);
    const permit = model.admit(load, 60_000);
    assertEquals([model.isHalfOpen, model.breakers.hasTrialRequest], [true, true]);
    permit.withdraw();
    assertEquals([model.isHalfOpen, model.breakers.hasTrialRequest], [true, false]);
  });

  it("counts each call of its request: a failed one gives its money back", () => {
    const clock = fakeClock();
    const model = createModelState(clock);
    const permit = model.admit({ input: 200, output: 0 }, 0);
    assertEquals(permit.confirm(clock), undefined);
    permit.take().fail(true);
    permit.renew({ input: 200, output: 0 }, 0);
    assertEquals([reasonOf(model, clock), model.tracker.denial({ input: 101, output: 0 }, 0)?.reason], [
      undefined,
      "budget",
    ]);
    permit.release("none", 0); // not taken: the second call was never sent
    assertEquals(model.tracker.denial({ input: 300, output: 0 }, 0), undefined);
  });
});

function share({ tracker: { sharedCounters } }: ModelState, shared: MemoryShared, clock: FakeClock): void {
  const target = { shared, clock, onUnavailable: "open", onOutage: () => {} } as const;
  sharedCounters!.open(new StoreReplication(sharedCounters!, target));
}

describe("Permits of two processes", () => {
  it("asked for at once fit into the money that both spend", async () => {
    const shared = new MemoryShared();
    const clock = fakeClock({ skipSleeps: true });
    const models = [createModelState(clock), createModelState(clock)];
    models.forEach((model) => share(model, shared, clock));
    const granted = await Promise.all(Array.from({ length: 30 }, async (_, index) => {
      const model = models[index % 2]!;
      if (reasonOf(model, clock) !== undefined) return undefined;
      const permit = model.admit(load, 0);
      if (await permit.confirm(clock) !== undefined) return void permit.withdraw();
      permit.take();
      return permit;
    }));
    assertEquals(granted.filter((permit) => permit !== undefined).length, 3);
    assertEquals(models.map(({ inFlight }) => inFlight).reduce((sum, count) => sum + count), 3);
    for (const permit of granted) permit?.release("success", 0, { tokens: 100, costNanoUsd: cost });
    for (const { tracker: { sharedCounters } } of models) await sharedCounters!.replication!.sync();
    assertEquals(models.map((model) => reasonOf(model, clock)), ["budget", "budget"]);
  });

  const limits: readonly [limit: Record<string, unknown>, reason: string, end: RequestEnd][] = [
    [{ rpm: 3 }, "rate_limited", {}],
    [{ rpd: 3 }, "rate_limited", {}],
    [{ rpm: 9, rpd: 3 }, "rate_limited", {}],
    [{ concurrent: 3 }, "rate_limited", {}],
    [{ requestLimit: 3 }, "request_limit", {}],
    [{ requestLimit: 3, quotaWindow: "daily" }, "request_limit", {}],
    [{ tokenLimit: 300, quotaWindow: "daily" }, "token_limit", { tokens: 100 }],
    [{ budgetLimitNanoUsd: 3 * cost }, "budget_limit", { costNanoUsd: cost }],
  ];
  for (const [limit, reason, end] of limits) {
    it(`asked for at once keep to ${JSON.stringify(limit)} together, and what is not sent is another's`, async () => {
      const shared = new MemoryShared();
      const clock = fakeClock({ skipSleeps: true });
      const models = [1, 2, 3].map(() => createModelState(clock, { calls: 100, ...limit }));
      models.forEach((model) => share(model, shared, clock));
      const denials = new Set<string>();
      const ask = async (model: ModelState) => {
        const permit = model.admit(load, clock.monotonic());
        const denied = await permit.confirm(clock);
        if (denied === undefined) return permit;
        denials.add(denied.reason);
        permit.withdraw();
      };
      const askAll = async () =>
        (await Promise.all([...models, ...models, ...models].map(ask))).filter((permit) => permit);
      const [unsent, ...granted] = await askAll();
      assertEquals([granted.length + 1, [...denials]], [3, [reason]]);
      for (const permit of granted) {
        permit!.take();
        permit!.release("success", clock.monotonic(), end);
      }
      unsent!.release("none", clock.monotonic());
      for (const { tracker: { sharedCounters } } of models) await sharedCounters.replication!.sync();
      // a request counts as sent when it is admitted, and one that is over leaves its place
      const left = "requestLimit" in limit ? 0 : "concurrent" in limit ? 3 : 1;
      assertEquals((await askAll()).length, left);
    });
  }

  it("give back what was refused", async () => {
    const shared = new MemoryShared();
    const clock = fakeClock({ skipSleeps: true });
    const [one, other] = [createModelState(clock), createModelState(clock)];
    [one, other].forEach((model) => share(model, shared, clock));
    const held = one.admit({ input: 250, output: 0 }, 0);
    assertEquals(await held.confirm(clock), undefined);
    const refused = other.admit(load, 0);
    assertEquals((await refused.confirm(clock))?.reason, "budget");
    refused.withdraw();
    held.withdraw();
    await one.tracker.sharedCounters.replication!.sync();
    await other.tracker.sharedCounters.replication!.sync();
    const next = other.admit({ input: 300, output: 0 }, 0);
    assertEquals(await next.confirm(clock), undefined);
  });
});
