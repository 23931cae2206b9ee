/** Which models may be asked now. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type Admission, openMembers } from "../../src/pipeline/admission.ts";
import { CircuitBreaker } from "../../src/state/breaker/circuit_breaker.ts";
import { createMember, createModel, createPool, listNames } from "../support/_members.ts";

function admissionAt(now: number): Admission {
  const plan = { load: { input: 1, output: 1 }, pool: createPool([]) };
  const context = { plan, takenElsewhere: new Map(), denials: new Map(), clock: { monotonic: () => now } };
  return { context, alone: true } as unknown as Admission;
}

describe("openMembers()", () => {
  /** Members by name; what is done to them before they are looked at, at 0 ms; who is left at `at`. */
  type Case = readonly [
    what: string,
    at: number,
    arrange: (members: ReturnType<typeof createMember>[]) => void,
    left: string,
  ];
  const cases: readonly Case[] = [
    ["active members stay, in order", 0, () => {}, "a b c"],
    ["one in standby is left out", 500, ([a]) => a!.breakers.own.open("retry_limit", 0, 1000), "b c"],
    ["one in standby in every pool, too", 500, ([, b]) => b!.breakers.model.open("rate_limited", 0, 1000), "a c"],
    ["and all of a provider in standby", 500, ([a]) => a!.breakers.provider.open("quota_exhausted", 0, 1000), "c"],
    ["none is left when all are in standby", 500, (members) => {
      for (const { breakers } of members) breakers.own.open("retry_limit", 0, 1000);
    }, ""],
    [
      "until its standby is over: then it is half-open, and free",
      1000,
      ([a]) => a!.breakers.own.open("retry_limit", 0, 1000),
      "a b c",
    ],
    ["the longest of several standbys counts", 1500, ([a]) => {
      a!.breakers.own.open("retry_limit", 0, 1000);
      a!.breakers.model.open("rate_limited", 0, 2000);
    }, "b c"],
    ["a standby without an end never ends", 1e12, ([a]) => a!.breakers.own.open("manual", 0, Infinity), "b c"],
    ["a half-open one with a trial request under way waits for its outcome", 1000, ([a]) => {
      a!.breakers.own.open("retry_limit", 0, 1000);
      a!.state.refresh(1000);
      a!.state.begin();
    }, "b c"],
    ["a request that began before the standby is no trial request", 1000, ([a]) => {
      a!.state.begin();
      a!.breakers.own.open("retry_limit", 0, 1000);
    }, "a b c"],
    ["once its trial request succeeds it is free again", 1000, ([a]) => {
      a!.breakers.own.open("retry_limit", 0, 1000);
      a!.state.refresh(1000);
      a!.state.finish(a!.state.begin(), "success", { now: 1000 });
      a!.state.begin();
    }, "a b c"],
    ["a trial request without an outcome leaves it half-open, and free", 1000, ([a]) => {
      a!.breakers.own.open("retry_limit", 0, 1000);
      a!.state.refresh(1000);
      a!.state.finish(a!.state.begin(), "none", { now: 1000 });
    }, "a b c"],
    ["a failed trial request sends it back for twice the time", 2999, ([a]) => {
      a!.state.finish(a!.state.begin(), "failure", { now: 0 });
      a!.state.refresh(1000);
      a!.state.finish(a!.state.begin(), "failure", { now: 1000 });
    }, "b c"],
    ["and no longer than that", 3000, ([a]) => {
      a!.state.finish(a!.state.begin(), "failure", { now: 0 });
      a!.state.refresh(1000);
      a!.state.finish(a!.state.begin(), "failure", { now: 1000 });
    }, "a b c"],
    ["a half-open provider takes one trial request over all its models", 1000, ([a, b]) => {
      a!.breakers.provider.open("quota_exhausted", 0, 1000);
      for (const member of [a!, b!]) member.state.refresh(1000);
      b!.state.begin();
    }, "c"],
    ["when no other is left, requests go to half-open ones all the same", 1000, (members) => {
      for (const { breakers, state } of members) {
        breakers.own.open("retry_limit", 0, 1000);
        state.refresh(1000);
        state.begin();
      }
    }, "a b c"],
    ["but never to those in standby", 1000, ([a, b, c]) => {
      a!.breakers.own.open("retry_limit", 0, 1000);
      a!.state.refresh(1000);
      a!.state.begin();
      for (const { breakers } of [b!, c!]) breakers.own.open("retry_limit", 0, 2000);
    }, "a"],
  ];
  for (const [what, at, arrange, left] of cases) {
    it(what, () => {
      const provider = new CircuitBreaker({ provider: "acme" });
      const members = [
        createMember(createModel("a"), provider),
        createMember(createModel("b"), provider),
        createMember(createModel("c")),
      ];
      arrange(members);
      assertEquals(listNames(openMembers(members, admissionAt(at))).join(" "), left);
    });
  }
});
