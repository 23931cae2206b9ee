/** How many requests are hedged, when, and which never are. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { create, type CreateOptions, type MeshClient, type Provider, type RoutingRecord } from "../../mod.ts";
import { getEngine } from "../../src/engine/get_engine.ts";
import { settle } from "../../src/runtime/test.ts";
import { createResponse, customProvider } from "../support/_custom_provider.ts";
import { becomes, until } from "../support/patience.ts";
import { Gate } from "../support/_behaviours.ts";
import { type FakeClock, fakeClock, getText, messages } from "../support/_library.ts";

const never = () => new Promise<never>(() => {});

/** A client whose models `a` and `b`, each of a provider of its own, count their calls. */
class Scene {
  readonly clock: FakeClock = fakeClock();
  readonly client: MeshClient;
  readonly calls = { a: 0, b: 0 };
  readonly records: RoutingRecord[] = [];
  /** Time that `a` takes, ms; Infinity: it ignores even that its call is cancelled. */
  delayMs = Infinity;

  constructor({ pool, providers = {}, models, operations, b }: {
    readonly pool: object;
    readonly providers?: object;
    /** Settings of both models. */
    readonly models?: object;
    readonly operations?: Provider["operations"];
    /** Response of `b`. @default a chat completion */
    readonly b?: () => unknown;
  }) {
    const perform = async (name: "a" | "b") => {
      this.calls[name]++;
      if (name === "a") await (this.delayMs === Infinity ? never() : this.clock.sleep(this.delayMs));
      return { body: name === "b" && b !== undefined ? b() : createResponse(`from ${name}`) };
    };
    const provider = (name: "a" | "b") => {
      const complete = () => perform(name) as ReturnType<Provider["complete"]>;
      return { ...providers, instance: customProvider({ complete, ...(operations && { operations }) }) };
    };
    const model = (name: string) => ({ provider: name, capabilities: ["chat-completion"], ...models });
    const config: CreateOptions["config"] = {
      providers: { a: provider("a"), b: provider("b") },
      models: { a: model("a"), b: model("b") },
      pools: { chat: { models: ["a", "b"], strategy: "priority", model_priority: ["a", "b"], ...pool } },
    };
    const on: CreateOptions["on"] = (record) => void (record.type === "routing" && this.records.push(record));
    this.client = create({ config, clock: this.clock, on });
  }

  /** Asks the pool so many times in one turn. Returns the texts once time has passed. */
  async ask(count: number, ms: number): Promise<readonly unknown[]> {
    const texts: unknown[] = [];
    const asks = Array.from({ length: count }, async () => {
      texts.push(getText(await this.client.chat.completions.create({ messages }, { timeout: 60_000 })));
    });
    const all = Promise.allSettled(asks);
    const calls = this.calls.a + count;
    await until(() => this.calls.a === calls);
    await this.clock.advance(ms);
    await settle();
    const answered = [...texts];
    await this.clock.advance(60_000);
    await all;
    return answered;
  }

  /** Asks the pool once, of which `a` answers after a time. */
  async measure(ms: number): Promise<void> {
    this.delayMs = ms;
    const calls = this.calls.a;
    const asked = this.client.chat.completions.create({ messages });
    await until(() => this.calls.a > calls);
    await this.clock.advance(ms);
    await asked;
  }

  get hedged(): number {
    return this.records.filter(({ hedged }) => hedged).length;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.client.close();
  }
}

const hedge = (after: string, max_share: number) => ({
  hedge: { after, max_share },
  deactivation: { retry_limit: 1000 },
});

describe("the share of hedged requests", () => {
  for (const [share, expected] of [[0.05, 2], [0.1, 4], [0.5, 20], [1, 40]] as const) {
    it(`is at most ${share} of 40 requests in one turn: ${expected}`, async () => {
      const budget = { retry: { budget: { ratio: 1, min: 0, window: "10s" } } };
      await using scene = new Scene({ pool: hedge("2s", share), providers: budget });
      await scene.client.ready();
      const texts = await scene.ask(40, 2_000);
      assertEquals([texts.length, scene.calls.a, scene.hedged], [expected, 40, expected]);
    });
  }

  it("holds from the first request on: with 0.05, the 20th and the 40th may be hedged", async () => {
    await using scene = new Scene({ pool: hedge("100ms", 0.05) });
    await scene.client.ready();
    for (let request = 0; request < 40; request++) await scene.measure(200);
    assertEquals(scene.records.flatMap(({ hedged }, index) => hedged ? index + 1 : []), [20, 40]);
  });

  it("is of the requests of the last ten minutes", async () => {
    await using scene = new Scene({ pool: hedge("2s", 0.5) });
    await scene.client.ready();
    await scene.measure(1);
    await scene.clock.advance(600_000);
    scene.delayMs = Infinity;
    assertEquals(await scene.ask(1, 2_000), []);
    assertEquals(await scene.ask(1, 2_000), ["from b"]);
  });

  it("is returned when no second model admits the request", async () => {
    await using scene = new Scene({ pool: hedge("2s", 0.5) });
    await scene.client.mesh.ready();
    scene.client.mesh.deactivate("b");
    await scene.ask(2, 2_000);
    scene.client.mesh.activate("b");
    assertEquals(await scene.ask(2, 2_000), ["from b", "from b"]);
  });

  it("is bounded by the retry budget of the first model's provider", async () => {
    const budget = { retry: { budget: { ratio: 0, min: 3, window: "10s" } } };
    await using scene = new Scene({ pool: hedge("2s", 1), providers: budget });
    await scene.client.ready();
    assertEquals([(await scene.ask(40, 2_000)).length, scene.calls.b], [3, 3]);
  });
});

describe("two responses in one turn", () => {
  it("one is used, and both are settled once", async () => {
    const both = new Gate();
    let calls = 0;
    const complete = async () => {
      calls++;
      await both.pass();
      return { body: createResponse("Hello") };
    };
    const provider = () => ({ instance: customProvider({ complete }) });
    const model = (provider: string) => ({
      provider,
      capabilities: ["chat-completion"],
      pricing: { input: 0, output: 0, per_request: 1 },
    });
    const config = {
      providers: { a: provider(), b: provider() },
      models: { a: model("a"), b: model("b") },
      pools: { chat: { models: ["a", "b"], ...hedge("2s", 1) } },
      budget: { daily_limit: 100 },
    };
    const clock = fakeClock();
    const records: RoutingRecord[] = [];
    const on: CreateOptions["on"] = (record) => void (record.type === "routing" && records.push(record));
    await using client = create({ config, clock, on });
    await client.ready();
    const asked = client.chat.completions.create({ messages });
    await until(() => calls === 1);
    await clock.advance(2_000);
    await until(() => calls === 2);
    both.openAll();
    assertEquals(getText(await asked), "Hello");
    const [record] = records;
    assertEquals([record!.cost_usd, record!.fallback_chain.map(({ outcome }) => outcome)], [2, ["hedge_lost", "ok"]]);
    const { members } = getEngine(client.mesh).registry.pool("chat")!;
    assertEquals(members.map(({ state }) => state.inFlight), [0, 0]);
    const [budget] = getEngine(client.mesh).listBudgets();
    assertEquals([budget!.spent, budget!.reserved], [2e9, 0]);
  });
});

describe("a pool with a queue", () => {
  it("hedges no request while others wait, since they go first", async () => {
    for (const isWaiting of [false, true]) {
      const queue = { max_wait: "60s", max_length: 5 };
      const models = { limits: { concurrent: 1 } };
      await using scene = new Scene({ pool: { ...hedge("2s", 1), queue }, models });
      await scene.client.ready();
      const only = { route: { only: ["a"] }, timeout: 60_000 };
      const asks = [scene.client.chat.completions.create({ messages }, { timeout: 60_000 })];
      await until(() => scene.calls.a === 1);
      if (isWaiting) asks.push(scene.client.chat.completions.create({ messages }, only));
      const all = Promise.allSettled(asks);
      await scene.clock.advance(1_000);
      await settle();
      await scene.clock.advance(1_000);
      assertEquals(scene.calls.b, isWaiting ? 0 : 1);
      await scene.clock.advance(60_000);
      await all;
    }
  });
});

describe("hedge.after", () => {
  it("p95: the 95th percentile of the measured latency; with fewer than 20 measurements no request is hedged", async () => {
    await using scene = new Scene({ pool: hedge("p95", 1) });
    await scene.client.ready();
    for (let ms = 100; ms <= 1_900; ms += 100) await scene.measure(ms);
    assertEquals([scene.hedged, (await scene.client.explain({ messages })).hedge], [0, undefined]);
    await scene.measure(2_000);
    assertEquals((await scene.client.explain({ messages })).hedge, { model: "b", afterMs: 1_900 });
    scene.delayMs = Infinity;
    assertEquals(await scene.ask(1, 1_899), []);
    assertEquals(await scene.ask(1, 1_900), ["from b"]);
  });

  it("off: no request is hedged, whatever the settings of all pools", async () => {
    await using scene = new Scene({ pool: { hedge: { after: "off" } } });
    await scene.client.ready();
    assertEquals([await scene.ask(3, 60_000), scene.calls.b, scene.hedged], [[], 0, 0]);
  });
});

describe("what is never hedged", () => {
  const chat = { messages };
  const hedgeable: readonly (readonly [name: string, body: object, isHedged: boolean])[] = [
    ["a chat", chat, true],
    ["a chat with audio", { ...chat, modalities: ["text", "audio"], audio: { voice: "alloy", format: "wav" } }, false],
    ["a chat with text as its only modality", { ...chat, modalities: ["text"] }, true],
  ];
  for (const [name, body, isHedged] of hedgeable) {
    it(`${name}: ${isHedged ? "hedged" : "never"}`, async () => {
      await using scene = new Scene({ pool: hedge("2s", 1) });
      const asked = scene.client.chat.completions.create({ messages, ...body }, { timeout: 60_000 });
      asked.catch(() => {});
      await scene.clock.advance(30_000);
      assertEquals(scene.calls, { a: 1, b: isHedged ? 1 : 0 });
      await scene.clock.advance(60_000);
      await Promise.allSettled([asked]);
    });
  }

  it("images and speech: never; embeddings: hedged", async () => {
    const vector = { object: "list", model: "b", data: [{ object: "embedding", index: 0, embedding: [1] }] };
    const asks:
      readonly (readonly [capability: string, calls: number, ask: (client: MeshClient) => Promise<unknown>])[] = [
        ["text-to-image", 0, ({ images }) => images.generate({ prompt: "a" }, { timeout: 60_000 })],
        ["text-to-speech", 0, ({ audio }) => audio.speech.create({ input: "a", voice: "b" }, { timeout: 60_000 })],
        ["text-embeddings", 1, ({ embeddings }) => embeddings.create({ input: "a" }, { timeout: 60_000 })],
      ];
    for (const [capability, calls, ask] of asks) {
      await using scene = new Scene({
        pool: hedge("2s", 1),
        models: { capabilities: [capability], embedding_space: "one" },
        operations: ["image", "speech", "embeddings"],
        b: () => vector,
      });
      const asked = ask(scene.client);
      asked.catch(() => {});
      await becomes(() => scene.calls.a, 1);
      await scene.clock.advance(10_000);
      assertEquals(scene.calls, { a: 1, b: calls }, capability);
      await scene.clock.advance(60_000);
      await Promise.allSettled([asked]);
    }
  });
});
