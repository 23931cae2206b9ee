/**
 * Load generators: wrk for saturation, and a program of this repository for what wrk cannot measure.
 * @module
 */
import { createInterface, type Interface } from "node:readline";
import type { Target } from "./contestant.ts";
import { output, type Running, startProgram } from "./process.ts";
import { programPath, scriptCommand } from "./runtimes.ts";

/** Result of a load, ms and counts. */
export interface Load {
  readonly requests: number;
  readonly seconds: number;
  readonly failed: number;
  readonly p50: number;
  readonly p99: number;
  /** Number of stream events; undefined with wrk. */
  readonly events?: number;
  /** p99 delay of requests that are sent at random times, ms. */
  readonly late?: number;
  /** Time to first token, minus the upstream's own. */
  readonly first?: { readonly p50: number | null; readonly p99: number | null };
}

/** Kind of load. */
export type Mode =
  | { readonly mode: "closed"; readonly connections: number; readonly seconds: number; readonly scatterMs?: number }
  | { readonly mode: "open"; readonly rate: number; readonly seconds: number }
  | { readonly mode: "leave"; readonly tries: number; readonly afterMs: number; readonly waitMs: number };

let found: boolean | undefined;

/** Whether wrk is installed. */
export async function hasWrk(): Promise<boolean> {
  if (found !== undefined) return found;
  const args = ["-v"];
  try {
    await new Deno.Command("wrk", { args, stdout: "null", stderr: "null" }).output(); // throws at once if there is none
    return found = true;
  } catch {
    return found = false;
  }
}

/**
 * Sends as many requests as possible.
 *
 * @param connections Number of concurrent connections.
 */
export async function saturate(target: Target, connections: number, { seconds, isSecure = false }: {
  /** Duration, s. */
  readonly seconds: number;
  /** Whether the target uses TLS. */
  readonly isSecure?: boolean;
}): Promise<Load> {
  if (!await hasWrk()) return await load(target, { mode: "closed", connections, seconds }, isSecure);
  const address = `${isSecure ? "https" : "http"}://127.0.0.1:${target.port}${target.path}`;
  const size = ["-t1", `-c${connections}`, `-d${seconds}s`, "--timeout", "10s"];
  const headers = Object.entries(target.headers).map(([name, value]) => `${name}:${value}`).join("\n");
  const text = await output({
    command: ["wrk", ...size, "-s", programPath("post.lua"), address],
    core: "load",
    env: { BENCH_BODY: target.body, BENCH_HEADERS: headers },
  }, (seconds + 30) * 1000);
  const { p50, p99, ...counts } = JSON.parse(text.trim().split("\n").at(-1)!) as Load;
  return { ...counts, p50: p50 / 1000, p99: p99 / 1000 };
}

/**
 * Runs the load generator of this repository.
 *
 * @param mode Kind of load.
 * @param isSecure Whether the target uses TLS.
 * @returns The result of the load; for disconnects, when clients disconnected.
 */
export async function load<T = Load>(target: Target, mode: Mode, isSecure = false): Promise<T> {
  const settings = JSON.stringify({ ...target, ...mode, secure: isSecure });
  const text = await output({ command: [...await scriptCommand("load.js"), settings], core: "load" }, 120_000);
  return JSON.parse(text) as T;
}

/** Streams that are kept open. */
export interface Held {
  /** Opens streams up to a total number, and resolves with the number once each has received a token. */
  open(count: number): Promise<number>;
  /** Closes the streams. */
  end(): Promise<void>;
}

/** Opens streams and keeps them open. */
export async function hold(target: Target): Promise<Held> {
  const settings = JSON.stringify({ ...target, mode: "hold" });
  const program: Running = await startProgram({ command: [...await scriptCommand("load.js"), settings], core: "load" });
  const lines: Interface = createInterface({ input: program.child.stdout! });
  const results = lines[Symbol.asyncIterator]();
  return {
    async open(count) {
      program.child.stdin!.write(`open ${count}\n`);
      const { value } = await results.next();
      return value === undefined ? 0 : (JSON.parse(value) as { held: number }).held;
    },
    end: () => program.kill(),
  };
}
