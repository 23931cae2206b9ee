/**
 * Looking secrets up, not more often than needed.
 * @module
 */
import type { Clock } from "../../contracts/runtime.ts";
import type { SecretStore } from "../../contracts/secret_store.ts";
import { ConnectorError, MeshError } from "../../errors.ts";

/** How long values are kept. */
export interface CachePolicy {
  /** Values are kept in memory for so long, ms; 0: each time they are needed they are looked up. */
  readonly cacheTtlMs: number;
}

/** What a resolver works with. */
export interface ResolverParts {
  /** The store's id, for messages. */
  readonly id: string;
  /** The store. */
  readonly store: Pick<SecretStore, "get">;
  /** How long values are kept. */
  readonly policy: CachePolicy;
  /** Measures how long values are cached. */
  readonly clock: Pick<Clock, "monotonic">;
}

/** Looks secrets up in one store. Values are kept for a while, and what many ask for at once is looked up once. */
export class SecretResolver {
  readonly #parts: ResolverParts;
  readonly #cached = new Map<string, { readonly value: string; readonly until: number }>();
  readonly #pending = new Map<string, Promise<string | undefined>>();

  /** @param parts Store, cache policy, clock. */
  constructor(parts: ResolverParts) {
    this.#parts = parts;
  }

  /**
   * A secret's value; undefined when there is none of that name, which is not remembered.
   *
   * @param name The secret.
   * @param options `anew`: what is kept does not do.
   * @throws {ConnectorError} When the store fails.
   */
  get(name: string, { anew = false }: { readonly anew?: boolean } = {}): Promise<string | undefined> {
    const cached = this.#cached.get(name);
    if (!anew && cached !== undefined && this.#parts.clock.monotonic() < cached.until) {
      return Promise.resolve(cached.value);
    }
    const pending = this.#pending.get(name);
    if (pending !== undefined) return pending;
    const asked = this.#ask(name).finally(() => this.#pending.delete(name));
    this.#pending.set(name, asked);
    return asked;
  }

  async #ask(name: string): Promise<string | undefined> {
    const { id, store, policy, clock } = this.#parts;
    let value: unknown;
    try {
      value = await store.get(name);
    } catch (error) {
      if (MeshError.isInstance(error)) throw error;
      const kind = error instanceof Error ? error.name : typeof error; // what a store of one's own says may be the value
      throw new ConnectorError(`The secret store "${id}" failed to look up the secret "${name}": it threw ${kind}`);
    }
    this.#cached.delete(name);
    if (value === undefined || value === null) return undefined;
    if (typeof value !== "string") {
      throw new ConnectorError(`The secret store "${id}" gave for the secret "${name}" something else than a text`);
    }
    if (policy.cacheTtlMs > 0) this.#cached.set(name, { value, until: clock.monotonic() + policy.cacheTtlMs });
    return value;
  }
}
