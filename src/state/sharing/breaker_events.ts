/**
 * Replicates breakers between processes by messages.
 * @module
 */
import type { StandbyReason } from "../../contracts/rotation.ts";
import type { Clock } from "../../contracts/runtime.ts";
import type { MeshState } from "../model/mesh_state.ts";
import { type CircuitBreaker, recordKey } from "../breaker/circuit_breaker.ts";
import { type MeshSnapshot, readBreaker, type SavedBreaker, writeBreaker } from "../persistence/snapshot.ts";
import { readSnapshot } from "../persistence/snapshot_codec.ts";

/** Tolerance for two ends of the same standby (two clocks, rounding), ms. */
const toleranceMs = 250;

/** Rounding error of times in messages, which are integers, ms. */
const roundingMs = 10;

/** A message: open breakers, closed breakers, and whether receivers publish theirs. */
interface Message extends MeshSnapshot {
  /** Id of the publishing process. */
  readonly from: string;
  /** Breakers that were closed early. */
  readonly closed: readonly SavedBreaker[];
  /** Whether all processes must publish their open breakers. */
  readonly requests_all: boolean;
}

/**
 * Publishes and receives breaker changes of one process. Of two ends of a standby, the later one is kept, unless the
 * breaker was closed since.
 */
export class BreakerEvents {
  readonly #state: MeshState;
  readonly #clock: Clock;
  readonly #id: string;
  /** Open breakers as published, by key: the end of the standby, and whether another process may have missed it. */
  readonly #published = new Map<string, {
    readonly breaker: CircuitBreaker;
    /** Monotonic ms. */
    readonly until: number;
    readonly isStale?: boolean;
  }>();
  /** When breakers were closed early, monotonic ms, by key. Standbys that began earlier have ended. */
  readonly #closedAt = new Map<string, number>();

  constructor(state: MeshState, clock: Clock, id: string) {
    this.#state = state;
    this.#clock = clock;
    this.#id = id;
  }

  /** Marks everything to be published again. */
  markStale(): void {
    for (const [key, published] of this.#published) this.#published.set(key, { ...published, isStale: true });
  }

  /** Returns the message that requests the open breakers of other processes. */
  request(): string {
    return this.#message([], [], true);
  }

  /** Returns the changes since the last message, and what marks them as published; undefined when there are none. */
  pending(): { readonly message: string; done(): void } | undefined {
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
   * Applies a message of another process. Other messages are ignored.
   *
   * @returns Whether the sender requests a reply.
   */
  receive(text: string): boolean {
    const message = readMessage(text);
    if (message === undefined || message.from === this.#id) return false;
    const byKey = new Map(this.#all.map((breaker) => [breaker.key, breaker]));
    for (const saved of message.breakers) this.#merge(saved, message.saved_at, byKey);
    for (const saved of message.closed) {
      this.#published.delete(recordKey(saved));
      this.#closedAt.set(recordKey(saved), this.#clock.monotonic());
      this.#state.report(byKey.get(recordKey(saved))?.close(undefined, saved.half_open === true));
    }
    if (message.requests_all) this.markStale();
    return message.requests_all;
  }

  get #all(): readonly CircuitBreaker[] {
    return [...this.#state.breakers, ...this.#state.mapper?.pending ?? []];
  }

  #message(begun: readonly CircuitBreaker[], closed: readonly CircuitBreaker[], requestsAll: boolean): string {
    const now = { wallTimeMs: this.#clock.now(), monotonicMs: this.#clock.monotonic() };
    const message: Message = {
      version: 1,
      from: this.#id,
      saved_at: now.wallTimeMs,
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
    return this.#state.members.some(({ state }) => state.breakers.all.includes(breaker) && state.hasBudget(reason));
  }

  /** Merges a breaker. Times are relative to the time of the message, since clocks of machines differ. */
  #merge(saved: SavedBreaker, sentAt: number, byKey: ReadonlyMap<string, CircuitBreaker>): void {
    const now = this.#clock.monotonic();
    const times = { wallTimeMs: sentAt, monotonicMs: now, clock: this.#clock };
    const { standby, consecutiveTrips } = readBreaker(saved, sentAt, times);
    const breaker = this.#findBreaker(saved, byKey);
    const endedAt = this.#closedAt.get(recordKey(saved)) ?? -Infinity;
    // each process counts the shared total against its own limits
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

  /** Returns the breaker of a message. Creates overrides; ignores breakers of owners that are not configured here. */
  #findBreaker(saved: SavedBreaker, byKey: ReadonlyMap<string, CircuitBreaker>): CircuitBreaker | undefined {
    const { provider, cause } = saved;
    const breaker = byKey.get(recordKey(saved));
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
    return undefined; // of another release, or not a message
  }
}
