/** The storage of the cache: when it fails, hangs or returns what it was never given, and when it outlasts its mesh. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { stateIn } from "../../mod.ts";
import { MemoryStorage } from "../../connectors/storage/memory.ts";
import type { ExpiringEntries, Storage } from "../../src/contracts/storage.ts";
import { type FakeClock, fakeClock } from "../../src/runtime/test.ts";
import { askCached, cacheStage } from "../support/_cached.ts";
import { until } from "../support/patience.ts";
import { respond } from "../support/upstream.ts";

/** A storage in memory whose calls for entries a test replaces. */
function startStorage(clock: FakeClock) {
  const memory = new MemoryStorage(clock);
  const entries: ExpiringEntries = { ...memory.entries };
  const storage: Storage = Object.create(memory, { entries: { value: entries } });
  for (const name of ["load", "save", "list", "delete", "stat", "exists", "acquire", "release", "isLocked"] as const) {
    Object.defineProperty(storage, name, { value: (memory[name] as () => unknown).bind(memory) });
  }
  return { storage, entries: entries as { -readonly [Name in keyof ExpiringEntries]: ExpiringEntries[Name] }, memory };
}

/** A proxy with a cache over such a storage. */
async function open(options: Parameters<typeof cacheStage>[0] = {}) {
  const clock = fakeClock({ skipSleeps: true });
  const started = startStorage(clock);
  const stage = await cacheStage({ clock, storage: stateIn(started.storage), ...options });
  const traces: string[] = [];
  stage.mesh.addSink({
    emit: () => {},
    trace: ({ severity, component, message }) => {
      if (component === "cache") traces.push(`${severity} ${message}`);
    },
    flush: () => Promise.resolve(),
  });
  const ask = async (isStreamed = false) => {
    const { status, cache } = await askCached(stage.url, "chat", { isStreamed });
    return `${status} ${cache.slice(0, 4)}`;
  };
  return { ...stage, ...started, traces, ask };
}

describe("A storage of the cache", () => {
  it("that fails is done without, with one warning for an outage", async () => {
    await using stage = await open();
    const { get, set } = stage.entries;
    let seed = 0;
    const askNew = (isStreamed = false) => askCached(stage.url, "chat", { isStreamed, body: { seed: seed++ } });
    for (let outage = 1; outage <= 2; outage++) {
      stage.entries.get = () => Promise.reject(new Error("down"));
      stage.entries.set = () => {
        throw new Error("down");
      };
      for (const isStreamed of [false, true]) assertEquals((await askNew(isStreamed)).cache, "MISS");
      await until(() => stage.traces.length === 2 * outage - 1, "the warning");
      Object.assign(stage.entries, { get, set });
      await until(async () => (await askNew()).status === 200 && stage.traces.length === 2 * outage, "the end");
    }
    assertEquals(stage.traces.map((text) => text.split(" ")[0]), ["warning", "info", "warning", "info"]);
  });

  it("that does not respond delays a request by 100 ms at most, and the next ones not at all", async () => {
    await using stage = await open();
    const { get } = stage.entries;
    let asked = 0;
    stage.entries.get = () => {
      asked++;
      return new Promise(() => {});
    };
    const first = stage.ask();
    await until(() => asked === 1, "the lookup");
    await stage.clock.advance(100);
    assertEquals(await first, "200 MISS");
    await until(async () => (await stage.entries.stats()).entries === 1, "the entry"); // until then, no storage is asked
    assertEquals([await stage.ask(), asked], ["200 MISS", 1]);
    assertMatch(stage.traces.join(), /^warning .*did not respond within 100 ms$/);
    stage.entries.get = get;
    await stage.clock.advance(1000);
    assertEquals(await stage.ask(), "200 HIT;");
  });

  it("that does not respond lets a client leave", async () => {
    await using stage = await open();
    let asked = 0;
    stage.entries.get = () => {
      asked++;
      return new Promise(() => {});
    };
    const controller = new AbortController();
    const left = stage.chat({ temperature: 0 }, { signal: controller.signal });
    await until(() => asked === 1, "the lookup");
    controller.abort();
    await left.catch(() => {});
    const other = await stage.chat({});
    await other.body?.cancel();
    assertEquals(other.status, 200);
    assertEquals([stage.sent(), stage.traces], [1, []]);
  });

  it("that is slow to write does not delay a response, which is repeated already", async () => {
    await using stage = await open();
    const { set } = stage.entries;
    let release = () => {};
    const released = new Promise<void>((resolve) => release = resolve);
    stage.entries.set = async (...entry) => {
      await released;
      await set(...entry);
    };
    const seen = [await stage.ask(), await stage.ask(), (await stage.memory.entries.stats()).entries];
    release();
    assertEquals(seen, ["200 MISS", "200 HIT;", 0]);
    await stage.mesh.close();
    assertEquals((await stage.memory.entries.stats()).entries, 1);
  });

  it("with a damaged entry, or one of another version or another request, has none", async () => {
    await using stage = await open();
    const stored: { key: string; data: Uint8Array }[] = [];
    const { set } = stage.entries;
    stage.entries.set = (key, data, expiresAt) => {
      stored.push({ key, data: data.slice() });
      return set(key, data, expiresAt);
    };
    assertEquals(await stage.ask(), "200 MISS");
    await askCached(stage.url, "chat", { body: { top_p: 0.5 } });
    await until(() => stored.length === 2, "the entries");
    const [{ key, data }, other] = [stored[0]!, stored[1]!];
    const text = new TextDecoder().decode(data);
    const encode = (changed: string) => new TextEncoder().encode(changed);
    const damaged: Readonly<Record<string, Uint8Array>> = {
      "nothing": new Uint8Array(),
      "bytes": crypto.getRandomValues(new Uint8Array(200)),
      "one that is cut": data.slice(0, -1),
      "one with another letter": encode(text.replace("Hello", "Jello")),
      "one of another version": encode(text.replace("MESHCACHE1", "MESHCACHE0")),
      "one of another request": other.data,
      "JSON": encode("{}"),
    };
    const cases = Object.entries(damaged).flatMap(([what, bytes]) =>
      [false, true].map((isStreamed) => ({ what, bytes, isStreamed }))
    );
    for (const [index, { what, bytes, isStreamed }] of cases.entries()) {
      await stage.memory.entries.set(key, bytes, stage.clock.now() + 60_000);
      assertEquals(await stage.ask(isStreamed), "200 MISS", what);
      await until(() => stored.length === index + 3, "the new entry");
      await stage.clock.advance(0); // it is written by then
    }
    assertEquals(stage.traces, []);
  });

  it("gets no entry beyond the maximum size", async () => {
    const pieces = Array.from({ length: 100 }, () => "x".repeat(2_000));
    for (const [max_entry, expected] of [["100KB", "200 MISS"], ["1MB", "200 HIT;"]]) {
      await using stage = await open({ script: respond({ pieces, text: pieces.join("") }), cache: { max_entry } });
      for (const isStreamed of [true, false]) {
        await stage.entries.clear();
        await stage.ask(isStreamed);
        assertEquals(await stage.ask(isStreamed), expected, `${max_entry} ${isStreamed}`);
      }
    }
  });

  it("gets no entry with more bytes than characters beyond the maximum size", async () => {
    await using stage = await open({ script: respond({ text: "\u00e9".repeat(1500) }), cache: { max_entry: "2500B" } });
    await stage.ask();
    await until(async () => await stage.ask() === "200 MISS", "the end of the write");
    assertEquals((await stage.memory.entries.stats()).entries, 0);
  });

  it("has what is expired no longer", async () => {
    await using stage = await open({ cache: { ttl: "1m" } });
    await stage.ask();
    await until(async () => (await stage.memory.entries.stats()).entries === 1, "the entry");
    await stage.clock.advance(60_001);
    assertEquals((await stage.memory.entries.stats()).entries, 0);
  });

  it("serves the next mesh with the same models, and none with others", async () => {
    const clock = fakeClock({ skipSleeps: true });
    const { storage } = startStorage(clock);
    const ask = async (config: Readonly<Record<string, unknown>>, upstreams: Readonly<Record<string, string>>) => {
      await using stage = await cacheStage({ clock, storage: stateIn(storage), config, upstreams });
      return (await askCached(stage.url, "chat")).cache.slice(0, 4);
    };
    await using first = await cacheStage({ clock, storage: stateIn(storage) });
    const upstreams = { a: first.upstream.url };
    assertEquals((await askCached(first.url, "chat")).cache, "MISS");
    assertEquals(await ask({}, upstreams), "HIT;");
    assertEquals(await ask({ proxy: { request_timeout: "20s" } }, upstreams), "HIT;");
    const model = { provider: "a", capabilities: ["chat-completion"] };
    assertEquals(await ask({ models: { a: { ...model, model: "b" } } }, upstreams), "MISS");
    assertEquals(await ask({}, { a: first.upstream.url.replace("127.0.0.1", "localhost") }), "MISS");
    assert(first.sent() > 0);
  });
});
