/**
 * Breakers that several processes have in common, as messages between them.
 * @module
 */
import type { StandbyReason } from "../../contracts/rotation.ts";
import type { Clock } from "../../contracts/runtime.ts";
import type { MeshState } from "../mesh_state.ts";
import { type CircuitBreaker, recordKey } from "../breaker/circuit_breaker.ts";
import { type MeshSnapshot, readBreaker, type SavedBreaker, writeBreaker } from "../persistence/snapshot.ts";
import { readSnapshot } from "../persistence/snapshot_codec.ts";

/** Ends of a standby that are no further apart are the same, ms: clocks and rounding. */
const toleranceMs = 250;

/** Times in messages are whole ms. */
const roundingMs = 10;

/** A message: breakers that are open, breakers that were closed, and whether others have to publish theirs. */
interface Message extends MeshSnapshot {
  /** The process that published it. */
  readonly from: string;
  /** Closed before their time. */
  readonly closed: readonly SavedBreaker[];
  /** All processes have to publish what is open. */
  readonly requests_all: boolean;
}

/** What was published of a breaker. */
interface Published {
  readonly breaker: CircuitBreaker;
  /** Its end, monotonic ms. */
  readonly until: number;
  /** Another process may have missed it. */
  readonly isStale?: boolean;
}

/** Something to be published. */
interface PendingMessage {
  readonly message: string;
  /** It was published. */
  done(): void;
}

/** One process's side. Of two ends the later one holds, unless the breaker was closed since. */
export class BreakerEvents {
  readonly #state: MeshState;
  readonly #clock: Clock;
  readonly #id: string;
  /** What was published of open breakers, by name. */
  readonly #published = new Map<string, Published>();
  /** When breakers were closed before their time, monotonic ms, by name: standbys that began earlier are over. */
  readonly #closedAt = new Map<string, number>();

  constructor(state: MeshState, clock: Clock, id: string) {
    this.#state = state;
    this.#clock = clock;
    this.#id = id;
  }

  /** Everything has to be published anew. */
  markStale(): void {
    for (const [key, published] of this.#published) this.#published.set(key, { ...published, isStale: true });
  }

  /** What others are asked with for what they know. */
  request(): string {
    return this.#message([], [], true);
  }

  /** What has changed since the last message; undefined when nothing has. */
  pending(): PendingMessage | undefined {
    const now = this.#clock.monotonic();
    const begun = this.#all.filter((breaker) => {
      const until = breaker.standby?.until ?? 0;
      const published = this.#published.get(breaker.key);
      return until > now && (published === undefined || published.isStale || until > published.until + toleranceMs);
    });
    const over = [...this.#published].filter(([, { breaker, until }]) => breaker.standby === undefined || until <= now);
    const closed = over.filter(([, { until }]) => until > now + toleranceMs);
    for (const [key] of closed) this.#closedAt.set(key, now);
    const ends = begun.map((breaker) => [breaker.key, { breaker, until: breaker.standby!.until }] as const);
    const done = () => {
      for (const [key] of over) this.#published.delete(key);
      for (const [key, published] of ends) this.#published.set(key, published);
    };
    if (begun.length > 0 || closed.length > 0) {
      return { message: this.#message(begun, closed.map(([, { breaker }]) => breaker), false), done };
    }
    done();
    return undefined;
  }

  /**
   * Applies what another process published; what is no such message is ignored.
   *
   * @returns Whether there is an answer to give.
   */
  receive(text: string): boolean {
    const message = readMessage(text);
    if (message === undefined || message.from === this.#id) return false;
    const known = new Map(this.#all.map((breaker) => [breaker.key, breaker]));
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
      breakers: begun.flatMap((breaker) => writeBreaker(breaker, now) ?? []),
      failures: [],
      closed: closed.map((breaker) => ({
        ...breaker.names,
        ...(breaker.isHalfOpen ? { half_open: true as const } : {}),
      })),
      requests_all: requestsAll,
    };
    return JSON.stringify(message);
  }

  #hasBudget(breaker: CircuitBreaker, reason: StandbyReason): boolean {
    return this.#state.members.some(({ state }) => state.breakers.includes(breaker) && state.hasBudget(reason));
  }

  /** Times count from when it was said: clocks of two machines differ. */
  #merge(saved: SavedBreaker, saidAt: number, known: ReadonlyMap<string, CircuitBreaker>): void {
    const now = this.#clock.monotonic();
    const { standby, consecutiveTrips } = readBreaker(saved, saidAt, { wall: saidAt, monotonic: now });
    const breaker = this.#breakerOf(saved, known);
    const endedAt = this.#closedAt.get(recordKey(saved)) ?? -Infinity;
    // each process counts what all spend, against its own limits
    if (standby !== undefined && breaker !== undefined && this.#hasBudget(breaker, standby.reason)) return;
    if (standby === undefined || breaker === undefined || standby.since + roundingMs < endedAt) return;
    this.#published.set(recordKey(saved), { breaker, until: standby.until });
    const before = breaker.standby;
    if (standby.until <= Math.max(now, (before?.until ?? 0) + toleranceMs)) return;
    breaker.restore({
      standby,
      isHalfOpen: false,
      consecutiveTrips: Math.max(consecutiveTrips, breaker.consecutiveTrips),
    });
    if (before?.reason === standby.reason) return;
    const standbyMs = standby.until - now;
    this.#state.report({
      owner: breaker.owner,
      to: "standby",
      reason: standby.reason,
      ...(standbyMs < Infinity ? { standbyMs } : {}),
      metadata: { shared: true },
    });
  }

  /** An override is made when it is received; breakers of what is not configured here are ignored. */
  #breakerOf(saved: SavedBreaker, known: ReadonlyMap<string, CircuitBreaker>): CircuitBreaker | undefined {
    const { provider, cause } = saved;
    const breaker = known.get(recordKey(saved));
    const isOurs = this.#state.breakers.some(({ owner }) => owner.provider === provider);
    if (breaker !== undefined || cause === undefined || !isOurs) return breaker;
    return this.#state.overrides.get(saved, cause);
  }
}

function readMessage(text: string): Message | undefined {
  try {
    const message = JSON.parse(text) as Message;
    const { snapshot } = readSnapshot(message);
    const { snapshot: { breakers: closed } } = readSnapshot({ ...message, breakers: message.closed });
    return { ...snapshot, from: message.from, closed, requests_all: message.requests_all === true };
  } catch {
    return undefined; // of another release, or no message at all
  }
}
