/** Requests at once, in the slots of two processes. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type FakeClock, fakeClock, settle } from "../../src/runtime/test.ts";
import { ConcurrencySlots } from "../../src/state/limits/concurrency_slots.ts";
import { StoreReplication } from "../../src/state/sharing/store_replication.ts";
import { SharedCounters } from "../../src/state/counters/shared_counters.ts";
import { SharedSums } from "../../src/state/sharing/shared_sums.ts";

/** A process that sends requests to a model that takes two at once. */
function createProcess(sums: SharedSums, clock: FakeClock, id: number) {
  const sharedCounters = new SharedCounters();
  const slots = new ConcurrencySlots("acme a", 2);
  sharedCounters.register(slots);
  const shared = {
    add: (changes: Parameters<SharedSums["add"]>[0]) => Promise.resolve(sums.add(changes, id)),
    reserve: (wanted: Parameters<SharedSums["reserve"]>[0]) => Promise.resolve(sums.reserve(wanted, id)),
    publish: () => Promise.resolve(),
    subscribe: () => Promise.resolve(() => Promise.resolve()),
  };
  const replication = new StoreReplication(sharedCounters, {
    shared,
    clock,
    onUnavailable: "open",
    onOutage: () => {},
  });
  sharedCounters.open(replication);
  return {
    slots,
    sync: () => replication.sync(),
    /** Whether a request gets a slot. */
    ask: async () => await replication.reserve([slots.request(clock.now())], () => slots.take()) === undefined,
  };
}

function scene() {
  const clock = fakeClock();
  const sums = new SharedSums(clock);
  return { sums, one: createProcess(sums, clock, 1), other: createProcess(sums, clock, 2) };
}

describe("The slots of a model", () => {
  it("are taken by requests of all processes", async () => {
    const { one, other } = scene();
    assertEquals([await one.ask(), await other.ask(), await one.ask(), await other.ask()], [true, true, false, false]);
    await one.sync();
    assertEquals([one.slots.others, other.slots.others], [1, 1]);
  });

  it("are free for the others as soon as a request is over, without a wait for the next sync", async () => {
    const { one, other } = scene();
    await one.ask();
    await one.ask();
    assertEquals(await other.ask(), false);
    one.slots.release();
    await settle();
    assertEquals(await other.ask(), true);
  });

  it("end with their process", async () => {
    const { sums, one, other } = scene();
    await one.ask();
    await one.ask();
    sums.end(1);
    assertEquals([await other.ask(), await other.ask(), await other.ask()], [true, true, false]);
  });
});
