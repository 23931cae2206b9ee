/**
 * What a proxy serves, for its operator.
 * @module
 */
import type { Engine } from "../engine/engine.ts";

/** Lists the providers and pools of a mesh. */
export function listServed({ registry }: Engine): {
  readonly providers: readonly { readonly id: string; readonly source: string }[];
  readonly pools: readonly { readonly name: string; readonly models: number }[];
  /** The same as two lines of text. */
  readonly text: string;
  /** The pools as one line. */
  readonly poolList: string;
} {
  const providers = registry.instances.map(({ entry: { id, source } }) => ({ id, source }));
  const pools = registry.pools.map(({ name, members }) => ({ name, models: members.length }));
  const providerList = providers.map(({ id, source }) => `${id} (${source})`).join(", ");
  const poolList = pools.map(({ name, models }) => `${name} (${models})`).join(", ");
  return { providers, pools, poolList, text: `  providers: ${providerList}\n  pools: ${poolList}\n` };
}
