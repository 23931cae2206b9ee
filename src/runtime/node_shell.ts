/**
 * The system interface on Node: servers, signals, standard streams.
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
import { builtin, nodeProcess } from "./_node_builtin.ts";
import { createOutput } from "./_output.ts";
import { createWorkers, servingFlags } from "./_workers.ts";

/** Retry delay for a full pipe, ms. */
const fullPipeMs = 2;

function output(descriptor: 1 | 2): Output {
  const { writeSync } = builtin("node:fs");
  const encoder = new TextEncoder();
  return createOutput({
    isTerminal: builtin("node:tty").isatty(descriptor),
    write(text) {
      for (let bytes = encoder.encode(text); bytes.length > 0;) {
        try {
          bytes = bytes.subarray(writeSync(descriptor, bytes));
        } catch (error) {
          if ((error as { code?: string }).code !== "EAGAIN") return false;
          pause(); // a full pipe accepts more when its reader continues
        }
      }
      return true;
    },
    onExit: (task) => nodeProcess()!.on("exit", task),
  });
}

function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, fullPipeMs);
}

async function readInput(): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of nodeProcess()!.stdin) text += decoder.decode(bytes, { stream: true });
  return text + decoder.decode();
}

async function serve(handler: RequestHandler, options: ServeOptions): Promise<RunningServer> {
  return await (await import("./_node_server.ts")).serveNode(handler, options);
}

function onSignal<Name extends EndSignal | ReloadSignal>(
  signals: readonly Name[],
  task: (signal: Name) => void,
): Cancel {
  const process = nodeProcess()!;
  // on Windows, SIGHUP means that the console is about to close
  const supported = signals.filter((signal) => signal !== "SIGHUP" || process.platform !== "win32");
  const listeners = supported.map((signal) => ({ signal, listen: () => task(signal) }));
  for (const { signal, listen } of listeners) process.on(signal, listen);
  return () => {
    for (const { signal, listen } of listeners) process.off(signal, listen);
  };
}

export function nodeShell(): Shell {
  const stdout = output(1);
  const process = nodeProcess()!;
  return {
    args: process.argv.slice(2),
    stdout,
    stderr: output(2),
    isInteractive: builtin("node:tty").isatty(0),
    setVariable: (name, value) => void (process.env[name] = value),
    readInput,
    readLine: async (prompt) => await (await import("./_read_line.ts")).readLine(prompt),
    serve,
    checkTls: async (pair) => (await import("./_tls_server.ts")).checkKeyPair(pair),
    onSignal,
    onUnhandledRejection(task) {
      process.on("unhandledRejection", task);
      return () => void process.off("unhandledRejection", task);
    },
    prepareToServe: () => builtin("node:v8").setFlagsFromString(servingFlags),
    exit: (code) => process.exit(code),
    workers: createWorkers(),
  };
}
