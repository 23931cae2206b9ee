/**
 * The clients: wrk for as much as goes, and a program of ours for what wrk cannot measure.
 * @module
 */
import { createInterface, type Interface } from "node:readline";
import type { Target } from "./contestant.ts";
import { output, type Running, startProgram } from "./process.ts";
import { programPath, scriptCommand } from "./runtimes.ts";

/** What came of it, ms and counts. */
export interface Load {
  readonly requests: number;
  readonly seconds: number;
  readonly failed: number;
  readonly p50: number;
  readonly p99: number;
  /** Events of streams; none from wrk. */
  readonly events?: number;
  /** How late requests at random times were sent, p99, ms. */
  readonly late?: number;
  /** Time to the first token, net of the upstream's own. */
  readonly first?: { readonly p50: number | null; readonly p99: number | null };
}

/** How much is sent. */
export type Mode =
  | { readonly mode: "closed"; readonly connections: number; readonly seconds: number; readonly scatterMs?: number }
  | { readonly mode: "open"; readonly rate: number; readonly seconds: number }
  | { readonly mode: "leave"; readonly tries: number; readonly afterMs: number; readonly waitMs: number };

let found: boolean | undefined;

/** Whether wrk is installed. */
export async function hasWrk(): Promise<boolean> {
  if (found !== undefined) return found;
  const args = ["-v"];
  const done = await new Deno.Command("wrk", { args, stdout: "null", stderr: "null" }).output().catch(() => {});
  return found = done !== undefined;
}

/**
 * As many whole answers as there are in some seconds.
 *
 * @param target Whom.
 * @param connections How many at once.
 * @param seconds How long.
 * @param isSecure Whether it speaks TLS itself.
 */
export async function saturate(target: Target, connections: number, seconds: number, isSecure = false): Promise<Load> {
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
 * Runs our own load.
 *
 * @param target Whom.
 * @param mode How.
 * @param isSecure Whether it speaks TLS itself.
 * @returns What {@linkcode Load} says, or when clients left.
 */
export async function load<T = Load>(target: Target, mode: Mode, isSecure = false): Promise<T> {
  const settings = JSON.stringify({ ...target, ...mode, secure: isSecure });
  const text = await output({ command: [...await scriptCommand("load.js"), settings], core: "load" }, 120_000);
  return JSON.parse(text) as T;
}

/** Streams that stay open. */
export interface Held {
  /** Opens more, until there are so many and each has had a token; resolves with how many there are. */
  open(count: number): Promise<number>;
  /** Leaves. */
  end(): Promise<void>;
}

/**
 * Holds streams open.
 *
 * @param target Whom.
 */
export async function hold(target: Target): Promise<Held> {
  const settings = JSON.stringify({ ...target, mode: "hold" });
  const program: Running = await startProgram({ command: [...await scriptCommand("load.js"), settings], core: "load" });
  const lines: Interface = createInterface({ input: program.child.stdout! });
  const answers = lines[Symbol.asyncIterator]();
  return {
    async open(count) {
      program.child.stdin!.write(`open ${count}\n`);
      const { value } = await answers.next();
      return value === undefined ? 0 : (JSON.parse(value) as { held: number }).held;
    },
    end: () => program.kill(),
  };
}
