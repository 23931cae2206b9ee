import { assert, assertEquals, assertGreater, assertLess } from "@std/assert";
import { costFirst } from "../../connectors/strategies/cost_first.ts";
import { latencyFirst } from "../../connectors/strategies/latency_first.ts";
import type { ModelView, SelectionContext } from "../../src/contracts/rotation.ts";
import { seededRandom } from "../../src/runtime/test.ts";
import { context, count, make, pick, times, view } from "./_strategies.ts";

const [a, b, c] = [view("a"), view("b"), view("c")];

function prices(costs: Readonly<Record<string, number>>): Partial<SelectionContext> {
  return { costOf: ({ name }) => costs[name] };
}

Deno.test("cost-first takes the cheapest for the request at hand", () => {
  const strategy = make(costFirst);
  assertEquals(pick(strategy, [a, b, c], prices({ a: 900, b: 300, c: 500 })), "b");
  assertEquals(pick(strategy, [a, b, c], prices({ a: 900, b: 3000, c: 1000 })), "a", "another request, another price");
  assertEquals(pick(strategy, [a, c], { ...prices({ a: 900, b: 300, c: 500 }), tried: new Set(["b"]) }), "c");
});

Deno.test("cost-first puts unknown prices last, and a price of nothing first", () => {
  const strategy = make(costFirst);
  assertEquals(pick(strategy, [a, b, c], prices({ b: 5e11, c: 0 })), "c");
  assertEquals(pick(strategy, [a, b], prices({ b: 5e15 })), "b", "however dear");
  assertEquals(pick(strategy, [a, b, c], prices({ a: NaN, b: -1, c: 10 })), "c", "nonsense is no price");
  assertEquals(pick(strategy, [a, b, c]), "a");
});

Deno.test("cost-first goes by priority among equal prices, known or not, then by the configuration", () => {
  const strategy = make(costFirst);
  const equal = prices({ a: 300, b: 300, c: 300 });
  assertEquals(times(3, () => pick(strategy, [a, b, c], equal)), ["a", "a", "a"]);
  assertEquals(pick(strategy, [a, b, c], { ...equal, modelPriority: ["c"] }), "c");
  assertEquals(pick(strategy, [a, b, c], { ...equal, providerPriority: ["provider-of-b"] }), "b");
  assertEquals(pick(strategy, [a, b, c], { modelPriority: ["c", "b"] }), "c");
  assertEquals(pick(strategy, [a, b, c], { ...prices({ a: 299, b: 300 }), modelPriority: ["c", "b"] }), "a");
});

Deno.test("cost-first: the score is the cost in nano-dollars, negative", () => {
  assertEquals(make(costFirst).score(a, context(prices({ a: 1250 }))), -1250);
});

Deno.test("latency-first takes the quickest, counting the requests it is working on", () => {
  const strategy = make(latencyFirst);
  const slow = view("slow", { latencyMs: 900 });
  assertEquals(pick(strategy, [slow, view("quick", { latencyMs: 400 })]), "quick");
  assertEquals(pick(strategy, [slow, view("quick", { latencyMs: 400, inFlight: 1 })]), "quick", "800 ms");
  assertEquals(pick(strategy, [slow, view("quick", { latencyMs: 400, inFlight: 2 })]), "slow", "1200 ms");
  assertEquals(pick(strategy, [view("x", { latencyMs: 0, inFlight: 3 }), view("y", { latencyMs: 0 })]), "y");
});

Deno.test("latency-first leaves a model whose latency was raised by failures", () => {
  const strategy = make(latencyFirst);
  const steady = view("steady", { latencyMs: 700 });
  assertEquals(pick(strategy, [view("failing", { latencyMs: 300 }), steady]), "failing");
  assertEquals(pick(strategy, [view("failing", { latencyMs: 10_300 }), steady]), "steady");
});

Deno.test("latency-first tries what is not measured, one request at a time while others are", () => {
  const strategy = make(latencyFirst);
  const measured = view("measured", { latencyMs: 800, inFlight: 50 });
  assertEquals(pick(strategy, [measured, a, b]), "a");
  assertEquals(pick(strategy, [measured, a, b], { modelPriority: ["b"] }), "b");
  assertEquals(pick(strategy, [measured, view("a", { inFlight: 1 }), b]), "b");
  assertEquals(pick(strategy, [measured, view("a", { inFlight: 1 }), view("b", { inFlight: 1 })]), "measured");
});

Deno.test("latency-first spreads requests over models of which none is measured", () => {
  const strategy = make(latencyFirst);
  const inFlight = [0, 0, 0];
  for (let turn = 0; turn < 30; turn++) {
    const name = pick(strategy, inFlight.map((number, index) => view(`m${index}`, { inFlight: number })));
    inFlight[Number(name[1])]!++;
  }
  assertEquals(inFlight, [10, 10, 10]);
});

const hares: readonly ModelView[] = [view("quick", { latencyMs: 100 }), view("slow", { latencyMs: 5000 })];

/** Choices at so many requests a second. */
function run(perSecond: number, number: number, seed = 7): string[] {
  const strategy = make(latencyFirst);
  const random = seededRandom(seed);
  return times(number, (turn) => strategy.select(hares, context({ now: turn * 1000 / perSecond, random }))!.name);
}

Deno.test("latency-first looks at a slow model again, at most once a minute", () => {
  const { slow } = count(run(100, 60_000)); // ten minutes
  assert(slow! >= 8 && slow! <= 11, `${slow} in ten minutes`);
});

Deno.test("latency-first explores with one request in fifty at most", () => {
  const { slow } = count(run(1 / 61, 20_000)); // everything is stale at every request
  assertGreater(slow!, 20_000 * 0.006); // half of them find the quick one stalest
  assertLess(slow!, 20_000 * 0.024);
});

Deno.test("latency-first is the same for the same seed, and another for another", () => {
  assertEquals(run(1, 5000), run(1, 5000));
  assert(run(1, 5000).join() !== run(1, 5000, 8).join());
});

Deno.test("latency-first does not explore on a failover, nor a busy model", () => {
  const now = 1e6;
  const random = () => 0;
  const busy = [hares[0]!, view("slow", { latencyMs: 5000, inFlight: 1 })];
  const strategy = make(latencyFirst);
  strategy.select(hares.slice(0, 1), context({ now }));
  assertEquals(strategy.select(hares, context({ now, random, tried: new Set(["x"]) }))!.name, "quick");
  assertEquals(strategy.select(busy, context({ now, random }))!.name, "quick");
  assertEquals(strategy.select([...hares, a], context({ now, random }))!.name, "a", "nor before all are measured");
  assertEquals(strategy.select(hares, context({ now, random }))!.name, "slow", "else it does");
});
