/**
 * Runs other programs, none of them for longer than it is given.
 * @module
 */
import { spawn } from "node:child_process";
import process from "node:process";

/** How a program is run. */
export interface RunOptions {
  /** Where, as a path. */
  readonly folder: string;
  /** The longest it may take, seconds. */
  readonly limitSeconds?: number;
  /** What differs in its environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** How a program ended. */
export interface Ended {
  /** Its exit code; null when a signal ended it. */
  readonly code: number | null;
  /** What it wrote, to standard output. */
  readonly out: string;
  /** What it wrote to standard error. */
  readonly err: string;
}

/** A program that runs. */
export interface Running {
  /** How it ended. */
  readonly ended: Promise<Ended>;
  /** Resolves with what a pattern finds in its standard output; rejects when it ends without. */
  find(pattern: RegExp): Promise<RegExpMatchArray>;
  /** Sends a signal to it alone. */
  signal(signal: "SIGTERM"): void;
  /** Sends a signal to it and all that it started, as a terminal does. */
  signalAll(signal: "SIGTERM" | "SIGKILL"): void;
}

const quiet = { NO_COLOR: "1", npm_config_update_notifier: "false", npm_config_fund: "false" };

/** Their groups are of their own: what ends this program does not end them. */
const running = new Set<Running>();

/** Kills all that still runs. */
export function killAll(): void {
  for (const { signalAll } of running) signalAll("SIGKILL");
}

function send(id: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(id, signal);
  } catch {
    // it has ended
  }
}

/**
 * Starts a program; when its time is up, it and all that it started are killed.
 *
 * @param command What to run, and its arguments.
 * @param options Where, and for how long.
 */
export function start(command: readonly string[], options: RunOptions): Running {
  const [program, ...args] = command;
  const child = spawn(program!, args, {
    cwd: options.folder,
    env: { ...process.env, ...quiet, ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const signalAll = (signal: "SIGTERM" | "SIGKILL") => send(-child.pid!, signal); // to its group
  const texts = { out: "", err: "" };
  child.stdout!.on("data", (data) => texts.out += data);
  child.stderr!.on("data", (data) => texts.err += data);
  const timer = setTimeout(() => signalAll("SIGKILL"), (options.limitSeconds ?? 120) * 1000);
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, ...texts }));
  }).finally(() => {
    clearTimeout(timer);
    running.delete(started);
  });
  const find = (pattern: RegExp) =>
    new Promise<RegExpMatchArray>((resolve, reject) => {
      const look = () => {
        const found = texts.out.match(pattern);
        if (found !== null) resolve(found);
      };
      look();
      child.stdout!.on("data", look);
      ended.then(({ err }) => reject(new Error(`${command.join(" ")} ended too early:\n${err}`)), reject);
    });
  // not `child.kill`: Deno would take the signal for how the program ended
  const started: Running = { ended, find, signalAll, signal: (signal) => send(child.pid!, signal) };
  running.add(started);
  return started;
}

/**
 * Runs a program to its end.
 *
 * @param command What to run, and its arguments.
 * @param options Where, and for how long.
 * @throws {Error} With all it wrote, when its code is not 0.
 */
export async function run(command: readonly string[], options: RunOptions): Promise<Ended> {
  const ended = await start(command, options).ended;
  if (ended.code === 0) return ended;
  const how = ended.code === null ? "was ended from outside, or its time was up" : `ended with ${ended.code}`;
  throw new Error(`${command.join(" ")} ${how}:\n${ended.out}\n${ended.err}`);
}
