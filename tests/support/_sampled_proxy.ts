/**
 * A proxy in a child process that reports its memory, timers and faults, for soak tests.
 * @module
 */
import { spawn } from "node:child_process";
import { createLineReader } from "./_lines.ts";
import type { CommandLine } from "./_programs.ts";

/** A sample of the proxy's process. */
export interface SoakSample {
  readonly second: number;
  /** Resident memory, bytes. */
  readonly rss: number;
  readonly heapUsed: number;
  /** Number of active timers. */
  readonly timers: number;
  /** Number of listeners on the process. */
  readonly listeners: number;
  /** Unhandled rejections, and warnings of the runtime, such as about leaking listeners. */
  readonly faults: readonly string[];
  /** Number of requests in its statistics of the pool. */
  readonly requests: number;
  readonly inFlight: number;
}

/** Instruments timers before anything else is imported. */
const program = `
  const timers = new Set();
  for (const [set, clear, repeats] of [["setTimeout", "clearTimeout"], ["setInterval", "clearInterval", true]]) {
    const [setOwn, clearOwn] = [globalThis[set], globalThis[clear]];
    globalThis[set] = (task, ms, ...rest) => {
      const timer = setOwn((...args) => { if (!repeats) timers.delete(timer); task(...args); }, ms, ...rest);
      timers.add(timer);
      return timer;
    };
    globalThis[clear] = (timer) => { timers.delete(timer); clearOwn(timer); };
  }
  const { default: process } = await import("node:process");
  (await import("node:v8")).setFlagsFromString("--expose-gc");
  const collect = (await import("node:vm")).runInNewContext("gc");
  const faults = [];
  process.on("unhandledRejection", (reason) => faults.push("unhandled: " + (reason?.stack ?? reason)));
  process.on("uncaughtException", (error) => faults.push("uncaught: " + (error?.stack ?? error)));
  process.on("warning", (warning) => faults.push("warning: " + warning?.message));
  const { serve } = await import(PROXY);
  const proxy = await serve({ config: CONFIG, port: 0 });
  process.stdout.write(proxy.url + "\\n");
  process.stdin.on("data", () => {
    collect();
    const { rss, heapUsed } = process.memoryUsage();
    const pool = proxy.mesh.stats().find(({ scope }) => scope === "pool");
    const listeners = process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);
    const requests = pool?.requests_total ?? 0;
    process.stdout.write(JSON.stringify({ rss, heapUsed, timers: timers.size, listeners, faults, requests }) + "\\n");
  });
  process.stdin.on("end", () => void proxy.stop());`;

/** A proxy in a process of its own. */
export class SampledProxy {
  readonly #child;
  readonly #lines;
  readonly #ended: Promise<unknown>;
  readonly #startedAt = performance.now();
  url = "";

  readonly #headers: Readonly<Record<string, string>>;

  /**
   * @param config Its configuration.
   * @param options The command of its program; the token of an administrator, if it has one.
   */
  constructor(config: object, { commandOf, token }: {
    readonly commandOf: (source: string) => CommandLine;
    readonly token?: string;
  }) {
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const [command, ...args] = commandOf(program.replace("CONFIG", JSON.stringify(config)));
    this.#child = spawn(command, args, { stdio: ["pipe", "pipe", "ignore"] });
    this.#ended = new Promise((resolve) => this.#child.on("close", resolve));
    this.#lines = createLineReader(this.#child);
  }

  /** Resolves when it listens. */
  async start(): Promise<void> {
    this.url = await this.#lines();
  }

  /** Collects garbage and takes a sample. */
  async sample(): Promise<SoakSample> {
    this.#child.stdin!.write("sample\n");
    const facts = JSON.parse(await this.#lines());
    const inFlight = await this.metric("modelmesh_requests_in_flight");
    return { second: Math.round((performance.now() - this.#startedAt) / 1000), inFlight, ...facts };
  }

  /**
   * Returns the sum of a metric over all samples.
   *
   * @param labels Labels of the samples, such as `scope="all"`.
   */
  async metric(name: string, ...labels: readonly string[]): Promise<number> {
    const text = await (await fetch(`${this.url}/metrics`, { headers: this.#headers })).text();
    const lines = text.split("\n").filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
    const values = lines.filter((line) => labels.every((label) => line.includes(label)));
    return values.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
  }

  /** Stops it. */
  async stop(): Promise<void> {
    this.#child.stdin!.end();
    await this.#ended;
  }
}
