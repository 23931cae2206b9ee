/**
 * The command line under test: in process with a shell that is looked into, or as a process of its own.
 * @module
 */
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

/** A shell whose streams, servers and signals a test looks into. */
export interface FakeShell extends Shell {
  /** What was written to standard output. */
  readonly out: string;
  /** What was written to standard error. */
  readonly err: string;
  /** Where servers were started. */
  readonly served: readonly ServeOptions[];
  /** How many of its servers have not been stopped. */
  readonly running: number;
  /** The codes it would have exited with. */
  readonly exits: readonly number[];
  /** How many listeners wait for signals. */
  readonly listeners: number;
  /** What variables are set in. */
  readonly variables: Readonly<Record<string, string>>;
  /** Resolves once standard error says this. */
  says(text: string): Promise<void>;
  /** Sends a signal. */
  signal(name: EndSignal | ReloadSignal): void;
}

/** How a {@linkcode FakeShell} is set up. */
export interface FakeShellOptions {
  /** Whether a person reads along. */
  readonly isTerminal?: boolean;
  /** False: servers are recorded, and not started. */
  readonly listens?: boolean;
  /** What standard input has; nothing unless said. */
  readonly input?: string;
  /** Whether standard input is a terminal. */
  readonly isInteractive?: boolean;
  /** What variables are set in. */
  readonly variables?: Record<string, string>;
}

class Exited extends Error {}

/** A shell for one command. */
export function fakeShell(options: FakeShellOptions = {}): FakeShell {
  const { isTerminal = false, isInteractive = false, listens = true, input = "", variables = {} } = options;
  const written = { out: "", err: "" };
  const waiting: { text: string; resolve: () => void }[] = [];
  const served: ServeOptions[] = [];
  let running = 0;
  const exits: number[] = [];
  const tasks = new Set<{ signals: readonly string[]; task: (signal: never) => void }>();
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
    setVariable: (name, value) => void (variables[name] = value),
    async serve(handler: RequestHandler, options: ServeOptions) {
      served.push(options);
      if (!listens) return { port: options.port, stop: () => Promise.resolve() };
      const { stop, ...server } = await serverShell().serve(handler, options);
      running++;
      return { ...server, stop: (graceMs: number) => stop(graceMs).then(() => void running--) };
    },
    onSignal(signals, task) {
      const entry = { signals, task };
      tasks.add(entry);
      return () => void tasks.delete(entry);
    },
    checkTls: serverShell().checkTls,
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

/** What a command is run with. */
export interface CommandSetup extends FakeShellOptions {
  /** The environment; empty unless said. */
  readonly env?: Readonly<Record<string, string>>;
  /** Path to text; no files unless said. */
  readonly files?: Readonly<Record<string, string>>;
  /** Wall clock, ms since 1970. */
  readonly now?: number;
}

/** A command under way. */
export interface RunningCommand {
  readonly shell: FakeShell;
  /** Path to text, as the command leaves them. */
  readonly files: Map<string, string>;
  readonly clock: FakeClock;
  /** Its exit code. */
  readonly code: Promise<ExitCode>;
}

/**
 * Starts a command in this process: real loopback network, time that needs no waiting.
 *
 * @param args As typed.
 * @param setup Environment, files, shell.
 */
export function startCommand(args: readonly string[], setup: CommandSetup = {}): RunningCommand {
  const { files = {}, now } = setup;
  const env = { ...setup.env };
  const shell = fakeShell({ ...setup, variables: env });
  const { send } = serverRuntime();
  const runtime = testRuntime({ env, files, send, clock: fakeClock({ skipSleeps: true, now }) });
  const { clock, files: { texts } } = runtime;
  return { shell, files: texts, clock, code: runCli(args, { connectors: serverConnectors, runtime, shell }) };
}

/** What a command came to. */
export interface EndedCommand {
  readonly code: ExitCode;
  readonly out: string;
  readonly err: string;
  readonly served: readonly ServeOptions[];
  /** Path to text, as the command left them. */
  readonly files: ReadonlyMap<string, string>;
}

/** Runs a command that ends by itself. */
export async function runCommand(args: readonly string[], setup: CommandSetup = {}): Promise<EndedCommand> {
  const { shell, code, files } = startCommand(args, { listens: false, ...setup });
  const listens = shell.says("listens on").then(() => Promise.reject(new Error(`It listens: ${args.join(" ")}`)));
  await Promise.race([code, listens]);
  return { code: await code, out: shell.out, err: shell.err, served: shell.served, files };
}

/**
 * Starts a proxy by its command, runs a test on it, and stops it by a signal.
 *
 * @param args After `proxy`; `--port 0` is added.
 * @param setup Environment, files, shell.
 * @param test Given its address and its shell.
 */
export async function withProxyCommand(
  args: readonly string[],
  setup: CommandSetup,
  test: (url: string, shell: FakeShell) => Promise<void>,
): Promise<EndedCommand> {
  const { shell, code, files } = startCommand(["proxy", "--port", "0", ...args], setup);
  const failed = code.then((code) => Promise.reject(new Error(`It ended with ${code}: ${shell.err}`)));
  await inTime(Promise.race([shell.says("listens on"), failed]), shell);
  failed.catch(() => {}); // from here on its end is what is wanted
  try {
    await test(/listens on (\S+)/.exec(shell.err)![1]!, shell);
  } finally {
    shell.signal("SIGTERM");
  }
  return { code: await code, out: shell.out, err: shell.err, served: shell.served, files };
}

/** The same, or what was said instead once that is plainly not going to happen. */
export function inTime<T>(
  promise: Promise<T>,
  written: { readonly out: string; readonly err: string },
): Promise<T> {
  return happens(() => `what a command does; it said: ${written.out} ${written.err}`, promise);
}

/** A command as a process of its own. */
export interface ChildCommand extends AsyncDisposable {
  readonly pid: number;
  /** What it has written so far. */
  readonly out: string;
  readonly err: string;
  /** The address its standard error names. */
  url(): Promise<string>;
  /** Resolves once standard error says this. */
  says(text: string): Promise<void>;
  /** Sends a signal. */
  kill(signal: EndSignal | ReloadSignal): void;
  /** Its exit code, once it has ended; null when a signal ended it. */
  readonly code: Promise<number | null>;
}

/** How a process of its own is set up. */
export interface ChildOptions {
  /** The environment, beside what the runtime needs; empty unless said. */
  readonly env?: Readonly<Record<string, string>>;
  /** The command line unless said. */
  readonly entry?: "cli" | "proxy";
  /** Another program in place of the entry. */
  readonly command?: CommandLine;
  /** What standard input has; there is none unless said. */
  readonly input?: string;
  /** Where it runs. */
  readonly cwd?: string;
}

/**
 * Starts a command as a process of its own, with nothing of this one's environment but what the runtime needs.
 *
 * @param args As typed.
 * @param options Environment, entry, standard input, folder.
 */
export function spawnCommand(
  args: readonly string[],
  { env = {}, entry = "cli", command: line = entryCommand(entry), input, cwd }: ChildOptions = {},
): ChildCommand {
  const [command, ...first] = line;
  const { PATH, HOME, DENO_DIR, XDG_CACHE_HOME } = processEnv;
  const needed = Object.entries({ PATH, HOME, DENO_DIR, XDG_CACHE_HOME }).filter(([, value]) => value !== undefined);
  const child = spawn(command, [...first, ...args], {
    env: { ...Object.fromEntries(needed), ...env },
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    cwd,
  });
  child.stdin?.end(input);
  const written = { out: "", err: "" };
  const waiting: { text: string; resolve: () => void; reject: (error: Error) => void }[] = [];
  child.stdout!.on("data", (data: Uint8Array) => written.out += new TextDecoder().decode(data));
  child.stderr!.on("data", (data: Uint8Array) => {
    written.err += new TextDecoder().decode(data);
    for (const { text, resolve } of waiting) if (written.err.includes(text)) resolve();
  });
  let isOver = false;
  const code = new Promise<number | null>((resolve) => child.on("close", (code: number | null) => resolve(code)));
  code.then(() => isOver = true);
  code.then((code) => waiting.forEach(({ reject }) => reject(new Error(`It ended with ${code}: ${written.err}`))));
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
      await says("\n  pools:");
      return /listens on (\S+)/.exec(written.err)![1]!;
    },
    kill: (signal) => void kill(child.pid!, signal), // Deno's `child.kill` sends one signal at most, and forgets the exit code
    code,
    async [Symbol.asyncDispose]() {
      if (!isOver) kill(child.pid!, "SIGKILL");
      await code;
    },
  };
}
