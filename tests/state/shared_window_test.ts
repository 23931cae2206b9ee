import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { fakeClock } from "../../src/runtime/test.ts";
import { StoreReplication } from "../../src/state/sharing/store_replication.ts";
import { SharedCounters } from "../../src/state/counters/shared_counters.ts";
import { SharedSums } from "../../src/state/sharing/shared_sums.ts";
import { slicedDay, slicedMinute } from "../../src/state/counters/shared_rate.ts";

/** A process, and a store that answers after a time. */
function processOn(sums: SharedSums, clock: ReturnType<typeof fakeClock>, delayMs: () => number) {
  const late = <T>(answer: () => T) => {
    const ms = delayMs();
    return ms === 0 ? Promise.resolve(answer()) : clock.sleep(ms).then(answer);
  };
  const replication = new StoreReplication(new SharedCounters(), {
    clock,
    onUnavailable: "open",
    onOutage: () => {},
    shared: {
      add: (changes) => late(() => sums.add(changes, 0)),
      reserve: (claims) => late(() => sums.reserve(claims, 0)),
      publish: () => Promise.resolve(),
      subscribe: () => Promise.resolve(() => Promise.resolve()),
    },
  });
  const admit = async (limit: number) =>
    (await replication.admit({ name: "client web", limit, ...slicedMinute }))?.waitMs;
  return { replication, admit };
}

describe("A client's requests of a minute in a store that is slow", () => {
  it("are admitted by the store, however long it takes, so that processes never admit more", async () => {
    const clock = fakeClock();
    const sums = new SharedSums(clock);
    const all = [1, 2].map(() => processOn(sums, clock, () => 100));
    const asked = Array.from({ length: 10 }, (_, index) => all[index % 2]!.admit(3));
    await clock.advance(1000);
    const waits = await Promise.all(asked);
    assertEquals([waits.filter((ms) => ms === 0).length, waits.includes(undefined)], [3, false]);
  });

  it("are left to each process once it counts as unavailable, after half a second", async () => {
    const clock = fakeClock();
    let delayMs = 60_000;
    const { replication, admit } = processOn(new SharedSums(clock), clock, () => delayMs);
    const asked = [admit(3), admit(3)];
    const syncing = replication.sync();
    await clock.advance(499);
    assertEquals(replication.isUnavailable, false);
    await clock.advance(1);
    assertEquals([await Promise.all(asked), await admit(3)], [[undefined, undefined], undefined]);
    delayMs = 0;
    await clock.advance(60_000);
    await syncing;
    assertEquals(await admit(3), 0);
  });
});

describe("A model's requests of a day in a shared store", () => {
  it("are those of the UTC day: at midnight all processes have as many again", async () => {
    const clock = fakeClock({ now: Date.UTC(2026, 0, 1, 23, 59) });
    const sums = new SharedSums(clock);
    const [one, other] = [1, 2].map(() => processOn(sums, clock, () => 0).replication);
    const rate = { name: "model a day", limit: 2, ...slicedDay };
    const waits = async () => [await one!.admit(rate), await other!.admit(rate), await one!.admit(rate)];
    assertEquals((await waits()).map((grant) => grant?.waitMs), [0, 0, 60_000]);
    await clock.advance(59_999);
    assertEquals((await other!.admit(rate))?.waitMs, 1);
    clock.jumpWallTime(1);
    const grants = await waits();
    assertEquals(grants.map((grant) => grant?.waitMs), [0, 0, 86_400_000]);
    grants[0]!.release();
    assertEquals([(await other!.admit(rate))?.waitMs, (await one!.admit(rate))?.waitMs], [0, 86_400_000]);
  });
});
