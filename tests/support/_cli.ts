/**
 * Runs the command line: in this process with a fake shell, or as a child process.
 * @module
 */
import { assertNotMatch } from "@std/assert";
import { spawn } from "node:child_process";
import { env as processEnv, kill } from "node:process";
import { serverConnectors } from "../../connectors/server.ts";
import type { ExitCode } from "../../src/cli/command.ts";
import { runCli } from "../../src/cli/main.ts";
import type { EndSignal, ReloadSignal, RequestHandler, ServeOptions, Shell } from "../../src/contracts/shell.ts";
import { serverRuntime } from "../../src/runtime/server.ts";
import { serverShell } from "../../src/runtime/server_shell.ts";
import { type FakeClock, fakeClock, testRuntime } from "../../src/runtime/test.ts";
import { happens } from "./patience.ts";
import { type CommandLine, entryCommand } from "./_programs.ts";
import { raise } from "./raise.ts";

/** A shell whose streams, servers and signals a test can inspect. */
export interface FakeShell extends Shell {
  /** Standard output so far. */
  readonly out: string;
  /** Standard error so far. */
  readonly err: string;
  /** Options of started servers. */
  readonly served: readonly ServeOptions[];
  /** Number of servers that have not been stopped. */
  readonly running: number;
  /** Codes passed to `exit`. */
  readonly exits: readonly number[];
  /** Number of signal listeners. */
  readonly listeners: number;
  /** Environment variables that have been set. */
  readonly variables: Readonly<Record<string, string>>;
  /** Resolves when standard error contains a text. */
  says(text: string): Promise<void>;
  /** Sends a signal. */
  signal(name: EndSignal | ReloadSignal): void;
  /** Rejects a promise that no code handles. */
  reject(reason: unknown): void;
}

/** Options of a {@linkcode FakeShell}. */
export interface FakeShellOptions {
  /** Whether its outputs are terminals. */
  readonly isTerminal?: boolean;
  /** Whether servers are started, and not just recorded. */
  readonly listens?: boolean;
  /** Standard input; empty by default. */
  readonly input?: string;
  /** Whether standard input is a terminal. */
  readonly isInteractive?: boolean;
  /** Lines that are typed at it, then Ctrl-D. A function is called before the next line. */
  readonly lines?: readonly (string | (() => void))[];
  /** Environment variables. */
  readonly variables?: Record<string, string>;
}

class Exited extends Error {}

/** Creates a shell for one command. */
export function fakeShell(options: FakeShellOptions = {}): FakeShell {
  const { isTerminal = false, isInteractive = false, listens = true, input = "", variables = {} } = options;
  const lines = [...options.lines ?? []];
  const written = { out: "", err: "" };
  const waiting: { text: string; resolve: () => void }[] = [];
  const served: ServeOptions[] = [];
  let running = 0;
  const exits: number[] = [];
  const tasks = new Set<{ signals: readonly string[]; task: (signal: never) => void }>();
  const rejections = new Set<(reason: unknown) => void>();
  const output = (stream: "out" | "err") => {
    const write = (text: string) => {
      written[stream] += text;
      for (const { text, resolve } of waiting) if (written.err.includes(text)) resolve();
      return true;
    };
    return { isTerminal, write, writeSoon: write };
  };
  return {
    args: [],
    stdout: output("out"),
    stderr: output("err"),
    served,
    exits,
    variables,
    isInteractive,
    readInput: () => Promise.resolve(input),
    readLine(prompt) {
      written.err += prompt;
      while (typeof lines[0] === "function") (lines.shift() as () => void)();
      return Promise.resolve(lines.shift() as string | undefined);
    },
    setVariable: (name, value) => void (variables[name] = value),
    async serve(handler: RequestHandler, options: ServeOptions) {
      served.push(options);
      if (!listens) return { port: options.port, listener: options.listener, stop: () => Promise.resolve() };
      const { stop, ...server } = await serverShell().serve(handler, options);
      running++;
      return { ...server, stop: (graceMs: number) => stop(graceMs).then(() => void running--) };
    },
    onSignal(signals, task) {
      const entry = { signals, task };
      tasks.add(entry);
      return () => void tasks.delete(entry);
    },
    onUnhandledRejection(task) {
      rejections.add(task);
      return () => void rejections.delete(task);
    },
    reject: (reason) => rejections.forEach((task) => task(reason)),
    checkTls: serverShell().checkTls,
    prepareToServe() {},
    workers: serverShell().workers,
    exit(code) {
      exits.push(code);
      throw new Exited();
    },
    get out() {
      return written.out;
    },
    get err() {
      return written.err;
    },
    get running() {
      return running;
    },
    get listeners() {
      return tasks.size;
    },
    says: (text) => new Promise((resolve) => written.err.includes(text) ? resolve() : waiting.push({ text, resolve })),
    signal(name) {
      try {
        for (const { signals, task } of tasks) if (signals.includes(name)) task(name as never);
      } catch (error) {
        if (!(error instanceof Exited)) throw error;
      }
    },
  };
}

/** Environment of a command. */
export interface CommandSetup extends FakeShellOptions {
  /** Environment variables; none by default. */
  readonly env?: Readonly<Record<string, string>>;
  /** Files by path; none by default. */
  readonly files?: Readonly<Record<string, string>>;
  /** Initial wall clock, ms since 1970. */
  readonly now?: number;
}

/** A running command. */
export interface RunningCommand {
  readonly shell: FakeShell;
  /** Files by path, including those the command has written. */
  readonly files: Map<string, string>;
  readonly clock: FakeClock;
  /** Its exit code. */
  readonly code: Promise<ExitCode>;
}

/**
 * Starts a command in this process, with real loopback network and a fake clock.
 *
 * @param args Command-line arguments.
 * @param setup Environment, files and shell.
 */
export function startCommand(args: readonly string[], setup: CommandSetup = {}): RunningCommand {
  const { files = {}, now } = setup;
  const env = { ...setup.env };
  const shell = fakeShell({ ...setup, variables: env });
  const { send } = serverRuntime();
  const runtime = testRuntime({ env, files, send, clock: fakeClock({ skipSleeps: true, now }) });
  const { clock, files: { contents: texts } } = runtime;
  return { shell, files: texts, clock, code: runCli(args, { connectors: serverConnectors, runtime, shell }) };
}

/** Result of a command. */
export interface EndedCommand {
  readonly code: ExitCode;
  readonly out: string;
  readonly err: string;
  readonly served: readonly ServeOptions[];
  /** Files by path, including those the command has written. */
  readonly files: ReadonlyMap<string, string>;
}

/** Runs a command until it exits. */
export async function runCommand(args: readonly string[], setup: CommandSetup = {}): Promise<EndedCommand> {
  const { shell, code, files } = startCommand(args, { listens: false, ...setup });
  const listens = shell.says("listens on").then(() => Promise.reject(new Error(`It listens: ${args.join(" ")}`)));
  await Promise.race([code, listens]);
  return { code: await code, out: shell.out, err: shell.err, served: shell.served, files };
}

/**
 * Starts `proxy`, runs a test on it, and stops it with a signal.
 *
 * @param args Arguments after `proxy`; `--port 0` is added.
 * @param setup Environment, files and shell.
 * @param test The test, called with the URL and the shell.
 */
export async function withProxyCommand(
  args: readonly string[],
  setup: CommandSetup,
  test: (url: string, shell: FakeShell) => Promise<void>,
): Promise<EndedCommand> {
  const { shell, code, files } = startCommand(["proxy", "--port", "0", ...args], setup);
  const failed = code.then((code) => Promise.reject(new Error(`It ended with ${code}: ${shell.err}`)));
  await inTime(Promise.race([shell.says("listens on"), failed]), shell);
  failed.catch(() => {}); // its exit is expected from here on
  try {
    await test(/listens on (\S+)/.exec(shell.err)![1]!, shell);
  } finally {
    shell.signal("SIGTERM");
  }
  return { code: await code, out: shell.out, err: shell.err, served: shell.served, files };
}

/** Awaits a text in the output; on timeout the error contains the output. */
export function inTime<T>(
  promise: Promise<T>,
  written: { readonly out: string; readonly err: string },
): Promise<T> {
  return happens(() => `what a command does; it said: ${written.out} ${written.err}`, promise);
}

/** A command as a child process. */
export interface ChildCommand extends AsyncDisposable {
  readonly pid: number;
  /** Standard output so far. */
  readonly out: string;
  readonly err: string;
  /** Resolves with the URL in standard error. */
  url(): Promise<string>;
  /** Resolves when standard error contains a text. */
  says(text: string): Promise<void>;
  /** Writes to standard input. */
  type(text: string): void;
  /** Sends a signal. */
  kill(signal: EndSignal | ReloadSignal): void;
  /** Its exit code; null after a signal. */
  readonly code: Promise<number | null>;
}

/** Options of a child process. */
export interface ChildOptions {
  /** Environment variables in addition to those that the runtime needs; none by default. */
  readonly env?: Readonly<Record<string, string>>;
  /** The entry. @default {"cli"} */
  readonly entry?: "cli" | "proxy";
  /** Another program instead of the entry. */
  readonly command?: CommandLine;
  /** Standard input; closed by default. */
  readonly input?: string;
  /** Whether standard input is written by `type`. */
  readonly isTyped?: boolean;
  /** Working directory. */
  readonly cwd?: string;
  /** Whether it may log a rejection that no code handles, which otherwise fails the test. */
  readonly mayReject?: boolean;
}

/**
 * Starts a command as a child process, without the environment of this process except for what the runtime needs.
 *
 * @param args Command-line arguments.
 * @param options Environment, entry, standard input and working directory.
 */
export function spawnCommand(
  args: readonly string[],
  { env = {}, entry = "cli", command: line = entryCommand(entry), input, isTyped = false, cwd, mayReject }:
    ChildOptions = {},
): ChildCommand {
  const [command, ...first] = line;
  const { PATH, HOME, DENO_DIR, XDG_CACHE_HOME } = processEnv;
  const needed = Object.entries({ PATH, HOME, DENO_DIR, XDG_CACHE_HOME }).filter(([, value]) => value !== undefined);
  const child = spawn(command, [...first, ...args], {
    env: { ...Object.fromEntries(needed), ...env },
    stdio: [input === undefined && !isTyped ? "ignore" : "pipe", "pipe", "pipe"],
    cwd,
  });
  if (!isTyped) child.stdin?.end(input);
  const written = { out: "", err: "" };
  const waiting: { text: string; resolve: () => void; reject: (error: Error) => void }[] = [];
  child.stdout!.on("data", (data: Uint8Array) => written.out += new TextDecoder().decode(data));
  child.stderr!.on("data", (data: Uint8Array) => {
    written.err += new TextDecoder().decode(data);
    for (const { text, resolve } of waiting) if (written.err.includes(text)) resolve();
  });
  let isOver = false;
  const code = new Promise<number | null>((resolve) => child.on("close", (code: number | null) => resolve(code)));
  code.then((code) => {
    isOver = true;
    waiting.forEach(({ reject }) => reject(new Error(`It ended with ${code}: ${written.err}`)));
  }).catch(raise);
  const says = (text: string) =>
    inTime(
      new Promise<void>((resolve, reject) => {
        if (written.err.includes(text)) resolve();
        else waiting.push({ text, resolve, reject });
      }),
      written,
    );
  return {
    pid: child.pid!,
    get out() {
      return written.out;
    },
    get err() {
      return written.err;
    },
    says,
    async url() {
      await says("pools"); // after the address, in either format
      return /listens on (\S+)/.exec(written.err)![1]!;
    },
    type: (text) => void child.stdin!.write(text),
    kill: (signal) => void kill(child.pid!, signal), // Deno's `child.kill` sends at most one signal, and loses the exit code
    code,
    async [Symbol.asyncDispose]() {
      if (!isOver) kill(child.pid!, "SIGKILL");
      await code;
      if (mayReject !== true) assertNotMatch(written.err, /Unhandled rejection/);
    },
  };
}
