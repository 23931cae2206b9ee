/** Hedging: while the first model is silent a second one is asked, the first content wins, and the other call ends. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { askForCalls, clientDialects } from "../support/_dialect_calls.ts";
import { readModelState } from "../support/_dialect_proxy.ts";
import {
  after,
  behind,
  type Cast,
  isOpen,
  type Seen,
  type SeenStream,
  severalModels,
  soon,
  type Stage,
  stage,
} from "../support/_failover.ts";
import { keyIn, keys } from "../support/_keys.ts";
import { becomes } from "../support/patience.ts";
import {
  type Behaviour,
  Gate,
  hang,
  hangAfterHeaders,
  ok,
  type ReceivedRequest,
  respond,
  respondEmpty,
  status,
  stream,
} from "../support/upstream.ts";

const hedge = { after: "2s", max_share: 1 };
const noRetry = { max_attempts: 0 };
const pool = { hedge, retry: noRetry };
const a = ok({ text: "from a" });
const b = respond({ text: "from b" });
const bad = status(500);

const outcomes = ({ routing }: Stage) => routing.fallback_chain.map(({ model, outcome }) => `${model} ${outcome}`);

/** Asks, and lets time pass until the second provider has the request, too. */
async function hedged<Answer>(scene: Stage, ask: () => Promise<Answer>, second = "b"): Promise<Promise<Answer>[]> {
  const seen = ask();
  seen.catch(() => {}); // it may fail before it is awaited
  await scene.received("a");
  await scene.clock.advance(2_000);
  await scene.received(second);
  return [seen];
}

describe("hedging", () => {
  const silent: readonly [name: string, behaviour: Behaviour, isStream: boolean][] = [
    ["before its head", hang(), false],
    ["after its head", hangAfterHeaders(), false],
    ["before the head of a stream", hang(), true],
    ["before the first content of a stream", stream({ cut: { after: 0, how: "hang" } }), true],
  ];
  for (const [name, behaviour, isStream] of silent) {
    it(`asks a second model when the first is silent ${name}, and cancels the first`, async () => {
      await using scene = await stage({ a: behaviour, b }, { pool });
      const { pending } = scene.clock;
      const seen = isStream ? scene.askStream() : scene.ask();
      await scene.received("a");
      await scene.clock.advance(1_999);
      assertEquals([await isOpen(seen), scene.calls], [true, { a: 1, b: 0 }]);
      const { text, route } = await after<Seen | SeenStream>(scene.clock, 1, seen);
      assertEquals([text, route], ["from b", "b 2/0"]);
      assertEquals(outcomes(scene), ["a hedge_lost", "b ok"]);
      const { hedged, hedge_won, attempts, replaced_provider } = scene.routing;
      assertEquals([hedged, hedge_won, attempts, replaced_provider], [true, true, 2, undefined]);
      assertEquals([scene.states(), scene.events], [{ a: "active", b: "active" }, []]);
      const idle = { inFlight: 0, failures: 0, status: "active" };
      assertEquals(["a", "b"].map((model) => readModelState(scene.proxy.mesh, model)), [idle, idle]);
      await becomes(() => scene.clock.pending, pending);
    });
  }

  it("uses the first model's response if that is faster after all", async () => {
    const gate = new Gate();
    await using scene = await stage({ a: behind(gate, a), b: hang() }, { pool });
    const [seen] = await hedged(scene, () => scene.ask());
    gate.open();
    const { text, route } = await soon(seen!);
    assertEquals([text, route, outcomes(scene)], ["from a", "a 2/0", ["b hedge_lost", "a ok"]]);
    assertEquals([scene.routing.hedged, scene.routing.hedge_won, scene.routing.replaced_provider], [
      true,
      false,
      undefined,
    ]);
  });

  it("is neither a failure nor a rotation in the statistics", async () => {
    await using scene = await stage({ a: hang(), b }, { pool });
    const [seen] = await hedged(scene, () => scene.ask());
    await soon(seen!);
    const counts = scene.proxy.mesh.stats().filter(({ scope }) => scope !== "provider").map((stats) => [
      stats.id,
      [stats.requests_total, stats.requests_success, stats.requests_failed, stats.rotation_events],
    ]);
    assertEquals(Object.fromEntries(counts), { a: [1, 0, 0, 0], b: [1, 1, 0, 0], chat: [1, 1, 0, 0] });
  });

  it("closes the connection of the call that is cancelled", async () => {
    for (const [, behaviour, isStream] of silent) {
      await using scene = await stage({ a: behaviour, b }, { pool });
      const [seen] = await hedged<Seen | SeenStream>(scene, () => isStream ? scene.askStream() : scene.ask());
      await soon(seen!);
      await becomes(() => scene.upstreams.a!.open, 0);
    }
    const gate = new Gate();
    await using scene = await stage({ a: behind(gate, a), b: hang() }, { pool });
    const [seen] = await hedged(scene, () => scene.ask());
    gate.open();
    await soon(seen!);
    await becomes(() => scene.upstreams.b!.open, 0);
  });

  it("does not follow content, however long the response takes", async () => {
    const gate = new Gate();
    gate.open(2);
    await using scene = await stage({ a: stream({ pieces: ["one", " two"], gate }), b }, { pool });
    const response = await scene.proxy.chat({ stream: true });
    await scene.clock.advance(10_000);
    gate.openAll();
    assertEquals([(await response.text()).includes("two"), scene.calls], [true, { a: 1, b: 0 }]);
    assertEquals(scene.routing.hedged, undefined);
  });

  for (const dialect of Object.keys(clientDialects)) {
    it(`serves complete and streamed responses of the dialect ${dialect}`, async () => {
      await using scene = await stage({ a: hang(), b }, { pool });
      for (const stream of [false, true]) {
        const answered = askForCalls(scene.proxy.url, { dialect, stream });
        await scene.received("a", stream ? 2 : 1);
        assertEquals((await after(scene.clock, 2_000, answered)).text, "from b");
      }
    });
  }
});

describe("the failures of a hedged request", () => {
  it("a first model that fails meanwhile leaves the hedge alone", async () => {
    const [first, second] = [new Gate(), new Gate()];
    await using scene = await stage({ a: behind(first, bad), b: behind(second, b) }, { pool });
    const [seen] = await hedged(scene, () => scene.ask());
    first.open();
    assertEquals(await isOpen(seen!), true);
    second.open();
    const { text, route } = await soon(seen!);
    assertEquals([text, route, outcomes(scene)], ["from b", "b 2/1", ["a server", "b ok"]]);
    assertEquals([scene.routing.replaced_provider, readModelState(scene.proxy.mesh, "a").failures], ["a", 1]);
  });

  it("a hedge that fails leaves the first model alone", async () => {
    const gate = new Gate();
    await using scene = await stage({ a: behind(gate, a), b: bad }, { pool });
    const [seen] = await hedged(scene, () => scene.ask());
    await becomes(() => readModelState(scene.proxy.mesh, "b").failures, 1);
    assertEquals(await isOpen(seen!), true);
    gate.open();
    const { text, route } = await soon(seen!);
    assertEquals([text, route, outcomes(scene)], ["from a", "a 2/1", ["b server", "a ok"]]);
  });

  it("when both fail, the request rotates, and is not hedged again", async () => {
    const [first, third] = [new Gate(), new Gate()];
    const cast: Cast = { a: [a, behind(first, bad)], b: bad, c: behind(third, ok({ text: "from c" })), d: b };
    await using scene = await stage(cast, { pool });
    await scene.ask(); // so that the share allows two hedges
    const seen = scene.ask();
    await scene.received("a", 2);
    await scene.clock.advance(2_000);
    await scene.received("b");
    first.open();
    await scene.received("c");
    await scene.clock.advance(10_000);
    third.open();
    const { text, route } = await soon(seen);
    assertEquals([text, route, scene.calls.d], ["from c", "c 3/2", 0]);
    assertEquals(outcomes(scene), ["a server", "b server", "c ok"]);
  });

  it("an empty response does not win against one with content", async () => {
    const [first, second] = [new Gate(), new Gate()];
    await using scene = await stage({ a: behind(first, respondEmpty()), b: behind(second, b) }, { pool });
    const [seen] = await hedged(scene, () => scene.ask());
    first.open();
    assertEquals(await isOpen(seen!), true);
    second.open();
    assertEquals([(await soon(seen!)).text, outcomes(scene)], ["from b", ["a empty", "b ok"]]);
  });

  it("a model that was cancelled is asked again if a stream that is held until it is complete breaks", async () => {
    const broken = stream({ pieces: ["one", " two"], cut: { after: 1, how: "close" } });
    await using scene = await stage({ a: [hang(), respond({ text: "from a" })], b: broken }, {
      pool: { ...pool, commit: "complete" },
    });
    const [seen] = await hedged(scene, () => scene.askStream());
    assertEquals((await soon(seen!)).text, "from a");
    assertEquals([outcomes(scene)[0], outcomes(scene)[2]], ["a hedge_lost", "a ok"]);
    assertEquals([scene.routing.hedged, scene.routing.hedge_won], [true, false]);
  });

  it("a stream that breaks after its first content ends with an error, as any other", async () => {
    await using scene = await stage({ a: hang(), b: stream({ cut: { after: 1, how: "close" } }) }, { pool });
    const [seen] = await hedged(scene, () => scene.askStream());
    const { last, error } = await soon(seen!);
    assertEquals([last, error?.code], ["error", "stream_interrupted"]);
    assertEquals(outcomes(scene), ["a hedge_lost", "b stream_interrupted"]);
  });
});

describe("the end of a hedged request", () => {
  const idle = { inFlight: 0, failures: 0, status: "active" };

  for (const isStream of [false, true]) {
    it(`a client that leaves ends both calls${isStream ? " of a stream" : ""}`, async () => {
      await using scene = await stage({ a: hang(), b: hang() }, { pool });
      const client = new AbortController();
      const [response] = await hedged(
        scene,
        () => scene.proxy.chat({ stream: isStream }, { signal: client.signal }),
      );
      client.abort();
      await response!.catch(() => {});
      await becomes(() => scene.upstreams.a!.open + scene.upstreams.b!.open, 0);
      await becomes(() => outcomes(scene).join(), "a aborted,b aborted");
      assertEquals([scene.routing.status, scene.routing.attempts], [499, 2]);
      assertEquals(["a", "b"].map((model) => readModelState(scene.proxy.mesh, model)), [idle, idle]);
    });
  }

  it("the deadline covers both calls", async () => {
    await using scene = await stage({ a: hang(), b: hang() }, { pool });
    const [seen] = await hedged(scene, () => scene.ask({ mesh: { deadline: "5s" } }));
    await scene.clock.advance(2_999);
    assertEquals(await isOpen(seen!), true);
    const { status, error } = await after(scene.clock, 1, seen!);
    assertEquals([status, error?.code], [504, "timeout"]);
    assertEquals(error?.message.includes("5000 ms"), true);
    assertEquals(["a", "b"].map((model) => readModelState(scene.proxy.mesh, model)), [idle, idle]);
  });

  it("books what was used, and the reservation of the other model, once each", async () => {
    const perRequest = (usd: number) => ({ pricing: { input: 0, output: 0, per_request: usd } });
    const priced = (urls: Readonly<Record<string, string>>) => {
      const { config } = severalModels({ a: "a", b: "b" }, { pool })(urls);
      const models = config!.models as Readonly<Record<string, object>>;
      const own = { a: { ...models.a, ...perRequest(1) }, b: { ...models.b, ...perRequest(0.25) } };
      return { config: { ...config, models: own, budget: { daily_limit: 100 } } };
    };
    for (const isStream of [false, true]) {
      await using scene = await stage({ a: hang(), b }, priced);
      const [seen] = await hedged<{ readonly headers: Headers }>(
        scene,
        () => isStream ? scene.askStream() : scene.ask(),
      );
      const { headers } = await soon(seen!);
      assertEquals(headers.get("x-mesh-cost-usd"), isStream ? null : "1.25");
      assertEquals([scene.routing.cost_usd, scene.routing.estimated], [1.25, true]);
      const status = await (await fetch(`${scene.proxy.url}/mesh/status`)).json();
      const spent = status.budgets.map(({ spent_usd, reserved_usd }: Record<string, number>) => [
        spent_usd,
        reserved_usd,
      ]);
      assertEquals(spent, [[1.25, 0]]);
    }
  });
});

describe("the second model of a hedge", () => {
  const silentA: Record<string, (request: ReceivedRequest) => Behaviour> = {
    a: (request) => request.json().model === "a1" ? hang() : ok({ text: String(request.json().model) }),
    b: () => ok({ text: "b" }),
  };
  const models = { a1: "a", a2: "a", b: "b" };
  const rows: readonly [name: string, settings: object, text: string | undefined][] = [
    ["is of another provider entry", {}, "b"],
    ["is of the same one if that has the only others", { models: ["a1", "a2"], model_priority: ["a1", "a2"] }, "a2"],
    ["stays within the provider for the scope same_provider", {
      retry: { ...noRetry, scope: "same_provider" },
    }, "a2"],
    ["does not exist for the scope same_model", { retry: { ...noRetry, scope: "same_model" } }, undefined],
  ];
  for (const [name, settings, text] of rows) {
    it(name, async () => {
      await using scene = await stage(silentA, severalModels(models, { pool: { ...pool, ...settings } }));
      const seen = scene.ask();
      await scene.received("a");
      await scene.clock.advance(2_000);
      if (text !== undefined) assertEquals((await soon(seen)).text, text);
      else assertEquals(await isOpen(seen), true);
      await scene.clock.advance(600_000);
      await soon(seen);
    });
  }

  it("is the same model with another key of its provider, if there is no other", async () => {
    const byKey = (request: ReceivedRequest) => keyIn(request) === 1 ? hang() : ok({ text: "second key" });
    await using scene = await stage({ a: byKey }, { pool, provider: { api_key: keys.slice(0, 2) } });
    const seen = scene.ask();
    await scene.received("a");
    const { text, route } = await after(scene.clock, 2_000, seen);
    assertEquals([text, route, outcomes(scene)], ["second key", "a 2/0", ["a hedge_lost", "a ok"]]);
    assertEquals(scene.upstreams.a!.requests.map(keyIn), [1, 2]);
  });

  it("is not the same model with the same key", async () => {
    await using scene = await stage({ a: hang() }, { pool });
    const seen = scene.ask();
    await scene.received("a");
    await scene.clock.advance(10_000);
    assertEquals([await isOpen(seen), scene.calls], [true, { a: 1 }]);
    await scene.clock.advance(600_000);
    await soon(seen);
  });

  it("is another key in each turn of a conversation that stays with a key", async () => {
    const byKey = (request: ReceivedRequest) =>
      request.number > 1 && keyIn(request) === 1 ? hang() : ok({ text: "from a" });
    const settings = { pool: { ...pool, affinity: { by: "prompt", ttl: "10m" } } };
    await using scene = await stage({ a: byKey }, { ...settings, provider: { api_key: keys.slice(0, 2) } });
    await scene.ask();
    for (const turn of [1, 2]) {
      const seen = scene.ask();
      await scene.received("a", 2 * turn);
      assertEquals((await after(scene.clock, 2_000, seen)).text, "from a");
    }
    assertEquals(scene.upstreams.a!.requests.map(keyIn), [1, 1, 2, 1, 2]);
  });

  it("is not the same model if its other key is in standby", async () => {
    const refusal = status(401, { error: { code: "invalid_api_key" } });
    const byKey = (request: ReceivedRequest) => keyIn(request) === 2 ? refusal : request.number < 4 ? a : hang();
    await using scene = await stage({ a: byKey }, { pool, provider: { api_key: keys.slice(0, 2) } });
    await scene.askTimes(2);
    const seen = scene.ask();
    await scene.received("a", 4);
    await scene.clock.advance(10_000);
    assertEquals([await isOpen(seen), scene.upstreams.a!.requests.map(keyIn)], [true, [1, 2, 1, 1]]);
    await scene.clock.advance(600_000);
    await soon(seen);
  });

  it("does not become the pool's current one", async () => {
    await using scene = await stage({ a: [hang(), a], b }, { pool: { ...pool, strategy: "stick-until-failure" } });
    const [seen] = await hedged(scene, () => scene.ask());
    assertEquals([(await soon(seen!)).text, (await scene.ask()).text, scene.events], ["from b", "from a", []]);
  });

  const cached: readonly [name: string, second: readonly Behaviour[]][] = [
    ["does not move a conversation away from the prompt cache of the first", [b]],
    ["does not move it after a retry either", [bad, b]],
  ];
  for (const [name, second] of cached) {
    it(name, async () => {
      const affinity = { by: "prompt", ttl: "10m" };
      const settings = { pool: { hedge, affinity, strategy: "round-robin", model_priority: undefined } };
      const priced = (urls: Readonly<Record<string, string>>) => {
        const { config } = severalModels({ a: "a", b: "b" }, settings)(urls);
        const pricing = { input: 1, cached_input: 0.1, output: 1 };
        const models = Object.entries(config!.models as Readonly<Record<string, object>>);
        return {
          config: { ...config, models: Object.fromEntries(models.map(([id, own]) => [id, { ...own, pricing }])) },
        };
      };
      await using scene = await stage({ a: [a, hang(), a], b: second }, priced);
      assertEquals((await scene.ask()).text, "from a");
      const seen = scene.ask();
      await scene.received("a", 2);
      assertEquals((await after(scene.clock, 3_000, seen)).text, "from b");
      assertEquals((await scene.ask()).text, "from a");
    });
  }

  it("is preferred by latency-first afterwards, since the wait for the first counts as its latency", async () => {
    const strategy = { strategy: "latency-first", model_priority: undefined };
    await using scene = await stage({ a: [hang(), a], b }, { pool: { ...pool, ...strategy } });
    const [seen] = await hedged(scene, () => scene.ask());
    await soon(seen!);
    assertEquals([(await scene.ask()).text, scene.calls], ["from b", { a: 1, b: 2 }]);
  });
});
