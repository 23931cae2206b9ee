/**
 * Starts programs, each on one core, and ends them all.
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { connect } from "node:net";
import process from "node:process";

/** Which core a program runs on. */
export type Core = "gateway" | "load";

/** Their numbers. */
export const cores: Readonly<Record<Core, number>> = { gateway: 0, load: 1 };

/** What a program is started with. */
export interface Start {
  /** What to run, and its arguments. */
  readonly command: readonly string[];
  /** Its core; any without. */
  readonly core?: Core;
  /** What it has besides the few variables that all have. */
  readonly env?: Readonly<Record<string, string>>;
  /** Where it runs. */
  readonly folder?: string;
  /** A file that takes what it writes, so that no reader is needed. Without one, the caller reads it. */
  readonly log?: string;
}

/** A program that runs. */
export interface Running {
  /** Its process. */
  readonly pid: number;
  /** Node's view of it. */
  readonly child: ChildProcess;
  /** Resolves with the code it ended with; null after a signal. */
  readonly ended: Promise<number | null>;
  /** Kills it and all that it started. */
  kill(): Promise<void>;
}

const kept = ["PATH", "HOME", "TMPDIR", "DENO_DIR", "LANG", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"];
const running = new Set<Running>();
let canPin: boolean | undefined;
let isOver = false;

/** Whether programs can be pinned to a core: on Linux, with two cores at least, where `taskset` is installed. */
export async function isPinning(): Promise<boolean> {
  if (canPin !== undefined) return canPin;
  const args = ["-c", String(cores.load), "true"];
  const done = await new Deno.Command("taskset", { args, stdout: "null", stderr: "null" }).output().catch(() => {});
  return canPin = done?.success === true;
}

/** Keeps this program itself off the gateway's core. */
export async function pinSelf(): Promise<void> {
  if (!await isPinning()) return;
  await new Deno.Command("taskset", { args: ["-acp", String(cores.load), String(process.pid)] }).output();
}

/**
 * Starts a program in a group of its own, with as many files as it may have open.
 *
 * @param start What, and how.
 * @throws {Error} When all were killed.
 */
export async function startProgram({ command, core, env, folder, log }: Start): Promise<Running> {
  const pin = core !== undefined && await isPinning() ? ["taskset", "-c", String(cores[core])] : [];
  if (isOver) throw new Error("it is being ended");
  // every step hands its process on to the next, so that the id is the program's own
  const shell = ["sh", "-c", 'ulimit -n "$(ulimit -Hn)"; exec "$@"', "sh"];
  const [program, ...args] = [...shell, ...pin, ...command];
  const own = Object.fromEntries(kept.flatMap((name) => process.env[name] ? [[name, process.env[name]!]] : []));
  const output = log === undefined ? undefined : openSync(log, "w");
  const child = spawn(program!, args, {
    cwd: folder,
    env: { ...own, NO_COLOR: "1", ...env },
    stdio: ["pipe", output ?? "pipe", output ?? "pipe"],
    detached: true,
  });
  if (output !== undefined) closeSync(output);
  child.stdin!.on("error", () => {}); // it has ended
  return register(child);
}

function register(child: ChildProcess): Running {
  const ended = new Promise<number | null>((resolve) => {
    child.on("error", () => resolve(null));
    child.on("close", resolve);
  }).finally(() => running.delete(started));
  const started: Running = {
    pid: child.pid!,
    child,
    ended,
    async kill() {
      killGroup(child.pid!);
      await ended;
    },
  };
  running.add(started);
  return started;
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // it has ended
  }
}

/** Kills all that still runs; nothing starts after it. */
export async function killAll(): Promise<void> {
  isOver = true;
  await Promise.all([...running].map((one) => one.kill()));
}

/**
 * Runs a program to its end and returns what it wrote to standard output.
 *
 * @param start What, and how.
 * @param limitMs The longest it may take.
 * @throws {Error} With what it wrote to standard error, when it fails or takes longer.
 */
export async function output(start: Start, limitMs = 60_000): Promise<string> {
  const program = await startProgram(start);
  const texts = { out: "", err: "" };
  program.child.stdout!.on("data", (data) => texts.out += data);
  program.child.stderr!.on("data", (data) => texts.err += data);
  program.child.stdin!.end();
  const timer = setTimeout(() => killGroup(program.pid), limitMs);
  const code = await program.ended;
  clearTimeout(timer);
  if (code === 0) return texts.out;
  const how = code === null ? "was ended, or its time was up" : `ended with ${code}`;
  throw new Error(`${start.command.slice(0, 4).join(" ")} ${how}: ${(texts.err + texts.out).trim().slice(-600)}`);
}

/** A port that is free now. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/**
 * Waits until a program listens.
 *
 * @param program Who is to listen.
 * @param port Where.
 * @param limitMs The longest to wait.
 * @param lookMs How often to look.
 * @throws {Error} When it ends, or does not listen in time.
 */
export async function untilListening(
  program: Running,
  port: number,
  limitMs: number = 20_000,
  lookMs: number = 20,
): Promise<void> {
  const until = performance.now() + limitMs;
  let hasEnded = false;
  program.ended.then(() => hasEnded = true);
  while (!await canConnect(port)) {
    if (hasEnded) throw new Error("it ended instead of listening");
    if (performance.now() > until) throw new Error(`it did not listen within ${limitMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
}

/**
 * Waits until no server listens on a port.
 *
 * @param port Where.
 * @param limitMs The longest to wait.
 * @throws {Error} When one still does then.
 */
export async function untilRefusing(port: number, limitMs: number): Promise<void> {
  const until = performance.now() + limitMs;
  while (await canConnect(port)) {
    if (performance.now() > until) throw new Error(`it still listened after ${limitMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}
