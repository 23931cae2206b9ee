/** Two proxies on one real Redis: a conversation stays with its model whichever of them it reaches. */
import { assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { until } from "../support/patience.ts";
import { hasRedis, TestRedis } from "../support/redis.ts";
import { type SharedProxies, startSharedProxies } from "../support/shared_proxies.ts";
import { ok, startUpstream, status } from "../support/upstream.ts";

let redis: TestRedis;

const pool = { strategy: "round-robin", model_priority: undefined, affinity: {}, retry: { max_attempts: 0 } };
const said = (conversation: string) => ({ messages: [{ role: "user", content: `I am ${conversation}` }] });
const names = Array.from({ length: 10 }, (_, index) => `conversation ${index}`);

/** Where each conversation is, according to the proxy. */
async function findModels([...proxies]: SharedProxies, index: number): Promise<Record<string, string | undefined>> {
  const { mesh } = proxies[index]!;
  const found: Record<string, string | undefined> = {};
  for (const name of names) {
    const { order } = await mesh.explain({ model: "chat", ...said(name) } as never);
    found[name] = order.find(({ chosen_by }) => chosen_by === "affinity")?.model;
  }
  return found;
}

(hasRedis ? describe : describe.skip)("the conversations of two proxies on one Redis", () => {
  beforeAll(async () => void (redis = await TestRedis.start()));
  afterAll(() => redis[Symbol.asyncDispose]());

  it("stay with one model, and move once if it fails", async () => {
    await using a = await startUpstream(ok({ text: "a" }));
    await using b = await startUpstream(ok({ text: "b" }));
    await using proxies = await startSharedProxies({ redis, upstreams: { a: a.url, b: b.url }, pool });
    const first: Record<string, string | undefined> = {};
    for (const name of names) first[name] = (await proxies[0]!.chat(said(name))).model!;
    const isKnown = async () => Object.values(await findModels(proxies, 1)).every((model) => model !== undefined);
    await until(isKnown, "the other proxy knows where they are");
    for (const name of names) assertEquals((await proxies[1]!.chat(said(name))).model, first[name]);
    assertEquals([a.calls, b.calls], [10, 10]);

    a.follow(status(500));
    for (const name of names) assertEquals((await proxies[1]!.chat(said(name))).model, "b");
    a.follow(ok({ text: "a" }));
    const areMoved = async () => Object.values(await findModels(proxies, 0)).every((model) => model === "b");
    await until(areMoved, "the first proxy knows that they have moved");
    for (const name of names) assertEquals((await proxies[0]!.chat(said(name))).model, "b");
  });
});
