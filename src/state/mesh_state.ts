/**
 * The owner of all that has happened: every model's state, every rest, every provider's retry budget.
 * @module
 */
import type { RetryBudgetSettings, RoutingSettings } from "../config/settings.ts";
import { consecutiveFailures } from "../rotation/deactivation.ts";
import { ModelState } from "./model_state.ts";
import { Rest, type Transition } from "./rest.ts";
import { RetryBudget } from "./retry_budget.ts";

/** What makes a model in a pool. */
export interface ModelStateRequest {
  readonly pool: string;
  readonly name: string;
  readonly provider: string;
  readonly weight: number;
  readonly routing: RoutingSettings;
}

/** A model's state and the pool it belongs to. */
export interface MemberState {
  readonly pool: string;
  readonly state: ModelState;
}

/** Knows what was before this process, and gives it to whatever comes into being. */
export interface Archive {
  /** Rests of what has not come into being. */
  readonly waiting: Iterable<Rest>;
  rest(rest: Rest): void;
  member(member: MemberState): void;
}

/** All states of one mesh. Every map is bounded by what is configured. */
export class MeshState {
  readonly #models = new Map<string, Rest>();
  readonly #providers = new Map<string, Rest>();
  readonly #budgets = new Map<string, RetryBudget>();
  /** Every rest there is. */
  readonly rests: Rest[] = [];
  /** Every model in every pool. */
  readonly members: MemberState[] = [];
  /** Asked for everything that comes into being from now on. */
  archive?: Archive;
  readonly #onTransition: (transition: Transition) => void;

  /** @param onTransition Told every change between active and standby. */
  constructor(onTransition: (transition: Transition) => void) {
    this.#onTransition = onTransition;
  }

  /** The state of a model in a pool, active at first sight. */
  add({ pool, name, provider, weight, routing }: ModelStateRequest): ModelState {
    const state = new ModelState({
      name,
      provider,
      weight,
      own: this.#rest({ pool, model: name, provider }),
      model: this.#shared(this.#models, name, () => this.#rest({ model: name, provider })),
      providerRest: this.#shared(this.#providers, provider, () => this.#rest({ provider })),
      cooldownMs: routing.recovery.cooldownMs,
      policy: consecutiveFailures(routing.deactivation),
      onTransition: this.#onTransition,
    });
    this.members.push({ pool, state });
    this.archive?.member({ pool, state });
    return state;
  }

  /** The same-model retries that a provider's traffic allows. */
  retryBudget(provider: string, settings: RetryBudgetSettings): RetryBudget {
    return this.#shared(this.#budgets, provider, () => new RetryBudget(settings));
  }

  /** When the soonest rest ends, monotonic ms; undefined when none does by itself. */
  nextRecovery(): number | undefined {
    let soonest: number | undefined;
    for (const { standby } of [...this.rests, ...this.archive?.waiting ?? []]) {
      if (standby === undefined || standby.until === Infinity) continue;
      if (soonest === undefined || standby.until < soonest) soonest = standby.until;
    }
    return soonest;
  }

  /** Ends the rests that are over, so that recoveries are told in time and not at the next request. */
  settle(now: number): void {
    for (const rest of this.rests) {
      const ended = rest.settle(now);
      if (ended !== undefined) this.#onTransition(ended);
    }
  }

  #rest(owner: Rest["owner"]): Rest {
    const rest = new Rest(owner);
    this.rests.push(rest);
    this.archive?.rest(rest);
    return rest;
  }

  #shared<T>(map: Map<string, T>, key: string, make: () => T): T {
    const known = map.get(key);
    if (known !== undefined) return known;
    const made = make();
    map.set(key, made);
    return made;
  }
}
