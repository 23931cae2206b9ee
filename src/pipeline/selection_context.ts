/**
 * The facts available to a strategy.
 * @module
 */
import type { SelectionContext } from "../contracts/rotation.ts";
import type { Runtime } from "../contracts/runtime.ts";
import type { Pool } from "../registry/registry.ts";
import type { Load } from "../state/model/usage.ts";
import type { ModelState } from "../state/model/model_state.ts";
import { firstGuess } from "../state/metrics/output_tokens.ts";

/** Maximum estimated output, so that prices stay comparable for requests with a high limit. */
const maxOutput = 1e8;

/** The request. */
interface Selection extends Pick<SelectionContext, "isConstrained" | "tried" | "session"> {
  readonly pool: Pool;
  /** Estimated usage. */
  readonly load: Load;
}

/**
 * Creates a strategy's view of a request. Costs are compared by one estimate for all models, since a model with short
 * responses would otherwise seem cheap.
 *
 * @param runtime Monotonic clock and random numbers.
 */
export function selectionContext(selection: Selection, runtime: Runtime): SelectionContext {
  const { pool, load, tried, session, isConstrained } = selection;
  const { modelPriority, providerPriority, balanceMode, rateLimit } = pool.routing;
  let estimate: Load | undefined;
  // no spread: on Node 20 each object that begins with one has a hidden class of its own
  return {
    isConstrained,
    tried,
    session,
    pool: pool.name,
    now: runtime.clock.monotonic(),
    modelPriority,
    providerPriority,
    threshold: rateLimit?.threshold,
    balanceMode,
    costOf(view) {
      estimate ??= { ...load, hasFee: undefined, output: Math.min(load.output ?? meanOutput(pool), maxOutput) };
      return (view as ModelState).estimateCost(estimate);
    },
    random: runtime.random,
  };
}

/** Mean output tokens of the most recent responses of the pool's models. */
function meanOutput({ members }: Pool): number {
  let answers = 0;
  let tokens = 0;
  for (const { state: { outputTokens } } of members) {
    if (outputTokens === undefined) continue;
    answers += outputTokens.count;
    tokens += outputTokens.total();
  }
  return answers === 0 ? firstGuess : Math.ceil(tokens / answers);
}
