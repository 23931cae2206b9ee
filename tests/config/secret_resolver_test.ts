import { assert, assertEquals, assertRejects } from "@std/assert";
import { type CachePolicy, SecretResolver } from "../../src/config/secrets/resolver.ts";
import { ConnectorError } from "../../src/errors.ts";
import { fakeClock, settle } from "../../src/runtime/test.ts";

/** A store that counts, and responds when the test says so. */
function countingStore(values: Record<string, unknown>) {
  const asked: string[] = [];
  let release = () => {};
  let held: Promise<void> = Promise.resolve();
  return {
    asked,
    values,
    hold: () => void (held = new Promise((resolve) => release = resolve)),
    release: () => release(),
    async get(name: string) {
      asked.push(name);
      await held;
      return values[name] as string | undefined;
    },
  };
}

function createResolver(store: { get(name: string): Promise<string | undefined> }, policy: Partial<CachePolicy> = {}) {
  const clock = fakeClock();
  return {
    clock,
    resolver: new SecretResolver({ id: "test.store.v1", store, policy: { cacheTtlMs: 300_000, ...policy }, clock }),
  };
}

Deno.test("a secret is looked up once, until what is kept is too old", async () => {
  const store = countingStore({ KEY: "one" });
  const { clock, resolver } = createResolver(store);
  assertEquals(await resolver.get("KEY"), "one");
  store.values.KEY = "two";
  await clock.advance(299_999);
  assertEquals([await resolver.get("KEY"), store.asked.length], ["one", 1]);
  await clock.advance(1);
  assertEquals([await resolver.get("KEY"), store.asked.length], ["two", 2]);
});

Deno.test("a secret that is kept grows old while the machine sleeps, and by no less when the clock is set back", async () => {
  const store = countingStore({ KEY: "one" });
  const { clock, resolver } = createResolver(store);
  await resolver.get("KEY");
  clock.jumpWallTime(300_000);
  await resolver.get("KEY");
  assertEquals(store.asked.length, 2);
  clock.jumpWallTime(-3_600_000);
  await clock.advance(300_000);
  await resolver.get("KEY");
  assertEquals(store.asked.length, 3);
});

Deno.test("without a cache a secret is looked up each time", async () => {
  const store = countingStore({ KEY: "one" });
  const { resolver } = createResolver(store, { cacheTtlMs: 0 });
  await resolver.get("KEY");
  store.values.KEY = "two";
  assertEquals([await resolver.get("KEY"), store.asked.length], ["two", 2]);
});

Deno.test("a secret that is wanted anew is looked up, and kept from then on", async () => {
  const store = countingStore({ KEY: "one" });
  const { resolver } = createResolver(store);
  await resolver.get("KEY");
  store.values.KEY = "two";
  assertEquals(await resolver.get("KEY", { isForced: true }), "two");
  assertEquals([await resolver.get("KEY"), store.asked.length], ["two", 2]);
});

Deno.test("those who ask for one secret at once share one look, those for another do not", async () => {
  for (const cacheTtlMs of [0, 300_000]) {
    const store = countingStore({ KEY: "one", OTHER: "other" });
    const { resolver } = createResolver(store, { cacheTtlMs });
    store.hold();
    const asked = ["KEY", "KEY", "OTHER", "KEY"].map((name) => resolver.get(name, { isForced: name === "OTHER" }));
    await settle();
    store.release();
    assertEquals(await Promise.all(asked), ["one", "one", "other", "one"]);
    assertEquals(store.asked, ["KEY", "OTHER"]);
  }
});

Deno.test("a secret that is missing is asked for again, and one that went is gone", async () => {
  const store = countingStore({});
  const { resolver } = createResolver(store);
  assertEquals(await resolver.get("KEY"), undefined);
  store.values.KEY = "here now";
  assertEquals(await resolver.get("KEY"), "here now");
  delete store.values.KEY;
  assertEquals(await resolver.get("KEY", { isForced: true }), undefined);
  assertEquals(await resolver.get("KEY"), undefined);
});

Deno.test("a look-up that failed rejects for all that wait for it, and is not cached", async () => {
  let calls = 0;
  const store = {
    get: () => ++calls === 1 ? Promise.reject(new ConnectorError("test.store.v1: it is away")) : Promise.resolve("one"),
  };
  const { resolver } = createResolver(store);
  const asked = [resolver.get("KEY"), resolver.get("KEY")];
  for (const one of asked) await assertRejects(() => one, ConnectorError, "it is away");
  assertEquals([await resolver.get("KEY"), calls], ["one", 2]);
});

Deno.test("what a store of one's own throws or gives by mistake is named, not shown", async () => {
  const value = "do-not-show-me";
  const stores: Record<string, () => unknown> = {
    "it threw TypeError": () => {
      throw new TypeError(value);
    },
    "it threw string": () => Promise.reject(value),
    "that is not a string": () => Promise.resolve({ value }),
  };
  for (const [expected, get] of Object.entries(stores)) {
    const { resolver } = createResolver({ get: get as () => Promise<string> });
    const error = await assertRejects(() => resolver.get("KEY"), ConnectorError, expected);
    assert(error.message.includes('"test.store.v1"') && error.message.includes('"KEY"'), error.message);
    assert(!error.message.includes(value) && error.cause === undefined, error.message);
  }
});

Deno.test("names that objects have are names like others", async () => {
  const { resolver } = createResolver({ get: () => Promise.resolve(undefined) });
  for (const name of ["__proto__", "constructor", "toString"]) assertEquals(await resolver.get(name), undefined);
});
