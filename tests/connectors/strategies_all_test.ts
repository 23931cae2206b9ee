import { assert, assertEquals } from "@std/assert";
import { browserConnectors } from "../../connectors/browser_connectors.ts";
import { loadedConnectors } from "../support/connectors.ts";
import { groupConnectors, resolveStrategy } from "../../src/config/settings/known.ts";
import type { Connector } from "../../src/contracts/connector.ts";
import type { ModelView, SelectionContext, SelectionStrategy } from "../../src/contracts/rotation.ts";
import { seededRandom } from "../../src/runtime/test.ts";
import { context, make, times, view } from "./_strategies.ts";

const shortNames = [
  "stick-until-failure",
  "round-robin",
  "cost-first",
  "latency-first",
  "priority-selection",
  "rate-limit-aware",
  "load-balanced",
  "session-stickiness",
];

const connectors = loadedConnectors.filter((one): one is Connector<"strategy"> => one.kind === "strategy");

/** Every strategy in every mode. */
const cases: readonly (readonly [name: string, connector: Connector<"strategy">, facts: Partial<SelectionContext>])[] =
  connectors.flatMap((connector) =>
    connector.id === "mesh.load-balanced.v1"
      ? (["absolute", "relative"] as const).map((balanceMode) =>
        [`${connector.id} ${balanceMode}`, connector, { balanceMode }] as const
      )
      : [[connector.id, connector, {}] as const]
  );

type Random = () => number;

function pick<Value>(values: readonly Value[], random: Random): Value {
  return values[Math.floor(random() * values.length)]!;
}

const oddNumbers = [NaN, Infinity, -Infinity, -1, -0, 0, Number.MIN_VALUE, 0.5, 1, 1e6, Number.MAX_VALUE];

/** A model as no pipeline would show it. */
function oddView(name: string, random: Random): ModelView {
  const odd = () => pick(oddNumbers, random);
  const headroom = () =>
    random() < 0.3 ? undefined : { limit: odd(), left: odd(), windowMs: pick([undefined, 0, NaN], random) };
  return view(name, {
    provider: pick(["", "p"], random),
    weight: odd(),
    inFlight: odd(),
    latencyMs: random() < 0.3 ? undefined : odd(),
    requests: headroom(),
    tokens: headroom(),
  });
}

/** A model as pipelines show it. */
function usualView(index: number, random: Random): ModelView {
  const headroom = (limit: number) => ({ limit, left: Math.floor(random() * (limit + 1)) });
  return view(`m${index}`, {
    provider: `p${index % 3}`,
    weight: pick([1, 1, 2, 0.5], random),
    isHalfOpen: random() < 0.1,
    inFlight: Math.floor(random() * 4),
    latencyMs: random() < 0.1 ? undefined : pick([100, 250.5, 800], random),
    requests: random() < 0.3 ? undefined : headroom(10),
    tokens: random() < 0.3 ? undefined : headroom(1000),
  });
}

function usualContext(random: Random, facts: Partial<SelectionContext>): SelectionContext {
  return context({
    now: Math.floor(random() * 1e7),
    modelPriority: pick<readonly string[]>([[], ["m3", "m1"], ["m0"]], random),
    providerPriority: pick<readonly string[]>([[], ["p2"], ["p1", "p0"]], random),
    costOf: ({ name }) => name === "m4" ? undefined : 1000 + name.charCodeAt(1) % 2,
    session: pick([undefined, "a", "b", "c"], random),
    tried: pick<ReadonlySet<string>>([new Set(), new Set(), new Set(["m0"])], random),
    ...facts,
  });
}

/** Choices among models that come and go, by a seed. */
function story(strategy: SelectionStrategy, seed: number, facts: Partial<SelectionContext>): string[] {
  const random = seededRandom(seed);
  return times(300, () => {
    const at = usualContext(random, { random: seededRandom(Math.floor(random() * 1e9)), ...facts });
    const candidates = times(6, (index) => usualView(index, random))
      .filter(({ name }) => random() < 0.8 && !at.tried.has(name));
    return candidates.length === 0 ? "nobody" : strategy.select(candidates, at)!.name;
  });
}

Deno.test("all eight strategies are there, on servers and in browsers, and found by their short names", () => {
  for (const list of [loadedConnectors, browserConnectors()]) {
    const ids = groupConnectors(list).strategies;
    assertEquals(ids, shortNames.map((name) => `mesh.${name}.v1`));
    for (const name of shortNames) assertEquals(resolveStrategy(name, ids), `mesh.${name}.v1`);
  }
});

for (const [name, connector, facts] of cases) {
  Deno.test(`${name} takes the candidate with the highest score`, () => {
    const random = seededRandom(1);
    const strategy = make(connector);
    for (let turn = 0; turn < 1000; turn++) {
      const at = usualContext(random, facts);
      const candidates = times(6, (index) => usualView(index, random))
        .filter(({ name }) => random() < 0.8 && !at.tried.has(name));
      if (candidates.length === 0) continue;
      const scores = candidates.map((candidate) => strategy.score(candidate, at));
      for (const score of scores) assert(Number.isFinite(score), `turn ${turn}: a score is a number`);
      const chosen = strategy.select(candidates, at)!;
      assertEquals(chosen.name, candidates[scores.indexOf(Math.max(...scores))]!.name, `turn ${turn}`);
    }
  });

  Deno.test(`${name} does the same for the same seed, scores asked or not`, () => {
    const asked = make(connector);
    const watched: SelectionStrategy = {
      select(candidates, at) {
        for (const candidate of candidates) asked.score(candidate, at);
        return asked.select(candidates, at);
      },
      score: (candidate, at) => asked.score(candidate, at),
    };
    assertEquals(story(watched, 5, facts), story(make(connector), 5, facts));
  });

  Deno.test(`${name} chooses a candidate whatever the views say, and goes on well afterwards`, () => {
    const random = seededRandom(2);
    const strategy = make(connector);
    for (let turn = 0; turn < 3000; turn++) {
      const candidates = times(
        1 + Math.floor(random() * 4),
        (index) => oddView(pick(["", `m${index}`], random), random),
      );
      const odd = pick(oddNumbers, random);
      const at = context({
        threshold: odd,
        costOf: () => odd,
        session: pick([undefined, "", "s"], random),
        random,
        ...facts,
      });
      for (const candidate of candidates) assert(!Number.isNaN(strategy.score(candidate, at)), `turn ${turn}`);
      assert(candidates.includes(strategy.select(candidates, at)!), `turn ${turn}`);
    }
    const sane = [view("m0"), view("m1")];
    for (let turn = 0; turn < 10; turn++) assert(sane.includes(strategy.select(sane, context(facts))!));
  });
}
