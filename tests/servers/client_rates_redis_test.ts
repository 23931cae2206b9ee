/** A client's requests a minute at two proxies on one Redis. */
import { assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { goodBody } from "../support/_surface.ts";
import { hasRedis, TestRedis } from "../support/redis.ts";
import { startSharedProxies } from "../support/shared_proxies.ts";
import { respond, startUpstream } from "../support/upstream.ts";
import { tally } from "../support/_tuned.ts";

let redis: TestRedis;
const token = "token-of-the-app-0123456789";

(hasRedis ? describe : describe.skip)("a client's requests a minute at two proxies on one Redis", () => {
  beforeAll(async () => void (redis = await TestRedis.start()));
  afterAll(() => redis[Symbol.asyncDispose]());

  it("are those that are routed, or list files, and none that were refused before", async () => {
    await using a = await startUpstream(respond());
    const config = { proxy: { auth: { tokens: [{ token, name: "app", rpm: 7 }] } } };
    const provider = { files: { upload: true } };
    await using proxies = await startSharedProxies({ redis, upstreams: { a: a.url }, config, provider });
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const ask = async (index: number, path: string, body?: object) => {
      const init = body === undefined ? { headers } : { headers, method: "POST", body: JSON.stringify(body) };
      const response = await fetch(`${proxies[index % 2]!.url}/v1/${path}`, init);
      await response.body?.cancel();
      return response.status;
    };
    const all = await Promise.all(Array.from({ length: 24 }, (_, index) => {
      if (index % 4 > 1) return ask(index, "chat/completions", { ...goodBody, model: "none" });
      return index % 8 > 3 ? ask(index, "files") : ask(index, "chat/completions", goodBody);
    }));
    assertEquals(tally(all), { 200: 7, 404: 12, 429: 5 });
  });
});
