import { assertEquals, assertRejects } from "@std/assert";
import { fakeClock } from "../../src/runtime/test.ts";
import { TokenCache } from "../../src/util/token_cache.ts";

/** A cache over an endpoint that issues token-1, token-2, … and counts what it was asked for. */
function createCache(lifetimeMs?: number) {
  const clock = fakeClock();
  const purposes: string[] = [];
  const endpoint = { isDown: false };
  const cache = new TokenCache(async (purpose) => {
    purposes.push(purpose);
    await Promise.resolve();
    if (endpoint.isDown) throw new Error("down");
    return { value: `token-${purposes.length}`, lifetimeMs };
  }, clock);
  return { cache, clock, endpoint, purposes };
}

Deno.test("get() keeps a token until a minute before it expires", async () => {
  const { cache, clock } = createCache(100_000);
  assertEquals(await cache.get(), "token-1");
  await clock.advance(39_999);
  assertEquals(await cache.get(), "token-1");
  await clock.advance(1);
  assertEquals(await cache.get(), "token-2");
});

Deno.test("get() keeps no token that expired while the machine slept, nor longer for a clock that was set back", async () => {
  const { cache, clock } = createCache(100_000);
  await cache.get();
  clock.jumpWallTime(39_999);
  assertEquals(await cache.get(), "token-1");
  clock.jumpWallTime(1);
  assertEquals(await cache.get(), "token-2");
  clock.jumpWallTime(-3_600_000);
  await clock.advance(39_999);
  assertEquals(await cache.get(), "token-2");
  await clock.advance(1);
  assertEquals(await cache.get(), "token-3");
});

Deno.test("get() keeps a token without a lifetime for good", async () => {
  const { cache, clock } = createCache();
  await cache.get();
  await clock.advance(1e12);
  assertEquals(await cache.get(), "token-1");
});

Deno.test("all who wait share one call, made for the purpose of the first", async () => {
  const { cache, purposes } = createCache(100_000);
  const tokens = await Promise.all([cache.get({ purpose: "list" }), cache.get({ purpose: "read" })]);
  assertEquals([tokens, purposes], [["token-1", "token-1"], ["list"]]);
});

Deno.test("a signal ends one wait, and no other", async () => {
  const { cache } = createCache(100_000);
  const leaving = cache.get({ signal: AbortSignal.abort(new Error("left")) });
  const staying = cache.get();
  await assertRejects(() => leaving, Error, "left");
  assertEquals(await staying, "token-1");
});

Deno.test("a failure is that of all who wait, and the next call asks again", async () => {
  const { cache, endpoint } = createCache(100_000);
  endpoint.isDown = true;
  const waits = [cache.get(), cache.get()];
  for (const wait of waits) await assertRejects(() => wait, Error, "down");
  endpoint.isDown = false;
  assertEquals(await cache.get(), "token-2");
});

Deno.test("renew() replaces a refused token once, however many callers it was refused to", async () => {
  const { cache, purposes } = createCache();
  const refused = await cache.get();
  assertEquals(await Promise.all([cache.renew(refused), cache.renew(refused)]), ["token-2", "token-2"]);
  assertEquals(await cache.renew(refused), "token-2");
  assertEquals(purposes.length, 2);
});

/** A cache of tokens that are fetched ahead, four minutes before callers would wait. */
function createAhead(lifetimeMs = 3_600_000) {
  const clock = fakeClock();
  const endpoint = { isDown: false, calls: 0 };
  const cache = new TokenCache(async () => {
    endpoint.calls++;
    await Promise.resolve();
    if (endpoint.isDown) throw new Error(`down ${endpoint.calls}`);
    return { value: `token-${endpoint.calls}`, lifetimeMs, aheadMs: 240_000 };
  }, clock);
  const getMany = () => Promise.all(Array.from({ length: 100 }, () => cache.get()));
  return { cache, clock, endpoint, getMany };
}

Deno.test("get() fetches the next token ahead, once, while callers use the current one", async () => {
  const { cache, clock, endpoint, getMany } = createAhead();
  await getMany();
  await clock.advance(3_299_999);
  await cache.get();
  assertEquals(endpoint.calls, 1);
  await clock.advance(1);
  assertEquals([new Set(await getMany()), endpoint.calls], [new Set(["token-1"]), 2]);
  await clock.advance(1);
  assertEquals([new Set(await getMany()), endpoint.calls], [new Set(["token-2"]), 2]);
});

Deno.test("a short-lived token is fetched ahead no earlier than after half the time for which it is used", async () => {
  const { cache, clock, endpoint } = createAhead(100_000);
  for (const seconds of [0, 19, 1, 0]) {
    await clock.advance(seconds * 1000);
    await cache.get();
  }
  assertEquals(endpoint.calls, 2);
});

Deno.test("a token is used to its end if the next one cannot be had, which is tried with backoff", async () => {
  const { cache, clock, endpoint, getMany } = createAhead();
  await cache.get();
  endpoint.isDown = true;
  await clock.advance(3_300_000);
  for (let second = 300; second > 0; second--) {
    assertEquals(new Set(await getMany()), new Set(["token-1"]), `${second} s before its end`);
    await clock.advance(1_000);
  }
  assertEquals(endpoint.calls, 15); // after 1, 2, 4, 8, 16, then every 30 s
  await assertRejects(getMany, Error, "down 15");
  endpoint.isDown = false;
  await clock.advance(30_000);
  assertEquals([new Set(await getMany()), endpoint.calls], [new Set(["token-16"]), 16]);
});

Deno.test("without a token, a source that fails again and again is asked less and less often", async () => {
  const { cache, clock, endpoint } = createAhead();
  endpoint.isDown = true;
  for (let count = 0; count < 50; count++) await assertRejects(() => cache.get(), Error, "down");
  assertEquals(endpoint.calls, 4, "three failures are no reason to wait");
  for (let second = 0; second < 60; second++) {
    await clock.advance(1_000);
    await assertRejects(() => cache.get(), Error, "down");
  }
  assertEquals(endpoint.calls, 9); // after 1, 2, 4, 8, 16 and 30 s
  endpoint.isDown = false;
  await clock.advance(30_000);
  assertEquals(await cache.get(), "token-10");
});
