/**
 * `modelmesh cache`: counts and deletes the responses that a running proxy keeps.
 * @module
 */
import { findAction } from "./actions.ts";
import type { Command, ExitCode } from "./command.ts";
import { remoteHelp, RemoteProxy, remoteValues } from "./remote.ts";
import { counted, table } from "./table.ts";
import { formatUsd } from "../util/price_text.ts";

/** Response body of `GET /mesh/cache`. */
interface CacheStats {
  readonly entries: number;
  readonly bytes: number;
  readonly hits: number;
  readonly misses: number;
  readonly saved_usd: number;
}

/** Performs an action; returns the response of the proxy, and its text. */
type CacheAction = (proxy: RemoteProxy) => Promise<readonly [response: unknown, text: string]>;

const actions: Readonly<Record<string, CacheAction>> = {
  stats: async (proxy) => {
    const stats = await proxy.json<CacheStats>("/mesh/cache");
    return [stats, formatStats(stats)];
  },
  clear: async (proxy) => {
    const response = await proxy.json<{ readonly cleared: number }>("/mesh/cache", { method: "DELETE" });
    return [response, `Deleted ${response.cleared} ${response.cleared === 1 ? "entry" : "entries"}\n`];
  },
};

export const cache: Command = {
  help: `Usage: modelmesh cache stats    Show the number and size of entries, hits and misses, and what was saved
       modelmesh cache clear    Delete all entries

Shows and empties the cache of a running proxy, which requires a section "cache" in its configuration. Entries are those of the
cache's storage, which several proxies may share; hits, misses and savings are those of this proxy since its start. "clear"
requires an administrator's token.

Options:
${remoteHelp}
  --env-file <file>    Load variables from a dotenv file; repeatable. Variables already set take precedence
  --json               Print the proxy's response as JSON
  --help               Show this help

Examples:
  modelmesh cache stats
  modelmesh cache stats --json --url https://mesh.example
  modelmesh cache clear

Exit code: 0 done, 1 failed, 2 usage error
`,
  values: remoteValues,
  maxArguments: 1,
  async run(flags, { shell, runtime }) {
    const perform = findAction(actions, flags.positional[0]);
    const [response, text] = await perform(new RemoteProxy(flags, runtime));
    shell.stdout.write(flags.json ? `${JSON.stringify(response)}\n` : text);
    return 0 satisfies ExitCode;
  },
};

function formatStats({ entries, bytes, hits, misses, saved_usd }: CacheStats): string {
  const requests = hits + misses;
  const share = requests === 0 ? "" : ` (${(hits / requests * 100).toFixed(1)} %)`;
  return table([
    ["entries", String(entries)],
    ["size", formatBytes(bytes)],
    ["hits", `${hits} of ${counted(requests, "request")}${share}`],
    ["saved", formatUsd(saved_usd)],
  ]);
}

/** Formats a size with one decimal, in decimal units. */
function formatBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const index = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${index === 0 ? bytes : (bytes / 1000 ** index).toFixed(1)} ${units[index]}`;
}
