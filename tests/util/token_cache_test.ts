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
