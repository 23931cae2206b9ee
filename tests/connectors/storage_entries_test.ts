/** Entries that expire do the same in every storage that has them. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { MemoryStorage } from "../../connectors/storage/memory.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { CodedStorage, type Coding } from "../../src/storage/coded_storage.ts";
import { TimedStorage } from "../../src/storage/timed_storage.ts";
import { entriesConformance, type MakeEntries } from "../contracts/entries.ts";

const coding: Coding = { format: "json", isCompressed: true };
const secret = "0123456789abcdef0123456789abcdef";

const storages: Record<string, MakeEntries> = {
  "mesh.memory.v1": (clock) => [new MemoryStorage(clock)],
  "a mesh": (clock) => [new CodedStorage(new TimedStorage(new MemoryStorage(clock), { title: "It", clock }), coding)],
};

for (const [title, make] of Object.entries(storages)) {
  describe(`the entries of ${title}`, () => {
    for (const { name, run } of entriesConformance(make)) it(name, run);
  });
}

describe("entries in memory", () => {
  const create = (maxBytes: number | undefined) => {
    const clock = fakeClock();
    const { get, set, stats } = new MemoryStorage(clock, maxBytes).entries;
    return {
      get,
      stats,
      clock,
      set: (key: string, size: number) => set(key, new Uint8Array(size), clock.now() + 1000),
    };
  };

  it("leave room for new ones: those go that were used least recently, by reading or by writing", async () => {
    const { get, set, stats } = create(3500);
    for (const key of ["a", "b", "c"]) await set(key, 800);
    await get("a");
    await set("b", 800);
    await set("d", 800);
    const found = await Promise.all(["a", "b", "c", "d"].map(async (key) => (await get(key)) !== undefined));
    assertEquals([found, await stats()], [[true, true, false, true], { entries: 3, bytes: 2400 }]);
  });

  it("that exceed the room of all are not kept, nor is what they would replace", async () => {
    const { get, set, stats } = create(3500);
    await set("small", 10);
    await set("key", 10);
    await set("key", 3500);
    assertEquals([await get("key"), await stats()], [undefined, { entries: 1, bytes: 10 }]);
  });

  it("are bounded also when they are empty", async () => {
    const { set, stats } = create(100_000);
    for (let index = 0; index < 2000; index++) await set(`${index}`, 0);
    const { entries } = await stats();
    assertEquals([entries > 100, entries < 500], [true, true]);
  });

  it("have 64 MiB unless configured", async () => {
    const { set, stats } = create(undefined);
    for (let index = 0; index < 14; index++) await set(`${index}`, 5_000_000);
    assertEquals(await stats(), { entries: 13, bytes: 65_000_000 });
  });
});

describe("entries of an encrypted storage", () => {
  const text = (data: Uint8Array | undefined) => new TextDecoder().decode(data);
  const create = (inner = new MemoryStorage(fakeClock())) => {
    const { entries } = new CodedStorage(inner, { ...coding, secret });
    return { entries: entries!, inner: inner.entries };
  };
  const data = new TextEncoder().encode("canary");

  it("are read with the secret, and unreadable without it", async () => {
    const { entries, inner } = create();
    await entries.set("key", data, Infinity);
    assertEquals([await entries.get("key"), text(await inner.get("key")).includes("canary")], [data, false]);
  });

  it("do not exist if they are of another secret, of another key, damaged, or not encrypted", async () => {
    const memory = new MemoryStorage(fakeClock());
    const { entries, inner } = create(memory);
    const { entries: others } = new CodedStorage(memory, { ...coding, secret: `${secret}!` });
    await others!.set("foreign", data, Infinity);
    await entries.set("key", data, Infinity);
    const encrypted = (await inner.get("key"))!;
    await inner.set("moved", encrypted, Infinity);
    await inner.set("cut", encrypted.subarray(0, -1), Infinity);
    await inner.set("plain", data, Infinity);
    const keys = ["foreign", "moved", "cut", "plain"];
    assertEquals(await Promise.all(keys.map((key) => entries.get(key))), keys.map(() => undefined));
    assertEquals([await entries.delete("plain"), await entries.clear()], [true, 4]);
  });
});
