/**
 * Runs processes with a timeout.
 * @module
 */
import { spawn } from "node:child_process";
import process from "node:process";

/** Options of a process. */
export interface RunOptions {
  /** Working directory, as a path. */
  readonly folder: string;
  /** Timeout, seconds. */
  readonly limitSeconds?: number;
  /** Changed environment variables. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Result of a process. */
export interface Ended {
  /** Its exit code; null after a signal. */
  readonly code: number | null;
  /** Its standard output. */
  readonly out: string;
  /** Its standard error. */
  readonly err: string;
}

/** A running process. */
export interface Running {
  /** Its result. */
  readonly ended: Promise<Ended>;
  /** Resolves with the match of a pattern in standard output; rejects when the process exits without one. */
  find(pattern: RegExp): Promise<RegExpMatchArray>;
  /** Sends a signal to the process. */
  signal(signal: "SIGTERM"): void;
  /** Sends a signal to the process and its descendants, as a terminal does. */
  signalAll(signal: "SIGTERM" | "SIGKILL"): void;
}

const quiet = { NO_COLOR: "1", npm_config_update_notifier: "false", npm_config_fund: "false" };

/** Running processes. They have their own process groups, which do not end with this program. */
const running = new Set<Running>();

/** Kills all running processes. */
export function killAll(): void {
  for (const { signalAll } of running) signalAll("SIGKILL");
}

function send(id: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(id, signal);
  } catch {
    // the process has exited
  }
}

/**
 * Starts a process. After the timeout, it and its descendants are killed.
 *
 * @param command Program and arguments.
 * @param options Working directory and timeout.
 */
export function start(command: readonly string[], options: RunOptions): Running {
  const [program, ...args] = command;
  const child = spawn(program!, args, {
    cwd: options.folder,
    env: { ...process.env, ...quiet, ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const signalAll = (signal: "SIGTERM" | "SIGKILL") => send(-child.pid!, signal); // to its process group
  const output = { out: "", err: "" };
  child.stdout!.on("data", (data) => output.out += data);
  child.stderr!.on("data", (data) => output.err += data);
  const timer = setTimeout(() => signalAll("SIGKILL"), (options.limitSeconds ?? 120) * 1000);
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, ...output }));
  }).finally(() => {
    clearTimeout(timer);
    running.delete(started);
  });
  const find = (pattern: RegExp) =>
    new Promise<RegExpMatchArray>((resolve, reject) => {
      const look = () => {
        const found = output.out.match(pattern);
        if (found !== null) resolve(found);
      };
      look();
      child.stdout!.on("data", look);
      ended.then(({ err }) => reject(new Error(`${command.join(" ")} ended too early:\n${err}`)), reject);
    });
  // not `child.kill`, since Deno would report the signal as the result of the process
  const started: Running = { ended, find, signalAll, signal: (signal) => send(child.pid!, signal) };
  running.add(started);
  return started;
}

/**
 * Runs a process to its end.
 *
 * @param command Program and arguments.
 * @param options Working directory and timeout.
 * @throws {Error} With its output, when its exit code is not 0.
 */
export async function run(command: readonly string[], options: RunOptions): Promise<Ended> {
  const ended = await start(command, options).ended;
  if (ended.code === 0) return ended;
  const how = ended.code === null ? "was ended from outside, or its time was up" : `ended with ${ended.code}`;
  throw new Error(`${command.join(" ")} ${how}:\n${ended.out}\n${ended.err}`);
}
