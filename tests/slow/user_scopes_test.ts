/** Limits of end users, whose names clients choose: what is kept of them is bounded. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { BudgetSettings } from "../../src/config/settings/settings.ts";
import { RateLimitError } from "../../src/errors.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { SharedCounters } from "../../src/state/counters/shared_counters.ts";
import type { OwnedBudget, ScopeLimits } from "../../src/state/limits/limited_scope.ts";
import { LimitedScopes } from "../../src/state/limits/limited_scopes.ts";

const maxKept = 10_000;
const budget: BudgetSettings = [{ id: "day", window: "day", limitNanoUsd: 100 }];

function startUsers(users: ScopeLimits) {
  const clock = fakeClock({ now: Date.UTC(2026, 0, 1, 12) });
  const budgets = new Map<string, OwnedBudget>();
  const state = {
    sharedCounters: new SharedCounters(),
    addBudgetScope: (scope: OwnedBudget) => void budgets.set(scope.id, scope),
    removeBudgetScope: (id: string) => void budgets.delete(id),
  };
  const limits = new LimitedScopes({ users }, { state, clock });
  const select = (user: string) => limits.select({ own: [], client: "app", user })!;
  return {
    clock,
    budgets,
    select,
    /** A request of a user, which spends an amount. */
    use(user: string, nanoUsd: number) {
      const scopes = select(user);
      if (scopes.admit() !== undefined) throw new Error("nothing is shared");
      for (const budget of scopes.budgets) budget.reserve(nanoUsd, clock.now()).settle({ costNanoUsd: nanoUsd });
      scopes.end();
    },
    isSpent: (user: string) => select(user).budgets[0]!.isSpent(clock.now()),
  };
}

describe("Of 25 000 end users", () => {
  it("the one that is at its limit is not forgotten, nor is one in flight, however many others are invented", () => {
    const users = startUsers({ rpm: 2, concurrent: 1 });
    for (const _ of [1, 2]) users.use("alice", 0);
    const inFlight = users.select("bob");
    assertEquals(inFlight.admit(), undefined);
    for (let number = 0; number < 25_000; number++) users.use(`invented ${number}`, 0);
    for (const name of ["alice", "bob"]) assertThrows(() => users.select(name).admit(), RateLimitError);
    inFlight.end();
    users.use("bob", 0);
  });
});

describe("Of 12 000 end users with budgets", () => {
  it("10 000 are kept: those that have spent most, and those with a reservation", () => {
    const users = startUsers({ budget });
    users.use("alice", 100);
    const reserved = users.select("bob").budgets[0]!;
    const reservation = reserved.reserve(60, users.clock.now());
    for (let number = 0; number < 12_000; number++) users.use(`invented ${number}`, 1);
    assert(users.budgets.size <= maxKept, `${users.budgets.size}`);
    assertEquals(users.isSpent("alice"), true);
    reservation.settle({ costNanoUsd: 60 });
    assertEquals(users.select("bob").budgets[0]!.windows(users.clock.now()).map(({ spent }) => spent), [60]);
  });

  it("none is kept that has used nothing since its windows ended", async () => {
    const users = startUsers({ budget, rpm: 5 });
    for (let number = 0; number < 1_000; number++) users.use(`invented ${number}`, 1);
    assertEquals(users.budgets.size, 1_000);
    await users.clock.advance(24 * 60 * 60_000);
    users.use("alice", 1);
    assertEquals(users.budgets.size, 1);
  });
});
