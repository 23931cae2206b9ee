/** The strategies by their short names, over HTTP: who is asked, and that a switch is not a state change. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { FakeClock } from "../../src/runtime/test.ts";
import { behind, eveningClock, letGo, type Stage, stage } from "../support/_failover.ts";
import { tally, tuned } from "../support/_tuned.ts";
import { type Behaviour, Gate, ok, type ResponseHeaders, status, stream } from "../support/upstream.ts";

const [a, b, c] = ["a", "b", "c"].map((name) => ok({ text: name })) as [Behaviour, Behaviour, Behaviour];
const noRetry = { retry: { max_attempts: 0 } };
const by = (strategy: string, more: object = {}) => ({ strategy, model_priority: undefined, ...noRetry, ...more });
const texts = async (scene: Stage, count: number) => (await scene.askTimes(count)).map(({ text }) => text).join("");

/** No model has changed its state; the rotations are these. */
function assertUnmoved(scene: Stage, rotations: readonly string[] = []): void {
  assertEquals(scene.events, rotations);
  assertEquals(new Set(Object.values(scene.states())), new Set(["active"]));
}

/** A response that takes so long by a clock. */
function lasting(clock: FakeClock, ms: number, behaviour: Behaviour): Behaviour {
  return {
    async play(exchange) {
      await clock.advance(ms);
      await behaviour.play(exchange);
    },
  };
}

describe("stick-until-failure", () => {
  const pool = by("stick-until-failure");

  it("leaves its model with the first request that it did not serve, and does not come back by itself", async () => {
    await using scene = await stage({ a: [a, a, status(500), a], b }, { pool });
    assertEquals(await texts(scene, 5), "aabbb");
    await scene.clock.advance(60_000);
    assertEquals([scene.states(), await texts(scene, 2)], [{ a: "active", b: "active" }, "bb"]);
    assertEquals(scene.calls, { a: 3, b: 5 });
  });

  it("does so by default: one request waits for retries, no other", async () => {
    await using scene = await stage({ a: status(500), b }, {
      pool: { strategy: undefined, model_priority: undefined },
    });
    assertEquals(await texts(scene, 5), "bbbbb");
    assertEquals([scene.calls, scene.clock.sleeps.length], [{ a: 3, b: 5 }, 2]);
  });

  it("goes on with the model that answered, whichever failed before it", async () => {
    await using scene = await stage({ a: [status(500), a], b: [status(500), b], c }, { pool });
    assertEquals(await texts(scene, 3), "ccc");
    await using mixed = await stage({ a: [status(500), a], b: [status(400), b], c }, { pool });
    assertEquals(await texts(mixed, 3), "ccc");
  });

  it("does so for requests at once, and for streams", async () => {
    const gate = new Gate();
    const cast = { a: behind(gate, status(500)), b };
    await using scene = await stage(cast, { pool: { ...pool, deactivation: { retry_limit: 100 } } });
    await letGo(Array.from({ length: 10 }, () => scene.ask()), gate, 10);
    assertEquals([scene.calls, await texts(scene, 3)], [{ a: 10, b: 10 }, "bbb"]);
    await using streams = await stage({ a: [stream({ cut: { after: "headers", how: "close" } }), a], b: stream() }, {
      pool,
    });
    const routes = [await streams.askStream(), await streams.askStream()].map(({ route }) => route);
    assertEquals(routes, ["b 2/1", "b 1/0"]);
  });

  it("leaves a model whose stream broke, though nothing answered instead", async () => {
    const broken = stream({ cut: { after: 1, how: "close" } });
    await using scene = await stage({ a: [broken, a], b }, { pool });
    assertEquals((await scene.askStream()).last, "error");
    assertEquals(await texts(scene, 2), "bb");
  });

  it("leaves a model that failed also when all others failed, too", async () => {
    await using scene = await stage({ a: [status(500), a], b: [status(500), b] }, { pool });
    assertEquals((await scene.ask()).status, 502);
    assertEquals(await texts(scene, 2), "bb");
  });

  it("is not moved by a request that failed by its own fault, nor by one with a route of its own", async () => {
    await using scene = await stage({ a: [a, status(400), a], b }, { pool });
    assertEquals(await texts(scene, 4), "abaa");
    const order = { mesh: { order: ["b"] } };
    await using routed = await stage({ a, b: [status(500), b], c }, { pool });
    assertEquals([(await routed.ask()).text, (await routed.ask(order)).text], ["a", "a"]);
    assertEquals((await routed.ask({ mesh: { ignore: ["a"] } })).text, "b");
    assertEquals(await texts(routed, 2), "aa");
    await using fault = await stage({ a: [status(400), a], b: [status(500), b], c }, { pool });
    assertEquals(await texts(fault, 2), "ca", "b failed, a did not");
  });

  it("is moved by a code that counts toward deactivation, whatever its class", async () => {
    const counted = { ...pool, deactivation: { error_codes: [400] } };
    await using scene = await stage({ a: [status(400), a], b }, { pool: counted });
    assertEquals(await texts(scene, 2), "bb");
  });
});

describe("round-robin", () => {
  it("takes turns, by weight where one is given", async () => {
    await using even = await stage({ a, b, c }, { pool: by("round-robin") });
    assertEquals(tally([...await texts(even, 9)]), { a: 3, b: 3, c: 3 });
    await using weighed = await stage({ a, b }, tuned({ pool: by("round-robin"), models: { a: { weight: 3 } } }));
    assertEquals(tally([...await texts(weighed, 12)]), { a: 9, b: 3 });
  });

  it("is even for requests at once", async () => {
    await using scene = await stage({ a, b, c }, { pool: by("round-robin") });
    await Promise.all(Array.from({ length: 30 }, () => scene.ask()));
    assertEquals(scene.calls, { a: 10, b: 10, c: 10 });
  });
});

describe("cost-first", () => {
  const models = {
    a: {}, // an unknown price
    b: { pricing: { input: 1, output: 50 } },
    c: { pricing: { input: 10, output: 10 } },
  };
  const long = [{ role: "user", content: "word ".repeat(2_000) }];

  it("asks who is cheapest for this request", async () => {
    await using scene = await stage({ a, b, c }, tuned({ pool: by("cost-first"), models }));
    assertEquals((await scene.ask({ messages: long, max_tokens: 1 })).text, "b");
    assertEquals((await scene.ask({ max_tokens: 1_000 })).text, "c");
    assertEquals((await scene.ask({ messages: long, max_tokens: 1 })).text, "b");
    assertUnmoved(scene);
  });

  it("asks last models of unknown price, before none", async () => {
    const cast = { a, b: status(500), c: status(500) };
    await using scene = await stage(cast, tuned({ pool: by("cost-first"), models }));
    assertEquals((await scene.ask({ messages: long, max_tokens: 1 })).route, "a 3/2");
    assertEquals(scene.routing.fallback_chain.map(({ model }) => model), ["b", "c", "a"]);
  });

  it("compares all by one estimate: a model dearer in every price is never asked before a cheaper one", async () => {
    const usage = (written: number) => ({ prompt_tokens: 10, completion_tokens: written, total_tokens: 10 + written });
    const brief = ok({ text: "b", usage: usage(10) });
    const wordy = ok({ text: "a", usage: usage(4_000) });
    const prices = { a: { pricing: { input: 1, output: 4 } }, b: { pricing: { input: 2, output: 8 } } };
    await using scene = await stage(
      { a: [status(500), wordy], b: brief },
      tuned({ pool: by("cost-first"), models: prices }),
    );
    assertEquals(await texts(scene, 4), "baaa"); // b once, since a failed
    assertEquals((await scene.ask({ max_tokens: 1e15 })).text, "a"); // whatever limit is named
  });

  it("estimates a response without a limit by the mean of the pool's responses", async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };
    const prices = { a: { pricing: { input: 1, output: 40 } }, b: { pricing: { input: 20, output: 20 } } };
    const brief = ok({ text: "a", usage });
    await using scene = await stage(
      { a: brief, b: [b, ok({ text: "b", usage })] },
      tuned({
        pool: by("cost-first"),
        models: prices,
      }),
    );
    const words = { messages: [{ role: "user", content: "word ".repeat(30) }] };
    assertEquals((await scene.ask(words)).text, "b"); // 1 000 tokens written, as long as none is known
    assertEquals((await scene.ask(words)).text, "a");
  });

  it("takes a price of nothing for a price", async () => {
    const pricing = { input: 0, output: 0 };
    await using scene = await stage(
      { a, b, c },
      tuned({ pool: by("cost-first"), models: { ...models, c: { pricing } } }),
    );
    assertEquals((await scene.ask({ messages: long, max_tokens: 1 })).text, "c");
  });
});

describe("latency-first", () => {
  it("measures each once, then asks the fastest", async () => {
    const clock = eveningClock();
    const cast = { a: lasting(clock, 900, a), b: lasting(clock, 100, b), c: lasting(clock, 500, c) };
    await using scene = await stage(cast, { clock, pool: by("latency-first") });
    assertEquals([...await texts(scene, 3)].sort().join(""), "abc");
    assertEquals(await texts(scene, 5), "bbbbb");
    assertUnmoved(scene);
  });

  it("goes elsewhere while the fastest is slow", async () => {
    const clock = eveningClock();
    const cast = { a: lasting(clock, 300, a), b: [lasting(clock, 100, b), lasting(clock, 5_000, b)] };
    await using scene = await stage(cast, { clock, pool: by("latency-first") });
    await scene.askTimes(2);
    assertEquals(await texts(scene, 4), "baaa");
    assertUnmoved(scene);
  });

  it("punishes a failure", async () => {
    const clock = eveningClock();
    const cast = { a: lasting(clock, 300, a), b: [lasting(clock, 100, b), status(500), b] };
    await using scene = await stage(cast, { clock, pool: by("latency-first") });
    await scene.askTimes(2);
    assertEquals(await texts(scene, 3), "aaa");
    assertEquals(scene.calls, { a: 4, b: 2 });
  });
});

describe("rate-limit-aware", () => {
  const left = (requests: number, of = 100, more: ResponseHeaders = {}) =>
    ok({
      text: "a",
      headers: {
        "x-ratelimit-limit-requests": String(of),
        "x-ratelimit-remaining-requests": String(requests),
        "x-ratelimit-reset-requests": "60s",
        ...more,
      } as Record<string, string>,
    });

  it("moves when the vendor says that the threshold is reached, not before", async () => {
    await using scene = await stage({ a: [left(50), left(21), left(20), a], b }, { pool: by("rate-limit-aware") });
    assertEquals(await texts(scene, 5), "aaabb");
    assertUnmoved(scene, ["rotation a>b threshold"]);
  });

  it("moves by tokens likewise", async () => {
    const tokens = { "x-ratelimit-limit-tokens": "1000", "x-ratelimit-remaining-tokens": "199" };
    await using scene = await stage({ a: [left(99, 100, tokens), a], b }, { pool: by("rate-limit-aware") });
    assertEquals(await texts(scene, 3), "abb");
  });

  it("counts itself against what is declared, at a threshold of one's own", async () => {
    const pool = by("rate-limit-aware", { rate_limit: { threshold: 0.5 } });
    await using scene = await stage({ a, b }, tuned({ pool, models: { a: { limits: { rpm: 10 } } } }));
    assertEquals(await texts(scene, 8), "aaaaabbb");
    assertUnmoved(scene, ["rotation a>b threshold"]);
  });

  it("does so with requests at once", async () => {
    const pool = by("rate-limit-aware", { rate_limit: { threshold: 0.5 } });
    await using scene = await stage({ a, b }, tuned({ pool, models: { a: { limits: { rpm: 10 } } } }));
    await Promise.all(Array.from({ length: 20 }, () => scene.ask()));
    assertEquals(scene.calls, { a: 5, b: 15 });
  });

  it("asks who has most headroom when all are over it", async () => {
    const models = { a: { limits: { rpm: 10 } }, b: { limits: { rpm: 20 } } };
    await using scene = await stage({ a, b }, tuned({ pool: by("rate-limit-aware"), models }));
    const answers = await scene.askTimes(31);
    assertEquals(tally(answers.map(({ text, error }) => text ?? error!.code)), {
      a: 10,
      b: 20,
      rate_limit_exceeded: 1,
    });
    assertUnmoved(scene, ["rotation a>b threshold"]);
  });
});

describe("load-balanced", () => {
  const models = { a: { limits: { rpm: 100 } }, b: { limits: { rpm: 300 } } };

  it("gives each the same number in absolute mode, whatever its limit", async () => {
    const pool = by("load-balanced", { balance_mode: "absolute" });
    await using scene = await stage({ a, b, c }, tuned({ pool, models }));
    assertEquals(tally([...await texts(scene, 30)]), { a: 10, b: 10, c: 10 });
    assertUnmoved(scene);
    await using atOnce = await stage({ a, b, c }, tuned({ pool, models }));
    await Promise.all(Array.from({ length: 30 }, () => atOnce.ask()));
    assertEquals(atOnce.calls, { a: 10, b: 10, c: 10 });
  });

  it("honors the weight in both modes", async () => {
    const weighed = { a: { ...models.a, weight: 3 }, b: models.b };
    const absolute = by("load-balanced", { balance_mode: "absolute" });
    await using even = await stage({ a, b }, tuned({ pool: absolute, models: weighed }));
    assertEquals(tally([...await texts(even, 40)]), { a: 30, b: 10 });
    const relative = by("load-balanced", { balance_mode: "relative" });
    await using scaled = await stage({ a, b }, tuned({ pool: relative, models: weighed }));
    assertEquals(tally([...await texts(scaled, 40)]), { a: 20, b: 20 });
  });

  it("goes on evenly with the others once a limit is reached", async () => {
    const limits = { a: { limits: { rpm: 5 } }, b: { limits: { rpm: 300 } } };
    await using scene = await stage({ a, b, c }, tuned({ pool: by("load-balanced"), models: limits }));
    assertEquals(tally([...await texts(scene, 45)]), { a: 5, b: 20, c: 20 });
  });

  it("deals out by the declared limits in relative mode", async () => {
    const pool = by("load-balanced", { balance_mode: "relative" });
    await using scene = await stage({ a, b }, tuned({ pool, models }));
    assertEquals(tally([...await texts(scene, 40)]), { a: 10, b: 30 });
    assertUnmoved(scene);
  });

  it("deals out by the vendors' own limits once they are known", async () => {
    const reported = (text: string, limit: number) =>
      ok({
        text,
        headers: { "x-ratelimit-limit-requests": String(limit), "x-ratelimit-remaining-requests": String(limit - 1) },
      });
    const pool = by("load-balanced", { balance_mode: "relative" });
    await using scene = await stage({ a: reported("a", 4_000), b: reported("b", 1_000) }, { pool });
    await scene.askTimes(2);
    const { a: first = 0, b: second = 0 } = tally([...await texts(scene, 50)]);
    assert(Math.abs(first - 40) <= 1 && first + second === 50, `${first} to ${second}`);
  });

  it("does so with requests at once", async () => {
    const pool = by("load-balanced", { balance_mode: "relative" });
    await using scene = await stage({ a, b }, tuned({ pool, models }));
    await Promise.all(Array.from({ length: 40 }, () => scene.ask()));
    assertEquals(scene.calls, { a: 10, b: 30 });
  });
});

describe("priority", () => {
  it("comes back to the first as soon as it is active again", async () => {
    const pool = { ...noRetry, deactivation: { retry_limit: 1 } };
    await using scene = await stage({ a: [status(500), a], b }, { pool });
    assertEquals(await texts(scene, 2), "bb");
    await scene.clock.advance(60_000);
    assertEquals(await texts(scene, 2), "aa");
  });
});

describe("fallback_strategy", () => {
  const pool = by("priority", { model_priority: ["a"], fallback_strategy: "round-robin" });

  it("decides among those that the first strategy's list does not name, once the list is exhausted", async () => {
    await using scene = await stage({ a: status(400), b, c }, { pool });
    assertEquals(tally([...await texts(scene, 8)]), { b: 4, c: 4 });
  });

  it("has no say while a model of the list can be asked", async () => {
    await using scene = await stage({ a, b, c }, { pool });
    assertEquals(await texts(scene, 4), "aaaa");
  });

  it("goes by the list of providers likewise", async () => {
    const byProvider = by("priority", { provider_priority: ["b"], fallback_strategy: "round-robin" });
    await using scene = await stage({ a, b: [b, status(400), status(400), b], c }, { pool: byProvider });
    assertEquals(await texts(scene, 4), "bacb");
  });

  it("gives back to the list's model once that is active again", async () => {
    const deactivation = { retry_limit: 1 };
    await using scene = await stage({ a: [status(500), a], b, c }, { pool: { ...pool, deactivation } });
    assertEquals((await scene.ask()).text, "b");
    assertEquals(tally([...await texts(scene, 4)]), { b: 2, c: 2 });
    await scene.clock.advance(60_000);
    assertEquals(await texts(scene, 2), "aa");
  });

  it("leaves alone a pool without such a list", async () => {
    const noList = by("priority", { fallback_strategy: "round-robin" });
    await using scene = await stage({ a: status(400), b, c }, { pool: noList });
    assertEquals(await texts(scene, 4), "bbbb");
  });
});
