/** Limits of the last hours or days: what counts, until when, and for all processes that share a store. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type FakeClock, fakeClock, seededRandom } from "../../src/runtime/test.ts";
import { SharedCounters } from "../../src/state/counters/shared_counters.ts";
import { Budget, type BudgetSnapshot, type BudgetStep, loadBudgetWindows } from "../../src/state/limits/budget.ts";
import { StoreReplication } from "../../src/state/sharing/store_replication.ts";
import { MemoryShared } from "../support/memory_shared.ts";

await loadBudgetWindows();

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const noon = Date.UTC(2027, 0, 15, 12);

/** A budget of 100 nano-dollars in the last hour. */
function createHourly(name?: string, before?: Budget): Budget {
  return new Budget([{ id: "rolling 1h", window: "rolling 1h", limitNanoUsd: 100 }], name, before);
}

/** Spends what fits. */
function spend(budget: Budget, nano: number, wallTimeMs: number): boolean {
  if (budget.resetsAt(wallTimeMs, nano) !== undefined) return false;
  budget.reserve(nano, wallTimeMs).settle({ costNanoUsd: nano });
  return true;
}

const spentIn = (budget: Budget, wallTimeMs: number) => budget.windows(wallTimeMs)[0]?.spent;

describe("A rolling limit", () => {
  it("counts what was spent in the last hour, until the slice of it has left completely", () => {
    const budget = createHourly();
    assertEquals([spend(budget, 60, noon), spend(budget, 40, noon + 30 * minuteMs)], [true, true]);
    assertEquals([budget.isSpent(noon + hourMs), spentIn(budget, noon + 61 * minuteMs - 1)], [true, 100]);
    assertEquals([budget.isSpent(noon + 61 * minuteMs), spentIn(budget, noon + 61 * minuteMs)], [false, 40]);
    assertEquals(spentIn(budget, noon + 91 * minuteMs), 0);
  });

  it("has room again when enough has left", () => {
    const budget = createHourly();
    for (const minute of [0, 10, 20]) assert(spend(budget, 30, noon + minute * minuteMs));
    const now = noon + 25 * minuteMs;
    const frees = [10, 11, 40, 41, 71, 100].map((nano) => budget.resetsAt(now, nano));
    assertEquals(frees, [undefined, ...[61, 61, 71, 81, 81].map((minute) => noon + minute * minuteMs)]);
    assertEquals(budget.resetsAt(now, 101), noon + 81 * minuteMs);
    assertEquals(budget.resetsAt(now), undefined);
  });

  it("shows when its oldest amount leaves", () => {
    const budget = createHourly();
    assertEquals(budget.windows(noon)[0]?.end, noon + 61 * minuteMs);
    spend(budget, 1, noon + 90_000);
    assertEquals(budget.windows(noon + 5 * minuteMs)[0]?.end, noon + 62 * minuteMs);
  });

  it("is never exceeded in any hour, and says correctly when an amount fits", () => {
    const random = seededRandom(7);
    const budget = createHourly();
    const spent: [at: number, nano: number][] = [];
    let now = noon;
    for (let round = 0; round < 2000; round++) {
      now += Math.floor(random() ** 3 * 20 * minuteMs);
      const nano = 1 + Math.floor(random() * 60);
      const at = budget.resetsAt(now, nano);
      if (at === undefined) {
        spend(budget, nano, now);
        spent.push([now, nano]);
        const lastHour = spent.filter(([time]) => time > now - hourMs).reduce((sum, [, amount]) => sum + amount, 0);
        assert(lastHour <= 100, `${lastHour} at ${now}`);
      } else if (random() < 0.3) {
        assert(at > now && at <= now + 61 * minuteMs);
        assertEquals([budget.resetsAt(at - 1, nano) === undefined, budget.resetsAt(at, nano)], [false, undefined]);
      }
    }
    assert(spent.length > 300);
  });

  it("keeps a bounded number of slices", () => {
    const budget = createHourly();
    for (let minute = 0; minute < 1000; minute++) {
      budget.reserve(1, noon + minute * minuteMs).settle({ costNanoUsd: 1 });
    }
    assert(budget.snapshot().windows![0]!.sums.length <= 122);
    assertEquals(spentIn(budget, noon + 999 * minuteMs), 61);
  });

  it("counts a request in the slice in which it was sent, and not at all once that has left", () => {
    const budget = createHourly();
    const [short, long] = [budget.reserve(40, noon), budget.reserve(50, noon)];
    assertEquals(budget.resetsAt(noon + 10 * minuteMs, 11), noon + 61 * minuteMs);
    short.settle({ costNanoUsd: 10 });
    assertEquals([spentIn(budget, noon + 10 * minuteMs), budget.resetsAt(noon + 10 * minuteMs, 40)], [10, undefined]);
    long.settle({ costNanoUsd: 50 });
    assertEquals(spentIn(budget, noon + 61 * minuteMs), 0);
    const late = budget.reserve(30, noon + 2 * hourMs);
    assertEquals(spend(budget, 100, noon + 4 * hourMs), true);
    late.settle({ costNanoUsd: 30 });
    assertEquals(spentIn(budget, noon + 4 * hourMs), 100);
  });

  it("frees nothing when the wall clock is set back, and is not stopped by a clock that was wrong once", () => {
    const budget = createHourly();
    assert(spend(budget, 100, noon));
    for (const earlier of [minuteMs, 30 * minuteMs, hourMs]) assert(budget.isSpent(noon - earlier), `${earlier}`);
    assertEquals(budget.resetsAt(noon - 30 * minuteMs), noon + 61 * minuteMs);
    assertEquals(budget.isSpent(noon - dayMs), false);
  });

  it("comes back from its snapshot, with what was reserved counted as spent, among calendar windows", () => {
    const limits = [
      { id: "day", window: "day", limitNanoUsd: 1000 },
      { id: "1w europe/berlin", window: "1w", timezone: "Europe/Berlin", limitNanoUsd: 500 },
      { id: "rolling 1h", window: "rolling 1h", limitNanoUsd: 100 },
    ];
    const budget = new Budget(limits);
    spend(budget, 30, noon - 50 * minuteMs);
    spend(budget, 20, noon);
    budget.reserve(10, noon);
    const snapshot: BudgetSnapshot = JSON.parse(JSON.stringify(budget.snapshot()));
    const restored = new Budget(limits);
    restored.restore(snapshot);
    assertEquals(restored.windows(noon).map(({ spent }) => spent), [60, 60, 60]);
    assertEquals(restored.windows(noon + 11 * minuteMs).map(({ spent }) => spent), [60, 60, 30]);
    const { windows: _, ...earlierRelease } = snapshot;
    const upgraded = new Budget(limits);
    upgraded.restore(earlierRelease);
    assertEquals(upgraded.windows(noon).map(({ spent }) => spent), [60, 0, 0]);
  });

  it("reports a step once in the length of the window, and not again after a restart", () => {
    const reported: number[] = [];
    const onSteps = (steps: readonly BudgetStep[]) => reported.push(...steps.map(({ step }) => step));
    const budget = createHourly();
    const use = (of: Budget, nano: number, at: number) => of.reserve(nano, at, onSteps).settle({ costNanoUsd: nano });
    use(budget, 50, noon);
    use(budget, 35, noon + minuteMs);
    assertEquals(reported.splice(0), [0.5, 0.8]);
    use(budget, 50, noon + 62 * minuteMs); // the share was below every step in between, and the hour is over
    assertEquals(reported.splice(0), []); // no settlement has seen it below
    use(budget, 0, noon + 124 * minuteMs);
    use(budget, 60, noon + 125 * minuteMs);
    assertEquals(reported.splice(0), [0.5]);
    const restarted = createHourly();
    restarted.restore(budget.snapshot());
    use(restarted, 10, noon + 126 * minuteMs);
    assertEquals(reported.splice(0), []);
    use(restarted, 10, noon + 127 * minuteMs);
    assertEquals(reported, [0.8]);
  });

  it("keeps what was spent under another limit, beside windows that come and go", () => {
    const budget = createHourly();
    spend(budget, 80, noon);
    const week = { id: "1w utc", window: "1w", limitNanoUsd: 50 };
    const next = new Budget([{ id: "rolling 1h", window: "rolling 60m", limitNanoUsd: 90 }, week], "", budget);
    assertEquals(next.windows(noon).map(({ spent, limit }) => [spent, limit]), [[80, 90], [0, 50]]);
    next.setLimits([]);
    assertEquals([next.windows(noon), next.isSpent(noon)], [[], false]);
    next.setLimits([week, { id: "rolling 1h", window: "rolling 1h", limitNanoUsd: 70 }]);
    assertEquals(next.windows(noon).map(({ spent }) => spent).sort(), [0, 80]);
    assertEquals(next.isSpent(noon), true);
  });
});

describe("The UTC day and month", () => {
  it("have the names in the store that earlier releases give them, in whatever form they are configured", () => {
    const list = (day: string, month: string) => [
      { id: "day", window: day, limitNanoUsd: 100 },
      { id: "month", window: month, limitNanoUsd: 100 },
    ];
    const names = [list("day", "month"), list("1d", "1mo")].map((limits) => {
      const budget = new Budget(limits, "pool chat");
      budget.reserve(1, noon);
      return [...budget.counters(noon)].map(({ key }) => key);
    });
    const earlier = ["day 2027-01-15", "month 2027-01-01"].flatMap((name) =>
      ["spent", "taken"].map((kind) => `budget pool chat ${name} ${kind}`)
    );
    assertEquals(names, [earlier, earlier]);
  });
});

/** A process that shares the budget. */
interface Party {
  readonly budget: Budget;
  readonly replication: StoreReplication;
  /** Reserves if that fits, as a request does, and settles at the same amount. */
  spend(nano: number): Promise<boolean>;
}

async function join(shared: MemoryShared, clock: FakeClock): Promise<Party> {
  const sharedCounters = new SharedCounters();
  const budget = createHourly("all");
  sharedCounters.register(budget);
  const replication = new StoreReplication(sharedCounters, {
    shared,
    onUnavailable: "open",
    clock,
    onOutage: () => {},
  });
  sharedCounters.open(replication);
  await replication.sync();
  return {
    budget,
    replication,
    spend: async (nano) => {
      const reserved = budget.reserve(nano, clock.now());
      const confirm = () => reserved.confirm();
      const requests = reserved.counterRequests();
      let denied = await replication.reserve(requests, confirm);
      if (denied !== undefined) {
        await replication.refresh();
        denied = await replication.reserve(requests, confirm);
      }
      reserved.settle({ costNanoUsd: denied === undefined ? nano : 0 });
      await replication.sync();
      return denied === undefined;
    },
  };
}

describe("A rolling limit of two processes", () => {
  async function scene() {
    const [shared, clock] = [new MemoryShared(), fakeClock()];
    return { shared, clock, one: await join(shared, clock), other: await join(shared, clock) };
  }

  it("is spent once by both, in one slice and across slices", async () => {
    const { clock, one, other } = await scene();
    assertEquals([await one.spend(60), await other.spend(60)], [true, false]);
    await clock.advance(minuteMs);
    assertEquals([await other.spend(30), await one.spend(20), await one.spend(10)], [true, false, true]);
    await clock.advance(60 * minuteMs);
    assertEquals([await other.spend(61), await other.spend(60)], [false, true]);
  });

  it("is not exceeded by requests at once, where slices change between what they know and what is spent", async () => {
    const { clock, one, other } = await scene();
    let spent = 0;
    for (let minute = 0; minute < 20; minute++) {
      const granted = await Promise.all([one, other, one, other].map((party) => party.spend(7)));
      spent += granted.filter(Boolean).length * 7;
      await clock.advance(minuteMs);
    }
    assertEquals(spent, 98);
  });

  it("counts what other processes have spent in slices that this one has slept through", async () => {
    const { clock, one, other } = await scene();
    for (let minute = 0; minute < 5; minute++) {
      await clock.advance(minuteMs);
      assert(await other.spend(15));
    }
    await clock.advance(minuteMs);
    assertEquals([await one.spend(26), await one.spend(25)], [false, true]);
  });

  it("is known to a process that starts later, and to a store that has lost it", async () => {
    const { shared, clock, one } = await scene();
    await one.spend(70);
    await clock.advance(10 * minuteMs);
    const late = await join(shared, clock);
    assertEquals(late.budget.windows(clock.now()).map(({ spent }) => spent), [70]);
    shared.sums.clear();
    for (let sync = 0; sync < 130; sync++) await one.replication.sync();
    assertEquals([await late.spend(31), await late.spend(30)], [false, true]);
  });

  it("has a bounded number of counters in the store's exchange", async () => {
    const { shared, clock, one } = await scene();
    await clock.advance(30 * minuteMs);
    await one.replication.sync();
    await clock.advance(minuteMs);
    const sent: number[] = [];
    const add = shared.add.bind(shared);
    shared.add = (changes) => {
      sent.push(changes.length);
      return add(changes);
    };
    await one.replication.sync();
    await one.replication.sync();
    assert(sent.every((count) => count <= 6), `${sent}`);
  });
});
