/**
 * Processes that share one port with `node:cluster`, also on Deno. Processes do not pass connections to each other,
 * since a connection passed to a process that dies would stay open without a response.
 * @module
 */
import type { Worker as ClusterWorker } from "node:cluster";
import type { ListenOptions } from "node:net";
import type { Link, Worker, Workers } from "../contracts/shell.ts";
import { env, requirePermission } from "./_deno_permissions.ts";
import { builtin, nodeProcess } from "./_node_builtin.ts";
import { callAfter } from "./_timers.ts";

/** Environment variable of processes started by {@linkcode createWorkers}, with their slot. */
const variable = "MODELMESH_WORKER";

/** Whether this process shares a port with others, which only Node's server supports. */
export function isWorker(): boolean {
  return slotText() !== undefined;
}

/** On Deno each worker binds the port: passing connections (2.9.6) stalls while messages are exchanged. */
const bindsItself = "Deno" in globalThis;

/** V8 flags of serving processes: see `Shell.prepareToServe`. */
export const servingFlags = "--no-memory-reducer";

/**
 * Those for the start of a process on Deno (2.9.6), which takes none later. It keeps what V8 has compiled by the end of an
 * import for the next start: without the second flag, that excludes nearly all functions.
 */
export const denoServingFlags: string = `${servingFlags},--no-lazy`;

function flagsOfWorker(): Record<string, string> {
  if (!bindsItself) return {};
  const { DENO_V8_FLAGS: own } = nodeProcess()!.env;
  return { DENO_V8_FLAGS: own ? `${own},${denoServingFlags}` : denoServingFlags };
}

/** How this process listens: alone, or on a shared port. */
export function listenOptions(port: number, host: string): ListenOptions {
  if (!isWorker() || !bindsItself) return { port, host };
  return { port: Number(readSlot()[2] || port), host, exclusive: true, reusePort: true };
}

/** Slot, count and, when known, port. */
function readSlot(): string[] {
  return (slotText() ?? "").split("/");
}

function slotText(): string | undefined {
  if (!("Deno" in globalThis)) return nodeProcess()?.env[variable];
  return env(variable); // access to `process` would take as long as the start of Deno itself
}

/** Time for the last messages of an ended process to arrive, ms. */
const lastMessagesMs = 100;

/** Interval of checks whether the parent process exists, ms. */
const orphanMs = 500;

/** Starts and connects worker processes. */
export function createWorkers(): Workers {
  return {
    get supervisor() {
      if (!isWorker()) return undefined;
      const [slot = 0, count = 1] = readSlot().map(Number);
      return { slot, count, link: linkToSupervisor() };
    },
    get cores() {
      return builtin("node:os").availableParallelism();
    },
    start({ slot, count, port = "" }) {
      const cluster = builtin("node:cluster");
      if (bindsItself) requireFork();
      if (!bindsItself) cluster.schedulingPolicy = cluster.SCHED_NONE; // all accept from one queue, which none owns
      return toWorker(cluster.fork({ [variable]: `${slot}/${count}/${port}`, ...flagsOfWorker() }));
    },
  };
}

/** @throws {Deno.errors.NotCapable} If this process may not start itself; it passes on its environment. */
function requireFork(): void {
  requirePermission({ name: "env" });
  requirePermission({ name: "run", command: Deno.execPath() });
}

function toWorker(worker: ClusterWorker): Worker {
  const isSilent = new Promise<void>((resolve) => worker.once("disconnect", resolve));
  return {
    ended: new Promise((resolve, reject) =>
      worker.once("exit", (code) => {
        callAfter(lastMessagesMs, () => resolve(code)); // Deno (2.9.6) does not always report a disconnect
        isSilent.then(() => resolve(code), reject);
      })
    ),
    send(message) {
      if (worker.isConnected()) worker.send(message as object, undefined, () => {}); // it may have ended by now
    },
    onMessage: (listener) => void worker.on("message", listener),
  };
}

function linkToSupervisor(): Link {
  const process = nodeProcess()!;
  const { ppid } = process;
  // a disconnect is reported immediately, but Deno (2.9.6) may miss it
  const look = (): unknown => process.ppid === ppid ? callAfter(orphanMs, look) : process.exit(1);
  look();
  return {
    send: (message) => void process.send?.(message, undefined, undefined, () => {}),
    onMessage: (listener) => process.on("message", listener),
  };
}
