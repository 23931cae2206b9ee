/** A circuit breaker: closed, open until a time, half-open until a trial request succeeds. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { CircuitBreaker, maxCooldownMs, maxStandbyMs } from "../../src/state/breaker/circuit_breaker.ts";

const owner = { pool: "chat", model: "a", provider: "acme" };
const second = 1_000;

/** closed, half-open, or open and until when. */
function describeBreaker({ standby, isHalfOpen }: CircuitBreaker): string {
  if (standby !== undefined) return `open for ${standby.reason} until ${standby.until}`;
  return isHalfOpen ? "half-open" : "closed";
}

describe("A circuit breaker", () => {
  it("is closed, opens for a time, half-opens after it, and a success closes it", () => {
    const breaker = new CircuitBreaker(owner);
    const seen = [describeBreaker(breaker)];
    breaker.open("retry_limit", 0, 10);
    seen.push(describeBreaker(breaker));
    breaker.halfOpenIfDue(9);
    seen.push(describeBreaker(breaker));
    breaker.halfOpenIfDue(10);
    seen.push(describeBreaker(breaker));
    breaker.recordSuccess();
    seen.push(describeBreaker(breaker));
    assertEquals(seen, [
      "closed",
      "open for retry_limit until 10",
      "open for retry_limit until 10",
      "half-open",
      "closed",
    ]);
  });

  it("returns each change of state as what becomes an event, and nothing when there is none", () => {
    const breaker = new CircuitBreaker(owner);
    assertEquals([breaker.close(), breaker.halfOpenIfDue(5)], [undefined, undefined]);
    const opened = { owner, to: "standby", reason: "retry_limit", standbyMs: 10 } as const;
    assertEquals(breaker.open("retry_limit", 0, 10), opened);
    assertEquals(breaker.open("retry_limit", 0, 10), undefined);
    assertEquals(breaker.halfOpenIfDue(10), { owner, to: "active", reason: "retry_limit" });
    breaker.open("retry_limit", 10, 10);
    assertEquals(breaker.close("manual"), { owner, to: "active", reason: "manual" });
  });

  it("extends a standby, and never shortens it", () => {
    const breaker = new CircuitBreaker(owner);
    breaker.open("rate_limited", 0, 60);
    breaker.open("retry_limit", 10, 20);
    assertEquals(describeBreaker(breaker), "open for rate_limited until 60");
    assertEquals(breaker.open("quota_exhausted", 10, 100)?.reason, "quota_exhausted");
    assertEquals([describeBreaker(breaker), breaker.standby?.since], ["open for quota_exhausted until 110", 0]);
    assertEquals(breaker.openCount, 1);
  });

  it("lasts no longer than a month, unless it is closed by hand alone", () => {
    const breaker = new CircuitBreaker(owner);
    breaker.open("quota_exhausted", 0, 2 * maxStandbyMs);
    assertEquals(breaker.standby?.until, maxStandbyMs);
    assertEquals(breaker.open("manual", 0, Infinity), { owner, to: "standby", reason: "manual" });
    assertEquals(breaker.standby?.until, Infinity);
  });

  it("opens for twice as long with each trip in a row, up to ten minutes", () => {
    const breaker = new CircuitBreaker(owner);
    const lengths: number[] = [];
    let now = 0;
    for (let trip = 0; trip < 6; trip++) {
      breaker.openForCooldown("retry_limit", now, 60 * second);
      lengths.push((breaker.standby!.until - now) / second);
      breaker.halfOpenIfDue(now = breaker.standby!.until);
    }
    assertEquals(lengths, [60, 120, 240, 480, maxCooldownMs / second, maxCooldownMs / second]);
    breaker.recordSuccess();
    breaker.openForCooldown("retry_limit", now, 60 * second);
    assertEquals(breaker.standby!.until - now, 60 * second);
  });

  it("counts trips anew when it is closed before its time", () => {
    const breaker = new CircuitBreaker(owner);
    breaker.openForCooldown("retry_limit", 0, second);
    breaker.close("manual");
    assertEquals([describeBreaker(breaker), breaker.consecutiveTrips], ["closed", 0]);
  });

  it("is not closed by the late success of a request that was sent before it opened", () => {
    const breaker = new CircuitBreaker(owner);
    breaker.openForCooldown("retry_limit", 0, second);
    breaker.recordSuccess();
    assertEquals([describeBreaker(breaker), breaker.consecutiveTrips], ["open for retry_limit until 1000", 1]);
  });

  it("forgets its trial requests whenever its state changes", () => {
    const breaker = new CircuitBreaker(owner);
    breaker.open("retry_limit", 0, 10);
    breaker.halfOpenIfDue(10);
    breaker.trialRequests.add({});
    breaker.open("retry_limit", 10, 10);
    assertEquals(breaker.trialRequests.size, 0);
  });

  it("is restored as it was saved; an open one is not half-open", () => {
    const saved = { reason: "rate_limited", since: 5, until: 50 } as const;
    const breaker = new CircuitBreaker(owner);
    breaker.restore({ standby: saved, isHalfOpen: true, consecutiveTrips: 1e9 });
    assertEquals([breaker.standby, breaker.isHalfOpen, breaker.consecutiveTrips], [saved, false, 32]);
    breaker.restore({ isHalfOpen: true, consecutiveTrips: 2 });
    assertEquals([describeBreaker(breaker), breaker.consecutiveTrips, breaker.openCount], ["half-open", 2, 1]);
  });

  it("has a key that distinguishes it from those of other owners and causes", () => {
    const names = [owner, { model: "a", provider: "acme" }, { provider: "acme" }, {
      provider: "acme",
      cause: "manual",
    }, { provider: "acme", cause: "health_probe" }] as const;
    assertEquals(new Set(names.map((name) => new CircuitBreaker(name).key)).size, names.length);
  });
});
