import { assert, assertEquals, assertLess } from "@std/assert";
import { loadBalanced } from "../../connectors/strategies/load_balanced.ts";
import { rateLimitAware } from "../../connectors/strategies/rate_limit_aware.ts";
import type { ModelView } from "../../src/contracts/rotation.ts";
import { seededRandom } from "../../src/runtime/test.ts";
import { context, count, make, pick, times, view } from "./_strategies.ts";

const [a, b, c] = [view("a"), view("b"), view("c")];

/** A model with so much of 100 requests left. */
function left(name: string, requests: number, facts: Partial<ModelView> = {}): ModelView {
  return view(name, { requests: { limit: 100, left: requests }, ...facts });
}

Deno.test("rate-limit-aware stays until the threshold is reached, on requests or on tokens", () => {
  const strategy = make(rateLimitAware);
  assertEquals(pick(strategy, [left("a", 100), b, c]), "a");
  assertEquals(pick(strategy, [left("a", 21), b, c]), "a");
  assertEquals(pick(strategy, [left("a", 20), b, c]), "b", "80 of 100 used");
  assertEquals(pick(strategy, [a, view("b", { tokens: { limit: 50, left: 10 } }), c], { modelPriority: ["c"] }), "c");
});

Deno.test("rate-limit-aware reaches thresholds that binary fractions miss", () => {
  assertEquals(pick(make(rateLimitAware), [left("a", 90), b], { threshold: 0.1 }), "b");
});

Deno.test("rate-limit-aware does not go back before the current one reaches the threshold", () => {
  const strategy = make(rateLimitAware);
  const modelPriority = ["a", "b", "c"];
  assertEquals(pick(strategy, [left("a", 0), b, c], { modelPriority }), "b");
  assertEquals(pick(strategy, [a, left("b", 30), c], { modelPriority }), "b");
  assertEquals(pick(strategy, [a, left("b", 5), c], { modelPriority }), "a");
});

Deno.test("rate-limit-aware takes the one with most headroom when all are over, and stays with none for it", () => {
  const strategy = make(rateLimitAware);
  assertEquals(pick(strategy, [a, b, c]), "a");
  assertEquals(pick(strategy, [left("a", 1), left("b", 7), left("c", 5)]), "b");
  assertEquals(pick(strategy, [left("a", 1), left("b", 4), left("c", 5)]), "c");
  assertEquals(pick(strategy, [left("a", 3), left("b", 3), left("c", 3)], { modelPriority: ["b"] }), "b");
  assertEquals(pick(strategy, [left("a", 90), b, c], { modelPriority: ["c"] }), "a", "it was a that was stayed with");
});

Deno.test("rate-limit-aware leaves a model that failed for the one that answered instead; a standby moves all", () => {
  const strategy = make(rateLimitAware);
  assertEquals(pick(strategy, [a, b, c]), "a");
  assertEquals(pick(strategy, [b, c], { tried: new Set(["a"]) }), "b");
  assertEquals(pick(strategy, [a, b, c]), "a");
  strategy.observe!({ failed: new Set(["a"]) });
  assertEquals(pick(strategy, [a, c]), "c", "none has answered instead yet");
  strategy.observe!({ failed: new Set(["c"]), served: b });
  assertEquals(pick(strategy, [a, b, c]), "b");
  assertEquals(pick(strategy, [left("b", 2), c]), "c");
  assertEquals(pick(strategy, [view("a", { isHalfOpen: true }), b, c], { modelPriority: ["a"] }), "c");
});

Deno.test("rate-limit-aware does not move for a request that chooses among the models itself", () => {
  const strategy = make(rateLimitAware);
  assertEquals(pick(strategy, [c], { isConstrained: true }), "c");
  assertEquals(pick(strategy, [a, b, c]), "a", "nor begin with its model");
  assertEquals(pick(strategy, [b], { isConstrained: true }), "b");
  assertEquals(pick(strategy, [a, b, c], { modelPriority: ["b"] }), "a");
});

Deno.test("load-balanced absolute gives every model the same number, whatever its limits and what is left of them", () => {
  const strategy = make(loadBalanced);
  const candidates = [left("a", 100), left("b", 7), view("c", { tokens: { limit: 9, left: 1 } }), view("d")];
  assertEquals(times(8, () => pick(strategy, candidates)).join(""), "abcdabcd");
  assertEquals(count(times(4000, () => pick(strategy, candidates))), { a: 1000, b: 1000, c: 1000, d: 1000 });
});

Deno.test("load-balanced absolute honors weights, and begins by priority", () => {
  const weighed = [limited("a", 10, { weight: 2 }), limited("b", 1000)];
  assertEquals(count(times(300, pickAgain(weighed))), { a: 200, b: 100 });
  assertEquals(times(6, pickAgain([a, b, c], { modelPriority: ["c", "b"] })).join(""), "cbacba");
});

Deno.test("load-balanced absolute gives one turn, not a burst, to a model that comes back", () => {
  const strategy = make(loadBalanced);
  times(100, () => pick(strategy, [a, c]));
  const names = times(9, () => pick(strategy, [a, b, c])).join("");
  assertEquals([count([...names]), names.includes("bb")], [{ a: 3, b: 3, c: 3 }, false]);
});

Deno.test("load-balanced absolute gives no turn to a model with nothing left, while another has", () => {
  assertEquals(count(times(10, pickAgain([left("a", 0), left("b", 1), c]))), { b: 5, c: 5 });
});

Deno.test("load-balanced absolute: random use never overruns a limit while another has room", () => {
  const random = seededRandom(11);
  for (let round = 0; round < 50; round++) {
    const strategy = make(loadBalanced);
    const limits = times(5, () => 1 + Math.floor(random() * 40));
    const used = limits.map(() => 0);
    const total = limits.reduce((sum, limit) => sum + limit, 0);
    for (let request = 0; request < total; request++) {
      const views = limits.map((limit, i) => view(`m${i}`, { requests: { limit, left: limit - used[i]! } }));
      used[Number(pick(strategy, views)[1])]!++;
    }
    assertEquals(used, limits);
  }
});

/** Choices of one strategy. */
function pickAgain(candidates: readonly ModelView[], facts: Parameters<typeof pick>[2] = {}): () => string {
  const strategy = make(loadBalanced);
  return () => pick(strategy, candidates, facts);
}

/** Shares of 10 000 choices. */
function shares(candidates: readonly ModelView[]): number[] {
  const strategy = make(loadBalanced);
  const counts = count(times(10_000, () => pick(strategy, candidates, { balanceMode: "relative" })));
  return candidates.map(({ name }) => (counts[name] ?? 0) / 10_000);
}

function assertShares(candidates: readonly ModelView[], proportions: readonly number[]): void {
  const total = proportions.reduce((sum, proportion) => sum + proportion, 0);
  shares(candidates).forEach((share, index) => {
    const due = proportions[index]! / total;
    assert(Math.abs(share - due) <= due * 0.05, `${candidates[index]!.name}: ${share}, due ${due}`);
  });
}

function limited(name: string, limit: number, facts: Partial<ModelView> = {}): ModelView {
  return view(name, { requests: { limit, left: limit }, ...facts });
}

Deno.test("load-balanced relative is within 5 % of the limits' proportions over 10 000 requests", () => {
  assertShares([limited("a", 30), limited("b", 500), limited("c", 60)], [30, 500, 60]);
  const random = seededRandom(3);
  for (let round = 0; round < 3; round++) {
    const limits = times(6, () => 20 + Math.floor(random() * 2000));
    assertShares(limits.map((limit, index) => limited(`m${index}`, limit)), limits);
  }
});

Deno.test("load-balanced relative minds weights", () => {
  assertShares([limited("a", 100, { weight: 3 }), limited("b", 200), limited("c", 100)], [3, 2, 1]);
});

Deno.test("load-balanced relative makes windows comparable", () => {
  const byDay = view("day", { requests: { limit: 14_400, left: 14_000, windowMs: 86_400_000 } });
  assertShares([byDay, limited("minute", 30)], [10, 30]);
});

Deno.test("load-balanced relative: unknown limits count as the mean, tokens where no request limit is known", () => {
  assertShares([limited("a", 100), limited("b", 300), c], [100, 300, 200]);
  const tokens = (name: string, limit: number) => view(name, { tokens: { limit, left: limit } });
  assertShares([tokens("a", 10_000), tokens("b", 40_000)], [1, 4]);
  assertShares([limited("a", 100), tokens("b", 40_000)], [1, 1]);
});

Deno.test("load-balanced relative goes by weight when no limit is known", () => {
  assertShares([view("a", { weight: 2 }), b, view("c", { weight: 0.5 })], [4, 2, 1]);
});

Deno.test("load-balanced relative gives no turn to a model with nothing left, while another has", () => {
  const strategy = make(loadBalanced);
  const at = { balanceMode: "relative" } as const;
  const spent = view("a", { requests: { limit: 100, left: 0 } });
  assertEquals(count(times(10, () => pick(strategy, [spent, limited("b", 10), limited("c", 10)], at))), { b: 5, c: 5 });
  assertEquals(pick(strategy, [spent], at), "a");
  const alsoSpent = view("b", { tokens: { limit: 9, left: -1 } });
  assertEquals(count(times(10, () => pick(make(loadBalanced), [spent, alsoSpent], at))), { a: 10 }, "the first turn");
  assertEquals(count(times(10, () => pick(strategy, [spent, alsoSpent], at))).b! >= 4, true);
});

Deno.test("load-balanced relative: failovers leave the proportions as they were", () => {
  const candidates = [limited("a", 10), limited("b", 20), limited("c", 30)];
  const firsts = (isFailing: boolean) => {
    const strategy = make(loadBalanced);
    return times(600, () => {
      const name = pick(strategy, candidates, { balanceMode: "relative" });
      const others = candidates.filter((candidate) => candidate.name !== name);
      const tried = new Set([name]);
      if (isFailing && name === "a") strategy.select(others, context({ balanceMode: "relative", tried }));
      return name;
    }).join("");
  };
  assertEquals(firsts(true), firsts(false));
});

Deno.test("load-balanced relative follows limits that change", () => {
  const strategy = make(loadBalanced);
  const at = { balanceMode: "relative" } as const;
  times(1000, () => pick(strategy, [limited("a", 100), limited("b", 900)], at));
  const after = count(times(1000, () => pick(strategy, [limited("a", 500), limited("b", 500)], at)));
  assertLess(Math.abs(after.a! - 500), 3);
});
