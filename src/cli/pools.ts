/**
 * `modelmesh pools`, and the list of pools and models that it shares with `modelmesh models`.
 * @module
 */
import type { ListedEntry, ModelFacts, PoolFacts } from "../registry/model_list.ts";
import type { Command } from "./command.ts";
import { remoteHelp, RemoteProxy, remoteValues } from "./remote.ts";
import { table } from "./table.ts";

/** Lists the pools and models of a proxy. */
export async function fetchPools(
  proxy: Pick<RemoteProxy, "json">,
): Promise<{ readonly pools: readonly PoolRow[]; readonly models: readonly ModelRow[] }> {
  const { data } = await proxy.json<{ data: readonly ListedEntry[] }>("/v1/models");
  return {
    pools: data.flatMap(({ id: name, mesh }) => mesh?.type === "pool" ? [toListedPool(name, mesh)] : []),
    models: data.flatMap(({ id: name, mesh }) => mesh?.type === "model" ? [toModelRow(name, mesh)] : []),
  };
}

interface PoolRow extends Omit<PoolFacts, "type"> {
  readonly name: string;
}

interface ModelRow extends Omit<ModelFacts, "type"> {
  readonly name: string;
}

function toListedPool(name: string, { type: _, ...facts }: PoolFacts): PoolRow {
  return { name, ...facts };
}

function toModelRow(name: string, { type: _, ...facts }: ModelFacts): ModelRow {
  return { name, ...facts };
}

export const pools: Command = {
  help: `Usage: modelmesh pools [options]

Lists the pools of a running proxy: their capability, their strategy, and how many of their models are active.

Options:
${remoteHelp}
  --env-file <file>    Load variables from a dotenv file; repeatable. Variables already set take precedence
  --json               Print a list of {"name", "capability", "strategy", "status", "active", "standby"} as JSON
  --help               Show this help

Examples:
  modelmesh pools
  modelmesh pools --url https://mesh.example --json

Exit code: 0 done, 1 failed, 2 usage error
`,
  values: remoteValues,
  async run(flags, { runtime, shell }) {
    const { pools } = await fetchPools(new RemoteProxy(flags, runtime));
    if (flags.json) shell.stdout.write(`${JSON.stringify(pools)}\n`);
    else {
      const rows = pools.map(({ name, capability, strategy, status, active, standby }) => [
        name,
        status,
        String(active),
        String(standby),
        strategy,
        capability ?? "-",
      ]);
      shell.stdout.write(table([["POOL", "STATUS", "ACTIVE", "STANDBY", "STRATEGY", "CAPABILITY"], ...rows], [2, 3]));
    }
    return 0;
  },
};
