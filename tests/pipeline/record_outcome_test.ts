/** What an attempt means: for the model's permit and breaker, for its provider, for the request. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { FailureKind } from "../../src/contracts/provider.ts";
import { DeadlineError } from "../../src/errors.ts";
import type { AdmittedModel } from "../../src/pipeline/admission.ts";
import type { RequestPlan } from "../../src/pipeline/eligibility.ts";
import type { RouteDeps } from "../../src/pipeline/request.ts";
import { recordAbort, recordFailure } from "../../src/pipeline/record_outcome.ts";
import { type FailedAttempt, RequestContext } from "../../src/pipeline/request_context.ts";
import { fakeClock, testRuntime } from "../../src/runtime/test.ts";
import { createMember, createModel, createPool } from "../support/_members.ts";

interface Failure {
  readonly kind: FailureKind;
  readonly status?: number;
  readonly neverSent?: boolean;
  readonly standby?: FailedAttempt["next"]["standby"];
}

/** A model that was admitted, and that one failure in a row puts into standby. */
function admitted() {
  const clock = fakeClock();
  const member = createMember(createModel("a"));
  const pool = {
    ...createPool([]),
    routing: {
      deactivation: { errorCodes: new Set([418]) },
      recovery: { cooldownMs: 1_000, onQuotaReset: true, quotaReset: { kind: "daily", timezone: "UTC" } },
    },
  };
  const plan = { request: { timeoutMs: 60_000 }, pool, load: { input: 1, output: 1 }, eligible: [member] };
  const context = new RequestContext(
    plan as unknown as RequestPlan,
    { runtime: testRuntime({ clock }), redact: (text: string) => text, hub: { trace() {} } } as unknown as RouteDeps,
  );
  const permit = member.state.admit({ input: 1, output: 1 }, 0);
  const admitted: AdmittedModel = { context, member, permit, alone: false };
  const look = () => {
    member.state.refresh(clock.monotonic());
    return member.state.status === "active" ? "active" : member.state.reason;
  };
  const fail = ({ standby, ...facts }: Failure) => {
    const failure = { message: "It failed", ...facts };
    permit.take();
    recordFailure(admitted, { member, failure, next: { standby } } as unknown as FailedAttempt);
  };
  return { admitted, clock, context, member, permit, look, fail };
}

describe("recordFailure()", () => {
  /** The failure, what it makes of the model, and whether the provider's other models are ruled out. */
  const table: readonly (readonly [Failure, state: string | undefined, isRuledOut: boolean])[] = [
    [{ kind: "server", status: 500 }, "retry_limit", false],
    [{ kind: "network" }, "retry_limit", false],
    [{ kind: "network", neverSent: true }, "retry_limit", true],
    [{ kind: "request", status: 400 }, "active", false],
    [{ kind: "request", status: 418 }, "retry_limit", false],
    [{ kind: "auth", status: 401 }, "retry_limit", true],
    [
      { kind: "rate_limited", status: 429, standby: { reason: "rate_limited", standbyMs: 5_000 } },
      "rate_limited",
      false,
    ],
    [{ kind: "model_not_found", status: 404, standby: { reason: "model_not_found" } }, "model_not_found", false],
    [{ kind: "quota_exhausted", status: 429, standby: { reason: "quota_exhausted" } }, "quota_exhausted", true],
  ] as never;
  for (const [failure, state, isRuledOut] of table) {
    it(`${JSON.stringify(failure)}: the model is ${state}`, () => {
      const { context, look, fail } = admitted();
      fail(failure);
      assertEquals(look(), state);
      assertEquals([...context.ruledOut], isRuledOut ? ["acme"] : []);
      assertEquals(context.failures.length, 1);
    });
  }

  it("is a step of the request, with the time since the model was admitted", async () => {
    const { clock, context, fail } = admitted();
    await clock.advance(30);
    fail({ kind: "server", status: 500 });
    assertEquals(context.chain, [{
      model: "a",
      provider: "acme",
      outcome: "server",
      status: 500,
      error: "It failed",
      ms: 30,
    }]);
  });

  it("opens the breaker where the vendor's word holds: of the model in every pool, or of the provider", () => {
    const limited = admitted();
    limited.fail({ kind: "rate_limited", standby: { reason: "rate_limited", standbyMs: 5_000 } as never });
    assertEquals(limited.member.breakers.model.standby?.until, 5_000);
    const exhausted = admitted();
    exhausted.fail({ kind: "quota_exhausted", standby: { reason: "quota_exhausted", standbyMs: 7_000 } as never });
    assertEquals(exhausted.member.breakers.provider.standby?.until, 7_000);
  });

  it("releases the permit", () => {
    const { member, fail } = admitted();
    assertEquals(member.state.inFlight, 1);
    fail({ kind: "server" });
    assertEquals(member.state.inFlight, 0);
  });
});

describe("recordAbort()", () => {
  /** What ended the request, how long its provider said nothing, ms, and what it makes of the model. */
  const table = [
    [new DOMException("left", "AbortError"), 60_000, "active"],
    [new DeadlineError("late"), 9_999, "active"],
    [new DeadlineError("late"), 10_000, "retry_limit"],
  ] as const;
  for (const [error, unansweredMs, state] of table) {
    it(`after ${unansweredMs} ms without a response: ${error.name} leaves the model ${state}`, () => {
      const { admitted: given, context, member, permit, look } = admitted();
      permit.take();
      context.withoutResponseMs = unansweredMs;
      recordAbort(given, error);
      assertEquals([look(), member.state.inFlight], [state, 0]);
      assertEquals(context.chain.map(({ outcome }) => outcome), ["aborted"]);
    });
  }

  it("is not a step of a request that sent nothing yet", () => {
    const { admitted: given, context, member } = admitted();
    recordAbort(given, new DOMException("left", "AbortError"));
    assertEquals([context.chain, member.state.inFlight], [[], 0]);
  });
});
