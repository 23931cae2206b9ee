/**
 * `modelmesh clients`: manages the clients of a running proxy.
 * @module
 */
import { parseDuration } from "../config/schema/units.ts";
import { MeshError } from "../errors.ts";
import type { UsageRow } from "../proxy/usage/usage_table.ts";
import { findAction } from "./actions.ts";
import { type Command, type CommandParts, type ExitCode, type Flags, UsageError } from "./command.ts";
import {
  type BudgetChange,
  budgetOptions,
  type ClientBudget,
  formatLimitList,
  formatUtcLimits,
  mergeBudget,
  parseBudget,
} from "./client_budget.ts";
import { remoteHelp, RemoteProxy, remoteValues } from "./remote.ts";
import { printable } from "../util/printable.ts";
import { table } from "./table.ts";
import { readPeriod } from "./usage_period.ts";
import { formatUsageRows } from "./usage_rows.ts";

interface ListedClient {
  readonly id: string;
  readonly name: string;
  readonly pools?: readonly string[];
  readonly models?: readonly string[];
  readonly budget?: ClientBudget;
  readonly rpm?: number;
  readonly tpm?: number;
  readonly concurrent?: number;
  readonly team?: string;
  readonly tags?: readonly string[];
  readonly guards?: readonly string[];
  readonly byok?: boolean;
  readonly priority?: number;
  readonly expires_at?: string;
  readonly created_at: string;
  readonly notes?: string;
  readonly previous_token_ends_at?: string;
  readonly token?: string;
}

interface ClientTaskContext {
  readonly name: string;
  readonly flags: Flags;
  readonly proxy: RemoteProxy;
  readonly parts: CommandParts;
}

const limits = [
  "team",
  "tag",
  "pool",
  "model",
  "guard",
  ...budgetOptions,
  "rpm",
  "tpm",
  "concurrent",
  "priority",
  "byok",
  "expires",
  "notes",
];
const tokens = ["token-hash", "grace"];
const period = ["from", "to"];

const tasks: {
  readonly [name: string]: {
    /** Description of its argument, for messages; undefined if it has none. */
    readonly takes?: string;
    /** Options it accepts. */
    readonly options: readonly string[];
    run(context: ClientTaskContext): Promise<void>;
  };
} = {
  create: { takes: "a name", options: [...limits, "token-hash"], run: createProxyClient },
  list: { options: [], run: listAll },
  update: { takes: "a client's name or id", options: limits, run: updateClient },
  rotate: { takes: "a client's name or id", options: tokens, run: rotateToken },
  revoke: { takes: "a client's name or id", options: [], run: revokeClient },
  usage: { takes: "a client's name or id", options: period, run: showUsage },
};

export const clients: Command = {
  help: `Usage: modelmesh clients create <name> [limits]    Create a client; its token is shown only once
       modelmesh clients list                      List clients and their limits
       modelmesh clients update <client> <limits>  Change limits; "none" removes one
       modelmesh clients rotate <client>           Replace its token; the previous one is rejected, or after --grace
       modelmesh clients revoke <client>           Delete it; its token is rejected
       modelmesh clients usage <client>            Show requests, tokens and cost per day and pool, up to 90 days back

Manages the clients of a running proxy. They are kept in its storage; every proxy on that storage applies a change within a
second. <client> is a name or an id. Requires an administrator's token, and a section "storage" in the proxy's configuration.

Limits:
  --team <name>          Team of the client, in "teams" of the proxy's configuration
  --tag <name>           Tag of all its requests; repeatable
  --pool <name>          Pool that the client may use; repeatable. All by default
  --model <name>         Model that the client may use, by name and in pools; repeatable. All by default
  --guard <name>         Guard of its requests, besides those of the proxy, its team and pools; repeatable
  --daily-limit <usd>    Maximum cost per UTC day
  --monthly-limit <usd>  Maximum cost per UTC month
  --budget <usd>/<window>[@<zone>]  Maximum cost in a window, in place of both; repeatable: 5/1d@Europe/Berlin,
                         1/1h, 20/1w, 60/1mo, "30/rolling 30d"
  --rpm <count>          Requests per minute
  --tpm <count>          Tokens per minute
  --concurrent <count>   Requests in flight
  --priority <priority>  Maximum priority of its requests in queues, from 0 to 100
  --byok <true|false>    Whether its requests may contain keys of providers ("x-provider-key")
  --expires <when>       Expiry of the token: a time such as 2027-01-31T00:00:00Z, or a duration such as 30d
  --notes <text>         Notes for operators; the client does not see them

Options:
${remoteHelp}
  --grace <duration>   rotate: how long the previous token is still accepted, such as 24h; up to 90d
  --token-hash <hash>  create, rotate: SHA-256 (hexadecimal) of a random token that the client has already
  --from <day>         First day of the usage, such as 2027-01-01
  --to <day>           Last day of the usage
  --csv                Print the usage as CSV
  --env-file <file>    Load variables from a dotenv file; repeatable. Variables already set take precedence
  --json               Print the proxy's response as JSON
  --help               Show this help

Examples:
  modelmesh clients create website --pool assistant --daily-limit 5 --rpm 60
  modelmesh clients update website --daily-limit none --expires 30d
  modelmesh clients rotate website --grace 24h
  modelmesh clients usage website --from 2027-01-01 --to 2027-01-31 --csv
  modelmesh clients revoke website --url https://mesh.example

Exit code: 0 done, 1 failed, 2 usage error
`,
  values: [...remoteValues, ...limits, ...tokens, ...period],
  repeated: ["pool", "model", "guard", "tag", "budget"],
  switches: ["csv"],
  maxArguments: 2,
  async run(flags, parts) {
    const [action, name] = flags.positional;
    const task = findAction(tasks, action);
    if ((name === undefined) !== (task.takes === undefined)) {
      throw new UsageError(`"clients ${action}" takes ${task.takes ?? "no argument"}`);
    }
    const foreign = [...limits, ...tokens, ...period].find((name) =>
      flags.value(name) !== undefined && !task.options.includes(name)
    );
    if (foreign !== undefined) throw new UsageError(`"clients ${action}" has no option "--${foreign}"`);
    if (flags.has("csv") && (action !== "usage" || flags.json)) {
      throw new UsageError('"--csv" is an option of "clients usage", and cannot be combined with "--json"');
    }
    await task.run({ name: name ?? "", flags, proxy: new RemoteProxy(flags, parts.runtime), parts });
    return 0 satisfies ExitCode;
  },
};

async function createProxyClient(context: ClientTaskContext): Promise<void> {
  const { name, flags, proxy, parts } = context;
  const body = { name, ...parseLimits(flags, parts), ...parseTokenHash(flags) };
  showToken(await proxy.json<ListedClient>("/mesh/clients", { method: "POST", body }), context);
}

async function listAll({ flags, proxy, parts: { shell } }: ClientTaskContext): Promise<void> {
  const { data } = await fetchClients(proxy);
  if (flags.json) return void shell.stdout.write(`${JSON.stringify(data)}\n`);
  if (data.length === 0) {
    return void shell.stderr.write('There are no clients. Create one with "modelmesh clients create <name>"\n');
  }
  const counts = ["RPM", "TPM", "CONCURRENT", "PRIORITY"];
  const headers = ["NAME", "ID", "TEAM", "POOLS", "PER DAY", "PER MONTH", ...counts, "EXPIRES"];
  const hasList = data.some(({ budget }) => Array.isArray(budget));
  const hasModels = data.some(({ models }) => models !== undefined);
  const hasGuards = data.some(({ guards }) => guards !== undefined);
  const rows = data.map((
    { name, id, team, pools, models, guards, budget, rpm, tpm, concurrent, priority, expires_at },
  ) => [
    name,
    id,
    team ?? "-",
    pools?.join(", ") ?? "all",
    ...formatUtcLimits(budget),
    ...[rpm, tpm, concurrent, priority].map((count) => count === undefined ? "-" : String(count)),
    expires_at ?? "-",
    ...(hasList ? [formatLimitList(budget)] : []),
    ...(hasModels ? [models?.join(", ") ?? "all"] : []),
    ...(hasGuards ? [guards?.join(", ") ?? "-"] : []),
  ]);
  const more = [...(hasList ? ["LIMITS"] : []), ...(hasModels ? ["MODELS"] : []), ...(hasGuards ? ["GUARDS"] : [])];
  shell.stdout.write(table([[...headers, ...more], ...rows], [4, 5, 6, 7, 8, 9]));
}

async function updateClient(context: ClientTaskContext): Promise<void> {
  const { flags, proxy, parts } = context;
  const body = parseLimits(flags, parts);
  if (Object.keys(body).length === 0) {
    throw new UsageError(`Nothing to change: use ${limits.map((name) => `--${name}`).join(", ")}`);
  }
  const { id, budget } = await clientNamed(context);
  const merged = body.budget === undefined ? body : { ...body, budget: mergeBudget(budget, body.budget) };
  const client = await proxy.json<ListedClient>(`/mesh/clients/${id}`, { method: "PATCH", body: merged });
  say(client, `Changed "${client.name}"`, { flags, parts });
}

async function rotateToken(context: ClientTaskContext): Promise<void> {
  const { flags, proxy } = context;
  const grace = flags.value("grace");
  if (grace !== undefined && parseDuration(grace) === undefined) {
    throw new UsageError(`The option "--grace" takes a duration such as 24h, not "${grace}"`);
  }
  const body = { ...(grace !== undefined && { grace }), ...parseTokenHash(flags) };
  const { id } = await clientNamed(context);
  showToken(await proxy.json<ListedClient>(`/mesh/clients/${id}/rotate`, { method: "POST", body }), context);
}

async function revokeClient(context: ClientTaskContext): Promise<void> {
  const { id, name } = await clientNamed(context);
  say(await context.proxy.json(`/mesh/clients/${id}`, { method: "DELETE" }), `Revoked "${name}"`, context);
}

async function showUsage(context: ClientTaskContext): Promise<void> {
  const { flags, proxy, parts: { shell } } = context;
  const query = readPeriod(flags, period);
  const { id } = await clientNamed(context);
  const path = `/mesh/clients/${id}/usage`;
  if (flags.has("csv")) {
    query.set("format", "csv");
    return void shell.stdout.write(await proxy.text(`${path}?${query}`));
  }
  const usage = await proxy.json<{ data: readonly UsageRow[] }>(`${path}?${query}`);
  if (flags.json) return void shell.stdout.write(`${JSON.stringify(usage)}\n`);
  if (usage.data.length === 0) return void shell.stderr.write("No requests in that period\n");
  shell.stdout.write(formatUsageRows(usage.data, ["day", "pool"]));
}

function fetchClients(proxy: RemoteProxy): Promise<{ readonly data: readonly ListedClient[] }> {
  return proxy.json("/mesh/clients");
}

/** Returns the client with an id, else with a name. An unknown id is accepted for usage, which outlives its client. */
async function clientNamed({ name, proxy }: ClientTaskContext): Promise<ListedClient> {
  const { data } = await fetchClients(proxy);
  const found = data.find(({ id }) => id === name) ?? data.find((client) => client.name === name);
  if (found !== undefined) return found;
  if (/^client_[\w-]+$/.test(name)) return { id: name, name, created_at: "" };
  throw new MeshError(`There is no client "${printable(name)}". List clients with "modelmesh clients list"`);
}

/** Prints only the token to standard output, for use in scripts. */
function showToken(client: ListedClient, { flags, parts: { shell } }: ClientTaskContext): void {
  if (flags.json) return void shell.stdout.write(`${JSON.stringify(client)}\n`);
  const { previous_token_ends_at: endsAt } = client;
  if (endsAt !== undefined) shell.stderr.write(`The previous token is accepted until ${printable(endsAt)}\n`);
  if (client.token === undefined) {
    return void shell.stderr.write(`"${printable(client.name)}" (${client.id}) has the token of that hash\n`);
  }
  shell.stderr.write(`The token of "${printable(client.name)}" (${client.id}), which is not shown again:\n`);
  shell.stdout.write(`${client.token}\n`);
}

function say(
  response: unknown,
  message: string,
  { flags, parts: { shell } }: Pick<ClientTaskContext, "flags" | "parts">,
): void {
  shell.stdout.write(`${flags.json ? JSON.stringify(response) : printable(message)}\n`);
}

function parseTokenHash(flags: Flags): { readonly token_hash?: string } {
  const hash = flags.value("token-hash");
  if (hash === undefined) return {};
  if (/^[0-9a-f]{64}$/i.test(hash)) return { token_hash: hash };
  throw new UsageError('The option "--token-hash" takes a SHA-256 in hexadecimal, 64 digits');
}

function parseLimits(
  flags: Flags,
  { runtime: { clock } }: CommandParts,
): Readonly<Record<string, unknown>> & { readonly budget?: BudgetChange } {
  const list = (option: string) => isEnding(option) ? null : flags.all(option);
  const counts = ["rpm", "tpm", "concurrent"].filter((name) => flags.value(name) !== undefined);
  const isEnding = (name: string) => flags.value(name) === "none";
  const amount = (option: string, kind: string, form: RegExp) => {
    const text = flags.value(option)!;
    if (isEnding(option)) return null;
    if (form.test(text)) return Number(text);
    throw new UsageError(`The option "--${option}" takes ${kind}, or "none", not "${text}"`);
  };
  const budget = parseBudget(flags);
  return {
    ...(flags.value("team") !== undefined && { team: isEnding("team") ? null : flags.value("team") }),
    ...(flags.all("tag").length > 0 && { tags: list("tag") }),
    ...(flags.all("pool").length > 0 && { pools: list("pool") }),
    ...(flags.all("model").length > 0 && { models: list("model") }),
    ...(flags.all("guard").length > 0 && { guards: list("guard") }),
    ...(budget !== undefined && { budget }),
    ...Object.fromEntries(counts.map((name) => [name, amount(name, "an integer from 1", /^0*[1-9]\d*$/)])),
    ...(flags.value("priority") !== undefined &&
      { priority: amount("priority", "an integer from 0 to 100", /^0*(\d{1,2}|100)$/) }),
    ...(flags.value("notes") !== undefined && { notes: isEnding("notes") ? null : flags.value("notes") }),
    ...(flags.value("byok") !== undefined && { byok: readFlag("byok", flags) }),
    ...(flags.value("expires") !== undefined &&
      { expires_at: isEnding("expires") ? null : timeIn(flags.value("expires")!, clock.now()) }),
  };
}

function readFlag(option: string, flags: Flags): boolean | null {
  const text = flags.value(option);
  if (text === "none") return null;
  if (text === "true" || text === "false") return text === "true";
  throw new UsageError(`The option "--${option}" takes true, false or "none", not "${text}"`);
}

function timeIn(text: string, now: number): string {
  const ms = parseDuration(text);
  if (ms !== undefined) return new Date(now + ms).toISOString();
  if (/^\d{4}-\d{2}-\d{2}/.test(text)) return text;
  throw new UsageError(`The option "--expires" takes a time such as 2027-01-31T00:00:00Z, or a duration such as 30d`);
}
