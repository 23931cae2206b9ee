/**
 * Rests that several processes have in common, as messages between them.
 * @module
 */
import type { StandbyReason } from "../../contracts/rotation.ts";
import type { Clock } from "../../contracts/runtime.ts";
import { overridesOf } from "../breaker/manual_override.ts";
import type { MeshState } from "../mesh_state.ts";
import type { CircuitBreaker } from "../breaker/circuit_breaker.ts";
import {
  type MeshSnapshot,
  namesOf,
  readBreaker,
  recordKey,
  type SavedBreaker,
  writeBreaker,
} from "../persistence/snapshot.ts";
import { readSnapshot } from "../persistence/snapshot_codec.ts";

/** Ends of a rest that are no further apart are the same, ms: clocks and rounding. */
const toleranceMs = 250;

/** Times in messages are whole ms. */
const roundingMs = 10;

/** What is said: rests as they are, rests that somebody has ended, and whether others shall tell theirs. */
interface Message extends MeshSnapshot {
  /** Who says it. */
  readonly from: string;
  /** Ended before their time. */
  readonly closed: readonly SavedBreaker[];
  /** Everybody is to tell what rests. */
  readonly requests_all: boolean;
}

/** What was told of a rest. */
interface Published {
  readonly rest: CircuitBreaker;
  /** Its end, monotonic ms. */
  readonly until: number;
  /** Somebody may have missed it. */
  readonly isStale?: boolean;
}

/** Something to be told. */
export interface PendingMessage {
  readonly message: string;
  /** It was told. */
  done(): void;
}

/** One process's side of the talk. Rests are merged as the later end; the earlier one of a rest somebody ended holds. */
export class BreakerEvents {
  readonly #state: MeshState;
  readonly #clock: Clock;
  readonly #id: string;
  /** What was told of rests under way, by rest. */
  readonly #published = new Map<string, Published>();
  /** When rests were ended before their time, monotonic ms, by rest: what began earlier is old news. */
  readonly #closedAt = new Map<string, number>();

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
  markStale(): void {
    for (const [key, told] of this.#published) this.#published.set(key, { ...told, isStale: true });
  }

  /** What others are asked with for what they know. */
  request(): string {
    return this.#message([], [], true);
  }

  /** What has changed since it was told last; undefined when nothing has. */
  pending(): PendingMessage | undefined {
    const now = this.#clock.monotonic();
    const begun = this.#all.filter((rest) => {
      const until = rest.standby?.until ?? 0;
      const told = this.#published.get(recordKey(namesOf(rest)));
      return until > now && (told === undefined || told.isStale || until > told.until + toleranceMs);
    });
    const over = [...this.#published].filter(([, { rest, until }]) => rest.standby === undefined || until <= now);
    const closed = over.filter(([, { until }]) => until > now + toleranceMs);
    for (const [key] of closed) this.#closedAt.set(key, now);
    const ends = begun.map((rest) => [recordKey(namesOf(rest)), { rest, until: rest.standby!.until }] as const);
    const done = () => {
      for (const [key] of over) this.#published.delete(key);
      for (const [key, told] of ends) this.#published.set(key, told);
    };
    if (begun.length > 0 || closed.length > 0) {
      return { message: this.#message(begun, closed.map(([, { rest }]) => rest), false), done };
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
  receive(text: string): boolean {
    const message = readMessage(text);
    if (message === undefined || message.from === this.#id) return false;
    const known = new Map(this.#all.map((rest) => [recordKey(namesOf(rest)), rest]));
    for (const saved of message.breakers) this.#merge(saved, message.saved_at, known);
    for (const saved of message.closed) {
      this.#published.delete(recordKey(saved));
      this.#closedAt.set(recordKey(saved), this.#clock.monotonic());
      this.#state.report(known.get(recordKey(saved))?.close(undefined, saved.half_open === true));
    }
    if (message.requests_all) this.markStale();
    return message.requests_all;
  }

  get #all(): readonly CircuitBreaker[] {
    return [...this.#state.breakers, ...this.#state.mapper?.pending ?? []];
  }

  #message(begun: readonly CircuitBreaker[], closed: readonly CircuitBreaker[], requestsAll: boolean): string {
    const now = { wall: this.#clock.now(), monotonic: this.#clock.monotonic() };
    const message: Message = {
      version: 1,
      from: this.#id,
      saved_at: now.wall,
      breakers: begun.flatMap((rest) => writeBreaker(rest, now) ?? []),
      failures: [],
      closed: closed.map((rest) => ({ ...namesOf(rest), ...(rest.isHalfOpen ? { half_open: true as const } : {}) })),
      requests_all: requestsAll,
    };
    return JSON.stringify(message);
  }

  #hasBudget(rest: CircuitBreaker, reason: StandbyReason): boolean {
    return this.#state.members.some(({ state }) => state.breakers.includes(rest) && state.hasBudget(reason));
  }

  /** Times count from when it was said: clocks of two machines differ. */
  #merge(saved: SavedBreaker, saidAt: number, known: ReadonlyMap<string, CircuitBreaker>): void {
    const now = this.#clock.monotonic();
    const { standby, consecutiveTrips } = readBreaker(saved, saidAt, { wall: saidAt, monotonic: now });
    const rest = this.#breakerOf(saved, known);
    const endedAt = this.#closedAt.get(recordKey(saved)) ?? -Infinity;
    // what is spent together everybody counts, against limits of its own
    if (standby !== undefined && rest !== undefined && this.#hasBudget(rest, standby.reason)) return;
    if (standby === undefined || rest === undefined || standby.since + roundingMs < endedAt) return;
    this.#published.set(recordKey(saved), { rest, until: standby.until });
    const before = rest.standby;
    if (standby.until <= Math.max(now, (before?.until ?? 0) + toleranceMs)) return;
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
  #breakerOf(saved: SavedBreaker, known: ReadonlyMap<string, CircuitBreaker>): CircuitBreaker | undefined {
    const { pool, model, provider, cause } = saved;
    const rest = known.get(recordKey(saved));
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
    const { snapshot: { breakers: closed } } = readSnapshot({ ...message, breakers: message.closed });
    return { ...snapshot, from: message.from, closed, requests_all: message.requests_all === true };
  } catch {
    return undefined; // of another release, or of somebody else
  }
}
