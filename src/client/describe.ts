/**
 * What a client has found and made, for people and programs.
 * @module
 */
import type { Engine } from "../engine/engine.ts";
import { type ModelStatus, statusOf } from "../registry/status.ts";

/** What `client.describe()` returns; as a text it is a readable tree. */
export interface Description {
  /** What the client is for; null when a configuration says more than one thing. */
  readonly capability: string | null;
  /** Its pools. */
  readonly pools: readonly DescribedPool[];
  /** Its providers. */
  readonly providers: readonly DescribedProvider[];
  /** The same as a readable tree. */
  toString(): string;
}

/** One pool. */
export interface DescribedPool {
  /** Its name. */
  readonly name: string;
  /** The node it targets. */
  readonly capability: string | null;
  /** Its strategy's id. */
  readonly strategy: string;
  /** Its models, in order; `current` served last. */
  readonly models: readonly (ModelStatus & { readonly current?: true })[];
}

/** One provider. */
export interface DescribedProvider {
  /** Its entry id. */
  readonly id: string;
  /** `active` while one of its models is. */
  readonly status: "active" | "standby";
  /** Where it was found: `config`, or the variable's name. */
  readonly source: string;
  /** Why its list of models could not be had: `did not list its models: …`. */
  readonly reason?: string;
}

/**
 * Describes what there is.
 *
 * @param engine Configured.
 * @param capability What its client is for.
 */
export function describe(engine: Engine, capability: string | null): Description {
  const { registry, runtime } = engine;
  const active = new Set(engine.activeProviders());
  const facts = {
    capability,
    pools: registry.pools.map((pool): DescribedPool => {
      const { strategy, models } = statusOf(pool, runtime.clock);
      return {
        name: pool.name,
        capability: pool.capability,
        strategy,
        models: models.map((model) => pool.current?.model.name === model.name ? { ...model, current: true } : model),
      };
    }),
    providers: registry.instances.map(({ entry, listProblem: reason }): DescribedProvider => ({
      id: entry.id,
      status: active.has(entry.id) ? "active" : "standby",
      source: entry.source,
      ...(reason === undefined ? {} : { reason }),
    })),
  };
  return Object.defineProperty(facts, "toString", { value: () => treeOf(facts) });
}

function treeOf({ pools, providers }: Omit<Description, "toString">): string {
  return [
    "providers",
    ...providers.map(({ id, status, source, reason }) =>
      `  ${id} (${[status, `from ${source}`, reason ?? []].flat().join(", ")})`
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
