/**
 * What every storage does. It needs no Deno, so that storages of the browser are held to it in a browser:
 *
 *     for (const { name, run } of storageConformance((clock) => new MemoryStorage(clock))) Deno.test(name, run);
 * @module
 */
import type { Clock } from "../../src/contracts/runtime.ts";
import type { Storage } from "../../src/contracts/storage.ts";
import { ConnectorError } from "../../src/errors.ts";
import { type FakeClock, fakeClock } from "../../src/runtime/test.ts";
import { type ConformanceCase, rejection, same } from "./_plain.ts";

export type { ConformanceCase };

/** Makes an empty storage that shares nothing with the one before. */
export type MakeStorage = (clock: Clock) => Storage | Promise<Storage>;

interface Scene {
  readonly storage: Storage;
  readonly clock: FakeClock;
}

const ttlMs = 10_000;
const bytes = (...values: number[]) => Uint8Array.from(values);
const oddKeys = ["", " ", "a b/c.d", "__proto__", "constructor", "ключ", "👍", "a\n\0b", "x".repeat(300), '"\\%00'];
const everyByte = Uint8Array.from({ length: 70_000 }, (_, index) => index % 256);

const records: Record<string, (scene: Scene) => Promise<void>> = {
  async "what was saved is loaded byte by byte"({ storage }) {
    for (const data of [bytes(0, 255, 128), bytes(), bytes(1), bytes(1, 2), everyByte]) {
      await storage.save("key", data);
      same(await storage.load("key"), data);
    }
  },
  async "a part of a buffer is saved as that part"({ storage }) {
    await storage.save("key", bytes(1, 2, 3, 4).subarray(1, 3));
    const loaded = await storage.load("key");
    same([loaded, loaded?.buffer.byteLength, (await storage.stat("key"))?.size], [bytes(2, 3), 2, 2]);
  },
  async "a record that is not there is undefined"({ storage }) {
    same([await storage.load("key"), await storage.stat("key"), await storage.exists("key")], [
      undefined,
      undefined,
      false,
    ]);
    same(await storage.list(), []);
  },
  async "neither what is saved nor what is loaded stays connected"({ storage }) {
    const data = bytes(1, 2);
    await storage.save("key", data);
    data[0] = 9;
    const loaded = await storage.load("key");
    loaded![1] = 9;
    same(await storage.load("key"), bytes(1, 2));
  },
  async "the last save wins, also when nobody waited for the one before"({ storage }) {
    await Promise.all([1, 2, 3].map((value) => storage.save("key", bytes(value))));
    same(await storage.load("key"), bytes(3));
  },
  async "a shorter record replaces a longer one whole"({ storage }) {
    await storage.save("key", everyByte);
    await storage.save("key", bytes(7));
    same([await storage.load("key"), (await storage.stat("key"))?.size], [bytes(7), 1]);
  },
  async "who reads while a record is replaced reads the old one or the new one"({ storage }) {
    const [old, fresh] = [everyByte, everyByte.toReversed()];
    await storage.save("key", old);
    const saving = storage.save("key", fresh);
    for (let count = 0; count < 5; count++) {
      const found = JSON.stringify([...await storage.load("key") ?? []]);
      same(found === JSON.stringify([...old]) || found === JSON.stringify([...fresh]), true);
    }
    await saving;
    same(await storage.load("key"), fresh);
  },
  async "any text is a key"({ storage }) {
    for (const [index, key] of oddKeys.entries()) await storage.save(key, bytes(index));
    for (const [index, key] of oddKeys.entries()) same(await storage.load(key), bytes(index));
    same(await storage.list(), [...oddKeys].sort());
  },
  async "keys are listed by what they begin with, sorted"({ storage }) {
    for (const key of ["logs/2", "state", "logs/1", "logsx", "Logs/3"]) await storage.save(key, bytes());
    same(await storage.list("logs/"), ["logs/1", "logs/2"]);
    same(await storage.list(), ["Logs/3", "logs/1", "logs/2", "logsx", "state"]);
    same(await storage.list("nothing"), []);
  },
  async "deleting tells whether there was one"({ storage }) {
    await storage.save("a", bytes(1));
    await storage.save("ab", bytes(2));
    same([await storage.delete("a"), await storage.delete("a"), await storage.delete("never")], [true, false, false]);
    same([await storage.load("a"), await storage.exists("a"), await storage.list()], [undefined, false, ["ab"]]);
  },
  async "a record has a size and a time, whatever its size"({ storage, clock }) {
    for (const length of [0, 1, 2, 3, 70_000]) {
      await clock.advance(1000);
      await storage.save("key", everyByte.subarray(0, length));
      same(await storage.stat("key"), { size: length, modifiedAt: clock.now() });
    }
    same(await storage.exists("key"), true);
  },
};

const locks: Record<string, (scene: Scene) => Promise<void>> = {
  async "a lock is for one owner, until it is released"({ storage }) {
    same(await storage.isLocked("key"), false);
    const lock = await storage.acquire("key", { owner: "a", ttlMs });
    same([lock.key, lock.owner, await storage.isLocked("key")], ["key", "a", true]);
    const error = await rejection(storage.acquire("key", { owner: "b", ttlMs, timeoutMs: 0 }));
    same([ConnectorError.isInstance(error) && error.problem, /"key"/.test(String(error))], ["locked", true]);
    await storage.release(lock);
    same(await storage.isLocked("key"), false);
    same((await storage.acquire("key", { owner: "b", ttlMs })).owner, "b");
  },
  async "whoever wants a lock waits for it, and for no longer than it says"({ storage, clock }) {
    await storage.acquire("key", { owner: "a", ttlMs: 100_000 });
    const start = clock.monotonic();
    await rejection(storage.acquire("key", { owner: "b", ttlMs, timeoutMs: 5000, retryIntervalMs: 700 }));
    same(clock.monotonic() - start, 5000);
  },
  async "a lock whose time is over can be taken"({ storage, clock }) {
    const lock = await storage.acquire("key", { owner: "gone", ttlMs });
    await clock.advance(lock.expiresAt - clock.now() - 1);
    same(await storage.isLocked("key"), true);
    await clock.advance(1);
    same(await storage.isLocked("key"), false);
    const next = await storage.acquire("key", { owner: "b", ttlMs, timeoutMs: 0 });
    await storage.release(lock); // by the one who thought it was theirs
    same([next.owner, await storage.isLocked("key")], ["b", true]);
  },
  async "a wait outlasts the other's lock"({ storage }) {
    await storage.acquire("key", { owner: "gone", ttlMs });
    same((await storage.acquire("key", { owner: "b", ttlMs, timeoutMs: 2 * ttlMs })).owner, "b");
  },
  async "its owner gets it again for longer"({ storage, clock }) {
    const first = await storage.acquire("key", { owner: "a", ttlMs });
    await clock.advance(ttlMs / 2);
    const second = await storage.acquire("key", { owner: "a", ttlMs, timeoutMs: 0 });
    same(second.expiresAt > first.expiresAt, true);
    await clock.advance(first.expiresAt - clock.now());
    same(await storage.isLocked("key"), true);
  },
  async "an abort ends the wait with its reason"({ storage }) {
    const reason = new Error("enough");
    await storage.acquire("key", { owner: "a", ttlMs });
    const signal = AbortSignal.abort(reason);
    same(await rejection(storage.acquire("key", { owner: "b", ttlMs, signal })) === reason, true);
  },
  async "locks and records of one name are apart"({ storage }) {
    const lock = await storage.acquire("key", { owner: "a", ttlMs });
    same([await storage.exists("key"), await storage.list(), await storage.delete("key")], [false, [], false]);
    await storage.save("key", bytes(1));
    await storage.release(lock);
    same([await storage.load("key"), await storage.isLocked("key")], [bytes(1), false]);
  },
  async "locks of two names are apart"({ storage }) {
    const lock = await storage.acquire("a", { owner: "a", ttlMs });
    same((await storage.acquire("a.1", { owner: "b", ttlMs, timeoutMs: 0 })).owner, "b");
    await storage.release(lock);
    same([await storage.isLocked("a"), await storage.isLocked("a.1")], [false, true]);
  },
  async "of several who ask at once one gets it"({ storage }) {
    const owners = ["a", "b", "c", "d"];
    const asked = owners.map((owner) => storage.acquire("key", { owner, ttlMs: 1e6, timeoutMs: 0 }));
    const outcomes = await Promise.allSettled(asked);
    same(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
  },
};

/**
 * The tests of a storage. Each one gets a storage of its own.
 *
 * @param make Makes it, empty, with a clock on which sleeping takes no time.
 */
export function storageConformance(make: MakeStorage): ConformanceCase[] {
  return Object.entries({ ...records, ...locks }).map(([name, prove]) => ({
    name,
    run: async () => {
      const clock = fakeClock({ skipSleeps: true });
      await prove({ storage: await make(clock), clock });
    },
  }));
}
