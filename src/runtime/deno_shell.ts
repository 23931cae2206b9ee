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
import { toResponse } from "../util/to_response.ts";
import { serveOnDeno } from "./_deno_listener.ts";
import { listenError } from "./_listen_error.ts";
import { clientSignal, OpenResponses, setSignal } from "./_open_responses.ts";
import { createOutput } from "./_output.ts";
import { Stop } from "./_stop.ts";
import { callAfter } from "./_timers.ts";
import { createWorkers, isWorker } from "./_workers.ts";

const lastWaitMs = 1_000;

/** Delay before a server that has failed is started again, ms. */
const restartMs = 100;

/** Deno (2.9.6) panics if it sets up signals for the first time when no descriptor is left: this does it before. */
function setUpSignals(): void {
  if (Deno.build.os === "windows") return;
  const ignore = () => {};
  Deno.addSignalListener("SIGWINCH", ignore);
  Deno.removeSignalListener("SIGWINCH", ignore);
}

async function serve(handler: RequestHandler, options: ServeOptions): Promise<RunningServer> {
  setUpSignals();
  // Deno (2.9.6) shares a port only through Node's sockets, unless it has --unstable-net
  if (options.listener === "node" || options.tls !== undefined || isWorker()) {
    return await (await import("./_node_server.ts")).serveNode(handler, options);
  }
  if (options.listener !== "deno") return serveOnDeno(handler, options);
  const { host, port, onListen } = options;
  const open = new OpenResponses(handler);
  const { plain } = handler;
  // Deno would print the error and respond "Internal Server Error"
  const failed = () => new Response(null, { status: 500 });
  const listen = (port: number): Deno.HttpServer<Deno.NetAddr> =>
    Deno.serve(
      { hostname: host, port, onListen: () => {}, onError: failed },
      plain === undefined ? (request) => open.respond(request) : async (request, info) =>
        toResponse(
          await open.respondPlain(plain, {
            withSignal: (signal) => setSignal(request, signal),
            stop: new Stop(),
            left: () => clientSignal(request),
            peer: () => info.remoteAddr.hostname,
            untilOver: () => info.completed,
          }),
        ),
    );
  let server: DenoServer;
  try {
    server = new DenoServer(listen, port);
  } catch (error) {
    throw listenError(error, `${host}:${port}`);
  }
  onListen?.({ host, port: server.port });
  return { port: server.port, listener: "deno", stop: stopper(server, open) };
}

/** `Deno.serve` (2.9.6) ends when it cannot accept a connection, such as for lack of descriptors: it is started again. */
class DenoServer {
  readonly port: number;
  readonly #listen: (port: number) => Deno.HttpServer<Deno.NetAddr>;
  #server: Deno.HttpServer<Deno.NetAddr>;
  #isStopping = false;
  #isDown = false;
  #cancelRestart: Cancel = () => {};

  constructor(listen: (port: number) => Deno.HttpServer<Deno.NetAddr>, port: number) {
    this.#listen = listen;
    this.#server = listen(port);
    this.port = this.#server.addr.port;
    this.#keepUp();
  }

  shutdown(): Promise<void> {
    this.#isStopping = true;
    this.#cancelRestart();
    return this.#isDown ? Promise.resolve() : this.#server.shutdown();
  }

  #keepUp(): void {
    this.#server.finished.catch(() => this.#restartLater());
  }

  #restartLater(): void {
    this.#isDown = true;
    if (this.#isStopping) return;
    this.#cancelRestart = callAfter(restartMs, () => {
      try {
        this.#server = this.#listen(this.port);
        this.#isDown = false;
        this.#keepUp();
      } catch {
        this.#restartLater(); // still no descriptors
      }
    });
  }
}

/** `shutdown` ends no response, and aborting the server's signal after it throws, so open responses are ended here. */
function stopper(server: DenoServer, open: OpenResponses): (graceMs: number) => Promise<void> {
  let closed: Promise<void> | undefined;
  return async (graceMs) => {
    closed ??= server.shutdown();
    const cancel = callAfter(graceMs, () => open.endAll());
    let cancelLast: Cancel = () => {};
    // a client that does not read must not block the stop
    const atLast = new Promise<void>((resolve) => cancelLast = callAfter(graceMs + lastWaitMs, resolve));
    await Promise.race([closed, atLast]);
    cancel();
    cancelLast();
    open.close();
  };
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
  const known = signals.filter((signal) => signal !== "SIGHUP" || Deno.build.os !== "windows");
  const listeners = known.map((signal) => ({ signal, listen: () => task(signal) }));
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
    serve,
    checkTls: async (pair) => (await import("./_tls_server.ts")).checkKeyPair(pair),
    onSignal,
    onUnhandledRejection,
    prepareToServe() {}, // Deno (2.9.6) accepts V8 flags only at startup
    exit: (code) => Deno.exit(code),
    workers: createWorkers(),
  };
}
