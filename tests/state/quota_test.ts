/** How much a model may serve in a pool before it goes to standby. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { DeactivationSettings } from "../../src/config/settings/settings.ts";
import { Quota } from "../../src/state/limits/quota.ts";

const hourMs = 3_600_000;
const noon = Date.UTC(2026, 0, 30, 12);

/** A quota and the wall clock that it reads. */
function createQuota(limits: Partial<DeactivationSettings>): { quota: Quota; wall: { now: number } } {
  const wall = { now: noon };
  const settings = { retryLimit: 3, errorCodes: new Set<number>(), ...limits };
  return { quota: new Quota(settings, () => wall.now), wall };
}

/** A request that is sent and takes so much. */
function serve(quota: Quota, { tokens = 0, nano_usd = 0 } = {}): void {
  quota.reserveRequest();
  quota.addRequest();
  quota.reserve(tokens, nano_usd).settle({});
}

describe("A quota", () => {
  const cases:
    readonly (readonly [what: string, limits: Partial<DeactivationSettings>, times: number, reason?: string])[] = [
      ["without limits is never spent", {}, 100],
      ["is spent by the last request allowed", { requestLimit: 2 }, 2, "request_limit"],
      ["is not spent before", { requestLimit: 2 }, 1],
      ["is spent by tokens", { tokenLimit: 30 }, 3, "token_limit"],
      ["is spent by money", { budgetLimitNanoUsd: 500 }, 5, "budget_limit"],
      [
        "names the request limit first",
        { requestLimit: 3, tokenLimit: 30, budgetLimitNanoUsd: 300 },
        3,
        "request_limit",
      ],
    ];
  for (const [what, limits, times, reason] of cases) {
    it(what, () => {
      const { quota } = createQuota(limits);
      for (let number = 0; number < times; number++) serve(quota, { tokens: 10, nano_usd: 100 });
      assertEquals(quota.decision()?.reason, reason);
    });
  }

  it("that is full of reservations denies further requests, and is not spent", () => {
    const { quota } = createQuota({ tokenLimit: 100 });
    const reservation = quota.reserve(100, 0);
    assertEquals([quota.reserved, quota.decision()], ["token_limit", undefined]);
    reservation.settle({ tokens: 40 });
    assertEquals(quota.reserved, undefined, "it took less than was reserved");
  });

  it("counts a call of unknown usage as reserved", () => {
    const { quota } = createQuota({ tokenLimit: 100 });
    quota.reserve(100, 0).settle({});
    assertEquals(quota.decision()?.reason, "token_limit");
  });

  it("gives back a request that was not sent", () => {
    const { quota } = createQuota({ requestLimit: 1 });
    quota.reserveRequest();
    assertEquals(quota.reserved, "request_limit");
    quota.withdrawRequest();
    assertEquals([quota.reserved, quota.decision()], [undefined, undefined]);
  });

  it("without a window begins anew when the standby is over", () => {
    const { quota } = createQuota({ requestLimit: 1 });
    serve(quota);
    assertEquals(quota.decision(), { reason: "request_limit", scope: "model" });
    quota.recovered();
    assertEquals(quota.decision(), undefined);
  });

  for (const [quotaWindow, hours] of [["daily", 12], ["monthly", 36]] as const) {
    it(`of a ${quotaWindow} window holds until it ends, whatever happens before`, () => {
      const { quota, wall } = createQuota({ requestLimit: 1, quotaWindow });
      serve(quota);
      const decision = { reason: "quota_window", scope: "model", metadata: { limit: "request_limit" } };
      assertEquals(quota.decision() as unknown, { ...decision, standbyMs: hours * hourMs });
      quota.recovered();
      wall.now += hours * hourMs - 1;
      assertEquals(quota.decision() as unknown, { ...decision, standbyMs: 1 });
      wall.now += 1;
      assertEquals(quota.decision(), undefined);
    });
  }

  it("of a window settles a call in the window it was reserved in, as budgets do", () => {
    const { quota, wall } = createQuota({ tokenLimit: 100, quotaWindow: "daily" });
    const reservation = quota.reserve(100, 0);
    wall.now += 12 * hourMs;
    assertEquals(quota.reserved, undefined, "the new day has nothing reserved");
    reservation.settle({ tokens: 100 });
    assertEquals([quota.decision(), quota.snapshot()], [undefined, undefined]);
  });

  it("of a window stays in it when the wall clock goes back", () => {
    const { quota, wall } = createQuota({ requestLimit: 1, quotaWindow: "daily" });
    serve(quota);
    wall.now -= 24 * hourMs;
    assertEquals(quota.decision()?.standbyMs, 36 * hourMs);
  });

  it("stores reservations as used: after a restart nothing is left that could settle them", () => {
    const { quota } = createQuota({ tokenLimit: 100 });
    quota.reserve(60, 6);
    const stored = quota.snapshot();
    assertEquals(stored, { requests: 0, tokens: 60, nano_usd: 6 });
    const { quota: restarted } = createQuota({ tokenLimit: 100 });
    restarted.merge(stored);
    assertEquals(restarted.snapshot(), stored);
  });

  it("merges what another process has added since it looked last", () => {
    const { quota } = createQuota({ tokenLimit: 100 });
    serve(quota, { tokens: 10 });
    quota.merge({ requests: 5, tokens: 50, nano_usd: 0 }, { requests: 4, tokens: 20, nano_usd: 0 });
    assertEquals(quota.snapshot(), { requests: 2, tokens: 40, nano_usd: 0 });
  });
});
