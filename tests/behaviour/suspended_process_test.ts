/**
 * A process that is suspended loses its reservations to others, and has to get them back before it sends anything.
 */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { create, memoryStorage, type MeshClient, type MeshEvent, stateIn } from "../../mod.ts";
import { type FakeClock, fakeClock, settle } from "../../src/runtime/test.ts";
import { MemoryShared } from "../support/memory_shared.ts";
import { until } from "../support/patience.ts";
import { testConfig } from "../support/proxy.ts";
import { completion } from "../support/_openai_behaviours.ts";

const messages = [{ role: "user" as const, content: "Hi" }];
const leaseMs = 15_000;
const times = (count: number) => Array.from({ length: count }, (_, index) => index);

/** What a test holds up until it lets it go on. */
class Gate {
  open = () => {};
  passed: Promise<void> = Promise.resolve();

  close(): void {
    this.passed = new Promise((resolve) => this.open = resolve);
  }
}

/** One process of several. */
interface Process extends AsyncDisposable {
  readonly client: MeshClient;
  readonly clock: FakeClock;
  /** Provider by provider, what it was sent. */
  readonly calls: string[];
  /** Its access tokens: a call waits for one after it has reserved. */
  readonly tokens: Gate;
  readonly answers: Gate;
  readonly traces: string[];
  readonly events: MeshEvent[];
  /** Asks once: the provider that served, or the code of the error. */
  ask(): Promise<string>;
}

interface SceneOptions {
  readonly providers?: readonly string[];
  readonly onUnavailable?: "open" | "closed";
  /** More of the configuration; by default a budget for ten requests. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly provider?: Readonly<Record<string, unknown>>;
  readonly pool?: Readonly<Record<string, unknown>>;
  readonly model?: Readonly<Record<string, unknown>>;
}

class Scene {
  readonly store = new MemoryShared();
  readonly clock = fakeClock();
  readonly #options: SceneOptions;

  constructor(options: SceneOptions = {}) {
    this.#options = options;
  }

  async start(): Promise<Process> {
    const { providers = ["a"], onUnavailable = "open", config = { budget: { daily_limit: 0.1 } } } = this.#options;
    const clock = fakeClock();
    const [calls, traces, events, tokens, answers] = [[], [], [], new Gate(), new Gate()] as [
      string[],
      string[],
      MeshEvent[],
      Gate,
      Gate,
    ];
    const fetch = async (input: string | URL | Request, init?: RequestInit) => {
      const { host, pathname } = new URL(input instanceof Request ? input.url : input);
      if (pathname === "/token") {
        await tokens.passed;
        return Response.json({ access_token: "token-0123456789", token_type: "Bearer", expires_in: 1 });
      }
      calls.push(host);
      init?.signal?.throwIfAborted();
      await answers.passed;
      return Response.json(completion({ model: "a" }));
    };
    const url = (name: string) => `https://${name}`;
    const plain = testConfig({
      upstreams: Object.fromEntries(providers.map((name) => [name, `${url(name)}/v1`])),
      ...(this.#options.pool && { pool: this.#options.pool }),
      provider: (name) => ({
        api_key: undefined,
        auth: { method: "oauth", token_url: `${url(name)}/token`, client_id: "id", client_secret: "secret-0123456789" },
        ...this.#options.provider,
      }),
    }) as { models: Record<string, { provider: string }> };
    const pricing = { input: 0, output: 0, per_request: 0.01 };
    const models = Object.fromEntries(
      Object.entries(plain.models).map(([name, model]) => [name, { ...model, pricing, ...this.#options.model }]),
    );
    const shared = this.store.process(this.clock, leaseMs);
    const storage = stateIn(Object.assign(memoryStorage(), { shared }), { onUnavailable });
    const on = (record: { type: string }) => void (record.type === "event" && events.push(record as MeshEvent));
    const client = create({ config: { ...plain, models, ...config }, clock, env: {}, fetch, storage, on });
    client.mesh.addSink({
      emit: () => {},
      trace: ({ component, message }) => component === "storage" && traces.push(message),
      flush: () => Promise.resolve(),
    });
    await client.ready();
    const ask = async () => {
      try {
        await client.chat.completions.create({ messages });
        return "served";
      } catch (error) {
        return String(Object(error).code);
      }
    };
    const close = async () => {
      tokens.open();
      answers.open();
      await clock.advance(0);
      await client.close();
    };
    return { client, clock, calls, tokens, answers, traces, events, ask, [Symbol.asyncDispose]: close };
  }

  /** Time passes for the store and for these processes, which run. */
  async pass(ms: number, ...running: readonly Process[]): Promise<void> {
    for (let passed = 0; passed < ms; passed += 500) {
      this.clock.suspend(500);
      for (const { clock } of running) await clock.advance(500);
    }
  }

  /** All processes hear of each other. */
  async hear(...all: readonly Process[]): Promise<void> {
    for (const _ of ["all send", "all receive"]) for (const { clock } of all) await clock.advance(100);
    await settle();
  }
}

/** Both processes, and requests of one that have reserved and are not sent yet. */
async function waiting(scene: Scene, count: number, pick: "tokens" | "answers" = "tokens") {
  const [one, other] = [await scene.start(), await scene.start()];
  one[pick].close();
  const asked = times(count).map(() => one.ask());
  const isTaken = () => [...scene.store.sums].some(([key, sum]) => /taken|concurrent/.test(key) && sum > 0);
  await until(() => pick === "tokens" ? isTaken() : one.calls.length === count, "all have reserved");
  await settle();
  return { one, other, asked };
}

/** How often each was said. */
function tally(said: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const one of said) counts[one] = (counts[one] ?? 0) + 1;
  return counts;
}

/** How a process is stopped: as by SIGSTOP, or with its machine, whose monotonic clock may stand still meanwhile. */
const stops: Readonly<Record<string, (clock: FakeClock) => void>> = {
  "of a process": (clock) => clock.suspend(20_000),
  "of a machine": (clock) => clock.jumpWallTime(20_000),
};

describe("A process that was suspended for 20 s", () => {
  for (const [what, stop] of Object.entries(stops)) {
    it(`sends nothing of what others have reserved since, not even what it was about to send: ${what}`, async () => {
      const scene = new Scene();
      const { one, other, asked } = await waiting(scene, 6);
      await using _ = one;
      await using __ = other;
      await scene.pass(20_000, other);
      assertEquals(tally(await Promise.all(times(12).map(() => other.ask()))), { served: 10, budget_exceeded: 2 });
      stop(one.clock);
      one.tokens.open();
      const said = Promise.all(asked);
      await one.clock.advance(0);
      assertEquals(tally(await said), { budget_exceeded: 6 });
      assertEquals([one.calls.length, other.calls.length], [0, 10]);
    });
  }

  it("sends as much of it as there is left", async () => {
    const scene = new Scene();
    const { one, other, asked } = await waiting(scene, 6);
    await using _ = one;
    await using __ = other;
    await scene.pass(20_000, other);
    for (const _ of times(6)) assertEquals(await other.ask(), "served");
    stops["of a process"]!(one.clock);
    one.tokens.open();
    const said = Promise.all(asked);
    await one.clock.advance(0);
    assertEquals(tally(await said), { served: 4, budget_exceeded: 2 });
    assertEquals([one.calls.length, other.calls.length], [4, 6]);
    await scene.hear(one, other);
    assertEquals([await one.ask(), await other.ask()], ["budget_exceeded", "budget_exceeded"]);
  });

  it("sends all of it where its lease was not ended", async () => {
    const scene = new Scene();
    const { one, other, asked } = await waiting(scene, 6);
    await using _ = one;
    await using __ = other;
    stops["of a process"]!(one.clock);
    one.tokens.open();
    const said = Promise.all(asked);
    await one.clock.advance(0);
    assertEquals(tally(await said), { served: 6 });
    await scene.hear(one, other);
    assertEquals(tally(await Promise.all(times(5).map(() => other.ask()))), { served: 4, budget_exceeded: 1 });
  });

  it("does not count the store as unavailable for the time that itself was away", async () => {
    const scene = new Scene();
    const [one, other] = [await scene.start(), await scene.start()];
    await using _ = one;
    await using __ = other;
    let release = () => {};
    scene.store.gate = new Promise((resolve) => release = resolve);
    await one.clock.advance(100); // its counts are on the way
    const asked = one.ask();
    await settle();
    one.clock.suspend(20_000);
    scene.clock.suspend(20_000);
    await one.clock.advance(0); // timers come before responses, which have been there all the time
    release();
    scene.store.gate = Promise.resolve();
    assertEquals([await asked, one.traces], ["served", []]);
  });

  it("has what it had sent counted again, which is all that may exceed the budget", async () => {
    const scene = new Scene();
    const { one, other, asked } = await waiting(scene, 6, "answers");
    await using _ = one;
    await using __ = other;
    await scene.pass(20_000, other);
    assertEquals(tally(await Promise.all(times(12).map(() => other.ask()))), { served: 10, budget_exceeded: 2 });
    stops["of a process"]!(one.clock);
    await one.clock.advance(100);
    assertEquals(one.traces.length, 1);
    assert(one.traces[0]!.startsWith("The reservations of this process had expired in the shared storage"));
    assertEquals(tally(await Promise.all(times(3).map(() => one.ask()))), { budget_exceeded: 3 });
    one.answers.open();
    assertEquals(tally(await Promise.all(asked)), { served: 6 });
    await scene.hear(one, other);
    assertEquals([await one.ask(), await other.ask()], ["budget_exceeded", "budget_exceeded"]);
    const spent = [...scene.store.sums].find(([key]) => key.startsWith("budget all day") && key.endsWith("spent"));
    assertEquals(spent?.[1], 160_000_000); // of 100 000 000: the six that were sent
  });

  it("goes on with another provider, and holds nothing against the first", async () => {
    const scene = new Scene({ providers: ["a", "b"], config: {}, provider: { budget: { daily_limit: 0.02 } } });
    const { one, other, asked } = await waiting(scene, 2);
    await using _ = one;
    await using __ = other;
    await scene.pass(20_000, other);
    for (const _ of times(2)) assertEquals(await other.ask(), "served");
    stops["of a process"]!(one.clock);
    one.tokens.open();
    const said = Promise.all(asked);
    await one.clock.advance(0);
    assertEquals([tally(await said), one.calls], [{ served: 2 }, ["b", "b"]]);
    assertEquals(
      one.events.filter(({ event, reason }) => event === "deactivation" && reason !== "provider_budget"),
      [],
    );
  });

  for (const onUnavailable of ["open", "closed"] as const) {
    it(`without the store ${onUnavailable === "open" ? "sends what it had" : "sends nothing"}: ${onUnavailable}`, async () => {
      const scene = new Scene({ onUnavailable });
      const { one, other, asked } = await waiting(scene, 6);
      await using _ = one;
      await using __ = other;
      stops["of a process"]!(one.clock);
      scene.store.isUnavailable = true;
      one.tokens.open();
      const said = Promise.all(asked);
      await one.clock.advance(0);
      assertEquals(tally(await said), onUnavailable === "open" ? { served: 6 } : { no_active_model: 6 });
      assertEquals(one.calls.length, onUnavailable === "open" ? 6 : 0);
      scene.store.isUnavailable = false;
    });
  }

  const limits: Readonly<Record<string, SceneOptions>> = {
    "concurrent: 3": { config: {}, model: { limits: { concurrent: 3 } } },
    "a pool's budget_limit": {
      config: {},
      pool: { deactivation: { budget_limit: 0.03, quota_window: "daily" } },
    },
  };
  for (const [limit, options] of Object.entries(limits)) {
    it(`keeps to ${limit} as well`, async () => {
      const scene = new Scene(options);
      const { one, other, asked } = await waiting(scene, 3);
      await using _ = one;
      await using __ = other;
      await scene.pass(20_000, other);
      other.answers.close();
      const others = times(3).map(() => other.ask());
      await until(() => other.calls.length === 3, "the other one has sent as many as it may");
      stops["of a process"]!(one.clock);
      one.tokens.open();
      const said = Promise.all(asked);
      await one.clock.advance(0);
      await until(async () => {
        await one.clock.advance(0);
        return await Promise.race([said.then(() => true), settle().then(() => false)]);
      });
      assertEquals(one.calls.length, 0);
      assert(!(await said).includes("served"));
      other.answers.open();
      assertEquals(tally(await Promise.all(others)), { served: 3 });
    });
  }
});
