/** Money that several processes spend, as each of them counts it. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type FakeClock, fakeClock } from "../../src/runtime/test.ts";
import type { DeactivationSettings } from "../../src/config/settings/settings.ts";
import { createBudget } from "../support/_budgets.ts";
import type { Budget } from "../../src/state/limits/budget.ts";
import { Quota } from "../../src/state/limits/quota.ts";
import { StoreReplication } from "../../src/state/sharing/store_replication.ts";
import { SharedCounters } from "../../src/state/counters/shared_counters.ts";
import { MemoryShared } from "../support/memory_shared.ts";
import { raise } from "../support/raise.ts";

/** An amount that is reserved until it is settled. */
interface Reserved {
  readonly nano: number;
  settle(actual: number): void;
}

interface Party {
  readonly budget: Budget;
  readonly replication: StoreReplication;
  /** Asks for room and takes it, as a request does. */
  ask(nano: number): Promise<Reserved | undefined>;
}

function party(shared: MemoryShared, clock: FakeClock, onUnavailable: "open" | "closed" = "open"): Party {
  const sharedCounters = new SharedCounters();
  const budget = createBudget({ daily: 100 }, "all");
  sharedCounters.register(budget);
  const replication = new StoreReplication(sharedCounters, { shared, onUnavailable, clock, onOutage: () => {} });
  sharedCounters.open(replication);
  return {
    budget,
    replication,
    ask: async (nano) => {
      const reserved = budget.reserve(nano, clock.now());
      const confirm = () => reserved.confirm();
      if (await replication.reserve(reserved.counterRequests(), confirm) === undefined) {
        confirm();
        return { nano, settle: (actual) => reserved.settle({ costNanoUsd: actual }) };
      }
      reserved.settle({ costNanoUsd: 0 });
      return undefined;
    },
  };
}

function scene(): { shared: MemoryShared; clock: FakeClock; one: Party; other: Party } {
  const [shared, clock] = [new MemoryShared(), fakeClock()];
  return { shared, clock, one: party(shared, clock), other: party(shared, clock) };
}

const taken = ({ sums }: MemoryShared) => [...sums].find(([key]) => key.endsWith("taken"))?.[1];
const spent = ({ sums }: MemoryShared) => [...sums].find(([key]) => key.endsWith("spent"))?.[1];

describe("a budget of two processes", () => {
  it("is reserved by one and missing to the other", async () => {
    const { one, other } = scene();
    const hold = await one.ask(60);
    assertEquals(await other.ask(60), undefined);
    hold!.settle(10);
    await one.replication.sync();
    assertEquals((await other.ask(60))?.nano, 60);
  });

  it("gets back what was asked for and not used", async () => {
    const { shared, one } = scene();
    const hold = await one.ask(60);
    assertEquals(taken(shared), 60);
    hold!.settle(0);
    await one.replication.sync();
    assertEquals(taken(shared), 0);
  });

  it("does not get the same twice by syncs at once", async () => {
    const { shared, one } = scene();
    (await one.ask(30))!.settle(40);
    await Promise.all([one.replication.sync(), one.replication.sync(), one.replication.sync()]);
    assertEquals([taken(shared), spent(shared)], [40, 40]);
  });

  it("counts what was spent while the store was away once it is back", async () => {
    const { shared, one, other } = scene();
    shared.isUnavailable = true;
    (await one.ask(30))!.settle(30);
    (await other.ask(30))!.settle(30);
    await one.replication.sync();
    assertEquals([one.replication.isUnavailable, spent(shared)], [true, undefined]);
    shared.isUnavailable = false;
    await one.replication.sync();
    await other.replication.sync();
    assertEquals([taken(shared), spent(shared), one.replication.isUnavailable], [60, 60, false]);
  });

  it("is known again to a store that has lost it", async () => {
    const { shared, one, other } = scene();
    (await one.ask(30))!.settle(30);
    (await other.ask(30))!.settle(30);
    for (const { replication } of [one, other, one]) await replication.sync();
    shared.sums.clear();
    for (const { replication } of [one, other]) await replication.sync();
    assertEquals([taken(shared), spent(shared)], [60, 60]);
    assertEquals(await one.ask(50), undefined);
  });

  it("is waited for 50 ms, and a response that comes later counts", async () => {
    const { shared, clock, one } = scene();
    let release = () => {};
    shared.gate = new Promise((resolve) => release = resolve);
    const asked = one.ask(60);
    let isOver = false;
    asked.then(() => isOver = true).catch(raise);
    await clock.advance(49);
    assertEquals(isOver, false);
    await clock.advance(1);
    assertEquals((await asked)?.nano, 60);
    release();
    await clock.advance(1);
    await one.replication.sync();
    assertEquals(taken(shared), 60);
  });

  it("refuses while the store is unavailable where it is configured to, without a wait", async () => {
    const [shared, clock] = [new MemoryShared(), fakeClock()];
    const one = party(shared, clock, "closed");
    shared.isUnavailable = true;
    await one.replication.sync();
    assertEquals([await one.ask(1), one.replication.isFailClosed, clock.pending], [undefined, true, 0]);
  });

  it("knows nothing better than the store does", async () => {
    const [shared, clock] = [new MemoryShared(), fakeClock()];
    const before = createBudget({ daily: 100 });
    before.reserve(40, clock.now()).settle({ costNanoUsd: 40 });
    const one = party(shared, clock);
    one.budget.restore(before.snapshot());
    await one.replication.sync();
    assertEquals([spent(shared), (await one.ask(100))?.nano], [0, 100]);
  });

  it("keeps what was reserved before it was shared, and counts it once it is settled", async () => {
    const [shared, clock] = [new MemoryShared(), fakeClock()];
    const budget = createBudget({ daily: 100 }, "all");
    const reserved = budget.reserve(60, clock.now());
    reserved.confirm();
    const sharedCounters = new SharedCounters();
    sharedCounters.register(budget);
    const replication = new StoreReplication(sharedCounters, {
      shared,
      clock,
      onUnavailable: "open",
      onOutage: () => {},
    });
    sharedCounters.open(replication);
    await replication.sync();
    const other = party(shared, clock);
    assertEquals([taken(shared), await other.ask(50)], [60, undefined]);
    reserved.settle({ costNanoUsd: 30 });
    await replication.sync();
    assertEquals([taken(shared), spent(shared)], [30, 30]);
  });
});

describe("a quota of two processes", () => {
  function createQuotaParty(shared: MemoryShared, clock: FakeClock) {
    const sharedCounters = new SharedCounters();
    const settings = { retryLimit: 3, errorCodes: new Set<number>(), tokenLimit: 100 } as DeactivationSettings;
    const quota = new Quota(settings, () => clock.now(), { name: "chat a" });
    sharedCounters.register(quota);
    const replication = new StoreReplication(sharedCounters, {
      shared,
      clock,
      onUnavailable: "open",
      onOutage: () => {},
    });
    sharedCounters.open(replication);
    return { quota, sync: () => replication.sync() };
  }

  it("is known again to a store that has lost it, until a standby has ended", async () => {
    const [shared, clock] = [new MemoryShared(), fakeClock()];
    const [one, other] = [createQuotaParty(shared, clock), createQuotaParty(shared, clock)];
    for (const { quota } of [one, other]) quota.reserve(60, 0).settle({ tokens: 60 });
    for (const { sync } of [one, other, one]) await sync();
    shared.sums.clear();
    for (const { sync } of [one, other]) await sync();
    const third = createQuotaParty(shared, clock);
    await third.sync();
    assertEquals([one, other, third].map(({ quota }) => quota.decision()?.reason), Array(3).fill("token_limit"));
    one.quota.recovered();
    for (const { sync } of [one, other, third, one]) await sync();
    assertEquals([one, other, third].map(({ quota }) => quota.decision()), [undefined, undefined, undefined]);
  });
});
