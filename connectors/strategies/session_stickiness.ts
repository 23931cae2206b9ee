/**
 * Session stickiness: all requests of a session go to the same model.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { ModelView, SelectionContext, SelectionOutcome, SelectionStrategy } from "../../src/contracts/rotation.ts";
import { hash53, mix32, toFraction } from "../../src/util/hash.ts";
import { getWeight } from "./_headroom.ts";
import { type ModelRecord, ModelRecords } from "./_model_records.ts";
import { highestMerit, type Merit } from "./_highest_merit.ts";
import { abovePriority } from "./_priority.ts";
import { stickUntilFailure } from "./stick_until_failure.ts";

/** How long a session stays with a model after a failover, ms. */
const stayMs = 1_800_000;
/** Maximum number of moved sessions to track; beyond it, the earliest moved one returns early. */
const maxMoved = 10_000;

/**
 * Rendezvous hashing: a session is assigned to the model with the highest hash of session and model, its target. All processes agree
 * without communication, and when one of n models is removed, only its own sessions move, spread over all others
 * (Thaler and Ravishankar, "Using name-based mappings to increase hit rates", IEEE/ACM Transactions on Networking 6,
 * 1998). With weights, the highest u^(1/w) wins, where u is the hash as a fraction, so that sessions are distributed in
 * proportion to weight (Resch, "New hashing algorithms for data storage", SNIA 2015, in the form -w/ln u).
 *
 * A session that is served by another model because its target is unavailable stays there for 30 minutes, or until that
 * model fails; requests with routing constraints do not move their session. Requests without a session are handled as
 * by stick-until-failure.
 */
export const sessionStickiness: Connector<"strategy"> = {
  id: "mesh.session-stickiness.v1",
  kind: "strategy",
  create: (settings, runtime) => new SessionStickiness(stickUntilFailure.create(settings, runtime)),
};

/** State of a model, kept to detect that it is unavailable. */
interface SessionTarget extends ModelRecord {
  readonly hash: number;
  weight: number;
}

/** The model to which a session has moved. */
interface Stay {
  readonly model: string;
  /** Expiry time, monotonic ms. */
  readonly until: number;
}

class SessionStickiness implements SelectionStrategy {
  readonly #others: SelectionStrategy;
  readonly #targets = new ModelRecords<SessionTarget>((name) => ({ name, hash: hash53(name), weight: 0 }));
  /** Keyed by session hash, since session ids may be long and are private. In order of the moves. */
  readonly #stays = new Map<number, Stay>();
  #row: readonly SessionTarget[] = [];
  #session = 0;
  readonly #merit: Merit = (candidate, _, index) => {
    const target = this.#row[index]!;
    target.weight = getWeight(candidate);
    return nearness(this.#session, target.hash, target.weight);
  };

  constructor(others: SelectionStrategy) {
    this.#others = others;
  }

  select(candidates: readonly ModelView[], context: SelectionContext): ModelView | undefined {
    if (!context.session) return this.#others.select(candidates, context);
    const session = hash53(context.session);
    const stay = this.#findStay(session, context);
    const host = stay && candidates.find(({ name }) => name === stay.model);
    if (host !== undefined) return host;
    this.#row = this.#targets.getRecords(candidates);
    this.#session = session;
    const chosen = highestMerit(candidates, context, this.#merit);
    if (context.isConstrained) return chosen;
    this.#stays.delete(session);
    if (chosen !== undefined && this.#targets.size > candidates.length && this.#isPreferredUnavailable(chosen)) {
      this.#remember(session, chosen, context);
    }
    return chosen;
  }

  score(candidate: ModelView, context: SelectionContext): number {
    if (!context.session) return this.#others.score(candidate, context);
    const session = hash53(context.session);
    if (this.#findStay(session, context)?.model === candidate.name) return abovePriority;
    return Math.exp(nearness(session, hash53(candidate.name), getWeight(candidate)));
  }

  observe(outcome: SelectionOutcome): void {
    this.#others.observe?.(outcome);
  }

  #findStay(session: number, { now }: SelectionContext): Stay | undefined {
    const stay = this.#stays.get(session);
    return stay !== undefined && now < stay.until ? stay : undefined;
  }

  /** Whether the session's home is currently unavailable. */
  #isPreferredUnavailable({ name }: ModelView): boolean {
    const { hash, weight } = this.#targets.of(name)!;
    const nearest = nearness(this.#session, hash, weight);
    for (const target of this.#targets.all()) {
      if (nearness(this.#session, target.hash, target.weight) > nearest) return true; // and so is not a candidate
    }
    return false;
  }

  #remember(session: number, { name }: ModelView, { now }: SelectionContext): void {
    this.#stays.set(session, { model: name, until: now + stayMs });
    if (this.#stays.size <= maxMoved) return;
    for (const oldest of this.#stays.keys()) {
      this.#stays.delete(oldest);
      return;
    }
  }
}

/** Affinity of a session and a model: the logarithm of u^(1/w), at most 0; -∞ without a weight. */
function nearness(session: number, model: number, weight: number): number {
  return weight > 0 ? Math.log(toFraction(mix32(session, model))) / weight : -Infinity;
}
