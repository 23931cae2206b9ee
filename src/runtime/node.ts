/**
 * The runtime port for Node.
 * @module
 */
import type { FileSystem, Runtime } from "../contracts/runtime.ts";
import { createDecompressor } from "./_decompressor.ts";
import { disk, moduleLoader, removeFile, replaceText } from "./_disk.ts";
import { builtin, nodeProcess } from "./_node_builtin.ts";
import { sendOnDemand } from "./_send_on_demand.ts";
import { coarseTimers, systemClock } from "./_timers.ts";
import { Stop } from "./_stop.ts";

const files: FileSystem = {
  readText: (path) => builtin("node:fs").promises.readFile(path, "utf8"),
  writeText: (path, text, options = {}) =>
    builtin("node:fs").promises.writeFile(path, text, { flag: options.createNew ? "wx" : "w" }),
  replaceText,
  remove: removeFile,
};

const env = (name: string) => nodeProcess()?.env[name];

const detach = (timer: unknown) => void (timer as { unref(): unknown }).unref();

export function nodeRuntime(): Runtime {
  builtin("node:fs"); // throws immediately if this Node is too old
  return {
    clock: { ...systemClock(detach), after: coarseTimers(detach) },
    random: Math.random,
    files,
    disk: disk(),
    readAuthorities: async (path) => await (await import("./_authorities.ts")).readAuthorities(path),
    openSocket: async (address) => await (await import("./_open_socket.ts")).openSocket(address),
    send: sendOnDemand(async () => (await import("./_node_send.ts")).send),
    createDecompressor,
    stopper: () => new Stop(),
    modules: moduleLoader(env),
    env,
  };
}
