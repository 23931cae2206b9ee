/**
 * Looks up secrets: with a cache, and within time limits.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";
import type { SecretStore } from "../../contracts/secret_store.ts";
import { ConnectorError, MeshError } from "../../errors.ts";
import { startAge } from "../../util/age.ts";
import { waitWithin } from "../../util/within.ts";

export interface CachePolicy {
  /** How long a value is cached, ms; 0 disables the cache. */
  readonly cacheTtlMs: number;
}

interface ResolverParts {
  /** The store's connector id, for error messages. */
  readonly id: string;
  readonly store: Pick<SecretStore, "get">;
  readonly policy: CachePolicy;
  readonly clock: Pick<Clock, "now" | "monotonic">;
}

/** Looks up secrets in one store. Values are cached, and concurrent lookups of the same secret are merged. */
export class SecretResolver {
  readonly #parts: ResolverParts;
  readonly #cached = new Map<string, { readonly value: string; readonly ageMs: () => number }>();
  readonly #pending = new Map<string, Promise<string | undefined>>();

  constructor(parts: ResolverParts) {
    this.#parts = parts;
  }

  /**
   * A secret's value; undefined if it does not exist, which is not cached.
   *
   * @param options `anew` bypasses the cache.
   * @throws {ConnectorError} If the store fails.
   */
  get(name: string, { isForced = false }: { readonly isForced?: boolean } = {}): Promise<string | undefined> {
    const cached = this.#cached.get(name);
    if (!isForced && cached !== undefined && cached.ageMs() < this.#parts.policy.cacheTtlMs) {
      return Promise.resolve(cached.value);
    }
    const pending = this.#pending.get(name);
    if (pending !== undefined) return pending;
    const lookup = this.#look(name).finally(() => this.#pending.delete(name));
    this.#pending.set(name, lookup);
    return lookup;
  }

  async #look(name: string): Promise<string | undefined> {
    const { id, store, policy, clock } = this.#parts;
    const ageMs = startAge(clock);
    let value: unknown;
    try {
      value = await store.get(name);
    } catch (error) {
      if (MeshError.isInstance(error)) throw error;
      const kind = error instanceof Error ? error.name : typeof error; // the error message of a custom store may contain the value
      throw new ConnectorError(`The secret store "${id}" failed to look up the secret "${name}": it threw ${kind}`);
    }
    this.#cached.delete(name);
    if (value === undefined || value === null) return undefined;
    if (typeof value !== "string") {
      throw new ConnectorError(
        `The secret store "${id}" returned a value for the secret "${name}" that is not a string`,
      );
    }
    if (policy.cacheTtlMs > 0) this.#cached.set(name, { value, ageMs });
    return value;
  }
}

/**
 * Timeouts, ms: above the timeouts of the built-in stores, whose errors are more specific. A change waits for the lock of a
 * file, and a list has many pages.
 */
const [lookUpMs, changeMs, listMs] = [30_000, 60_000, 300_000];

/**
 * Returns a secret store whose calls fail when it does not respond.
 *
 * @param store The store; operations that it lacks stay absent.
 */
export function withTimeouts(store: SecretStore, { id, clock }: {
  /** Its connector id, for error messages. */
  readonly id: string;
  readonly clock: Pick<Clock, "after">;
}): SecretStore {
  const timed = <T>(task: string, ms: number, start: () => Promise<T>) => {
    const message = `The secret store "${id}" cannot ${task}: it did not respond within ${ms / 1000} s`;
    return waitWithin(start, { clock, ms, expired: () => new ConnectorError(message, undefined, "unavailable") });
  };
  return {
    get: (name) => timed(`look up the secret "${name}"`, lookUpMs, () => store.get(name)),
    ...(store.set && {
      set: (name, value) => timed(`store the secret "${name}"`, changeMs, () => store.set!(name, value)),
    }),
    ...(store.list && { list: () => timed("list its secrets", listMs, () => store.list!()) }),
    ...(store.delete && {
      delete: (name) => timed(`delete the secret "${name}"`, changeMs, () => store.delete!(name)),
    }),
  };
}
