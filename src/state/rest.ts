/**
 * One reason-to-rest holder and its two states, active and standby. There is one for a model in a pool, one for a
 * model wherever it is used, and one for a provider, and holds beside them; a model may be asked when none of its rests
 * is under way.
 * @module
 */
import type { StandbyReason } from "../contracts/rotation.ts";

/** Longest rest a provider can ask for, ms. */
export const longestHintMs: number = 24 * 60 * 60 * 1000;

/** The cooldown never grows beyond this unless it was configured longer, ms. */
export const longestCooldownMs: number = 10 * 60 * 1000;

/** No rest that ends by itself lasts longer, whatever a provider says of its quota: a month, ms. */
export const longestRestMs: number = 31 * 24 * 60 * 60 * 1000;

/** Whose rest it is; a pool's, a model's or a provider's. */
export interface RestOwner {
  /** The pool; undefined when it holds in all of them. */
  readonly pool?: string;
  /** The model; undefined for a whole provider. */
  readonly model?: string;
  /** The provider's entry id. */
  readonly provider: string;
}

/** A change of state, on its way to becoming an event. */
export interface Transition {
  /** Whose state changed. */
  readonly owner: RestOwner;
  /** The new state. */
  readonly to: "active" | "standby";
  /** Why. */
  readonly reason: StandbyReason;
  /** How long the rest will last, ms; undefined: until somebody ends it. */
  readonly restMs?: number;
  /** What else is to be told. */
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Why and until when something rests. Monotonic ms. */
export interface Standby {
  readonly reason: StandbyReason;
  readonly since: number;
  readonly until: number;
}

/** All that a rest remembers. */
export interface RestFacts {
  /** Why it rests; undefined when it is active. */
  readonly standby?: Standby;
  /** Back from a rest and not yet proven. */
  readonly onTrial: boolean;
  /** Failed trials since the last success. */
  readonly relapses: number;
}

/** More of them would not make a rest longer. */
const mostRelapses = 32;

/** Active or in standby; back from a rest it is on trial until a request succeeds. */
export class Rest {
  /** Whose it is. */
  readonly owner: RestOwner;
  #standby: Standby | undefined;
  #onTrial = false;
  #relapses = 0;
  #count = 0;
  /** Requests begun on the present trial and not yet over. */
  trials: Set<object> = new Set();

  /** @param owner Whose it is. */
  constructor(owner: RestOwner) {
    this.owner = owner;
  }

  /** Why it rests; undefined when it is active. */
  get standby(): Standby | undefined {
    return this.#standby;
  }

  /** Back from a rest and not yet proven. */
  get onTrial(): boolean {
    return this.#onTrial;
  }

  /** How often it has begun. */
  get count(): number {
    return this.#count;
  }

  /** Failed trials since the last success: each one doubles the next cooldown. */
  get relapses(): number {
    return this.#relapses;
  }

  /** Becomes what it was once; trials under way are none of its any more. */
  restore({ standby, onTrial, relapses }: RestFacts): void {
    if (standby !== undefined && this.#standby === undefined) this.#count++;
    this.#standby = standby;
    this.#onTrial = onTrial && standby === undefined;
    this.#relapses = Math.min(relapses, mostRelapses);
    this.trials = new Set();
  }

  /**
   * Sets it aside. A later end extends a rest that is under way, an earlier one never shortens it.
   *
   * @returns The transition, if it was active or the reason changed with the extension.
   */
  begin(reason: StandbyReason, now: number, wantedMs: number): Transition | undefined {
    const restMs = wantedMs < Infinity ? Math.min(wantedMs, longestRestMs) : wantedMs;
    const until = now + restMs;
    const current = this.#standby;
    if (current !== undefined && current.until >= until) return undefined;
    if (current === undefined) this.#count++;
    this.#standby = { reason, since: current?.since ?? now, until };
    this.#onTrial = false;
    this.trials = new Set();
    if (current?.reason === reason) return undefined;
    return { owner: this.owner, to: "standby", reason, ...(restMs < Infinity ? { restMs } : {}) };
  }

  /** Sets it aside for the cooldown, doubled for every failed trial since the last success. */
  beginCooldown(reason: StandbyReason, now: number, cooldownMs: number): Transition | undefined {
    const longest = Math.max(longestCooldownMs, cooldownMs);
    const restMs = Math.min(cooldownMs * 2 ** this.#relapses, longest);
    this.#relapses = Math.min(this.#relapses + 1, mostRelapses);
    return this.begin(reason, now, restMs);
  }

  /** Changes the end of a standby under way; Infinity: it does not end by itself. */
  endAt(wanted: number, now: number): void {
    const until = wanted < Infinity ? Math.min(Math.max(now, wanted), now + longestRestMs) : wanted;
    if (this.#standby !== undefined) this.#standby = { ...this.#standby, until };
  }

  /** Takes it back on trial when its rest is over. */
  settle(now: number): Transition | undefined {
    return (this.#standby?.until ?? Infinity) > now ? undefined : this.lift(undefined, true);
  }

  /**
   * Ends a rest before its time.
   *
   * @param reason Why it ends, for the event; why it began unless said.
   * @param onTrial Whether it has yet to prove itself.
   * @returns The transition, if it was under way.
   */
  lift(reason?: StandbyReason, onTrial = false): Transition | undefined {
    const over = this.#standby;
    if (over === undefined) return undefined;
    this.#standby = undefined;
    this.#onTrial = onTrial;
    if (!onTrial) this.#relapses = 0;
    this.trials = new Set();
    return { owner: this.owner, to: "active", reason: reason ?? over.reason };
  }

  /** A request succeeded: the trial is passed. A late success of a request begun before the rest changes nothing. */
  prove(): void {
    if (this.#standby !== undefined) return;
    this.#onTrial = false;
    this.#relapses = 0;
  }

  /** Ends the trial without a verdict: something else is known to be wrong. */
  endTrial(): void {
    this.#onTrial = false;
  }
}
