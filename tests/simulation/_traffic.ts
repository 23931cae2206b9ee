/**
 * Who asks what, and when.
 * @module
 */
import type { CompletionUsage } from "../../mod.ts";
import { Chance } from "./chance.ts";
import { stormFrom, stormMs, type Trouble } from "./_troubles.ts";
import type { PoolPlan } from "./_pool_plans.ts";
import { minute, second } from "./_times.ts";

/** One request; times in ms. */
export interface Arrival {
  /** Monotonic. */
  readonly at: number;
  readonly id: number;
  readonly pool: string;
  readonly stream: boolean;
  readonly session?: string;
  /** The request's token limit. */
  readonly maxTokens?: number;
  /** Length of its text. */
  readonly letters: number;
  /** Tokens a response to it has. */
  readonly written: number;
  /** Its deadline. */
  readonly timeoutMs: number;
  /** When its client leaves. */
  readonly leavesAfterMs?: number;
  /** Every vendor refuses it with 400. */
  readonly isFaulty: boolean;
  /** What a vendor's response says of its usage, where that cannot be true. */
  readonly oddUsage?: CompletionUsage;
}

/** Token counts that no call takes. */
const oddCounts: readonly unknown[] = ["20", {}, [], null, -1, -1e15, 1.5, 1e16, 1e308, Infinity, NaN];

interface TrafficWorld {
  readonly seed: number;
  readonly horizonMs: number;
  readonly isStorm: boolean;
  readonly pools: readonly PoolPlan[];
  readonly troubles: readonly Trouble[];
}

/** All requests of a world in order. */
export function traffic(world: TrafficWorld): Arrival[] {
  const { seed, horizonMs, isStorm, pools } = world;
  const chance = new Chance(seed, "traffic");
  const times = Array.from({ length: chance.whole(10, 60) }, () => chance.between(0, horizonMs));
  for (let burst = chance.whole(0, 4); burst > 0; burst--) times.push(...createBurst(world, chance));
  if (isStorm) times.push(...Array.from({ length: 400 }, () => stormFrom + chance.between(0, stormMs)));
  times.sort((one, other) => one - other);
  const odd = new Chance(seed, "odd usage");
  return times.map((at, id) => {
    const made = arrival(Math.round(at), id, chance.pick(pools).name, chance);
    return odd.happens(0.05) ? { ...made, oddUsage: oddUsage(odd) } : made;
  });
}

function oddUsage(chance: Chance): CompletionUsage {
  const [prompt_tokens, completion_tokens, total_tokens] = [0, 1, 2].map(() => chance.pick(oddCounts));
  return { prompt_tokens, completion_tokens, total_tokens } as CompletionUsage;
}

/** Many at once, most often while something goes wrong. */
function createBurst({ horizonMs, troubles }: TrafficWorld, chance: Chance): number[] {
  const trouble = troubles.length > 0 && chance.happens(0.7) ? chance.pick(troubles) : undefined;
  const start = trouble === undefined
    ? chance.between(0, horizonMs)
    : Math.max(0, chance.pick([trouble.from, trouble.to]) - chance.between(0, 5 * second));
  const lengthMs = chance.pick([0, second, 20 * second, 3 * minute]);
  return Array.from({ length: chance.whole(5, 40) }, () => start + chance.between(0, lengthMs));
}

function arrival(at: number, id: number, pool: string, chance: Chance): Arrival {
  const maxTokens = chance.happens(0.7) ? chance.whole(16, 600) : undefined;
  const written = Math.ceil(chance.skewed(60, 1));
  return {
    at,
    id,
    pool,
    stream: chance.happens(0.4),
    ...(chance.happens(0.4) ? { session: `session${chance.whole(0, 7)}` } : {}),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    letters: chance.whole(5, 2000),
    written: Math.min(written, maxTokens ?? 2000),
    timeoutMs: chance.pick([3 * second, 20 * second, 60 * second, 5 * minute, 10 * minute]),
    ...(chance.happens(0.08) ? { leavesAfterMs: Math.round(chance.skewed(800, 1.5)) } : {}),
    isFaulty: chance.happens(0.03),
  };
}
