/**
 * Rests that several processes have in common, as messages between them.
 * @module
 */
import type { StandbyReason } from "../contracts/rotation.ts";
import type { Clock } from "../contracts/runtime.ts";
import { overridesOf } from "../state/holds.ts";
import { MeteredState } from "../state/metered_state.ts";
import type { MeshState } from "../state/mesh_state.ts";
import type { CircuitBreaker } from "../state/rest.ts";
import {
  keyOf,
  type MeshSnapshot,
  namesOf,
  readRest,
  readSnapshot,
  type SavedRest,
  writeRest,
} from "../state/snapshot.ts";

/** Ends of a rest that are no further apart are the same, ms: clocks and rounding. */
const sameMs = 250;

/** Times in messages are whole ms. */
const roundingMs = 10;

/** What is said: rests as they are, rests that somebody has ended, and whether others shall tell theirs. */
interface Message extends MeshSnapshot {
  /** Who says it. */
  readonly from: string;
  /** Ended before their time. */
  readonly lifted: readonly SavedRest[];
  /** Everybody is to tell what rests. */
  readonly asks: boolean;
}

/** What was told of a rest. */
interface Told {
  readonly rest: CircuitBreaker;
  /** Its end, monotonic ms. */
  readonly until: number;
  /** Somebody may have missed it. */
  readonly isStale?: boolean;
}

/** Something to be told. */
export interface News {
  readonly message: string;
  /** It was told. */
  done(): void;
}

/** One process's side of the talk. Rests are merged as the later end; the earlier one of a rest somebody ended holds. */
export class SharedRests {
  readonly #state: MeshState;
  readonly #clock: Clock;
  readonly #id: string;
  /** What was told of rests under way, by rest. */
  readonly #told = new Map<string, Told>();
  /** When rests were ended before their time, monotonic ms, by rest: what began earlier is old news. */
  readonly #ended = new Map<string, number>();

  /**
   * @param state The mesh's.
   * @param clock For ends of rests.
   * @param id Tells this process from the others.
   */
  constructor(state: MeshState, clock: Clock, id: string) {
    this.#state = state;
    this.#clock = clock;
    this.#id = id;
  }

  /** Everything is to be told anew. */
  forget(): void {
    for (const [key, told] of this.#told) this.#told.set(key, { ...told, isStale: true });
  }

  /** What others are asked with for what they know. */
  question(): string {
    return this.#message([], [], true);
  }

  /** What has changed since it was told last; undefined when nothing has. */
  news(): News | undefined {
    const now = this.#clock.monotonic();
    const begun = this.#all.filter((rest) => {
      const until = rest.standby?.until ?? 0;
      const told = this.#told.get(keyOf(namesOf(rest)));
      return until > now && (told === undefined || told.isStale || until > told.until + sameMs);
    });
    const over = [...this.#told].filter(([, { rest, until }]) => rest.standby === undefined || until <= now);
    const lifted = over.filter(([, { until }]) => until > now + sameMs);
    for (const [key] of lifted) this.#ended.set(key, now);
    const ends = begun.map((rest) => [keyOf(namesOf(rest)), { rest, until: rest.standby!.until }] as const);
    const done = () => {
      for (const [key] of over) this.#told.delete(key);
      for (const [key, told] of ends) this.#told.set(key, told);
    };
    if (begun.length > 0 || lifted.length > 0) {
      return { message: this.#message(begun, lifted.map(([, { rest }]) => rest), false), done };
    }
    done();
    return undefined;
  }

  /**
   * Takes in what another process said; what is no such message is passed over.
   *
   * @param text The message.
   * @returns Whether there is an answer to give.
   */
  hear(text: string): boolean {
    const message = readMessage(text);
    if (message === undefined || message.from === this.#id) return false;
    const known = new Map(this.#all.map((rest) => [keyOf(namesOf(rest)), rest]));
    for (const saved of message.rests) this.#merge(saved, message.saved_at, known);
    for (const saved of message.lifted) {
      this.#told.delete(keyOf(saved));
      this.#ended.set(keyOf(saved), this.#clock.monotonic());
      this.#state.report(known.get(keyOf(saved))?.close(undefined, saved.on_trial === true));
    }
    if (message.asks) this.forget();
    return message.asks;
  }

  get #all(): readonly CircuitBreaker[] {
    return [...this.#state.breakers, ...this.#state.archive?.pending ?? []];
  }

  #message(begun: readonly CircuitBreaker[], lifted: readonly CircuitBreaker[], asks: boolean): string {
    const now = { wall: this.#clock.now(), monotonic: this.#clock.monotonic() };
    const message: Message = {
      version: 1,
      from: this.#id,
      saved_at: now.wall,
      rests: begun.flatMap((rest) => writeRest(rest, now) ?? []),
      failures: [],
      lifted: lifted.map((rest) => ({ ...namesOf(rest), ...(rest.isHalfOpen ? { on_trial: true as const } : {}) })),
      asks,
    };
    return JSON.stringify(message);
  }

  #hasMoney(rest: CircuitBreaker, reason: StandbyReason, now: number): boolean {
    return this.#state.members.some(({ state }) =>
      state instanceof MeteredState && state.breakers.includes(rest) && state.hasMoney(reason, now)
    );
  }

  /** Times count from when it was said: clocks of two machines differ. */
  #merge(saved: SavedRest, saidAt: number, known: ReadonlyMap<string, CircuitBreaker>): void {
    const now = this.#clock.monotonic();
    const { standby, consecutiveTrips } = readRest(saved, saidAt, { wall: saidAt, monotonic: now });
    const rest = this.#restOf(saved, known);
    const endedAt = this.#ended.get(keyOf(saved)) ?? -Infinity;
    // what is spent together everybody counts, against limits of its own
    if (standby !== undefined && rest !== undefined && this.#hasMoney(rest, standby.reason, now)) return;
    if (standby === undefined || rest === undefined || standby.since + roundingMs < endedAt) return;
    this.#told.set(keyOf(saved), { rest, until: standby.until });
    const before = rest.standby;
    if (standby.until <= Math.max(now, (before?.until ?? 0) + sameMs)) return;
    rest.restore({ standby, isHalfOpen: false, consecutiveTrips: Math.max(consecutiveTrips, rest.consecutiveTrips) });
    if (before?.reason === standby.reason) return;
    const standbyMs = standby.until - now;
    this.#state.report({
      owner: rest.owner,
      to: "standby",
      reason: standby.reason,
      ...(standbyMs < Infinity ? { standbyMs } : {}),
      metadata: { shared: true },
    });
  }

  /** A hold comes into being with what it holds; a rest of what this process does not have is none of its business. */
  #restOf(saved: SavedRest, known: ReadonlyMap<string, CircuitBreaker>): CircuitBreaker | undefined {
    const { pool, model, provider, cause } = saved;
    const rest = known.get(keyOf(saved));
    const isOurs = this.#state.breakers.some(({ owner }) => owner.provider === provider);
    if (rest !== undefined || cause === undefined || !isOurs) return rest;
    const owner = { provider, ...(pool === undefined ? {} : { pool }), ...(model === undefined ? {} : { model }) };
    return overridesOf(this.#state).get(owner, cause);
  }
}

function readMessage(text: string): Message | undefined {
  try {
    const message = JSON.parse(text) as Message;
    const { snapshot } = readSnapshot(message);
    const { snapshot: { rests: lifted } } = readSnapshot({ ...message, rests: message.lifted });
    return { ...snapshot, from: message.from, lifted, asks: message.asks === true };
  } catch {
    return undefined; // of another release, or of somebody else
  }
}
