/**
 * Deno's key-value store, which requires a flag.
 * @module
 */
import type { KeyValues } from "../contracts/runtime.ts";

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

type Open = (path?: string) => Promise<Kv>;

/** Undefined if Deno was started without the flag. */
export function denoKeyValues(): ((path?: string) => Promise<KeyValues>) | undefined {
  const { openKv } = Deno as { readonly openKv?: Open };
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
