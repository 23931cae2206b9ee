/** The same model again: how often, after which wait, and for which failures. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { severalModels, stage, type StageOptions } from "../support/_failover.ts";
import { type Behaviour, ok, reset, status } from "../support/upstream.ts";

const b = ok({ text: "from b" });
const bad = status(500);
const hinted = (ms: number, code = 429) => status(code, { headers: { "retry-after-ms": String(ms) } });
const retry = (settings: object, more: object = {}): StageOptions => ({ pool: { retry: settings, ...more } });

describe("the wait before a retry", () => {
  const six = { max_attempts: 6 };
  const waits: readonly [name: string, settings: object, behaviour: Behaviour, waits: readonly number[]][] = [
    ["half of a doubling cap, by chance of 0.5", six, bad, [250, 500, 1000, 2000, 4000, 5000]],
    ["up to max_delay", { ...six, max_delay: "1500ms" }, bad, [250, 500, 750, 750, 750, 750]],
    ["from initial_delay", { max_attempts: 3, initial_delay: "2s" }, bad, [1000, 2000, 4000]],
    ["fixed", { max_attempts: 3, backoff: "fixed" }, bad, [500, 500, 500]],
    ["fixed at initial_delay", { max_attempts: 2, backoff: "fixed", initial_delay: "70ms" }, bad, [70, 70]],
    ["none at all", { max_attempts: 2, initial_delay: "0s" }, bad, [0, 0]],
    ["by chance without a hint", { max_attempts: 3, backoff: "retry_after" }, bad, [250, 500, 1000]],
    ["the hint", { max_attempts: 2, backoff: "retry_after" }, hinted(300), [300, 300]],
    ["a hint within the cap", { max_attempts: 2 }, hinted(499), [499, 499]],
    ["a hint within the fixed wait", { max_attempts: 2, backoff: "fixed" }, hinted(499), [499, 499]],
    ["a hint of an overloaded server", { max_attempts: 2 }, hinted(400, 503), [400, 400]],
    ["a hint left aside", { max_attempts: 2, honor_retry_after: false }, hinted(30_000), [250, 500]],
  ];
  for (const [name, settings, behaviour, expected] of waits) {
    it(`${name}: ${expected.join(", ")} ms`, async () => {
      await using scene = await stage({ a: behaviour, b }, retry(settings));
      assertEquals((await scene.ask()).route, `b ${expected.length + 2}/1`);
      assertEquals([scene.clock.sleeps, scene.calls], [expected, { a: expected.length + 1, b: 1 }]);
    });
  }

  it("is none where a hint is beyond the cap and another model is active: the model is in standby that long", async () => {
    await using scene = await stage({ a: hinted(501), b });
    await scene.ask();
    assertEquals([scene.clock.sleeps, scene.calls, scene.states().a], [[], { a: 1, b: 1 }, "rate_limited for 0.501s"]);
  });

  it("is the hint up to max_delay where the waits are the hints, though another model is active", async () => {
    for (const ms of [501, 2_000, 10_000]) {
      await using scene = await stage(
        { a: [hinted(ms), ok({ text: "from a" })], b },
        retry({ backoff: "retry_after" }),
      );
      assertEquals([(await scene.ask()).text, scene.clock.sleeps], ["from a", [ms]]);
      assertEquals([scene.calls, scene.states().a], [{ a: 2, b: 0 }, "active"]);
    }
  });

  it("is none where the waits are the hints, and one is beyond max_delay: the model is in standby that long", async () => {
    const settings = { backoff: "retry_after", max_delay: "3s" };
    await using scene = await stage({ a: hinted(3_001, 503), b }, retry(settings));
    assertEquals([(await scene.ask()).text, scene.clock.sleeps], ["from b", []]);
    assertEquals([scene.calls, scene.states().a], [{ a: 1, b: 1 }, "rate_limited for 3.001s"]);
  });

  const hintOfTwo: readonly [kind: string, when: string, settings: object, a: Behaviour[], seen: unknown[]][] = [
    ["exponential_jitter", "first", {}, [status(429, { headers: { "retry-after": "2" } })], ["from b", []]],
    [
      "exponential_jitter",
      "third",
      { max_attempts: 3 },
      [bad, bad, status(429, { headers: { "retry-after": "2" } }), ok({ text: "from a" })],
      ["from a", [250, 500, 2_000]],
    ],
    ["fixed", "first", { backoff: "fixed" }, [status(503, { headers: { "retry-after": "2" } })], ["from b", []]],
    [
      "retry_after",
      "first",
      { backoff: "retry_after" },
      [status(429, { headers: { "retry-after": "2" } }), ok({ text: "from a" })],
      ["from a", [2_000]],
    ],
  ];
  for (const [kind, when, settings, a, seen] of hintOfTwo) {
    it(`under ${kind}, with Retry-After: 2 in the ${when} answer, is as docs/failover.md says`, async () => {
      await using scene = await stage({ a, b }, retry(settings));
      assertEquals([(await scene.ask()).text, scene.clock.sleeps], seen);
    });
  }

  it("grows with each try: a hint beyond the first cap may be within the second", async () => {
    await using scene = await stage({ a: [bad, hinted(900), ok({ text: "from a" })], b });
    assertEquals([(await scene.ask()).text, scene.clock.sleeps], ["from a", [250, 900]]);
  });

  it("is the hint up to max_delay when no other model is active", async () => {
    await using scene = await stage({ a: [hinted(10_000), hinted(9_000), ok({ text: "from a" })] });
    assertEquals([(await scene.ask()).text, scene.clock.sleeps], ["from a", [10_000, 9_000]]);
  });

  it("is the hint, too, when the others are in standby", async () => {
    await using scene = await stage({ a: [ok(), hinted(5_000), ok({ text: "from a" })], b: hinted(60_000) }, {
      pool: { model_priority: ["b", "a"] },
    });
    await scene.ask();
    assertEquals([(await scene.ask()).text, scene.clock.sleeps], ["from a", [5_000]]);
  });

  it("is none where even alone a hint is beyond max_delay", async () => {
    await using scene = await stage({ a: hinted(10_001) });
    const seen = await scene.ask();
    assertEquals([seen.status, seen.headers.get("retry-after-ms"), scene.clock.sleeps], [429, "10001", []]);
    assertEquals(scene.calls, { a: 1 });
  });
});

describe("the number of tries", () => {
  for (const [attempts, calls] of [[0, 1], [1, 2], [2, 3], [5, 6]] as const) {
    it(`is ${calls} with max_attempts ${attempts}`, async () => {
      await using scene = await stage({ a: bad, b }, retry({ max_attempts: attempts }));
      assertEquals([(await scene.ask()).text, scene.calls], ["from b", { a: calls, b: 1 }]);
    });
  }

  it("ends with the first success, which is not a fallback", async () => {
    await using scene = await stage({ a: [reset(), bad, ok({ text: "from a" })], b });
    const seen = await scene.ask();
    assertEquals([seen.text, seen.route, scene.calls, scene.events], ["from a", "a 3/0", { a: 3, b: 0 }, []]);
    assertEquals(scene.routing.fallback_chain.map(({ outcome, ms }) => [outcome, ms]), [["ok", 750]]);
    assertEquals([scene.routing.possibly_billed, scene.routing.routing_latency_ms], [true, 0]);
  });

  it("is the model's own: the next one has as many", async () => {
    await using scene = await stage({ a: bad, b: bad, c: ok({ text: "from c" }) });
    const seen = await scene.ask();
    assertEquals([seen.text, seen.route], ["from c", "c 7/2"]);
    assertEquals([scene.calls, scene.clock.sleeps], [{ a: 3, b: 3, c: 1 }, [250, 500, 250, 500]]);
  });

  it("is one where the provider says that another try is useless", async () => {
    const pointless = status(503, { headers: { "x-should-retry": "false" } });
    await using scene = await stage({ a: pointless, b });
    assertEquals([(await scene.ask()).text, scene.calls], ["from b", { a: 1, b: 1 }]);
  });

  it("is not more where the provider says that another try is some use", async () => {
    await using scene = await stage({ a: status(401, { headers: { "x-should-retry": "true" } }), b });
    assertEquals([(await scene.ask()).text, scene.calls], ["from b", { a: 1, b: 1 }]);
  });
});

describe("codes that are configured", () => {
  const rows: readonly [name: string, code: number, options: StageOptions, calls: number][] = [
    ["a default one", 503, {}, 3],
    ["taken out of the retryable ones", 503, retry({ non_retryable_codes: [503] }), 1],
    ["added to the retryable ones", 404, retry({ retryable_codes: [404] }), 3],
    ["a bad key, retryable", 401, retry({ retryable_codes: [401] }), 3],
    ["a fault of the request, retryable", 400, retry({ retryable_codes: [400] }), 3],
    ["in neither list, by its class", 500, retry({ retryable_codes: [429] }), 3],
    ["in neither list, by its class", 403, retry({ non_retryable_codes: [400] }), 1],
    ["unknown to all", 418, {}, 1],
    ["unknown, retryable", 418, retry({ retryable_codes: [418] }), 3],
    ["by its provider", 404, { provider: { error: { retryable_codes: [404] } } }, 3],
    ["by its provider, not", 500, { provider: { error: { non_retryable_codes: [500] } } }, 1],
    [
      "by both: the pool's word counts",
      500,
      { ...retry({ retryable_codes: [500] }), provider: { error: { non_retryable_codes: [500] } } },
      3,
    ],
  ];
  for (const [name, code, options, calls] of rows) {
    it(`${code}, ${name}: ${calls} tries`, async () => {
      await using scene = await stage({ a: status(code), b }, options);
      assertEquals([(await scene.ask()).text, scene.calls], ["from b", { a: calls, b: 1 }]);
    });
  }

  it("of one provider hold for that provider alone", async () => {
    const of = { a: { error: { non_retryable_codes: [500] } } };
    await using scene = await stage({ a: bad, b: bad }, severalModels({ a: "a", b: "b" }, { of }));
    await scene.ask();
    assertEquals(scene.calls, { a: 1, b: 3 });
  });

  it("of all pools hold for a pool that says nothing else", async () => {
    await using scene = await stage({ a: bad, b }, (urls) => {
      const { config } = severalModels({ a: "a", b: "b" })(urls);
      return { config: { ...config, pools: { ...config!.pools as object, "*": { retry: { max_attempts: 0 } } } } };
    });
    assertEquals([(await scene.ask()).text, scene.calls], ["from b", { a: 1, b: 1 }]);
  });
});

describe("the retry budget of a provider", () => {
  const budget = (min: number, ratio = 0) => ({ provider: { retry: { budget: { min, ratio, window: "10s" } } } });

  it("limits retries over requests, never the way to another provider, and fills up again", async () => {
    await using scene = await stage({ a: bad, b }, { ...budget(3), pool: { deactivation: { retry_limit: 99 } } });
    const tries: number[] = [];
    for (let count = 0; count < 4; count++) {
      const before = scene.calls.a!;
      assertEquals((await scene.ask()).text, "from b");
      tries.push(scene.calls.a! - before);
    }
    assertEquals(tries, [3, 2, 1, 1]);
    await scene.clock.advance(11_000);
    await scene.ask();
    assertEquals(scene.calls.a, 3 + 2 + 1 + 1 + 3);
  });

  it("is each provider's own", async () => {
    await using scene = await stage({ a: bad, b: bad }, budget(1));
    await scene.ask();
    assertEquals(scene.calls, { a: 2, b: 2 });
  });

  it("is shared by a provider's models", async () => {
    await using scene = await stage({ a: bad }, severalModels({ a1: "a", a2: "a" }, budget(2)));
    await scene.ask();
    assertEquals(scene.calls, { a: 3 + 1 });
  });

  it("that is empty holds for the last provider too: no retry, an error at once", async () => {
    await using scene = await stage({ a: bad }, budget(0));
    assertEquals([(await scene.ask()).status, scene.calls, scene.clock.sleeps], [502, { a: 1 }, []]);
  });

  it("grows with the provider's requests", async () => {
    const options = { ...budget(0, 0.5), pool: { deactivation: { retry_limit: 99 } } };
    await using scene = await stage({ a: [ok(), ok(), ok(), bad], b }, options);
    await scene.askTimes(4);
    assertEquals(scene.calls, { a: 3 + 3, b: 1 });
    await scene.ask();
    assertEquals(scene.calls, { a: 3 + 3 + 2, b: 2 });
  });

  it("is ten retries, and a fifth of the requests, unless configured", async () => {
    await using scene = await stage({ a: bad, b }, {
      pool: { retry: { initial_delay: "0s" }, deactivation: { retry_limit: 99 } },
    });
    await scene.askTimes(10);
    assertEquals(scene.calls, { a: 10 + 12, b: 10 });
  });
});
