/** Several keys of one provider: requests rotate over them, and one that is refused is in standby while the others serve. */
import { assertEquals, assertFalse, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { create } from "../../mod.ts";
import type { Stage } from "../support/_failover.ts";
import { broke, byKey, keyed, keyIn, keys, keysSeen, limited, refuse } from "../support/_keys.ts";
import {
  assertInStandby,
  changes,
  deactivationEvent,
  listed,
  probeAfter,
  providerA,
  readModelStatus,
} from "../support/_transitions.ts";
import { testConfig } from "../support/proxy.ts";
import { ok, type ReceivedRequest, startUpstream, status, stream } from "../support/upstream.ts";

const twoModels = { models: { a1: "a", a2: "a", b: "b" } };

function seen({ upstreams }: Stage): string {
  return keysSeen(upstreams.a!);
}

describe("a list of keys", () => {
  it("is rotated over, one request after the other, streams too", async () => {
    await using scene = await keyed(({ body }) => JSON.parse(body).stream ? stream() : ok(), { count: 3 });
    await scene.askTimes(4);
    await scene.askStream();
    assertEquals(seen(scene), "1 2 3 1 2");
  });

  it("may stand in auth.api_key, and key_rotation says the same", async () => {
    const provider = { api_key: undefined, auth: { api_key: keys.slice(0, 2), key_rotation: true } };
    await using scene = await keyed(ok(), { provider });
    await scene.askTimes(3);
    assertEquals(seen(scene), "1 2 1");
  });

  it("serves requests at once with all its keys", async () => {
    await using scene = await keyed(ok(), { count: 3 });
    await Promise.all(Array.from({ length: 9 }, () => scene.ask()));
    const counts = [1, 2, 3].map((place) => scene.upstreams.a!.requests.filter((call) => keyIn(call) === place).length);
    assertEquals(counts, [3, 3, 3]);
  });

  it("of a provider that is added later is rotated over, too", async () => {
    await using scene = await keyed(ok(), { models: { b: "b" } });
    const { mesh } = scene.proxy;
    const base_url = scene.upstreams.a!.url;
    await mesh.addProvider({
      id: "late",
      connector: "openai.compatible.v1",
      base_url,
      api_key: keys.slice(0, 2),
      models: { late: { capabilities: ["chat-completion"] } },
    });
    for (let turn = 0; turn < 3; turn++) await scene.ask({ model: "late" });
    assertEquals(seen(scene), "1 2 1");
  });

  it("a failure that is not about the key sets none aside", async () => {
    await using scene = await keyed([status(500), status(400), ok()], { pool: { retry: { max_attempts: 1 } } });
    await scene.askTimes(3);
    assertEquals(seen(scene), "1 2 1 2");
  });
});

describe("a key answered 401 or 403", () => {
  it("is left for another one at once, within the request: no wait, no retry, no outcome", async () => {
    await using scene = await keyed(byKey({ 1: refuse }));
    const { text, route } = await scene.ask();
    assertEquals([text, route, seen(scene)], ["from a", "a 2/0", "1 2"]);
    assertEquals([scene.clock.sleeps, scene.events, readModelStatus(scene)], [[], [], { status: "active" }]);
  });

  it("in a stream, too", async () => {
    const forbidden = status(403);
    await using scene = await keyed((call) => keyIn(call) === 1 ? forbidden : stream({ text: "streamed" }));
    const { text, done } = await scene.askStream();
    assertEquals([text, done, seen(scene)], ["streamed", 1, "1 2"]);
  });

  it("is in standby for the cooldown, twice as long each time it is refused again", async () => {
    await using scene = await keyed(byKey({ 1: refuse }));
    await scene.askTimes(3);
    assertEquals(seen(scene), "1 2 2 2");
    await scene.clock.advance(60_000);
    await scene.askTimes(2);
    assertEquals(seen(scene), "1 2 2 2 1 2 2");
    await scene.clock.advance(60_000);
    await scene.ask();
    assertEquals(seen(scene), "1 2 2 2 1 2 2 2");
    await scene.clock.advance(60_000);
    await scene.ask();
    assertEquals(seen(scene), "1 2 2 2 1 2 2 2 1 2");
  });

  it("is in standby for every model and in every pool", async () => {
    await using scene = await keyed(byKey({ 1: refuse }), twoModels);
    await scene.ask();
    await scene.ask({ model: "a2" });
    await scene.ask({ model: "other" });
    assertEquals(seen(scene), "1 2 2 2");
  });

  it("is back for good once it serves", async () => {
    await using scene = await keyed(byKey({ 1: refuse }));
    await scene.ask();
    scene.upstreams.a!.follow(ok());
    await scene.clock.advance(60_000);
    await scene.askTimes(2);
    scene.upstreams.a!.follow(byKey({ 1: refuse }));
    await scene.ask();
    await scene.clock.advance(60_000);
    scene.upstreams.a!.follow(ok());
    await scene.askTimes(2);
    assertEquals(seen(scene), "1 2 1 2 1 2 1 2", "the second rest is as long as the first one");
  });

  it("is activated with its provider by an operator", async () => {
    await using scene = await keyed(byKey({ 1: refuse }), twoModels);
    await scene.askTimes(2);
    scene.upstreams.a!.follow(ok());
    scene.proxy.mesh.activate("a");
    await scene.ask();
    assertEquals(seen(scene), "1 2 2 1");
  });

  it("sets the provider aside only when every key is refused", async () => {
    const pool = { provider_deactivation: "on_auth_failure" };
    await using scene = await keyed(byKey({ 1: refuse }), { pool });
    await scene.askTimes(2);
    assertEquals(readModelStatus(scene), { status: "active" });
    scene.upstreams.a!.follow(refuse);
    assertEquals((await scene.ask()).route, "b 2/1");
    assertInStandby(scene, "provider_auth_failure", 60);
    assertEquals(changes(scene.proxy.records), [deactivationEvent(providerA, "provider_auth_failure", 60)]);
  });

  it("does not set the provider aside where spacing keeps the other key from being asked at once", async () => {
    const pool = { provider_deactivation: "on_auth_failure", rate_limit: { min_delta: "1s" } };
    await using scene = await keyed(byKey({ 1: refuse }), { pool });
    assertEquals([(await scene.ask()).route, readModelStatus(scene)], ["b 2/1", { status: "active" }]);
  });

  it("with every key refused, and no other model: upstream_auth_error, as with one key", async () => {
    await using scene = await keyed(refuse, { models: { a: "a" } });
    const { status: code, error, headers } = await scene.ask();
    assertEquals([code, error?.code, headers.get("x-mesh-attempts")], [502, "upstream_auth_error", "2"]);
    assertFalse(JSON.stringify(error).includes("canary"), error?.message);
  });

  it("is probed with another one", async () => {
    const config = { discovery: { health: { interval: "30s", failure_threshold: 1, providers: ["a"] } } };
    const script = (call: ReceivedRequest) => keyIn(call) === 1 ? refuse : call.method === "GET" ? listed : ok();
    await using scene = await keyed(script, { config });
    await scene.ask();
    await probeAfter(scene, 30_000);
    const probe = scene.upstreams.a!.requests.findLast(({ method }) => method === "GET")!;
    assertEquals([keyIn(probe), readModelStatus(scene).status], [2, "active"]);
  });
});

describe("a key answered 429", () => {
  it("is in standby for this model as long as the provider asks, and serves the provider's other models", async () => {
    await using scene = await keyed(
      (call) => keyIn(call) === 1 && call.json().model === "a1" ? limited(30) : ok(),
      twoModels,
    );
    assertEquals((await scene.ask()).route, "a1 2/0");
    await scene.ask();
    await scene.ask({ model: "a2" });
    assertEquals(seen(scene), "1 2 2 1");
    await scene.clock.advance(30_000);
    await scene.askTimes(2);
    assertEquals(seen(scene), "1 2 2 1 1 2 2", "it is refused once more, and rests anew");
  });

  it("without a hint: a minute", async () => {
    await using scene = await keyed(byKey({ 1: limited() }));
    await scene.askTimes(2);
    await scene.clock.advance(59_999);
    await scene.ask();
    assertEquals(seen(scene), "1 2 2 2");
    await scene.clock.advance(1);
    await scene.ask();
    assertEquals(seen(scene), "1 2 2 2 1 2");
  });

  it("when all are in standby, so is the model until the first recovers, each key for its own time", async () => {
    await using scene = await keyed(byKey({ 1: limited(40), 2: limited(20) }), { models: { a: "a" } });
    const { status: code, headers } = await scene.ask();
    assertEquals([code, headers.get("retry-after"), seen(scene)], [429, "20", "1 2"]);
    assertInStandby(scene, "rate_limited", 20);
    scene.upstreams.a!.follow(ok());
    await scene.clock.advance(20_000);
    await scene.askTimes(2);
    await scene.clock.advance(20_000);
    await scene.askTimes(2);
    assertEquals(seen(scene), "1 2 2 2 1 2");
  });

  it("beside a key that is refused: the model is rate-limited, and the provider is not refused", async () => {
    const pool = { provider_deactivation: "on_auth_failure" };
    await using scene = await keyed(byKey({ 1: limited(20), 2: refuse }), { pool });
    assertEquals((await scene.ask()).route, "b 3/1");
    assertInStandby(scene, "rate_limited", 20);
  });

  it("when all are in standby without a hint, the model is tried again after a back-off", async () => {
    const script = [limited(), limited(), ok({ text: "from a" })];
    await using scene = await keyed(script, { models: { a: "a" }, pool: { retry: { max_attempts: 1 } } });
    assertEquals([(await scene.ask()).text, seen(scene)], ["from a", "1 2 1"]);
    assertEquals(scene.clock.sleeps.length, 1);
  });

  it("for less time than a call takes: each key is asked once in a try", async () => {
    const briefly = status(429, { headers: { "retry-after-ms": "0.001" } });
    await using upstream = await startUpstream(briefly);
    const provider = { api_key: keys.slice(0, 2) };
    const config = testConfig({ upstreams: { a: upstream.url }, provider, pool: { retry: { max_attempts: 0 } } });
    await using client = create({ config });
    await assertRejects(() => client.chat.completions.create({ messages: [{ role: "user", content: "Hi" }] }));
    assertEquals(keysSeen(upstream), "1 2");
  });

  it("does not break the spacing that a pool asks for: the request goes elsewhere, the model stays", async () => {
    await using scene = await keyed(byKey({ 1: limited(30) }), { pool: { rate_limit: { min_delta: "1s" } } });
    assertEquals((await scene.ask()).route, "b 2/1");
    assertEquals(readModelStatus(scene), { status: "active" });
    await scene.clock.advance(1_000);
    assertEquals([(await scene.ask()).route, seen(scene)], ["a 1/0", "1 2"]);
  });
});

describe("a key whose quota is exhausted", () => {
  it("is in standby for every model until the quota resets", async () => {
    await using scene = await keyed(byKey({ 1: broke }), twoModels);
    await scene.ask();
    await scene.ask({ model: "a2" });
    assertEquals(seen(scene), "1 2 2");
    await scene.clock.advance(6 * 3_600_000); // midnight
    scene.upstreams.a!.follow(ok());
    await scene.askTimes(2);
    assertEquals(seen(scene), "1 2 2 1 2");
  });

  it("when all are, the provider goes into standby", async () => {
    await using scene = await keyed(broke);
    assertEquals((await scene.ask()).route, "b 3/1");
    assertInStandby(scene, "quota_exhausted", 6 * 3600);
    assertEquals(changes(scene.proxy.records), [deactivationEvent(providerA, "quota_exhausted", 6 * 3600)]);
  });
});
