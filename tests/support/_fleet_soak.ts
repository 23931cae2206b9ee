/**
 * Soak test of a fleet: proxies in processes of their own that share a storage, with clients of teams, budgets of three
 * levels, and sinks of logs. The storage hangs for a while, and clients come and go.
 * @module
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { startCountingLogs } from "./_counting_logs.ts";
import { programCommand } from "./_programs.ts";
import { SampledProxy, type SoakSample } from "./_sampled_proxy.ts";
import { settled } from "./_soak.ts";

/** Options of a soak test of a fleet. */
export interface FleetSoakOptions {
  /** Duration after a warm-up, seconds. */
  readonly seconds: number;
  /** Number of proxies. */
  readonly count: number;
  /** Attributes of the storage that they share. */
  readonly storage: Readonly<Record<string, unknown>>;
  /** Lets the storage fail for a while; called at half of the time. */
  readonly disturb: () => Promise<void>;
  /** Called with each sample. */
  readonly onSample?: (samples: readonly SoakSample[]) => void;
}

/** What a soak test of a fleet has found. */
export interface FleetSoakResult {
  /** Memory of each proxy, bytes: the least at a quarter of the time, and at the end. */
  readonly memory: readonly Record<"quarterRss" | "endRss" | "quarterHeap" | "endHeap", number>[];
  readonly before: readonly SoakSample[];
  readonly after: readonly SoakSample[];
  /** Calls of clients, by status. */
  readonly seen: Readonly<Record<string, number>>;
  /** Calls that the provider was paid for, the sum of costs in `/metrics`, and the sum of the budget on each proxy, USD. */
  readonly paid: number;
  readonly cost: number;
  readonly spent: readonly number[];
  /** Routing records in each store of logs, and records lost on the way. */
  readonly inserted: number;
  readonly archived: number;
  readonly lost: number;
}

const administrator = "the-token-of-the-administrator";
const warmUpSeconds = 20;

/** Number of teams, of clients, and of calls at once. */
const size = { teams: 8, clients: 64, calls: 32 };

/** Pause of a caller between two calls, ms. */
const thinkMs = 150;

const event = (delta: object, more: object = {}) =>
  `data: ${
    JSON.stringify({
      id: "c",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [{ index: 0, delta, finish_reason: "finish" in more ? "stop" : null }],
      ...more,
    })
  }\n\n`;
const whole = JSON.stringify({
  id: "c",
  object: "chat.completion",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
});
const usage = { usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 } };
const streamed = `${event({ content: "Hello" })}${event({}, { finish: true, ...usage })}data: [DONE]\n\n`;

/** A provider that is paid a dollar for each response, and fails now and then. */
async function startProvider() {
  let [calls, paid] = [0, 0];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => body += chunk);
    request.on("end", () => {
      if (calls++ % 40 === 7) return response.writeHead(500).end("{}");
      paid++;
      const isStream = body.includes('"stream":true');
      response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
      response.end(isStream ? streamed : whole);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    get paid() {
      return paid;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}

function createConfig(
  { provider, logs, storage }: { readonly provider: string; readonly logs: string; readonly storage: object },
): object {
  const budget = { daily_limit: 1e8, monthly_limit: 1e8 };
  const rolling = [{ limit: 1e7, window: "1h" }, { limit: 1e7, window: "rolling 24h" }];
  const s3 = { bucket: "b", endpoint: logs, credentials: { access_key_id: "a", secret_access_key: "b".repeat(20) } };
  const sinks = [
    { connector: "mesh.clickhouse.v1", url: logs },
    { connector: "mesh.s3-log.v1", config: { ...s3, interval: "20s", max_size: "1MiB" } },
  ];
  return {
    providers: { p: { connector: "openai.compatible.v1", base_url: provider } },
    models: {
      a: { provider: "p", capabilities: ["chat-completion"], pricing: { input: 0, output: 0, per_request: 1 } },
    },
    pools: { chat: { models: ["a"], budget, deactivation: { retry_limit: 1_000_000 }, retry: { max_attempts: 3 } } },
    teams: Object.fromEntries(
      Array.from({ length: size.teams }, (_, number) => [`team ${number}`, { budget: rolling }]),
    ),
    users: { rpm: 1_000_000, budget },
    budget,
    storage,
    observability: { routing: sinks, statistics: { connector: "mesh.null.v1", flush_interval: "5s" } },
    proxy: { auth: { admin_tokens: [administrator] } },
  };
}

/** A client's token, and its id. */
interface MadeClient {
  readonly id: string;
  readonly token: string;
}

/** Changes a client; undefined while the storage cannot be reached. */
async function administer(url: string, method: string, body?: object): Promise<MadeClient | undefined> {
  const headers = { authorization: `Bearer ${administrator}`, "content-type": "application/json" };
  const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await response.text();
  if (response.status === 503 && text.includes("storage_unavailable")) return undefined;
  if (!response.ok) throw new Error(`${method} ${new URL(url).pathname}: ${response.status} ${text}`);
  return text === "" ? { id: "", token: "" } : JSON.parse(text);
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Calls the proxies in turn until a time, as one client after the other. */
async function call(
  { urls, clients, number, until, seen }: {
    readonly urls: readonly string[];
    readonly clients: readonly MadeClient[];
    readonly number: number;
    readonly until: number;
    readonly seen: Record<string, number>;
  },
): Promise<void> {
  for (let turn = number; performance.now() < until; turn++) {
    const { token } = clients[turn * 7 % clients.length]!;
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const messages = [{ role: "user", content: `Turn ${turn}` }];
    const body = JSON.stringify({ model: "chat", stream: turn % 3 === 0, messages, user: `user ${turn % 1_000}` });
    const url = `${urls[turn % urls.length]}/v1/chat/completions`;
    const response = await fetch(url, { method: "POST", headers, body });
    await response.text();
    seen[response.status] = (seen[response.status] ?? 0) + 1;
    await pause(thinkMs);
  }
}

/** Creates, rotates and revokes a client every five seconds. */
async function changeClients(urls: readonly string[], until: number): Promise<void> {
  for (let turn = 0; performance.now() < until; turn++) {
    const url = urls[turn % urls.length]!;
    const made = await administer(`${url}/mesh/clients`, "POST", { name: `passing ${turn}`, rpm: 10 });
    if (made !== undefined) {
      await administer(`${url}/mesh/clients/${made.id}/rotate`, "POST");
      await administer(`${url}/mesh/clients/${made.id}`, "DELETE");
    }
    await pause(5_000);
  }
}

/** Runs a soak test of a fleet. */
export async function soakFleet(options: FleetSoakOptions): Promise<FleetSoakResult> {
  const { seconds, count, storage, disturb, onSample = () => {} } = options;
  const provider = await startProvider();
  await using logs = await startCountingLogs();
  const config = createConfig({ provider: provider.url, logs: logs.url, storage });
  const proxies = Array.from(
    { length: count },
    () => new SampledProxy(config, { commandOf: programCommand, token: administrator }),
  );
  for (const proxy of proxies) await proxy.start();
  const urls = proxies.map(({ url }) => url);
  const clients: MadeClient[] = [];
  for (let number = 0; number < size.clients; number++) {
    const limits = {
      team: `team ${number % size.teams}`,
      budget: { daily_limit: 1e7 },
      rpm: 1_000_000,
      concurrent: 100,
    };
    clients.push((await administer(`${urls[0]}/mesh/clients`, "POST", { name: `client ${number}`, ...limits }))!);
  }
  await pause(2_000); // every proxy knows them
  const sampleAll = () => Promise.all(proxies.map((proxy) => proxy.sample()));
  const before = await sampleAll();
  const startedAt = performance.now();
  const until = startedAt + (warmUpSeconds + seconds) * 1_000;
  const seen: Record<string, number> = {};
  const load = Promise.all([
    ...Array.from({ length: size.calls }, (_, number) => call({ urls, clients, number, until, seen })),
    changeClients(urls, until),
    pause((warmUpSeconds + seconds / 2) * 1_000).then(disturb),
  ]);
  const samples: { readonly share: number; readonly all: readonly SoakSample[] }[] = [];
  while (performance.now() < until) {
    const all = await sampleAll();
    samples.push({ share: ((performance.now() - startedAt) / 1_000 - warmUpSeconds) / seconds, all });
    onSample(all);
    await pause(Math.max(500, seconds * 10));
  }
  await load;
  const after = await Promise.all(proxies.map((proxy) => settled(proxy)));
  const sum = async (name: string) =>
    (await Promise.all(proxies.map((proxy) => proxy.metric(name)))).reduce((total, value) => total + value, 0);
  const cost = await sum("modelmesh_cost_usd_total");
  const lost = await sum("modelmesh_records_lost_total");
  const spent = await Promise.all(
    proxies.map((proxy) => proxy.metric("modelmesh_budget_spent_usd", 'scope="all"', 'window="day"')),
  );
  for (const proxy of proxies) await proxy.stop();
  await provider.stop();
  const least = (index: number, share: number, what: "rss" | "heapUsed") =>
    Math.min(...samples.filter((one) => Math.abs(one.share - share) < 0.07).map(({ all }) => all[index]![what]));
  const memory = proxies.map((_, index) => ({
    quarterRss: least(index, 0.25, "rss"),
    endRss: least(index, 0.95, "rss"),
    quarterHeap: least(index, 0.25, "heapUsed"),
    endHeap: least(index, 0.95, "heapUsed"),
  }));
  const { inserted, archived } = logs;
  return { memory, before, after, seen, paid: provider.paid, cost, spent, inserted, archived, lost };
}

/** Maximum growth of memory from the first quarter to the end, as a fraction. */
const maxGrowth = 0.1;

/** Maximum number of timers that remain, besides those of the start: of idle connections and of the sinks. */
const maxTimers = 8;

/**
 * Returns the problems of a soak test of a fleet.
 *
 * @returns A line for each problem.
 */
export function findFleetProblems(result: FleetSoakResult): string[] {
  const { memory, before, after, seen, paid, cost, spent, inserted, archived, lost } = result;
  const calls = Object.values(seen).reduce((sum, count) => sum + count, 0);
  const problems = [
    ...memory.flatMap(({ quarterRss, endRss, quarterHeap, endHeap }, index) => [
      endRss > quarterRss * (1 + maxGrowth) && `proxy ${index}: memory ${quarterRss} has grown to ${endRss}`,
      endHeap > quarterHeap * (1 + maxGrowth) && `proxy ${index}: heap ${quarterHeap} has grown to ${endHeap}`,
    ]),
    ...after.flatMap(({ faults, inFlight, timers, listeners }, index) => [
      faults.length > 0 && `proxy ${index}: ${faults.join("; ")}`,
      inFlight !== 0 && `proxy ${index}: ${inFlight} requests never end`,
      timers > before[index]!.timers + maxTimers && `proxy ${index}: ${timers} timers, before ${before[index]!.timers}`,
      listeners !== before[index]!.listeners && `proxy ${index}: ${listeners} listeners`,
    ]),
    (seen[200] ?? 0) !== calls && `not all were answered: ${JSON.stringify(seen)}`,
    cost !== paid && `the provider was paid ${paid}, /metrics has ${cost}`,
    spent.some((sum) => sum !== paid) && `the provider was paid ${paid}, the budget has ${spent}`,
    (inserted !== calls || archived !== calls || lost > 0) &&
    `of ${calls} records ${inserted} were inserted and ${archived} archived, ${lost} lost`,
  ];
  return problems.filter((problem) => problem !== false);
}
