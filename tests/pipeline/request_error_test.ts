import { assertEquals, assertInstanceOf, assertStringIncludes } from "@std/assert";
import { NoActiveModelError } from "../../src/errors.ts";
import { createRequestError } from "../../src/pipeline/request_error.ts";
import type { AdmissionDenial } from "../../src/state/counters/admission_denial.ts";
import type { RequestContext } from "../../src/pipeline/request_context.ts";
import type { Member } from "../../src/registry/registry.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { createMember, createModel, createPool } from "../support/_members.ts";

const clock = fakeClock();

function errorWith(eligible: readonly Member[], denials: ReadonlyMap<Member, AdmissionDenial>) {
  const plan = { eligible, pool: createPool([]), load: {} };
  return createRequestError(
    { plan, failures: [], denials, clock, deps: { runtime: { clock } } } as unknown as RequestContext,
  );
}

Deno.test("an error about several reasons says of active models what denied admission", () => {
  const now = clock.monotonic();
  const [inStandby, crowded] = [createMember(createModel("idle")), createMember(createModel("crowded"))];
  inStandby.breakers.own.open("provider_budget", now, 60_000);
  const error = errorWith([inStandby, crowded], new Map([[crowded, { reason: "rate_limited", until: now + 5_000 }]]));
  assertInstanceOf(error, NoActiveModelError);
  assertEquals(error.reasons, { idle: "provider_budget", crowded: "rate_limited" });
  assertEquals(error.retryAfterMs, 5_000);
  assertStringIncludes(error.message, "the first recovers in 5 s: idle (provider_budget), crowded (rate_limited)");
});

Deno.test("a denial without an end promises no time", () => {
  const held = createMember(createModel("held"));
  const error = errorWith([held], new Map([[held, { reason: "rate_limited", until: Infinity }]]));
  assertEquals([error.code, Reflect.get(error, "retryAfterMs")], ["rate_limit_exceeded", undefined]);
});
