import { assert, assertEquals } from "@std/assert";
import { prioritySelection } from "../../connectors/strategies/priority_selection.ts";
import { roundRobin } from "../../connectors/strategies/round_robin.ts";
import { stickUntilFailure } from "../../connectors/strategies/stick_until_failure.ts";
import { count, make, pick, times, view } from "./_strategies.ts";

const [a, b, c] = [view("a"), view("b"), view("c")];

Deno.test("priority-selection follows model priority, then provider priority, then the configuration", () => {
  const strategy = make(prioritySelection);
  assertEquals(pick(strategy, [a, b, c]), "a");
  assertEquals(pick(strategy, [a, b, c], { providerPriority: ["provider-of-c", "provider-of-b"] }), "c");
  const both = { modelPriority: ["missing", "b"], providerPriority: ["provider-of-c"] };
  assertEquals(pick(strategy, [a, b, c], both), "b");
  assertEquals(pick(strategy, [a, c], both), "c");
  assertEquals(pick(strategy, [c, a], { providerPriority: ["elsewhere"] }), "c");
});

Deno.test("priority-selection takes a half-open model as soon as it is a candidate", () => {
  const strategy = make(prioritySelection);
  const modelPriority = ["a", "b"];
  assertEquals(pick(strategy, [b, c], { modelPriority }), "b");
  assertEquals(pick(strategy, [view("a", { isHalfOpen: true }), b, c], { modelPriority }), "a");
});

Deno.test("stick-until-failure starts with the best by priority and stays", () => {
  const strategy = make(stickUntilFailure);
  const modelPriority = ["b"];
  assertEquals(times(5, () => pick(strategy, [a, b, c], { modelPriority })), ["b", "b", "b", "b", "b"]);
});

Deno.test("stick-until-failure leaves a model that is no longer a candidate, and stays with the next", () => {
  const strategy = make(stickUntilFailure);
  assertEquals(pick(strategy, [a, b, c]), "a");
  assertEquals(pick(strategy, [b, c]), "b");
  assertEquals(pick(strategy, [a, b, c]), "b");
  assertEquals(pick(strategy, [a, c]), "a");
});

Deno.test("stick-until-failure does not return to a preferred model that is half-open", () => {
  const strategy = make(stickUntilFailure);
  const modelPriority = ["a", "b", "c"];
  const trial = view("a", { isHalfOpen: true });
  assertEquals(pick(strategy, [a, b, c], { modelPriority }), "a");
  assertEquals(pick(strategy, [b, c], { modelPriority }), "b");
  assertEquals(pick(strategy, [trial, b, c], { modelPriority }), "b");
  assertEquals(pick(strategy, [trial, c], { modelPriority, tried: new Set(["b"]) }), "a", "b failed: a has its chance");
  assertEquals(pick(strategy, [a, b, c], { modelPriority }), "b", "others stay with b while it is offered");
  assertEquals(pick(strategy, [a, c], { modelPriority }), "a");
});

Deno.test("stick-until-failure goes on with the model that answered instead", () => {
  const strategy = make(stickUntilFailure);
  assertEquals(pick(strategy, [a, b, c]), "a");
  assertEquals(pick(strategy, [b, c], { tried: new Set(["a"]) }), "b");
  assertEquals(pick(strategy, [c], { tried: new Set(["a", "b"]) }), "c");
  assertEquals(pick(strategy, [a, b, c]), "a", "no failure is known of");
  strategy.observe!({ failed: new Set(["a", "b"]), served: c });
  assertEquals(pick(strategy, [a, b, c]), "c");
  strategy.observe!({ failed: new Set(["a"]), served: b });
  assertEquals(pick(strategy, [a, b, c]), "c", "it was not c that failed");
});

Deno.test("stick-until-failure leaves a model that failed before another has answered, unless it is alone", () => {
  const strategy = make(stickUntilFailure);
  assertEquals(pick(strategy, [a, b, c]), "a");
  strategy.observe!({ failed: new Set(["a"]) });
  assertEquals(pick(strategy, [b], { isConstrained: true }), "b");
  assertEquals(pick(strategy, [a, b, c], { modelPriority: ["a", "c"] }), "c");
  assertEquals(pick(strategy, [a, b, c], { modelPriority: ["a"] }), "c");
  strategy.observe!({ failed: new Set(["c"]) });
  assertEquals(pick(strategy, [c]), "c");
});

Deno.test("round-robin cycles in the configuration's order", () => {
  const strategy = make(roundRobin);
  assertEquals(times(7, () => pick(strategy, [a, b, c])), ["a", "b", "c", "a", "b", "c", "a"]);
});

Deno.test("round-robin lets priority decide whose turn comes first", () => {
  const strategy = make(roundRobin);
  const modelPriority = ["c", "b"];
  assertEquals(times(6, () => pick(strategy, [a, b, c], { modelPriority })), ["c", "b", "a", "c", "b", "a"]);
});

Deno.test("round-robin is exact for weights, and smooth", () => {
  const strategy = make(roundRobin);
  const weighted = [view("a", { weight: 5 }), view("b", { weight: 1 }), view("c", { weight: 1 })];
  const names = times(7000, () => pick(strategy, weighted));
  assertEquals(count(names), { a: 5000, b: 1000, c: 1000 });
  assertEquals(names.slice(0, 7), ["a", "b", "a", "c", "a", "a", "a"]);
});

Deno.test("round-robin: fractional weights keep their share", () => {
  const strategy = make(roundRobin);
  const weighted = [view("a", { weight: 0.1 }), view("b", { weight: 0.2 })];
  const { a: few, b: many } = count(times(3000, () => pick(strategy, weighted)));
  assert(Math.abs(few! - 1000) <= 1 && Math.abs(many! - 2000) <= 1);
});

Deno.test("round-robin gives no turn for weights that are none, while another is there", () => {
  const strategy = make(roundRobin);
  const none = [0, -1, NaN].map((weight) => view(`of ${weight}`, { weight }));
  assertEquals(count(times(10, () => pick(strategy, [...none, a, b]))), { a: 5, b: 5 });
  assertEquals(count(times(9, () => pick(strategy, none))), { "of 0": 3, "of -1": 3, "of NaN": 3 });
});

Deno.test("round-robin stays even when candidates come and go", () => {
  const strategy = make(roundRobin);
  times(99, () => pick(strategy, [a, b, c]));
  assertEquals(count(times(100, () => pick(strategy, [a, c]))), { a: 50, c: 50 });
  const after = times(300, () => pick(strategy, [a, b, c]));
  assertEquals(count(after), { a: 100, b: 100, c: 100 });
  assert(!after.slice(0, 6).join("").includes("bb"), "no burst after an absence");
});

Deno.test("round-robin: every candidate's share is exact within a turn, however presence flickers", () => {
  const strategy = make(roundRobin);
  const due: Record<string, number> = { a: 0, b: 0, c: 0 };
  const had: Record<string, number> = { a: 0, b: 0, c: 0 };
  let seed = 1;
  for (let turn = 0; turn < 10_000; turn++) {
    seed = seed * 48271 % 2147483647;
    const present = [a, b, c].filter((_, index) => seed >> (4 + index) & 1);
    if (present.length === 0) continue;
    for (const { name } of present) due[name]! += 1 / present.length;
    had[pick(strategy, present)]! += 1;
    for (const name of ["a", "b", "c"]) assert(Math.abs(due[name]! - had[name]!) <= 2, `turn ${turn}, ${name}`);
  }
});

Deno.test("round-robin: failovers skew neither the cycle nor each other", () => {
  const strategy = make(roundRobin);
  const firsts: string[] = [];
  const failovers: string[] = [];
  times(300, () => {
    const first = pick(strategy, [a, b, c]);
    firsts.push(first);
    if (first === "a") failovers.push(pick(strategy, [b, c], { tried: new Set(["a"]) }));
  });
  assertEquals(firsts.slice(0, 6), ["a", "b", "c", "a", "b", "c"]);
  assertEquals(count(firsts), { a: 100, b: 100, c: 100 });
  assertEquals(count(failovers), { b: 50, c: 50 });
});

Deno.test("round-robin: instances share nothing", () => {
  const [one, other] = [make(roundRobin), make(roundRobin)];
  assertEquals([pick(one, [a, b]), pick(other, [a, b]), pick(one, [a, b])], ["a", "a", "b"]);
});
