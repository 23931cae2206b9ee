/**
 * Session stickiness: one session, one model.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { ModelView, SelectionContext, SelectionOutcome, SelectionStrategy } from "../../src/contracts/rotation.ts";
import { fractionOf, hash53, mix32 } from "../../src/util/hash.ts";
import { weightOf } from "./_headroom.ts";
import { type Note, Notes } from "./_notes.ts";
import { fittest, type Merit } from "./_fittest.ts";
import { abovePriority } from "./_priority.ts";
import { stickUntilFailure } from "./stick_until_failure.ts";

/** How long a session stays where a failover took it, ms. */
const stayMs = 1_800_000;
/** As many sessions are remembered to have moved; beyond that the one that moved first goes home early. */
const maxMoved = 10_000;

/**
 * Rendezvous hashing: a session's home is the model for which the hash of both is highest, so every process agrees
 * without a word, and when one of n models leaves only its own sessions move, spread over all others (Thaler and
 * Ravishankar, "Using name-based mappings to increase hit rates", IEEE/ACM Transactions on Networking 6, 1998). With
 * weights the highest u^(1/w) wins, u being the hash as a fraction, so that homes are shared out in proportion to
 * weight (Resch, "New hashing algorithms for data storage", SNIA 2015, in the form -w/ln u).
 *
 * A session that is served elsewhere since its home is missing stays there for 30 minutes, or until that fails too;
 * one whose request chose among the models itself does not.
 * Requests without a session are chosen for as by stick-until-failure.
 */
export const sessionStickiness: Connector<"strategy"> = {
  id: "mesh.session-stickiness.v1",
  kind: "strategy",
  create: (settings, runtime) => new SessionStickiness(stickUntilFailure.create(settings, runtime)),
};

/** What is remembered of a model, so that one that is missing is missed. */
interface Home extends Note {
  readonly hash: number;
  weight: number;
}

/** Where a session is staying. */
interface Stay {
  readonly model: string;
  /** Until when, monotonic ms. */
  readonly until: number;
}

class SessionStickiness implements SelectionStrategy {
  readonly #others: SelectionStrategy;
  readonly #homes = new Notes<Home>((name) => ({ name, hash: hash53(name), weight: 0 }));
  /** By the session's hash: names may be long, and are private. In the order of the moves. */
  readonly #stays = new Map<number, Stay>();
  #row: readonly Home[] = [];
  #session = 0;
  readonly #merit: Merit = (candidate, _, place) => {
    const home = this.#row[place]!;
    home.weight = weightOf(candidate);
    return nearness(this.#session, home.hash, home.weight);
  };

  constructor(others: SelectionStrategy) {
    this.#others = others;
  }

  select(candidates: readonly ModelView[], context: SelectionContext): ModelView | undefined {
    if (!context.session) return this.#others.select(candidates, context);
    const session = hash53(context.session);
    const stay = this.#stayOf(session, context);
    const host = stay && candidates.find(({ name }) => name === stay.model);
    if (host !== undefined) return host;
    this.#row = this.#homes.on(candidates);
    this.#session = session;
    const chosen = fittest(candidates, context, this.#merit);
    if (context.isConstrained) return chosen;
    this.#stays.delete(session);
    if (chosen !== undefined && this.#homes.size > candidates.length && this.#isAway(chosen)) {
      this.#remember(session, chosen, context);
    }
    return chosen;
  }

  score(candidate: ModelView, context: SelectionContext): number {
    if (!context.session) return this.#others.score(candidate, context);
    const session = hash53(context.session);
    if (this.#stayOf(session, context)?.model === candidate.name) return abovePriority;
    return Math.exp(nearness(session, hash53(candidate.name), weightOf(candidate)));
  }

  observe(outcome: SelectionOutcome): void {
    this.#others.observe?.(outcome);
  }

  #stayOf(session: number, { now }: SelectionContext): Stay | undefined {
    const stay = this.#stays.get(session);
    return stay !== undefined && now < stay.until ? stay : undefined;
  }

  /** Whether the session's home is a model that is missing now. */
  #isAway({ name }: ModelView): boolean {
    const { hash, weight } = this.#homes.of(name)!;
    const nearest = nearness(this.#session, hash, weight);
    for (const home of this.#homes.all()) {
      if (nearness(this.#session, home.hash, home.weight) > nearest) return true; // and so it is no candidate
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

/** How near a model is to a session: the logarithm of u^(1/w), 0 at most; -∞ without a weight. */
function nearness(session: number, model: number, weight: number): number {
  return weight > 0 ? Math.log(fractionOf(mix32(session, model))) / weight : -Infinity;
}
