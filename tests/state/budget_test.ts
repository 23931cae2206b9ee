import { assert, assertEquals } from "@std/assert";
import { seededRandom } from "../../src/runtime/test.ts";
import type { Budget, BudgetSnapshot, BudgetStep } from "../../src/state/limits/budget.ts";
import { createBudget } from "../support/_budgets.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const noon = Date.UTC(2026, 0, 15, 12);

/** Whether a request may be sent. */
function fits(budget: Budget, nano: number, wall: number): boolean {
  return budget.resetsAt(wall, nano) === undefined;
}

/** What was settled in the windows of a time. */
function spentIn(budget: Budget, wall: number): { daily: number; monthly: number } {
  const { days, months } = budget.snapshot();
  const day = Math.floor(wall / dayMs) * dayMs;
  const month = Date.UTC(new Date(wall).getUTCFullYear(), new Date(wall).getUTCMonth());
  const of = (windows: BudgetSnapshot["days"], from: number) => windows.find(({ start }) => start === from)?.spent ?? 0;
  return { daily: of(days, day), monthly: of(months, month) };
}

/** An amount that is reserved until it is settled. */
interface Reserved {
  readonly nano: number;
  settle(actual?: number): void;
}

/** Reserves, even beyond a limit. */
function reserve(budget: Budget, nano: number, wall: number): Reserved {
  const reserved = budget.reserve(nano, wall);
  return { nano, settle: (actual) => reserved.settle({ costNanoUsd: actual }) };
}

/** Reserves what fits, as an admitted request does. */
function take(budget: Budget, nano: number, wall: number): Reserved | undefined {
  return fits(budget, nano, wall) ? reserve(budget, nano, wall) : undefined;
}

/** Spends at once. */
function spend(budget: Budget, nano: number, wall: number): boolean {
  const hold = take(budget, nano, wall);
  if (hold === undefined) return false;
  hold.settle(nano);
  return true;
}

Deno.test("a limit is spent when the sum reaches it, and not passed", () => {
  const budget = createBudget({ daily: 100 });
  assertEquals(spend(budget, 60, noon), true);
  assertEquals(spend(budget, 41, noon), false);
  assertEquals(budget.isSpent(noon), false);
  assertEquals(spend(budget, 40, noon), true);
  assertEquals([budget.isSpent(noon), spend(budget, 1, noon)], [true, false]);
});

Deno.test("money reserved cannot be reserved again, and does not make a limit spent", () => {
  const budget = createBudget({ daily: 100 });
  const hold = take(budget, 80, noon)!;
  assertEquals([take(budget, 21, noon), budget.isSpent(noon)], [undefined, false]);
  const full = take(budget, 20, noon)!;
  assertEquals([take(budget, 1, noon), budget.isSpent(noon)], [undefined, false]);
  hold.settle(10);
  assertEquals(take(budget, 71, noon), undefined);
  full.settle(0);
  assertEquals(take(budget, 90, noon) === undefined, false);
  assertEquals(spentIn(budget, noon), { daily: 10, monthly: 10 });
});

Deno.test("a settlement counts once, at what it cost, as reserved when that is unknown", () => {
  const budget = createBudget({ daily: 1000 });
  const cases: readonly (readonly [actual: number | undefined, spent: number])[] = [
    [250, 250],
    [0, 250],
    [undefined, 350],
    [NaN, 450],
    [-5, 550],
    [0.2, 551],
  ];
  for (const [actual, spent] of cases) {
    const hold = take(budget, 100, noon)!;
    hold.settle(actual);
    hold.settle(999);
    assertEquals(spentIn(budget, noon).daily, spent, `${actual}`);
  }
});

Deno.test("a request that turns out dearer than reserved passes a limit by the difference", () => {
  const budget = createBudget({ monthly: 100 });
  take(budget, 90, noon)!.settle(130);
  assertEquals([budget.isSpent(noon), spentIn(budget, noon).monthly], [true, 130]);
  assertEquals(take(budget, 1, noon), undefined);
});

Deno.test("what is sent is counted, also where it does not fit", () => {
  const budget = createBudget({ daily: 100 });
  const holds = [80, 80, 80].map((nano) => reserve(budget, nano, noon));
  assertEquals(fits(budget, 1, noon), false);
  for (const hold of holds) hold.settle(60);
  assertEquals([spentIn(budget, noon).daily, budget.isSpent(noon)], [180, true]);
});

Deno.test("a budget of nothing is spent from the start, and one without limits never is", () => {
  const budget = createBudget({ daily: 0 });
  assertEquals([budget.isSpent(noon), take(budget, 1, noon)], [true, undefined]);
  assertEquals(fits(createBudget({}), 1e15, noon), true);
  assertEquals(createBudget({}).isSpent(noon), false);
});

Deno.test("resetsAt is the start of the next window of what stands in the way", () => {
  const day = Date.UTC(2026, 0, 16);
  const month = Date.UTC(2026, 1, 1);
  const cases:
    readonly (readonly [daily: number, monthly: number, nano: number | undefined, at: number | undefined])[] = [
      [100, 1000, undefined, undefined],
      [50, 1000, undefined, day],
      [100, 50, undefined, month],
      [50, 50, undefined, month],
      [100, 1000, 50, undefined],
      [100, 1000, 51, day],
      [100, 60, 11, month],
    ];
  for (const [daily, monthly, nano, at] of cases) {
    const budget = createBudget({ daily, monthly });
    take(budget, 50, noon)!.settle();
    assertEquals(budget.resetsAt(noon, nano), at, `${daily} ${monthly} ${nano}`);
  }
});

Deno.test("windows are UTC calendar days and months, whatever their length", () => {
  const ends: readonly (readonly [before: string, after: string, isNewMonth: boolean])[] = [
    ["2026-01-31T23:59:59.999Z", "2026-02-01T00:00:00Z", true],
    ["2026-12-31T23:59:59.999Z", "2027-01-01T00:00:00Z", true],
    ["2028-02-28T23:59:59.999Z", "2028-02-29T00:00:00Z", false],
    ["2028-02-29T23:59:59.999Z", "2028-03-01T00:00:00Z", true],
    ["2026-02-28T23:59:59.999Z", "2026-03-01T00:00:00Z", true],
    ["2026-03-28T23:59:59.999Z", "2026-03-29T00:00:00Z", false],
  ];
  for (const [before, after, isNewMonth] of ends) {
    const [daily, monthly] = [createBudget({ daily: 10 }), createBudget({ monthly: 10 })];
    for (const budget of [daily, monthly]) assertEquals(spend(budget, 10, Date.parse(before)), true);
    assertEquals([daily.isSpent(Date.parse(before)), daily.isSpent(Date.parse(after))], [true, false], after);
    assertEquals(monthly.isSpent(Date.parse(after)), !isNewMonth, after);
    assertEquals(daily.resetsAt(Date.parse(before)), Date.parse(after), after);
  }
});

Deno.test("a reservation that straddles midnight settles into the window it was made in", () => {
  const budget = createBudget({ daily: 100, monthly: 1000 });
  const [before, after] = [Date.UTC(2026, 0, 31, 23, 59), Date.UTC(2026, 1, 1, 0, 1)];
  const hold = take(budget, 90, before)!;
  assertEquals(take(budget, 100, after) === undefined, false);
  hold.settle(95);
  assertEquals(spentIn(budget, after), { daily: 0, monthly: 0 });
  assertEquals(spentIn(budget, before), { daily: 95, monthly: 95 });
});

Deno.test("a wall clock that goes back neither reopens what is spent nor loses it", () => {
  const budget = createBudget({ daily: 100 });
  assertEquals(spend(budget, 100, noon), true);
  for (const wall of [noon - hourMs, noon - 11 * hourMs, noon]) assertEquals(budget.isSpent(wall), true);
  assertEquals(spend(budget, 70, noon + dayMs), true);
  assertEquals(budget.isSpent(noon), true); // back over midnight
  assertEquals(spentIn(budget, noon + dayMs).daily, 70); // and forth again
  const farAhead = Date.UTC(2099, 0, 1);
  assertEquals(spend(budget, 100, farAhead), true);
  assertEquals([budget.isSpent(noon), spentIn(budget, noon + dayMs).daily], [true, 70]);
  assertEquals(take(budget, 31, noon + dayMs), undefined);
  assertEquals(budget.isSpent(noon + 2 * dayMs), false); // a clock that was wrong once does not stop the calendar
});

Deno.test("a budget comes back from its snapshot, with what was reserved counted as spent", () => {
  const budget = createBudget({ daily: 100, monthly: 150 });
  spend(budget, 60, noon - dayMs);
  spend(budget, 20, noon);
  take(budget, 30, noon);
  const stored = JSON.parse(JSON.stringify(budget.snapshot())) as BudgetSnapshot;
  const next = createBudget({ daily: 100, monthly: 150 });
  next.restore(stored);
  assertEquals(spentIn(next, noon), { daily: 50, monthly: 110 });
  assertEquals(spentIn(next, noon - dayMs).daily, 60);
  assertEquals([take(next, 41, noon), take(next, 40, noon)?.nano], [undefined, 40]);
  next.restore(stored);
  assertEquals(spentIn(next, noon), { daily: 50, monthly: 110 });
});

Deno.test("a snapshot that makes no sense changes nothing", () => {
  const budget = createBudget({ daily: 100 });
  spend(budget, 10, noon);
  const start = Date.UTC(2026, 0, 15);
  const nonsense: readonly unknown[] = [
    {},
    { days: 5, months: "no" },
    { days: [null, 5, "x", {}, { start: "now", spent: 50 }], months: [] },
    { days: [{ start, spent: -50 }, { start, spent: NaN }, { start, spent: "90" }, { start: 1e300, spent: 90 }] },
  ];
  for (const one of nonsense) {
    budget.restore(one as BudgetSnapshot);
    assertEquals(spentIn(budget, noon), { daily: 10, monthly: 10 }, JSON.stringify(one));
  }
});

Deno.test("sums are exact to a nano-dollar in millions, and stop there", () => {
  const budget = createBudget({});
  spend(budget, Number.MAX_SAFE_INTEGER - 2, noon);
  for (const expected of [1, 0, 0]) {
    spend(budget, 1, noon);
    assertEquals(Number.MAX_SAFE_INTEGER - spentIn(budget, noon).daily, expected);
  }
});

Deno.test("many requests at once never spend more than a limit, and every settlement is in its window's sum", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = seededRandom(seed);
    const [daily, monthly] = [1000 + Math.floor(random() * 5000), 5000 + Math.floor(random() * 20_000)];
    const budget = createBudget({ daily, monthly });
    const spentOn = new Map<string, number>();
    const open: { hold: Reserved; wall: number }[] = [];
    let wall = Date.UTC(2028, 1, 26);
    let served = 0;
    for (let step = 0; step < 3000; step++) {
      wall += random() < 0.05 ? -random() * 10 * 60_000 : random() * hourMs / 6; // back at times, over midnights too
      const hold = take(budget, Math.floor(random() * 600), wall);
      if (hold !== undefined) open.push({ hold, wall });
      while (open.length > 20 || (open.length > 0 && random() < 0.4)) {
        const [one] = open.splice(Math.floor(random() * open.length), 1);
        const cost = Math.floor(random() * (one!.hold.nano + 1));
        one!.hold.settle(cost);
        served++;
        const date = new Date(one!.wall).toISOString();
        for (const window of [date.slice(0, 10), date.slice(0, 7)]) {
          spentOn.set(window, (spentOn.get(window) ?? 0) + cost);
        }
      }
      const date = new Date(wall).toISOString();
      const expected = { daily: spentOn.get(date.slice(0, 10)) ?? 0, monthly: spentOn.get(date.slice(0, 7)) ?? 0 };
      const spent = spentIn(budget, wall);
      if (spent.daily !== expected.daily || spent.monthly !== expected.monthly) {
        assertEquals(spent, expected, `seed ${seed}, step ${step}`);
      }
      assert(expected.daily <= daily && expected.monthly <= monthly, `seed ${seed}, step ${step}`);
    }
    assertEquals(served > 50, true, `seed ${seed}`);
  }
});

Deno.test("a budget reports each step once in a window, also under other limits with what was spent before, and once restored", () => {
  const wall = Date.UTC(2026, 0, 1, 12);
  const settle = (budget: Budget, nano: number) => {
    const reached: string[] = [];
    const onSteps = (steps: readonly BudgetStep[]) =>
      void reached.push(...steps.map(({ window, step }) => `${window} ${step}`));
    budget.reserve(nano, wall, onSteps).settle({ costNanoUsd: nano });
    return reached;
  };
  const first = createBudget({ daily: 10, monthly: 100 });
  assertEquals([settle(first, 4), settle(first, 1), settle(first, 1)], [[], ["day 0.5"], []]);
  const next = createBudget({ daily: 10, monthly: 20 }, "", first);
  assertEquals([settle(next, 2), settle(next, 2)], [["day 0.8"], ["day 1", "month 0.5"]]);
  const restored = createBudget({ daily: 10, monthly: 20 });
  restored.restore(next.snapshot());
  assertEquals([settle(restored, 1), settle(restored, 5)], [[], ["month 0.8"]]);
});

Deno.test("a step that is reached with what other processes have spent is reported when their total arrives, once", () => {
  const budget = createBudget({ daily: 100, alertAt: [0.5, 1] }, "all");
  budget.startReplication(() => {});
  const reached: number[] = [];
  const settle = (nano: number) => {
    const reserved = budget.reserve(nano, noon, (steps) => reached.push(...steps.map(({ step }) => step)));
    reserved.settle({ costNanoUsd: nano });
    return reached;
  };
  const learn = (others: number, total: number) => {
    const spent = [...budget.counters(noon)].find(({ key }) => key.endsWith(" spent"))!;
    spent.apply(others, total);
  };
  assertEquals(settle(40), []);
  learn(20, 60);
  assertEquals(reached, [0.5]);
  learn(60, 100);
  assertEquals(reached, [0.5, 1]);
  learn(60, 100);
  assertEquals(settle(5), [0.5, 1]);
});
