/**
 * Cost of selecting a model: `deno bench -A --no-npm scripts/bench/selection_bench.ts`.
 *
 * Runs every strategy over 10, 100 and 1 000 models with complete state. Stateless strategies may take at most 5 µs for
 * 10 and 50 µs for 1 000 models. `plain` has no priorities; `ordered` names every model and provider in them; `tied`
 * also makes all models equal, which is the worst case.
 * @module
 */
import { costFirst } from "../../connectors/strategies/cost_first.ts";
import { latencyFirst } from "../../connectors/strategies/latency_first.ts";
import { loadBalanced } from "../../connectors/strategies/load_balanced.ts";
import { prioritySelection } from "../../connectors/strategies/priority_selection.ts";
import { rateLimitAware } from "../../connectors/strategies/rate_limit_aware.ts";
import { roundRobin } from "../../connectors/strategies/round_robin.ts";
import { sessionStickiness } from "../../connectors/strategies/session_stickiness.ts";
import { stickUntilFailure } from "../../connectors/strategies/stick_until_failure.ts";
import type { BalanceMode, ModelView, SelectionContext, SelectionStrategy } from "../../src/contracts/rotation.ts";
import type { Runtime } from "../../src/contracts/runtime.ts";
import { seededRandom } from "../../src/runtime/test.ts";

type Scene = "plain" | "ordered" | "tied";

interface Stage {
  readonly candidates: readonly ModelView[];
  readonly context: (session: string) => SelectionContext;
}

const sizes = [10, 100, 1000];
const scenes: readonly Scene[] = ["plain", "ordered", "tied"];
const connectors = [
  stickUntilFailure,
  roundRobin,
  costFirst,
  latencyFirst,
  prioritySelection,
  rateLimitAware,
  sessionStickiness,
];

function createModelView(index: number, scene: Scene, random: () => number): ModelView {
  const spread = scene === "tied" ? 1 : 1 + random();
  return {
    name: `vendor-${index % 20}.model-${index}`,
    provider: `vendor-${index % 20}`,
    weight: spread,
    status: "active",
    isHalfOpen: false,
    consecutiveFailures: 0,
    inFlight: scene === "tied" ? 0 : Math.floor(random() * 5),
    latencyMs: 400 * spread,
    requests: { limit: 500, left: Math.floor(450 / spread) },
    tokens: { limit: 30_000, left: Math.floor(29_000 / spread) },
  };
}

function createStage(size: number, scene: Scene, balanceMode: BalanceMode): Stage {
  const random = seededRandom(size);
  const candidates = Array.from({ length: size }, (_, index) => createModelView(index, scene, random));
  const isOrdered = scene !== "plain";
  const shared = {
    pool: "bench",
    modelPriority: isOrdered ? candidates.map(({ name }) => name).reverse() : [],
    providerPriority: isOrdered ? [...new Set(candidates.map(({ provider }) => provider))] : [],
    threshold: 0.8,
    isConstrained: false,
    balanceMode,
    costOf: ({ weight }: ModelView) => weight * 1_000_000, // the pipeline computes the estimate
    tried: new Set<string>(),
    random,
  };
  let now = 0;
  return { candidates, context: (session) => ({ ...shared, session, now: now++ }) };
}

function measure(strategy: SelectionStrategy, { candidates, context }: Stage): () => void {
  const contexts = Array.from({ length: 256 }, (_, index) => context(`session-${index}`));
  let turn = 0;
  return () => void strategy.select(candidates, contexts[turn++ & 255]!);
}

for (const size of sizes) {
  for (const scene of scenes) {
    const group = `${size} models, ${scene}`;
    for (const { id, create } of connectors) {
      Deno.bench(id, { group }, measure(create({}, {} as Runtime), createStage(size, scene, "absolute")));
    }
    for (const mode of ["absolute", "relative"] as const) {
      const { id, create } = loadBalanced;
      Deno.bench(`${id} ${mode}`, { group }, measure(create({}, {} as Runtime), createStage(size, scene, mode)));
    }
  }
}
