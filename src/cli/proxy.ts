/**
 * `modelmesh proxy`: serves until a signal stops it.
 * @module
 */
import type { Cancel } from "../contracts/runtime.ts";
import type { EndSignal, Output } from "../contracts/shell.ts";
import { MeshError, NoProvidersError } from "../errors.ts";
import { type RunningProxy, startProxy } from "../proxy/serve.ts";
import { describeServed, listServed, listServedPools } from "../proxy/served.ts";
import { readPort } from "./args.ts";
import { type Command, type CommandParts, type ExitCode, type Flags, UsageError } from "./command.ts";
import {
  asJsonLines,
  asText,
  consoleConnector,
  type ProcessFormat,
  type ProcessMessage,
  severities,
  stopMessage,
} from "./console_connector.ts";
import { paintFor } from "./table.ts";
import type { Demo } from "./demo.ts";
import type { SupervisedWorker } from "./supervised_worker.ts";
import type { Greeting } from "./worker_messages.ts";
import { originProblem } from "../config/schema/formats.ts";
import { getEngine } from "../engine/get_engine.ts";
import { readIfPresent, watchText } from "../util/watch_text.ts";

/** Maximum number of worker processes. */
const maxWorkers = 256;

export const proxy: Command = {
  help: `Usage: modelmesh proxy [options]

Without --config, providers are detected from the environment (OPENAI_API_KEY, ANTHROPIC_API_KEY, …).

Options:
  --config <file>      Configuration (.yaml, .yml or .json)
  --host <address>     Bind address (127.0.0.1)
  --port <port>        Port (8080); 0 selects a free port
  --token <token>      Bearer token that clients must send; repeatable. Also MODELMESH_TOKEN
  --cors-origin <url>  Origin whose web pages may send requests, in addition to proxy.cors.origins; repeatable
  --watch              Reload the configuration when its file changes
  --workers <number>   Number of processes on the port (1), or "auto": one per processor. They share limits
  --demo               Serve three simulated providers, without API keys, to watch a failover
  --log-level <level>  ${severities.join(", ")} (info): minimum severity of printed traces
  --log-format <form>  text or json: format of printed events (text on a terminal, otherwise json)
  --env-file <file>    Load variables from a dotenv file; repeatable. Variables already set take precedence
  --json               Print {"url", "pools"} as JSON on standard output, with models and prices
  --help               Show this help

Examples:
  modelmesh proxy --demo
  modelmesh proxy --env-file .env --token a-long-secret
  modelmesh proxy --config modelmesh.yaml --host 0.0.0.0 --watch

The start prints the models of each pool in the order in which they are tried, with provider and price, and what follows a
failure; --json prints all of them. --log-level warning leaves them out.

Events are printed to standard error as JSON lines, or as readable lines on a terminal. A console sink in the
configuration replaces this output. With --log-format json, everything on standard error is JSON lines: also the
address, reloads, signals, and why a start failed.
SIGHUP reloads the configuration. If it is invalid, its problems are printed and the previous one stays in force.
If standard input is a terminal, SIGHUP stops the proxy, because its window was closed.
Exit code: 0 stopped on request, 1 could not start, 2 usage error
`,
  values: ["config", "host", "port", "token", "cors-origin", "workers", "log-level", "log-format"],
  repeated: ["token", "cors-origin"],
  switches: ["demo", "watch"],
  async run(flags, parts) {
    const path = readConfigPath(flags);
    const workers = readWorkers(flags, parts);
    const origins = readOrigins(flags);
    const format = flags.value("log-format") === "json" ? asJsonLines(parts.runtime.clock) : asText;
    if (workers > 1 && parts.shell.workers.supervisor === undefined) {
      return await superviseWorkers(workers, { parts, format });
    }
    const port = readPort(flags.value("port"));
    const host = flags.value("host");
    const { runtime, shell } = parts;
    const output = await consoleConnector(flags, parts);
    const connectors = parts.connectors.map((connector) => connector.id === output.id ? output : connector);
    const console = output.create({}, runtime);
    shell.prepareToServe();
    const worker = await supervisedWorker(parts);
    const demo = flags.has("demo") ? await (await import("./demo.ts")).startDemo(shell, runtime.clock) : undefined;
    try {
      const config = demo?.config ?? path;
      const initial = path !== undefined && flags.has("watch") ? await readIfPresent(path, runtime.files!) : undefined;
      const beside = worker && { shared: worker.shared, slots: worker.slots, overview: worker.overview };
      const running = await startProxy({ connectors, runtime, shell, console, ...beside }, {
        tokens: flags.all("token"),
        origins,
        ...(config === undefined ? {} : { config }),
        ...(host === undefined ? {} : { host }),
        ...(port === undefined ? {} : { port }),
      });
      const reload = reloading(running, { path, parts, format, isSilent: worker?.isFirst === false });
      const cancelWatch = flags.has("watch") ? watchFile(path!, { initial, parts, onChange: reload }) : () => {};
      const greeting = createGreeting(running, { demo, flags, parts, format });
      if (worker === undefined) await untilSignal(parts, { running, reload, greeting, format });
      else await untilOrdered(worker, { running, reload, greeting, shell });
      cancelWatch();
      return 0;
    } finally {
      await demo?.stop();
    }
  },
  advice(error) {
    if (NoProvidersError.isInstance(error)) return "Or try it without an API key: modelmesh proxy --demo";
    if (MeshError.isInstance(error) && error.code === "port_in_use") {
      return "Use another port with --port, or --port 0 for a free one";
    }
  },
};

/** Levels of traces at which a start prints what pools use. */
const verboseLevels: readonly string[] = ["debug", "info"];

/** Returns what is printed once the proxy listens. */
function createGreeting(
  { url, mesh, warnings }: RunningProxy,
  { demo, flags, parts: { shell: { stderr }, runtime }, format }: {
    readonly format: ProcessFormat;
    readonly demo: Demo | undefined;
    readonly flags: Flags;
    readonly parts: CommandParts;
  },
): Greeting {
  const engine = getEngine(mesh);
  const { providers, pools, poolList, text } = listServed(engine);
  const isVerbose = verboseLevels.includes(flags.value("log-level") ?? "info");
  const served = isVerbose || flags.json ? listServedPools(engine) : [];
  const description = isVerbose ? describeServed(engine, paintFor(stderr, runtime)) : "";
  const listening = `ModelMesh listens on ${url}`;
  return {
    port: Number(/:(\d+)$/.exec(url)![1]),
    out: flags.json ? `${JSON.stringify({ url, pools: served })}\n` : "",
    err: warnings.map((warning) => format(toWarning(warning))).join("") + format({
      severity: "info",
      message: `${listening} with the pools ${poolList}`,
      text: `${listening}\n${text}${description}${demo === undefined ? "" : demoHint(url, stderr)}`,
      url,
      providers,
      pools,
      ...(isVerbose && { served }),
    }),
  };
}

function toWarning(message: string): ProcessMessage {
  return { severity: "warning", message, text: `Warning: ${message}\n` };
}

function demoHint(url: string, { isTerminal }: Output): string {
  return `
Try this in another terminal, a few times in a row:

  curl -iN ${url}/v1/chat/completions -H 'content-type: application/json' \\
    -d '{"model":"chat-completion","stream":true,"messages":[{"role":"user","content":"Hello"}]}'

Three simulated providers take turns. The second one returns 429 with "retry-after: 5" to every other call, beginning
with its first. Another provider then answers: x-mesh-model names it, and the events ${
    isTerminal ? "below" : "on this stream"
  } give the reason.
The dashboard at ${url}/ui shows the same.

`;
}

/** Returns a function that reloads the configuration and reports the result. */
function reloading(running: RunningProxy, { path, isSilent, format, parts: { shell } }: {
  readonly format: ProcessFormat;
  readonly path: string | undefined;
  /** Whether another process reports the result. */
  readonly isSilent: boolean;
  readonly parts: CommandParts;
}): () => void {
  const print = (message: ProcessMessage) => isSilent || shell.stderr.write(format(message));
  return () => {
    running.reload().then((warnings) => {
      for (const warning of warnings) print(toWarning(warning));
      print({ severity: "info", message: `Reloaded ${path}` });
    }, (error) => {
      const reason = getEngine(running.mesh).redact(error instanceof Error ? error.message : String(error));
      print({ severity: "error", message: `Not reloaded, the current configuration is kept. ${reason}` });
    });
  };
}

function watchFile(path: string, { initial, parts: { runtime: { files, clock } }, onChange }: {
  /** Text of the configuration at the start. */
  readonly initial: string | undefined;
  readonly parts: CommandParts;
  readonly onChange: () => void;
}): Cancel {
  return watchText(() => readIfPresent(path, files!), { clock, initial, onChange });
}

/** A proxy that listens, and its controls. */
interface Listening {
  readonly running: RunningProxy;
  readonly reload: () => void;
  readonly greeting: Greeting;
  readonly format: ProcessFormat;
}

/** Resolves once the proxy has stopped after a signal. A second signal exits immediately. */
async function untilSignal({ shell }: CommandParts, { running, reload, greeting, format }: Listening): Promise<void> {
  const cancelReload = shell.isInteractive ? () => {} : shell.onSignal(["SIGHUP"], reload);
  shell.stdout.write(greeting.out);
  shell.stderr.write(greeting.err);
  let signals = 0;
  const { promise, resolve, reject } = deferred();
  const ending: EndSignal[] = ["SIGINT", "SIGTERM"];
  if (shell.isInteractive) ending.push("SIGHUP");
  const cancel = shell.onSignal(ending, (signal) => {
    if (++signals > 1) {
      if (signal === "SIGHUP") return; // both shell and kernel send it when a window is closed
      shell.exit(1);
    }
    shell.stderr.write(format(stopMessage(signal)));
    running.stop().then(resolve, reject);
  });
  await promise;
  cancel();
  cancelReload();
}

/** Resolves once a worker process has stopped. Its supervisor handles the signals. */
async function untilOrdered(
  worker: SupervisedWorker,
  { running, reload, greeting, shell }: Omit<Listening, "format"> & Pick<CommandParts, "shell">,
): Promise<void> {
  const cancel = shell.onSignal(["SIGINT", "SIGTERM", "SIGHUP"], () => {}); // a terminal signals all of its processes
  const { promise, resolve, reject } = deferred();
  worker.greet(greeting);
  worker.onOrder((order) => {
    if (order === "reload") reload();
    else running.stop().then(resolve, reject);
  });
  await promise;
  cancel();
}

/** Reads the path of the configuration. Rejects options that contradict it. */
function readConfigPath(flags: Flags): string | undefined {
  const path = flags.value("config");
  if (flags.has("demo") && path !== undefined) {
    throw new UsageError('"--demo" cannot be combined with "--config": it has its own configuration');
  }
  if (flags.has("watch") && path === undefined) {
    throw new UsageError('"--watch" needs "--config": the file to watch');
  }
  return path;
}

/** Reads the origins of web pages, of which a trailing slash is removed: addresses are copied with it. */
function readOrigins(flags: Flags): readonly string[] {
  return flags.all("cors-origin").map((text) => {
    const origin = text.replace(/\/$/, "");
    const problem = originProblem(origin);
    if (problem !== undefined) throw new UsageError(`The option "--cors-origin": ${problem}, not "${text}"`);
    return origin;
  });
}

/** Returns the number of worker processes. */
function readWorkers(flags: Flags, { shell }: CommandParts): number {
  const text = flags.value("workers");
  if (text === undefined) return 1;
  const count = text === "auto" ? shell.workers.cores : Number(text);
  if (text !== "auto" && !/^[1-9]\d{0,2}$/.test(text) || count > maxWorkers) {
    throw new UsageError(`The option "--workers" takes "auto" or a number from 1 to ${maxWorkers}, not "${text}"`);
  }
  if (flags.has("demo")) throw new UsageError('"--demo" cannot be combined with "--workers": it runs in one process');
  return count;
}

async function superviseWorkers(
  count: number,
  { parts: { shell, runtime }, format }: { readonly parts: CommandParts; readonly format: ProcessFormat },
): Promise<ExitCode> {
  const { supervise } = await import("./supervisor.ts");
  try {
    return await supervise({ shell, runtime, count, workers: shell.workers, format });
  } catch (error) {
    const denied = (await import("../util/denial.ts")).describeDenial(error);
    throw denied === undefined ? error : new MeshError(`Cannot start the processes of --workers: ${denied}`);
  }
}

/** Returns the worker side of the supervisor link; undefined in a process without a supervisor. */
async function supervisedWorker({ shell, runtime }: CommandParts): Promise<SupervisedWorker | undefined> {
  const supervised = shell.workers.supervisor;
  return supervised && new (await import("./supervised_worker.ts")).SupervisedWorker(supervised, runtime.clock);
}

function deferred(): { promise: Promise<void>; resolve: () => void; reject: (reason: unknown) => void } {
  let resolve = () => {};
  let reject: (reason: unknown) => void = () => {};
  const promise = new Promise<void>((onResolve, onReject) => [resolve, reject] = [onResolve, onReject]);
  return { promise, resolve, reject };
}
