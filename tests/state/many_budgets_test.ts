/** Thousands of budgets that processes share: each sync reads some of those that rest, and the store decides about all. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Shared } from "../../src/contracts/storage.ts";
import { SharedCounters } from "../../src/state/counters/shared_counters.ts";
import { ConcurrencySlots } from "../../src/state/limits/concurrency_slots.ts";
import { TokenRate } from "../../src/state/limits/token_rate.ts";
import { StoreReplication } from "../../src/state/sharing/store_replication.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { createBudget } from "../support/_budgets.ts";
import { MemoryShared } from "../support/memory_shared.ts";

const count = 1_000;

/** Processes that share as many budgets of 100, and what each reads and writes per sync. */
function setUp() {
  const [shared, clock] = [new MemoryShared(), fakeClock()];
  const create = () => {
    const calls: number[] = [];
    const counting: Shared = {
      add: (changes) => {
        calls.push(changes.length);
        return shared.add(changes);
      },
      reserve: (reservations) => shared.reserve(reservations),
      publish: () => Promise.resolve(),
      subscribe: () => Promise.resolve(() => Promise.resolve()),
    };
    const sharedCounters = new SharedCounters();
    const budgets = Array.from({ length: count }, (_, number) => createBudget({ daily: 100 }, `client ${number}`));
    for (const budget of budgets) sharedCounters.register(budget);
    const parts = { shared: counting, onUnavailable: "open" as const, clock, onOutage: () => {} };
    const replication = new StoreReplication(sharedCounters, parts);
    sharedCounters.open(replication);
    const ask = async (number: number, nano: number) => {
      const reserved = budgets[number]!.reserve(nano, clock.now());
      const confirm = () => reserved.confirm();
      const denied = await replication.reserve(reserved.counterRequests(), confirm);
      if (denied === undefined) return (costNanoUsd: number) => reserved.settle({ costNanoUsd });
      reserved.settle({ costNanoUsd: 0 });
      return undefined;
    };
    const known = (number: number) => budgets[number]!.windows(clock.now())[0]!.spent;
    const reserved = (number: number) => budgets[number]!.windows(clock.now())[0]!.reserved;
    return { sharedCounters, replication, calls, ask, known, reserved };
  };
  return { shared, clock, one: create(), other: create() };
}

async function sync({ replication }: ReturnType<typeof setUp>["one"], times = 1): Promise<void> {
  for (let turn = 0; turn < times; turn++) await replication.sync();
}

describe("A thousand budgets of two processes", () => {
  it("are read in turn, a bounded number with each sync", async () => {
    const { one, other } = setUp();
    await sync(one, 2);
    one.calls.length = 0;
    (await other.ask(count - 1, 60))!(60);
    await sync(other);
    await sync(one, 20);
    assertEquals(one.known(count - 1), 60);
    assert(Math.max(...one.calls) <= 2 * 64 + 2, String(one.calls));
  });

  it("are exact although a process does not know yet what the other has spent", async () => {
    const { one, other } = setUp();
    await sync(one);
    await sync(other);
    (await one.ask(7, 60))!(60);
    assertEquals(other.known(7), 0);
    const all = await Promise.all([40, 1, 40].map((nano) => other.ask(7, nano)));
    assertEquals(all.map((settle) => settle !== undefined), [true, false, false]);
  });

  it("report a change with the next sync, also after one that failed", async () => {
    const { shared, one, other } = setUp();
    await sync(one, 2);
    await sync(other, 2);
    const settle = (await one.ask(500, 60))!;
    shared.isUnavailable = true;
    settle(25);
    await sync(one);
    shared.isUnavailable = false;
    await sync(one);
    assertEquals([...shared.sums].filter(([, sum]) => sum === 25).length, 2, "what is spent, and what is taken");
    await sync(other, 20);
    assertEquals(other.known(500), 25);
  });

  it("are free again with the next sync after the other process has released what it reserved", async () => {
    const { one, other } = setUp();
    await sync(one, 2);
    await sync(other, 2);
    const settle = (await one.ask(999, 100))!;
    assertEquals(await other.ask(999, 1), undefined);
    await sync(other, 3);
    assertEquals(other.reserved(999), 100);
    settle(0);
    await sync(one);
    await sync(other);
    assertEquals(other.reserved(999), 0);
  });
});

describe("Limits of requests and tokens that rest", () => {
  it("are read by every sync while another process uses them", async () => {
    const { clock, shared, one, other } = setUp();
    const [slots, others] = [new ConcurrencySlots("a", 1), new ConcurrencySlots("a", 1)];
    const [tokens, othersTokens] = [new TokenRate(), new TokenRate()];
    for (const rate of [tokens, othersTokens]) rate.limit = 20;
    one.sharedCounters.register(slots);
    one.sharedCounters.register(tokens.createGroup("a", clock));
    other.sharedCounters.register(others);
    other.sharedCounters.register(othersTokens.createGroup("a", clock));
    await sync(one, 20);
    await sync(other, 20);
    others.take();
    othersTokens.reserve(clock.monotonic(), 10);
    await sync(other);
    await sync(one, 20);
    const isFull = () => tokens.freesAt(clock.monotonic(), 1) > clock.monotonic();
    assertEquals([slots.others, isFull()], [1, false]);
    others.release();
    othersTokens.reserve(clock.monotonic(), 10);
    await sync(other);
    await sync(one);
    assertEquals([slots.others, isFull()], [0, true]);
    assert(shared.sums.size > 0);
  });
});
