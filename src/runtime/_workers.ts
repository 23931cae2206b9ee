/**
 * Processes that serve one port together, by `node:cluster`, which Deno has too. No process hands connections on: one
 * that is handed to a process that dies would stay open and unanswered.
 * @module
 */
import type { Worker as ClusterWorker } from "node:cluster";
import type { ListenOptions } from "node:net";
import type { Link, Worker, Workers } from "../contracts/shell.ts";
import { builtin, nodeProcess } from "./_node_builtin.ts";
import { callAfter } from "./_timers.ts";

/** Says of a process that it was started by {@linkcode workersOf}, and which one it is. */
const variable = "MODELMESH_WORKER";

/** Whether this process is one of several on a port, which only Node's server can share. */
export function isWorker(): boolean {
  return nodeProcess()?.env[variable] !== undefined;
}

/** On Deno each worker binds the port: handing connections on (2.9.6) stalls beside messages on the same line. */
const bindsItself = "Deno" in globalThis;

/** V8 flags of a process that serves: see `Shell.prepareToServe`. */
export const servingFlags = "--no-memory-reducer";

/** On Deno (2.9.6) flags take effect only at the start of a process. */
function flagsOfWorker(): Record<string, string> {
  if (!bindsItself) return {};
  const { DENO_V8_FLAGS: own } = nodeProcess()!.env;
  return { DENO_V8_FLAGS: own ? `${own},${servingFlags}` : servingFlags };
}

/** How this process listens: alone, or where the others of its kind do. */
export function listenOptions(port: number, host: string): ListenOptions {
  if (!isWorker() || !bindsItself) return { port, host };
  return { port: Number(slotOf()[2] || port), host, exclusive: true, reusePort: true };
}

/** Slot, count and, once it is known, port. */
function slotOf(): string[] {
  return (nodeProcess()?.env[variable] ?? "").split("/");
}

/** Messages of a process that has ended have come by then, ms. */
const lastMessagesMs = 100;

/** So often a process looks whether the one that started it is there, ms. */
const orphanMs = 500;

/** How this process starts others like it. */
export function workersOf(): Workers {
  return {
    get supervisor() {
      if (!isWorker()) return undefined;
      const [slot = 0, count = 1] = slotOf().map(Number);
      return { slot, count, link: linkToSupervisor() };
    },
    get cores() {
      return builtin("node:os").availableParallelism();
    },
    start({ slot, count, port = "" }) {
      const cluster = builtin("node:cluster");
      if (!bindsItself) cluster.schedulingPolicy = cluster.SCHED_NONE; // all accept from one queue, which none of them owns
      return workerOf(cluster.fork({ [variable]: `${slot}/${count}/${port}`, ...flagsOfWorker() }));
    },
  };
}

function workerOf(worker: ClusterWorker): Worker {
  const isSilent = new Promise<void>((resolve) => worker.once("disconnect", resolve));
  return {
    ended: new Promise((resolve) =>
      worker.once("exit", (code) => {
        callAfter(lastMessagesMs, () => resolve(code)); // Deno (2.9.6) does not always say that the line has ended
        void isSilent.then(() => resolve(code));
      })
    ),
    send(message) {
      if (worker.isConnected()) worker.send(message as object, undefined, () => {}); // it may be gone by now: it has no use for it
    },
    onMessage: (listener) => void worker.on("message", listener),
  };
}

function linkToSupervisor(): Link {
  const process = nodeProcess()!;
  const { ppid } = process;
  // the end of the line says it at once, but Deno (2.9.6) may miss it
  const look = (): unknown => process.ppid === ppid ? callAfter(orphanMs, look) : process.exit(1);
  look();
  return {
    send: (message) => void process.send?.(message, undefined, undefined, () => {}),
    onMessage: (listener) => process.on("message", listener),
  };
}
