/**
 * `modelmesh status`: shows the status of a running proxy, once or repeatedly.
 * @module
 */
import type { UpstreamResponse } from "../contracts/runtime.ts";
import { MeshError } from "../errors.ts";
import { isObject } from "../util/is_object.ts";
import { SseParser } from "../util/sse_parse.ts";
import { parseDuration } from "../config/schema/units.ts";
import { type Command, type CommandParts, type Flags, UsageError } from "./command.ts";
import { readBodyChunks, remoteHelp, RemoteProxy, remoteValues } from "./remote.ts";
import { type ProxyStatus, type RecentRecord, statusText } from "./status_text.ts";
import { paintFor } from "./table.ts";

const defaultIntervalMs = 2_000;

/** Number of decisions and events shown. */
const maxRecent = 8;

/** Clears a terminal: moves the cursor home and erases the screen below. */
const clear = "\x1b[H\x1b[J";

export const status: Command = {
  help: `Usage: modelmesh status [options]

Shows the state of a running proxy: pools and their models with state, reason and recovery time; spending by budget and by
client; requests in flight; the latest decisions and events. A client's token shows only its own data.

Options:
${remoteHelp}
  --watch              Refresh until Ctrl-C
  --interval <time>    Refresh interval of --watch (2s)
  --env-file <file>    Load variables from a dotenv file; repeatable. Variables already set take precedence
  --json               Print {"version", "pools", "budgets", …, "recent"} as JSON; with --watch one line per refresh
  --help               Show this help

Examples:
  modelmesh status
  modelmesh status --watch --interval 5s
  modelmesh status --url https://mesh.example --json

Exit code: 0 done, 1 failed, 2 usage error
`,
  values: [...remoteValues, "interval"],
  switches: ["watch"],
  async run(flags, { runtime, shell }) {
    const intervalMs = readInterval(flags);
    const proxy = new RemoteProxy(flags, runtime);
    const paint = paintFor(shell.stdout, runtime);
    const isDrawn = shell.stdout.isTerminal && !flags.json;
    const show = async (isAgain: boolean, signal?: AbortSignal) => {
      const now = await proxy.json<ProxyStatus>("/mesh/status", { signal });
      const recent = await fetchRecent(proxy, signal);
      if (flags.json) return shell.stdout.write(`${JSON.stringify({ ...now, recent })}\n`);
      const text = statusText({ ...now, recent }, { paint, url: proxy.url, now: runtime.clock.now() });
      return shell.stdout.write(isAgain && !isDrawn ? `\n${text}` : (isAgain ? clear : "") + text);
    };
    if (flags.has("watch")) await showRepeatedly(show, { intervalMs, isDrawn, shell, runtime });
    else await show(false);
    return 0;
  },
};

/**
 * Shows the status until a signal ends it. If the proxy becomes unreachable, it is waited for, since it may be
 * restarting.
 */
async function showRepeatedly(
  show: (isAgain: boolean, signal: AbortSignal) => Promise<boolean>,
  { intervalMs, isDrawn, shell, runtime: { clock } }: Pick<CommandParts, "shell" | "runtime"> & {
    readonly intervalMs: number;
    /** Whether each status replaces the previous one on the screen. */
    readonly isDrawn: boolean;
  },
): Promise<void> {
  const end = new AbortController();
  const cancel = shell.onSignal(["SIGINT", "SIGTERM"], () => end.abort());
  if (isDrawn) shell.stdout.write(clear);
  let isUnreachable = false;
  try {
    for (let isAgain = false; !end.signal.aborted; isAgain = true) {
      try {
        if (!await show(isAgain, end.signal)) break;
        isUnreachable = false;
      } catch (error) {
        if (end.signal.aborted) break;
        if (!isAgain || !MeshError.isInstance(error) || error.code !== "unreachable") throw error;
        if (!isUnreachable) shell.stderr.write(`${error.message}. Waiting for it\n`);
        isUnreachable = true;
      }
      await clock.sleep(intervalMs, end.signal).catch(() => {}); // ended
    }
  } finally {
    cancel();
  }
}

function readInterval(flags: Flags): number {
  const text = flags.value("interval");
  if (text === undefined) return defaultIntervalMs;
  const ms = parseDuration(text);
  if (!flags.has("watch")) throw new UsageError('"--interval" needs "--watch"');
  if (ms !== undefined && ms > 0) return ms;
  throw new UsageError(`The option "--interval" takes a duration such as 5s, not "${text}"`);
}

/** The latest decisions and events, the oldest first. A comment in the stream marks the end of the stored ones. */
function fetchRecent(proxy: RemoteProxy, signal: AbortSignal | undefined): Promise<readonly RecentRecord[]> {
  return proxy.read("/mesh/events", { headers: { "last-event-id": "0" }, signal }, recentIn);
}

async function recentIn(response: UpstreamResponse): Promise<readonly RecentRecord[]> {
  const parser = new SseParser();
  const records: RecentRecord[] = [];
  let end = "";
  for await (const chunk of readBodyChunks(response)) {
    for (const { data } of parser.push(chunk)) {
      const record: unknown = JSON.parse(data);
      if (isObject(record) && (record.type === "routing" || record.type === "event")) {
        records.push(record as unknown as RecentRecord);
      }
    }
    end = (end + chunk).slice(-3);
    if (end === ":\n\n") break;
  }
  return records.slice(-maxRecent);
}
