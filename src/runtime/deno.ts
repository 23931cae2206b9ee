/**
 * The runtime port for Deno.
 * @module
 */
import type { FileSystem, Runtime } from "../contracts/runtime.ts";
import { readAuthorities } from "./_authorities.ts";
import { createDecompressor } from "./_decompressor.ts";
import { moduleLoader } from "./_modules.ts";
import { removeFile, replaceText } from "./_replace_text.ts";
import { env } from "./_deno_env.ts";
import { denoKeyValues } from "./_deno_kv.ts";
import { disk } from "./_disk.ts";
import { sendOnDemand } from "./_send_on_demand.ts";
import { coarseTimers, systemClock, type Timer } from "./_timers.ts";
import { Stop } from "./_stop.ts";

const files: FileSystem = {
  readText: (path) => Deno.readTextFile(path),
  writeText: (path, text, options = {}) => Deno.writeTextFile(path, text, { createNew: options.createNew ?? false }),
  replaceText,
  remove: removeFile,
};

const detach = (timer: Timer) => Deno.unrefTimer(timer);

export function denoRuntime(): Runtime {
  return {
    clock: { ...systemClock(detach), after: coarseTimers(detach) },
    random: Math.random,
    files,
    disk: disk(),
    openKeyValues: denoKeyValues(),
    modules: moduleLoader(env),
    readAuthorities,
    send: sendOnDemand(async () => (await import("./_deno_send.ts")).send),
    createDecompressor,
    stopper: () => new Stop(),
    env,
  };
}
