/** The limits that one request counts against: what it holds, and when it returns it. */
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { RateLimitError } from "../../src/errors.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import type { Replication } from "../../src/state/counters/shared_counters.ts";
import { SharedCounters } from "../../src/state/counters/shared_counters.ts";
import type { ScopeLimits } from "../../src/state/limits/limited_scope.ts";
import { LimitedScopes } from "../../src/state/limits/limited_scopes.ts";

/** A client in a team, with these limits. */
function startLimits(client: ScopeLimits, team: ScopeLimits, replication?: Partial<Replication>) {
  const clock = fakeClock();
  const sharedCounters = new SharedCounters();
  if (replication !== undefined) sharedCounters.open({ report: () => {}, ...replication } as Replication);
  const state = { sharedCounters, addBudgetScope() {}, removeBudgetScope() {} };
  const limits = new LimitedScopes({ teams: new Map([["red", team]]) } as never, { state, clock });
  const own = [limits.getClient({ id: "app", name: "app" }, client), limits.findTeam("red")];
  return {
    clock,
    inFlight: () => own.map((scope) => scope!.inFlight),
    select: () => limits.select({ own, client: "app" })!,
  };
}

describe("A request that counts against several limits", () => {
  it("counts against none of them if one denies it", () => {
    const { select, inFlight } = startLimits({ rpm: 2, concurrent: 5 }, { concurrent: 1 });
    const first = select();
    assertEquals(first.admit(), undefined);
    for (const _ of [1, 2, 3]) assertThrows(() => select().admit(), RateLimitError, 'The team "red" is at its limit');
    assertEquals(inFlight(), [1, 1]);
    first.end();
    first.end();
    assertEquals(inFlight(), [0, 0]);
    assertEquals(select().admit(), undefined); // the second of the client's requests a minute
  });

  it("is in flight once, however often it is admitted, and not at all after its end", () => {
    const { select, inFlight } = startLimits({ concurrent: 1 }, {});
    const [request, left] = [select(), select()];
    left.end(); // its client has left before it was admitted
    assertEquals(left.admit(), undefined);
    assertEquals(inFlight()[0], 0);
    assertEquals(request.admit(), undefined);
    assertEquals(request.admit(), undefined);
    assertEquals(inFlight()[0], 1);
    request.end();
    assertEquals(inFlight()[0], 0);
  });

  it("is admitted by what this process counts while the shared store is unavailable", async () => {
    const unavailable = { admit: () => Promise.resolve(undefined), reserve: () => Promise.resolve(undefined) };
    const { select, inFlight } = startLimits({ rpm: 2, concurrent: 1 }, { rpm: 9, concurrent: 3 }, unavailable);
    for (const _ of [1, 2]) {
      const request = select();
      await request.admit();
      assertThrows(() => select().admit(), RateLimitError, "at once");
      request.end();
    }
    await assertRejects(() => select().admit()!, RateLimitError, "requests a minute");
    assertEquals(inFlight(), [0, 0]);
  });

  it("returns what it was granted if another limit denies it, or its client leaves meanwhile", async () => {
    const released: string[] = [];
    const replication = {
      admit: ({ name }: { name: string }) =>
        Promise.resolve({ waitMs: name === "team red" ? 1_000 : 0, release: () => released.push(name) }),
      reserve: (_: unknown, onGrant: () => void) => Promise.resolve(void onGrant()),
    };
    const { select, inFlight } = startLimits({ rpm: 2, concurrent: 1 }, { rpm: 2 }, replication as never);
    const denied = select().admit()!;
    await assertRejects(() => denied, RateLimitError, 'The team "red"');
    assertEquals([released, inFlight()], [["client app"], [0, 0]]);
    const left = select();
    const admission = left.admit()!;
    left.end();
    await assertRejects(() => admission, RateLimitError);
    assertEquals(inFlight(), [0, 0]);
  });
});
