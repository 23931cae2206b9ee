/**
 * The limits of end users, whose names clients choose: as many as there is room for.
 * @module
 */
import { sha256 } from "../../util/sha256.ts";
import { LimitedScope, type ScopeContext, type ScopeLimits } from "./limited_scope.ts";

/** Maximum number of end users of which a process keeps what they have used, except for those with requests in flight. */
const maxUsers = 10_000;

/** Interval between searches for users that have used nothing lately, ms. */
const sweepMs = 60_000;

/** Number of least recently used ones of which half make room: a search that serves many new ones. */
const searched = 1_000;

/** Maximum length of what identifies a user, characters; the rest is ignored. */
const maxUserChars = 1_024;

/** Number of hexadecimal digits of the hash: 128 bits. */
const hashDigits = 32;

/** The end users of one mesh. Those of two clients are different ones, whatever their names. */
export class UserScopes {
  readonly #limits: ScopeLimits;
  readonly #context: ScopeContext;
  /** By hash, the least recently used one first. */
  readonly #users = new Map<string, LimitedScope>();
  /** The same users under earlier settings. */
  readonly #before: ReadonlyMap<string, LimitedScope> | undefined;
  #sweptAt = -Infinity;

  constructor(limits: ScopeLimits, context: ScopeContext, before?: UserScopes) {
    this.#limits = limits;
    this.#context = context;
    this.#before = before && before.#users;
  }

  /** Number of users of which something is kept. */
  get size(): number {
    return this.#users.size;
  }

  /**
   * Returns the limits of an end user.
   *
   * @param client The identity of the client that names the user.
   * @param user The name.
   */
  get(client: string, user: string): LimitedScope {
    const key = sha256(JSON.stringify([client, user.slice(0, maxUserChars)])).slice(0, hashDigits);
    const existing = this.#users.get(key);
    this.#users.delete(key); // to be the last one
    if (existing === undefined) this.#makeRoom();
    const scope = existing ?? this.#create(key);
    this.#users.set(key, scope);
    return scope;
  }

  #create(key: string): LimitedScope {
    const scope = new LimitedScope({ kind: "user", key }, this.#context, this.#before?.get(key));
    scope.change(this.#limits);
    return scope;
  }

  /** Drops users that have used nothing lately; if there are too many, those of the oldest that have used least. */
  #makeRoom(): void {
    const { clock } = this.#context;
    const [now, wallTimeMs] = [clock.monotonic(), clock.now()];
    if (now >= this.#sweptAt + sweepMs) {
      this.#sweptAt = now;
      for (const [key, scope] of this.#users) {
        if (scope.isIdle(now, wallTimeMs) && scope.isReported(wallTimeMs)) this.#drop(key, scope, wallTimeMs);
      }
    }
    if (this.#users.size < maxUsers) return;
    const droppable: { readonly key: string; readonly scope: LimitedScope; readonly share: number }[] = [];
    for (const [key, scope] of this.#users) {
      if (scope.isInUse(wallTimeMs) || !scope.isReported(wallTimeMs)) continue;
      droppable.push({ key, scope, share: scope.findShare(now, wallTimeMs) });
      if (droppable.length === searched) break;
    }
    const least = droppable.sort((first, second) => first.share - second.share).slice(
      0,
      Math.ceil(droppable.length / 2),
    );
    for (const { key, scope } of least) this.#drop(key, scope, wallTimeMs);
  }

  #drop(key: string, scope: LimitedScope, wallTimeMs: number): void {
    this.#users.delete(key);
    scope.close(wallTimeMs);
  }
}
