/**
 * What the entries of every storage do that has them. It needs no Deno, so that storages of the browser are held to it in a
 * browser:
 *
 *     for (const { name, run } of entriesConformance((clock) => [new MemoryStorage(clock)])) it(name, run);
 * @module
 */
import type { ExpiringEntries, Storage } from "../../src/contracts/storage.ts";
import { type FakeClock, fakeClock } from "../../src/runtime/test.ts";
import { type ConformanceCase, same } from "./_plain.ts";

/** Makes an empty storage that shares nothing with the one before: as one process sees it, and as another does. */
export type MakeEntries = (clock: FakeClock) => readonly Storage[] | Promise<readonly Storage[]>;

interface Scene {
  readonly entries: ExpiringEntries;
  /** As another process sees them, or the same. */
  readonly others: ExpiringEntries;
  readonly storage: Storage;
  readonly clock: FakeClock;
}

const ttlMs = 1_000_000;
const bytes = (...values: number[]) => Uint8Array.from(values);
const oddKeys = [
  "",
  " ",
  "a b/c.d",
  "__proto__",
  "ключ",
  "👍",
  "a\n\0b",
  "x".repeat(300),
  '"\\%00',
  "*[a]?{b}",
  "'; --",
];
const everyByte = Uint8Array.from({ length: 70_000 }, (_, index) => index % 256);
const noneLeft = { entries: 0, bytes: 0 };

const cases: Record<string, (scene: Scene) => Promise<void>> = {
  async "what was written is read byte by byte, also by another process"({ entries, others, clock }) {
    for (const data of [bytes(0, 255, 128), bytes(), bytes(1), everyByte, everyByte.subarray(7, 9)]) {
      await entries.set("key", data, clock.now() + ttlMs);
      same([await entries.get("key"), await others.get("key")], [data, data]);
    }
  },
  async "an entry of 5 MB is read as it was written, and replaced by a short one whole"({ entries, clock }) {
    const data = new Uint8Array(5_000_000).map((_, index) => (index * 31) % 251);
    await entries.set("key", data, clock.now() + ttlMs);
    const read = await entries.get("key");
    same([read?.length, read?.every((byte, index) => byte === data[index])], [data.length, true]);
    same(await entries.stats(), { entries: 1, bytes: data.length });
    await entries.set("key", bytes(7), clock.now() + ttlMs);
    same([await entries.get("key"), await entries.stats()], [bytes(7), { entries: 1, bytes: 1 }]);
  },
  async "an entry that is not there is undefined"({ entries }) {
    same([await entries.get("key"), await entries.delete("key"), await entries.clear()], [undefined, false, 0]);
    same(await entries.stats(), noneLeft);
  },
  async "what is written and what is read stays the caller's own"({ entries, clock }) {
    const data = bytes(1, 2);
    await entries.set("key", data, clock.now() + ttlMs);
    data[0] = 9;
    const read = await entries.get("key");
    read![1] = 9;
    same([await entries.get("key"), read?.buffer.byteLength], [bytes(1, 2), 2]);
  },
  async "an entry is there until it expires, and then nowhere"({ entries, others, clock }) {
    await entries.set("key", bytes(1), clock.now() + ttlMs);
    await entries.set("later", bytes(2, 3), clock.now() + 3 * ttlMs);
    await clock.advance(ttlMs / 2);
    same([await entries.get("key"), await others.get("key")], [bytes(1), bytes(1)]);
    await clock.advance(ttlMs / 2);
    same([await entries.get("key"), await others.get("key"), await entries.delete("key")], [
      undefined,
      undefined,
      false,
    ]);
    same([await entries.stats(), await entries.get("later")], [{ entries: 1, bytes: 2 }, bytes(2, 3)]);
    await clock.advance(2 * ttlMs);
    same([await entries.stats(), await entries.clear()], [noneLeft, 0]);
  },
  async "a new write has its own expiry, longer or shorter"({ entries, clock }) {
    await entries.set("longer", bytes(1), clock.now() + ttlMs);
    await entries.set("longer", bytes(2), clock.now() + 3 * ttlMs);
    await entries.set("shorter", bytes(1), clock.now() + 3 * ttlMs);
    await entries.set("shorter", bytes(2), clock.now() + ttlMs);
    await clock.advance(2 * ttlMs);
    same([await entries.get("longer"), await entries.get("shorter")], [bytes(2), undefined]);
  },
  async "an expiry in the past leaves nothing"({ entries, clock }) {
    await entries.set("key", bytes(1), clock.now() + ttlMs);
    for (const at of [clock.now(), clock.now() - ttlMs, 0]) {
      await entries.set("key", bytes(2), at);
      same([await entries.get("key"), await entries.stats()], [undefined, noneLeft]);
    }
  },
  async "any text is a key"({ entries, clock }) {
    for (const [index, key] of oddKeys.entries()) await entries.set(key, bytes(index), clock.now() + ttlMs);
    for (const [index, key] of oddKeys.entries()) same(await entries.get(key), bytes(index));
    same(await entries.stats(), { entries: oddKeys.length, bytes: oddKeys.length });
    same([await entries.delete(oddKeys[9]!), await entries.clear()], [true, oddKeys.length - 1]);
  },
  async "deleting tells whether there was one"({ entries, clock }) {
    await entries.set("a", bytes(1), clock.now() + ttlMs);
    await entries.set("ab", bytes(2), clock.now() + ttlMs);
    same([await entries.delete("a"), await entries.delete("a"), await entries.delete("never")], [true, false, false]);
    same([await entries.get("a"), await entries.get("ab")], [undefined, bytes(2)]);
  },
  async "entries are apart from records and locks of their name"({ entries, storage, clock }) {
    const record = new TextEncoder().encode("[1]"); // of JSON, as those of a mesh are
    await storage.save("key", record);
    const lock = await storage.acquire("key", { owner: "a", ttlMs });
    same([await entries.get("key"), await entries.stats()], [undefined, noneLeft]);
    await entries.set("key", bytes(2), clock.now() + ttlMs);
    await entries.set("other", bytes(3), clock.now() + ttlMs);
    same([await storage.load("key"), await storage.list()], [record, ["key"]]);
    same([await entries.clear(), await storage.load("key"), await storage.isLocked("key")], [2, record, true]);
    await storage.release(lock);
  },
  async "all are counted and deleted, however many, also those of another process"({ entries, others, clock }) {
    const keys = Array.from({ length: 700 }, (_, index) => `entry-${index}`);
    await Promise.all(
      keys.map((key, index) => (index % 2 ? entries : others).set(key, bytes(1, 2), clock.now() + ttlMs)),
    );
    same([await entries.stats(), await others.stats()], Array(2).fill({ entries: 700, bytes: 1400 }));
    same([await others.clear(), await entries.stats(), await entries.get("entry-1")], [700, noneLeft, undefined]);
    await entries.set("key", bytes(1), clock.now() + ttlMs);
    same(await others.stats(), { entries: 1, bytes: 1 });
  },
  async "writes of one key at once leave one of them, whole"({ entries, others, clock }) {
    const written = [1, 2, 3, 4].map((value) => new Uint8Array(70_000).fill(value));
    await Promise.all(
      written.map((data, index) => (index % 2 ? entries : others).set("key", data, clock.now() + ttlMs)),
    );
    const read = await entries.get("key");
    same([read?.length, read?.every((byte) => byte === read[0])], [70_000, true]);
    same(await entries.stats(), { entries: 1, bytes: 70_000 });
  },
  async "deleting all while others write and read fails none of them"({ entries, others, clock }) {
    const keys = Array.from({ length: 60 }, (_, index) => `entry-${index}`);
    const write = (value: number) =>
      Promise.all(keys.map((key) => others.set(key, new Uint8Array(300).fill(value), clock.now() + ttlMs)));
    await write(1);
    const [cleared] = await Promise.all([
      entries.clear(),
      write(2),
      entries.clear(),
      ...keys.map((key) => others.get(key)),
    ]);
    same(cleared >= 0, true);
    const left = (await Promise.all(keys.map((key) => entries.get(key)))).filter((data) => data !== undefined);
    same(left.every((data) => data.length === 300 && data.every((byte) => byte === data[0])), true);
    same(await entries.stats(), { entries: left.length, bytes: left.length * 300 });
    same([await entries.clear(), await entries.stats()], [left.length, noneLeft]);
  },
};

/**
 * The tests of a storage with entries. Each one gets a storage of its own.
 *
 * @param make Makes it, empty, with a clock that `advance` moves; entries expire by it.
 */
export function entriesConformance(make: MakeEntries): ConformanceCase[] {
  return Object.entries(cases).map(([name, prove]) => ({
    name,
    run: async () => {
      const clock = fakeClock({ skipSleeps: true });
      const [storage, other = storage] = await make(clock);
      await prove({ storage: storage!, entries: storage!.entries!, others: other!.entries!, clock });
    },
  }));
}
