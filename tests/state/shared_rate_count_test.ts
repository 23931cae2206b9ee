/** A rate that two processes make together: each reports what it took, slice by slice, and applies what the other did. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type FakeClock, fakeClock } from "../../src/runtime/test.ts";
import { SharedRateCount } from "../../src/state/counters/shared_rate.ts";

/** A process's side; slices are 10 s long, and six of them count. */
function createCount(clock: FakeClock) {
  const state = { counted: 0, isWanted: true };
  const applied: [at: number, amount: number][] = [];
  const shared = new SharedRateCount({
    key: "requests acme a",
    sliceMs: 10_000,
    slices: 6,
    clock,
    isWanted: () => state.isWanted,
    counted: () => state.counted,
    addOthers: (at, amount) => void applied.push([at, amount]),
  });
  const counters = () => [...shared.counters(clock.now())];
  /** What it has taken in the present slice and in the one before. */
  const own = () => counters().slice(-2).map((counter) => counter.own);
  return { state, applied, counters, own };
}

describe("The count of a shared rate", () => {
  it("reports at first all slices that count, then those that may still change", () => {
    const { counters } = createCount(fakeClock({ now: 100_000 }));
    const numbers = () => counters().map(({ key }) => key.split(" ").at(-1));
    assertEquals(numbers(), ["4", "5", "6", "7", "8", "9", "10"]);
    assertEquals(numbers(), ["9", "10"]);
  });

  it("counts in the slice in which it is reported", async () => {
    const clock = fakeClock({ now: 100_000 });
    const { state, own } = createCount(clock);
    own();
    state.counted = 3;
    assertEquals(own(), [0, 3]);
    await clock.advance(10_000);
    state.counted = 5;
    assertEquals(own(), [3, 2]);
  });

  it("leaves out what was taken before it was wanted", () => {
    const { state, own, counters } = createCount(fakeClock({ now: 100_000 }));
    Object.assign(state, { isWanted: false, counted: 7 });
    assertEquals(counters(), []);
    state.isWanted = true;
    assertEquals(own(), [0, 0]);
  });

  it("applies what others took since the last time: at the end of a slice that is over", async () => {
    const clock = fakeClock({ now: 100_000 });
    const { applied, counters } = createCount(clock);
    await clock.advance(5_000);
    const [before, present] = counters().slice(-2);
    before!.apply(4, 4);
    present!.apply(2, 2);
    present!.apply(3, 3);
    present!.apply(3, 3);
    // the slice before ended when the monotonic clock stood at 0
    assertEquals(applied, [[0, 4], [5_000, 2], [5_000, 1]]);
  });
});
