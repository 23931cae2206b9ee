/** Money that several processes spend, as each of them counts it. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type FakeClock, fakeClock } from "../../src/runtime/test.ts";
import { Budget, type Reservation } from "../../src/state/limits/budget.ts";
import { CounterReplication } from "../../src/state/sharing/counter_replication.ts";
import { CounterReplicator } from "../../src/state/counters/counter_replicator.ts";
import { MemoryShared } from "../support/memory_shared.ts";
import { raise } from "../support/raise.ts";

interface Party {
  readonly budget: Budget;
  readonly replication: CounterReplication;
  /** Asks for room and takes it, as a request does. */
  ask(nano: number): Promise<Reservation | undefined>;
}

function party(shared: MemoryShared, clock: FakeClock, onUnavailable: "open" | "closed" = "open"): Party {
  const replicator = new CounterReplicator();
  const budget = new Budget({ daily: 100 }, "all");
  replicator.register(budget);
  const replication = new CounterReplication(replicator, { shared, onUnavailable, clock, onOutage: () => {} });
  replicator.open(replication);
  return {
    budget,
    replication,
    ask: async (nano) => {
      const hold = budget.reserve(nano, clock.now());
      const confirm = () => budget.confirm(hold);
      if (await replication.reserve(budget.counterRequests(hold), confirm) === undefined) {
        confirm();
        return hold;
      }
      budget.settle(hold, 0);
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
    one.budget.settle(hold!, 10);
    await one.replication.sync();
    assertEquals((await other.ask(60))?.nanoUsd, 60);
  });

  it("gets back what was asked for and not used", async () => {
    const { shared, one } = scene();
    const hold = await one.ask(60);
    assertEquals(taken(shared), 60);
    one.budget.settle(hold!, 0);
    await one.replication.sync();
    assertEquals(taken(shared), 0);
  });

  it("does not get the same twice by syncs at once", async () => {
    const { shared, one } = scene();
    one.budget.settle((await one.ask(30))!, 40);
    await Promise.all([one.replication.sync(), one.replication.sync(), one.replication.sync()]);
    assertEquals([taken(shared), spent(shared)], [40, 40]);
  });

  it("counts what was spent while the store was away once it is back", async () => {
    const { shared, one, other } = scene();
    shared.isUnavailable = true;
    one.budget.settle((await one.ask(30))!, 30);
    other.budget.settle((await other.ask(30))!, 30);
    await one.replication.sync();
    assertEquals([one.replication.isUnavailable, spent(shared)], [true, undefined]);
    shared.isUnavailable = false;
    await one.replication.sync();
    await other.replication.sync();
    assertEquals([taken(shared), spent(shared), one.replication.isUnavailable], [60, 60, false]);
  });

  it("is known again to a store that has lost it", async () => {
    const { shared, one, other } = scene();
    one.budget.settle((await one.ask(30))!, 30);
    other.budget.settle((await other.ask(30))!, 30);
    for (const { replication } of [one, other, one]) await replication.sync();
    shared.sums.clear();
    for (const { replication } of [one, other]) await replication.sync();
    assertEquals([taken(shared), spent(shared)], [60, 60]);
    assertEquals(await one.ask(50), undefined);
  });

  it("is waited for 50 ms, and an answer that comes later counts", async () => {
    const { shared, clock, one } = scene();
    let release = () => {};
    shared.gate = new Promise((resolve) => release = resolve);
    const asked = one.ask(60);
    let isOver = false;
    asked.then(() => isOver = true).catch(raise);
    await clock.advance(49);
    assertEquals(isOver, false);
    await clock.advance(1);
    assertEquals((await asked)?.nanoUsd, 60);
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
    const before = new Budget({ daily: 100 });
    before.settle(before.reserve(40, clock.now())!, 40);
    const one = party(shared, clock);
    one.budget.restore(before.snapshot());
    await one.replication.sync();
    assertEquals([spent(shared), (await one.ask(100))?.nanoUsd], [0, 100]);
  });
});
