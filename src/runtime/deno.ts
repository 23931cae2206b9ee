/**
 * The runtime port for Deno.
 * @module
 */
import type { FileSystem, KeyValues, Runtime } from "../contracts/runtime.ts";
import { createDecompressor } from "./_decompressor.ts";
import { env, requireNet, requirePermission } from "./_deno_permissions.ts";
import { disk, moduleLoader, removeFile, replaceText } from "./_disk.ts";
import { sendOnDemand } from "./_send_on_demand.ts";
import { Stop } from "./_stop.ts";
import { coarseTimers, systemClock, type Timer } from "./_timers.ts";

/** The used part of `Deno.Kv`, which is declared only with the flag. */
interface Kv {
  get(key: readonly string[]): Promise<{ readonly value: unknown; readonly versionstamp: string | null }>;
  list(selector: { prefix: readonly string[] }): AsyncIterable<{ readonly key: readonly string[] }>;
  atomic(): Atomic;
  close(): void;
}

interface Atomic {
  check(entry: { key: readonly string[]; versionstamp: string | null }): Atomic;
  set(key: readonly string[], value: unknown): Atomic;
  delete(key: readonly string[]): Atomic;
  commit(): Promise<{ readonly ok: boolean }>;
}

/** Undefined if Deno was started without the flag. */
function denoKeyValues(): ((path?: string) => Promise<KeyValues>) | undefined {
  const { openKv } = Deno as { readonly openKv?: (path?: string) => Promise<Kv> };
  return openKv && (async (path) => over(await openKv(path)));
}

function over(kv: Kv): KeyValues {
  return {
    async get(key) {
      const { value, versionstamp } = await kv.get(key);
      return { value: value instanceof Uint8Array ? value : undefined, version: versionstamp };
    },
    list: async (prefix) => (await Array.fromAsync(kv.list({ prefix }))).map(({ key }) => key),
    async commit({ check, set, deletes = [] }) {
      const atomic = kv.atomic();
      if (check !== undefined) atomic.check({ key: check.key, versionstamp: check.version });
      if (set !== undefined) atomic.set(...set);
      for (const key of deletes) atomic.delete(key);
      return (await atomic.commit()).ok;
    },
    close: () => kv.close(),
  };
}

const files: FileSystem = {
  async readText(path) {
    requirePermission({ name: "read", path });
    return await Deno.readTextFile(path);
  },
  async writeText(path, text, options = {}) {
    requirePermission({ name: "write", path });
    await Deno.writeTextFile(path, text, { createNew: options.createNew ?? false });
  },
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
    readAuthorities: async (path) => await (await import("./_authorities.ts")).readAuthorities(path),
    openSocket: async (address) => {
      requireNet(address.host, address.port);
      return await (await import("./_open_socket.ts")).openSocket(address);
    },
    requireConnection: ({ host, port }) => requireNet(host, port),
    send: sendOnDemand(async () => (await import("./_deno_send.ts")).send),
    createDecompressor,
    stopper: () => new Stop(),
    env,
  };
}
