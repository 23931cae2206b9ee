/**
 * Starts processes, each pinned to a core, and kills them at the end.
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { connect } from "node:net";
import process from "node:process";

/** Role of a core. */
export type Core = "gateway" | "load";

/** Numbers of the cores. */
export const cores: Readonly<Record<Core, number>> = { gateway: 0, load: 1 };

/** Options of a process. */
export interface Start {
  /** Program and arguments. */
  readonly command: readonly string[];
  /** The core to pin it to; undefined for any. */
  readonly core?: Core;
  /** Additional environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** Working directory. */
  readonly folder?: string;
  /** File that receives its output, line by line. Without one, the caller reads the output. */
  readonly log?: string;
}

/** A running process. */
export interface Running {
  /** Its process id. */
  readonly pid: number;
  /** Its child process object. */
  readonly child: ChildProcess;
  /** Resolves with its exit code; null after a signal. */
  readonly ended: Promise<number | null>;
  /** Kills it and its descendants. */
  kill(): Promise<void>;
}

const kept = ["PATH", "HOME", "TMPDIR", "DENO_DIR", "LANG", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"];
const running = new Set<Running>();
const runnable = new Map<string, boolean>();
let isOver = false;

/** Whether processes can be pinned: on Linux with at least two cores and `taskset`. */
export function isPinning(): Promise<boolean> {
  return canRun("taskset", ["-c", String(cores.load), "true"]);
}

/** Whether a program is installed and runs with these arguments. */
async function canRun(program: string, args: string[]): Promise<boolean> {
  const existing = runnable.get(program);
  if (existing !== undefined) return existing;
  const done = await new Deno.Command(program, { args, stdout: "null", stderr: "null" }).output().catch(() => {});
  runnable.set(program, done?.success === true);
  return done?.success === true;
}

/** Pins this process to the core of the load. */
export async function pinSelf(): Promise<void> {
  if (!await isPinning()) return;
  await new Deno.Command("taskset", { args: ["-acp", String(cores.load), String(process.pid)] }).output();
}

/**
 * Starts a process in its own process group, with the maximum number of open files.
 *
 * @param start Options of the process.
 * @throws {Error} When the run is ending.
 */
export async function startProgram({ command, core, env, folder, log }: Start): Promise<Running> {
  const pin = core !== undefined && await isPinning() ? ["taskset", "-c", String(cores[core])] : [];
  // V8 on Deno buffers up to 4 KiB of its trace; line buffering avoids that
  const lines = log !== undefined && await canRun("stdbuf", ["-oL", "true"]) ? ["stdbuf", "-oL"] : [];
  if (isOver) throw new Error("the run is ending");
  // each step replaces the process (`exec`), so that the pid is that of the program
  const shell = ["sh", "-c", 'ulimit -n "$(ulimit -Hn)"; exec "$@"', "sh"];
  const [program, ...args] = [...shell, ...pin, ...lines, ...command];
  const own = Object.fromEntries(kept.flatMap((name) => process.env[name] ? [[name, process.env[name]!]] : []));
  const output = log === undefined ? undefined : openSync(log, "w");
  const child = spawn(program!, args, {
    cwd: folder,
    env: { ...own, NO_COLOR: "1", ...env },
    stdio: ["pipe", output ?? "pipe", output ?? "pipe"],
    detached: true,
  });
  if (output !== undefined) closeSync(output);
  child.stdin!.on("error", () => {}); // the process has exited
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
    // the process has exited
  }
}

/** Kills all running processes. No process starts afterwards. */
export async function killAll(): Promise<void> {
  isOver = true;
  await Promise.all([...running].map((program) => program.kill()));
}

/**
 * Runs a process to its end and returns its standard output.
 *
 * @param start Options of the process.
 * @param limitMs Timeout, ms.
 * @throws {Error} With its standard error, when it fails or times out.
 */
export async function output(start: Start, limitMs = 60_000): Promise<string> {
  const program = await startProgram(start);
  const printed = { out: "", err: "" };
  program.child.stdout!.on("data", (data) => printed.out += data);
  program.child.stderr!.on("data", (data) => printed.err += data);
  program.child.stdin!.end();
  const timer = setTimeout(() => killGroup(program.pid), limitMs);
  const code = await program.ended;
  clearTimeout(timer);
  if (code === 0) return printed.out;
  const how = code === null ? "was ended, or its time was up" : `ended with ${code}`;
  throw new Error(`${start.command.slice(0, 4).join(" ")} ${how}: ${(printed.err + printed.out).trim().slice(-600)}`);
}

/** Returns a free port. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/**
 * Waits until a process listens.
 *
 * @throws {Error} When it exits, or does not listen in time.
 */
export async function untilListening(
  program: Running,
  port: number,
  { limitMs = 20_000, lookMs = 20 }: {
    /** Timeout, ms. */
    readonly limitMs?: number;
    /** Polling interval, ms. */
    readonly lookMs?: number;
  } = {},
): Promise<void> {
  const until = performance.now() + limitMs;
  let hasEnded = false;
  const end = () => void (hasEnded = true);
  program.ended.then(end, end);
  while (!await canConnect(port)) {
    if (hasEnded) throw new Error("it ended instead of listening");
    if (performance.now() > until) throw new Error(`it did not listen within ${limitMs / 1000} s`);
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
}

/**
 * Waits until nothing listens on a port.
 *
 * @param limitMs Timeout, ms.
 * @throws {Error} When something still listens after the timeout.
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
