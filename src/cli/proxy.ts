/**
 * `modelmesh proxy`: serves until a signal stops it.
 * @module
 */
import type { Cancel } from "../contracts/runtime.ts";
import type { EndSignal, Output } from "../contracts/shell.ts";
import { MeshError, NoProvidersError } from "../errors.ts";
import { type RunningProxy, startProxy } from "../proxy/serve.ts";
import { readPort } from "./args.ts";
import { type Command, type CommandParts, UsageError } from "./command.ts";
import { consoleConnector, severities } from "./console_connector.ts";
import { type Demo, startDemo } from "./demo.ts";
import { engineOf } from "../engine/engine_of.ts";
import { readIfPresent, watchText } from "../util/watch_text.ts";

export const proxy: Command = {
  help: `Usage: modelmesh proxy [options]

Without --config, providers are detected from the environment (OPENAI_API_KEY, ANTHROPIC_API_KEY, …).

Options:
  --config <file>      Configuration (.yaml, .yml or .json)
  --host <address>     Bind address (127.0.0.1)
  --port <port>        Port (8080); 0 takes a free one
  --token <token>      Bearer token clients have to send; may be repeated. MODELMESH_TOKEN works too
  --watch              Read the configuration again when its file changes
  --demo               Three simulated providers and no key: watch a failover
  --log-level <level>  ${severities.join(", ")} (info): the least severe trace shown
  --log-format <form>  text or json: the form of events, whatever standard error is
  --env-file <file>    Take variables from a dotenv file; may be repeated. Those that are set already win
  --json               Print the address as JSON on standard output
  --help               Show this help

Examples:
  modelmesh proxy --demo
  modelmesh proxy --env-file .env --token a-long-secret
  modelmesh proxy --config modelmesh.yaml --host 0.0.0.0 --watch

Events go to standard error, one JSON line each, or a readable line on a terminal. A console sink of the configuration
takes the place of these.
On SIGHUP the configuration is read again; when it is invalid, its problems are printed and the old one stays in force.
With a terminal as standard input SIGHUP ends the proxy: its window was closed.
Exit code: 0 stopped as asked, 1 could not start, 2 usage
`,
  values: ["config", "host", "port", "token", "log-level", "log-format"],
  repeated: ["token"],
  switches: ["demo", "watch"],
  async run(flags, parts) {
    if (flags.has("demo") && flags.value("config") !== undefined) {
      throw new UsageError('"--demo" brings its own configuration: leave out "--config"');
    }
    const path = flags.value("config");
    if (flags.has("watch") && path === undefined) {
      throw new UsageError('"--watch" needs a file to watch: give "--config"');
    }
    const port = readPort(flags.value("port"));
    const host = flags.value("host");
    const { runtime, shell } = parts;
    const output = await consoleConnector(flags, parts);
    const connectors = parts.connectors.map((one) => one.id === output.id ? output : one);
    const console = output.create({}, runtime);
    const demo = flags.has("demo") ? await startDemo(shell, runtime.clock) : undefined;
    try {
      const config = demo?.config ?? path;
      const known = path !== undefined && flags.has("watch") ? await readIfPresent(path, runtime.files!) : undefined;
      const running = await startProxy({ connectors, runtime, shell, console }, {
        tokens: flags.all("token"),
        ...(config === undefined ? {} : { config }),
        ...(host === undefined ? {} : { host }),
        ...(port === undefined ? {} : { port }),
      });
      const cancel = reloadOnRequest(running, { path, known, isWatched: flags.has("watch"), parts });
      greet(running, { demo, json: flags.json, shell });
      await untilSignal(parts, running);
      cancel();
      return 0;
    } finally {
      await demo?.stop();
    }
  },
  advice(error) {
    if (NoProvidersError.isInstance(error)) return "Or try it without a key: modelmesh proxy --demo";
    if (MeshError.isInstance(error) && error.code === "port_in_use") {
      return "Use another one with --port, or --port 0 for a free one";
    }
  },
};

interface GreetingOptions {
  readonly demo: Demo | undefined;
  readonly json: boolean;
  readonly shell: CommandParts["shell"];
}

function greet(
  { url, mesh, warnings }: RunningProxy,
  { demo, json, shell: { stdout, stderr } }: GreetingOptions,
): void {
  if (json) stdout.write(`${JSON.stringify({ url, pools: mesh.listPools() })}\n`);
  for (const warning of warnings) stderr.write(`Warning: ${warning}\n`);
  const { registry } = engineOf(mesh);
  const providers = registry.instances.map(({ entry }) => `${entry.id} (${entry.source})`).join(", ");
  const pools = registry.pools.map(({ name, members }) => `${name} (${members.length})`).join(", ");
  stderr.write(`ModelMesh listens on ${url}\n  providers: ${providers}\n  pools: ${pools}\n`);
  if (demo !== undefined) stderr.write(demoHint(url, stderr));
}

function demoHint(url: string, { isTerminal }: Output): string {
  return `
Try this in another terminal, a few times in a row:

  curl -iN ${url}/v1/chat/completions -H 'content-type: application/json' \\
    -d '{"model":"chat-completion","stream":true,"messages":[{"role":"user","content":"Hello"}]}'

Three simulated providers take turns. The second one refuses every other call, its first one included, for 5 seconds:
the answer comes all the same, x-mesh-model says from which model, and the events ${
    isTerminal ? "below" : "on this stream"
  } say why.

`;
}

interface ReloadOptions {
  readonly path: string | undefined;
  /** The configuration's text at the start. */
  readonly known: string | undefined;
  readonly isWatched: boolean;
  readonly parts: CommandParts;
}

/** Reads the configuration again on SIGHUP, and with `--watch` when its file changes. */
function reloadOnRequest(running: RunningProxy, { path, known, isWatched, parts }: ReloadOptions): Cancel {
  const { shell, runtime: { files, clock } } = parts;
  const reload = async () => {
    try {
      const warnings = await running.reload();
      for (const warning of warnings) shell.stderr.write(`Warning: ${warning}\n`);
      shell.stderr.write(`Reloaded ${path}\n`);
    } catch (error) {
      const reason = engineOf(running.mesh).redact(error instanceof Error ? error.message : String(error));
      shell.stderr.write(`Not reloaded, the old configuration stays in force. ${reason}\n`);
    }
  };
  const cancels = shell.isInteractive ? [] : [shell.onSignal(["SIGHUP"], reload)];
  const read = () => readIfPresent(path!, files!);
  if (isWatched) cancels.push(watchText(read, { clock, known, onChange: reload }));
  return () => cancels.forEach((cancel) => cancel());
}

/** Resolves once the proxy has stopped after a signal; a second signal ends the process at once. */
async function untilSignal({ shell }: CommandParts, running: RunningProxy): Promise<void> {
  let signals = 0;
  const { promise, resolve, reject } = deferred();
  const ending: EndSignal[] = ["SIGINT", "SIGTERM"];
  if (shell.isInteractive) ending.push("SIGHUP");
  const cancel = shell.onSignal(ending, (signal) => {
    if (++signals > 1) {
      if (signal === "SIGHUP") return; // shell and kernel both send one when a window is closed
      shell.exit(1);
    }
    shell.stderr.write(`${signal}: finishing open responses, up to 30 s; once more to stop at once\n`);
    running.stop().then(resolve, reject);
  });
  await promise;
  cancel();
}

function deferred(): { promise: Promise<void>; resolve: () => void; reject: (reason: unknown) => void } {
  let resolve = () => {};
  let reject: (reason: unknown) => void = () => {};
  const promise = new Promise<void>((onResolve, onReject) => [resolve, reject] = [onResolve, onReject]);
  return { promise, resolve, reject };
}
