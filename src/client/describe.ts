/**
 * The description of a client's pools and providers, as data and as readable text.
 * @module
 */
import type { Engine } from "../engine/engine.ts";
import type { ProviderLastError } from "../registry/registry.ts";
import { type ModelStatus, toPoolStatus } from "../registry/status.ts";

/** The result of `client.describe()`. Its string form is a readable tree. */
export interface Description {
  /** The capability the client serves; null when it is configured with more than one. */
  readonly capability: string | null;
  /** The pools. */
  readonly pools: readonly DescribedPool[];
  /** The providers. */
  readonly providers: readonly DescribedProvider[];
  /** Returns the description as a readable tree. */
  toString(): string;
}

/** A pool of a description. */
export interface DescribedPool {
  /** Name of the pool. */
  readonly name: string;
  /** The capability node it targets; null when its models share none. */
  readonly capability: string | null;
  /** The id of its strategy. */
  readonly strategy: string;
  /** Its models, in order; `current` marks the one that served the latest request. */
  readonly models: readonly (ModelStatus & { readonly current?: true })[];
}

/** A provider of a description. */
export interface DescribedProvider {
  /** Its id in the configuration. */
  readonly id: string;
  /** `active` while at least one of its models is active. */
  readonly status: "active" | "standby";
  /** Where it was found: `config`, or the name of an environment variable. */
  readonly source: string;
  /** Why its models could not be listed: `did not list its models: …`. */
  readonly reason?: string;
  /** The failure of its last call, until a call succeeds. */
  readonly last_error?: ProviderLastError;
}

/**
 * Describes the pools and providers of an engine.
 *
 * @param capability The capability its client serves.
 */
export function describe(engine: Engine, capability: string | null): Description {
  const { registry, runtime } = engine;
  const active = new Set(engine.activeProviders());
  const facts = {
    capability,
    pools: registry.pools.map((pool): DescribedPool => {
      const { strategy, models } = toPoolStatus(pool, runtime.clock);
      return {
        name: pool.name,
        capability: pool.capability,
        strategy,
        models: models.map((model) => pool.current?.model.name === model.name ? { ...model, current: true } : model),
      };
    }),
    providers: registry.instances.map(({ entry, listProblem: reason, lastError }): DescribedProvider => ({
      id: entry.id,
      status: active.has(entry.id) ? "active" : "standby",
      source: entry.source,
      ...(reason === undefined ? {} : { reason }),
      ...(lastError === undefined ? {} : { last_error: lastError }),
    })),
  };
  return Object.defineProperty(facts, "toString", { value: () => formatTree(facts) });
}

/** Describes the failure of a provider's last call, such as `last call: auth 401`. */
function errorText({ kind, status }: Pick<ProviderLastError, "kind" | "status">): string {
  return `last call: ${kind}${status === undefined ? "" : ` ${status}`}`;
}

function formatTree({ pools, providers }: Omit<Description, "toString">): string {
  return [
    "providers",
    ...providers.map(({ id, status, source, reason, last_error: error }) =>
      `  ${id} (${[status, `from ${source}`, reason ?? [], error ? errorText(error) : []].flat().join(", ")})`
    ),
    "pools",
    ...pools.flatMap(({ name, capability, strategy, models }) => [
      `  ${name} (${capability ?? "mixed"}, ${strategy})`,
      ...models.map((model) =>
        `    ${model.name} (${model.status}${model.reason === undefined ? "" : `, ${model.reason}`})`
      ),
    ]),
  ].join("\n");
}
