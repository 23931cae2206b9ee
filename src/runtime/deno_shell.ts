/**
 * The system interface on Deno: servers, signals, standard streams.
 * @module
 */
import type { Cancel } from "../contracts/runtime.ts";
import type {
  EndSignal,
  Output,
  ReloadSignal,
  RequestHandler,
  RunningServer,
  ServeOptions,
  Shell,
} from "../contracts/shell.ts";
import { requireNet } from "./_deno_permissions.ts";
import { serveOnDeno } from "./_deno_server.ts";
import { listenError } from "./_listen_error.ts";
import { createOutput } from "./_output.ts";
import { createWorkers, isWorker } from "./_workers.ts";

/** Deno (2.9.6) panics if it sets up signals for the first time when no descriptor is left: this does it before. */
function setUpSignals(): void {
  if (Deno.build.os === "windows") return;
  const ignore = () => {};
  Deno.addSignalListener("SIGWINCH", ignore);
  Deno.removeSignalListener("SIGWINCH", ignore);
}

async function serve(handler: RequestHandler, options: ServeOptions): Promise<RunningServer> {
  setUpSignals();
  requireListening(options);
  // Deno (2.9.6) shares a port only through Node's sockets, unless it has --unstable-net
  if (options.listener === "node" || options.tls !== undefined || isWorker()) {
    return await (await import("./_node_server.ts")).serveNode(handler, options);
  }
  return serveOnDeno(handler, options);
}

/** @throws {MeshError} `port_not_permitted`. Node's modules would throw where no code can catch it. */
function requireListening({ host, port }: ServeOptions): void {
  try {
    requireNet(host, port);
  } catch (error) {
    throw listenError(error, `${host}:${port}`);
  }
}

function output(stream: typeof Deno.stdout | typeof Deno.stderr): Output {
  const encoder = new TextEncoder();
  return createOutput({
    isTerminal: stream.isTerminal(),
    write(text) {
      try {
        for (let bytes = encoder.encode(text); bytes.length > 0;) bytes = bytes.subarray(stream.writeSync(bytes));
        return true;
      } catch {
        return false;
      }
    },
    onExit(task) {
      for (const way of ["unload", "error", "unhandledrejection"]) globalThis.addEventListener(way, task);
    },
  });
}

function onSignal<Name extends EndSignal | ReloadSignal>(
  signals: readonly Name[],
  task: (signal: Name) => void,
): Cancel {
  // on Windows, SIGHUP means that the console is about to close
  const supported = signals.filter((signal) => signal !== "SIGHUP" || Deno.build.os !== "windows");
  const listeners = supported.map((signal) => ({ signal, listen: () => task(signal) }));
  for (const { signal, listen } of listeners) Deno.addSignalListener(signal, listen);
  return () => {
    for (const { signal, listen } of listeners) Deno.removeSignalListener(signal, listen);
  };
}

function onUnhandledRejection(task: (reason: unknown) => void): Cancel {
  const listen = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    task(event.reason);
  };
  globalThis.addEventListener("unhandledrejection", listen);
  return () => globalThis.removeEventListener("unhandledrejection", listen);
}

export function denoShell(): Shell {
  return {
    args: Deno.args,
    stdout: output(Deno.stdout),
    stderr: output(Deno.stderr),
    isInteractive: Deno.stdin.isTerminal(),
    setVariable: (name, value) => Deno.env.set(name, value),
    readInput: () => new Response(Deno.stdin.readable).text(),
    readLine: async (prompt) => await (await import("./_read_line.ts")).readLine(prompt),
    serve,
    checkTls: async (pair) => (await import("./_tls_server.ts")).checkKeyPair(pair),
    onSignal,
    onUnhandledRejection,
    prepareToServe() {}, // Deno (2.9.6) accepts V8 flags only at startup
    exit: (code) => Deno.exit(code),
    workers: createWorkers(),
  };
}
