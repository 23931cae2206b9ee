/**
 * Soak test: a proxy in a child process with hundreds of concurrent streams, and failing providers and clients.
 * @module
 */
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type CommandLine, programCommand } from "./_programs.ts";
import { SampledProxy, type SoakSample } from "./_sampled_proxy.ts";

/** Options of a soak test. */
export interface SoakOptions {
  /** Duration of the measurement after a warm-up of 20 s, seconds. */
  readonly seconds: number;
  readonly streams: number;
  /** Folder for the request log. */
  readonly folder: string;
  /** Returns the command of the proxy's program; by default, on the tests' runtime. */
  readonly commandOf?: (source: string) => CommandLine;
  /** Called with each sample. */
  readonly onSample?: (sample: SoakSample) => void;
}

/** Result of a soak test. */
export interface SoakResult {
  /** Resident memory at a quarter of the time and at the end, bytes: the minimum of several samples. */
  readonly quarterRss: number;
  readonly endRss: number;
  /** Heap size after garbage collection, likewise. */
  readonly quarterHeap: number;
  readonly endHeap: number;
  /** Samples before the first stream and after the last one. */
  readonly before: SoakSample;
  readonly after: SoakSample;
  /** Requests of clients, by result: a status, or `left` if the client disconnected. */
  readonly seen: Readonly<Record<string, number>>;
  readonly sent: number;
  /** Requests and attempts in `/metrics`, and calls that providers received. */
  readonly counted: number;
  readonly tries: number;
  readonly calls: number;
  /** Number of lines in the request log. */
  readonly logged: number;
}

/** Maximum number of timers left: of idle connections, a standby and the statistics. */
const maxTimers = 5;

const chunks = 10;
const names = ["a", "b", "c", "d", "e", "f", "g", "h"];
const sse = { "content-type": "text/event-stream" };
const event = (delta: object, finish: string | null = null) =>
  `data: ${
    JSON.stringify({
      id: "c",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [{ index: 0, delta, finish_reason: finish }],
    })
  }\n\n`;

/** Time until as many streams end as begin, and the runtime has allocated memory for them. */
const warmUpSeconds = 20;

/** Failures, by call number modulo 50. All other calls succeed. */
const troubles: Readonly<Record<number, (response: ServerResponse) => void>> = {
  0: (response) => response.writeHead(500).end("{}"),
  5: (response) => response.writeHead(529).end("{}"),
  12: (response) => response.destroy(),
  18: (response) => response.writeHead(200, sse).end(),
  24: (response) => response.writeHead(200, sse).end('data: {"error":{"message":"overloaded","code":529}}\n\n'),
  31: (response) => response.writeHead(200, sse).end("data: {]\n\n"),
  37: (response) => void response.on("error", () => {}), // does not respond until the proxy times out
  43: (response) => serve(response, { cutAfter: 4 }),
};

function serve(response: ServerResponse, { cutAfter = Infinity }: { cutAfter?: number } = {}): void {
  response.writeHead(200, sse);
  let sent = 0;
  const timer = setInterval(() => {
    if (sent === cutAfter) response.destroy();
    else if (sent++ < chunks) response.write(event({ content: "word ".repeat(10) }));
    else response.end(`${event({}, "stop")}data: [DONE]\n\n`);
  }, 1_000);
  response.on("close", () => clearInterval(timer));
}

async function startProviders() {
  let calls = 0;
  const server = createServer((request: IncomingMessage, response) => {
    const number = calls++;
    request.resume();
    request.on("end", () => (troubles[number % 50] ?? serve)(response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    get calls() {
      return calls;
    },
    async stop() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}

function createConfig(url: string, log: string): object {
  const each = (make: (name: string) => object) => Object.fromEntries(names.map((name) => [name, make(name)]));
  return {
    providers: each(() => ({ connector: "openai.compatible.v1", base_url: url, execution: { timeout: "4s" } })),
    models: each((provider) => ({ provider, capabilities: ["chat-completion"], pricing: { input: 1, output: 1 } })),
    pools: {
      chat: {
        models: names,
        strategy: "round-robin",
        retry: { max_attempts: 1, initial_delay: "50ms" },
        deactivation: { retry_limit: 1_000_000 },
      },
    },
    budget: { daily_limit: 1_000_000 },
    observability: {
      logging: { connector: "mesh.local-file.v1", path: log, level: "summary" },
      statistics: { connector: "mesh.null.v1", flush_interval: "5s" },
    },
  };
}

/** A client: sends one stream after the other, and disconnects from some. */
async function runClient(url: string, { until, seen, number }: ClientOptions): Promise<void> {
  for (let turn = number; performance.now() < until; turn++) {
    const end = await askOnce(`${url}/v1/chat/completions`, turn);
    seen[end] = (seen[end] ?? 0) + 1;
    if (end !== "200" && end !== "left") await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Sends a request on a new connection. The server may close an idle one while a request is being sent. */
function askOnce(url: string, turn: number): Promise<string> {
  return new Promise((resolve) => {
    const headers = { "content-type": "application/json" };
    const sent = request(url, { method: "POST", headers, agent: false }, (response) => {
      const end = String(response.statusCode);
      if (end === "200" && turn % 15 === 0) {
        response.once("data", () => {
          resolve("left");
          sent.destroy();
        });
        response.on("error", () => resolve("left"));
        return;
      }
      response.resume();
      response.on("close", () => resolve(end));
      response.on("error", () => resolve(end));
    });
    sent.on("error", (error) => resolve(`no response: ${error.message}`));
    sent.end(JSON.stringify({ model: "chat", stream: true, messages: [{ role: "user", content: `Turn ${turn}` }] }));
  });
}

interface ClientOptions {
  /** End time, monotonic ms. */
  readonly until: number;
  readonly seen: Record<string, number>;
  readonly number: number;
}

/**
 * Runs a soak test.
 *
 * @param options Duration and load.
 */
export async function soak(options: SoakOptions): Promise<SoakResult> {
  const { seconds, streams, folder, commandOf = programCommand, onSample } = options;
  const log = `${folder}/requests.jsonl`;
  const providers = await startProviders();
  const proxy = new SampledProxy(createConfig(providers.url, log), { commandOf });
  await proxy.start();
  const before = await proxy.sample();
  const startedAt = performance.now();
  const seen: Record<string, number> = {};
  const clients = Array.from(
    { length: streams },
    (_, number) => runClient(proxy.url, { until: startedAt + (warmUpSeconds + seconds) * 1000, seen, number }),
  );
  const samples: { readonly share: number; readonly rss: number; readonly heapUsed: number }[] = [];
  let isOver = false;
  const sampling = (async () => {
    // sequential, since a sample may take longer than the interval on a busy machine
    for (; !isOver; await new Promise((resolve) => setTimeout(resolve, Math.max(500, seconds * 10)))) {
      const share = ((performance.now() - startedAt) / 1000 - warmUpSeconds) / seconds;
      const sample = await proxy.sample();
      samples.push({ share, ...sample });
      onSample?.(sample);
    }
  })();
  await Promise.all(clients);
  isOver = true;
  await sampling;
  const minAround = (share: number, what: "rss" | "heapUsed") =>
    Math.min(...samples.filter((sample) => Math.abs(sample.share - share) < 0.07).map((sample) => sample[what]));
  const after = await settled(proxy);
  const [counted, tries] = [
    await proxy.metric("modelmesh_requests_total"),
    await proxy.metric("modelmesh_attempts_total"),
  ];
  await proxy.stop();
  await providers.stop();
  const sent = Object.values(seen).reduce((sum, count) => sum + count, 0);
  const { calls } = providers;
  const logged = await linesInFolder(folder);
  return {
    quarterRss: minAround(0.25, "rss"),
    endRss: minAround(0.95, "rss"),
    quarterHeap: minAround(0.25, "heapUsed"),
    endHeap: minAround(0.95, "heapUsed"),
    before,
    after,
    seen,
    sent,
    counted,
    tries,
    calls,
    logged,
  };
}

/** Returns a sample once no request is in flight, and hanging providers have timed out. */
export async function settled(proxy: SampledProxy): Promise<SoakSample> {
  for (let tries = 0;; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const sample = await proxy.sample();
    if (sample.inFlight === 0 && tries >= 3 || tries === 30) return sample;
  }
}

async function linesInFolder(folder: string): Promise<number> {
  const { readdir, readFile } = await import("node:fs/promises");
  let lines = 0;
  for (const name of await readdir(folder)) {
    if (!name.startsWith("requests.jsonl")) continue;
    for (const byte of await readFile(`${folder}/${name}`)) if (byte === 10) lines++;
  }
  return lines;
}

/**
 * Returns the problems of a soak test.
 *
 * @param maxGrowth Maximum growth of resident memory from the first quarter to the end, as a fraction.
 * @returns A line for each problem.
 */
export function findProblems(result: SoakResult, maxGrowth = 0.1): string[] {
  const { before, after, seen, sent, counted, tries, calls, logged } = result;
  const growth = result.endRss / result.quarterRss - 1;
  // a client that leaves while its provider is being connected to ends a try that the provider never got
  const { left = 0 } = seen;
  const problems = [
    growth > maxGrowth && `memory has grown by ${Math.round(growth * 100)} % from the first quarter to the end`,
    after.faults.length > 0 && after.faults.join("\n"),
    after.inFlight !== 0 && `${after.inFlight} requests never end`,
    after.timers > before.timers + maxTimers && `timers: ${before.timers} before, ${after.timers} after`,
    after.listeners !== before.listeners && `listeners: ${before.listeners} before, ${after.listeners} after`,
    counted !== sent && `${sent} requests were sent, /metrics has ${counted}`,
    after.requests !== sent && `${sent} requests were sent, the statistics have ${after.requests}`,
    logged !== sent && `${sent} requests were sent, ${logged} are logged`,
    (tries < calls || tries > calls + left) && `providers got ${calls} calls, /metrics has ${tries} tries`,
    Object.keys(seen).some((end) => end.startsWith("no response")) && JSON.stringify(seen),
    (seen[200] ?? 0) < sent / 2 && `only ${seen[200] ?? 0} of ${sent} requests were answered`,
  ];
  return problems.filter((problem) => problem !== false);
}
