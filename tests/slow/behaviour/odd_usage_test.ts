/** Usage that a provider does not say, or that cannot be true: it is estimated, and never spoils what is kept. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  type ChatCompletionRequest,
  create,
  memoryStorage,
  type ModelMesh,
  type Provider,
  stateIn,
  type Storage,
  type TraceEntry,
} from "../../../mod.ts";
import { seededRandom } from "../../../src/runtime/test.ts";
import { createChunk, createResponse, customProvider } from "../../support/_custom_provider.ts";
import { dialects, speaking } from "../../support/_dialects.ts";
import { stage } from "../../support/_failover.ts";
import { clientOver } from "../../support/_library.ts";
import { oddCounts, oddUsages, someUsage } from "../../support/_odd_usage.ts";
import { tuned } from "../../support/_tuned.ts";
import { Gate, ok, startUpstream, stream } from "../../support/upstream.ts";

/** 30 characters, 10 tokens by estimate, and 4 for the message. */
const request: ChatCompletionRequest = { messages: [{ role: "user", content: "abc".repeat(10) }] };
const estimatedInput = 14;
/** 100 tokens by estimate. */
const text = "abc ".repeat(75);

const pricing = { input: 1, output: 10 };
const pool = { deactivation: { token_limit: Number.MAX_SAFE_INTEGER }, budget: { daily_limit: 1_000_000 } };

/** Whatever there is to be said of one provider's model, in a mesh of its own. */
function createConfig(instance: Provider): Readonly<Record<string, unknown>> {
  return {
    providers: { custom: { instance } },
    models: { small: { provider: "custom", capabilities: ["chat-completion"], pricing } },
    pools: { chat: { models: ["small"], ...pool } },
  };
}

/** A provider whose answers, non-streaming and streaming, say a usage. */
function saying(usage: () => unknown): Provider {
  return customProvider({
    complete: () => Promise.resolve({ body: { ...createResponse(text), usage: usage() as never } }),
    async *stream() {
      yield await Promise.resolve(createChunk(text));
      yield createChunk(undefined);
      yield { value: { ...createChunk(undefined).value, choices: [], usage: usage() as never } };
    },
  });
}

/** A client over one provider, whose state outlives it. */
class Life {
  readonly #client;
  readonly #storage: Storage;
  readonly traces: TraceEntry[] = [];

  constructor(provider: Provider, storage: Storage = memoryStorage()) {
    this.#storage = storage;
    this.#client = create({ config: createConfig(provider), storage: stateIn(storage) });
    const trace = (entry: TraceEntry) => void this.traces.push(entry);
    this.#client.mesh.addSink({ emit() {}, trace, flush: () => Promise.resolve() });
  }

  async ask(): Promise<void> {
    await this.#client.chat.completions.create(request);
  }

  async stream(): Promise<void> {
    for await (const _ of await this.#client.chat.completions.create({ ...request, stream: true }));
  }

  /** Ends it; what it leaves behind. */
  async end(): Promise<Kept> {
    await this.#client.ready();
    await this.#client.close();
    return kept(JSON.parse(new TextDecoder().decode(await this.#storage.load("state"))));
  }
}

type Kept = ReturnType<typeof kept>;

/** What is kept of a pool: tokens and nano-dollars against its limits, and nano-dollars of its budget. */
function kept({ usage = [], spending = [] }: ReturnType<ModelMesh["exportState"]>) {
  const [{ tokens, nano_usd: nano } = { tokens: 0, nano_usd: 0 }] = usage;
  return { tokens, nano, spent: spending.find(({ budget }) => budget === "pool chat")?.days.at(-1)?.spent ?? 0 };
}

describe("whatever usage a provider answers", () => {
  it("what is written of it can be read again, and goes on from there", async () => {
    const random = seededRandom(7);
    const storage = memoryStorage();
    const said: unknown[] = [];
    const provider = saying(() => said.at(-1));
    let before: Kept = { tokens: 0, nano: 0, spent: 0 };
    for (let life = 0; life < 40; life++) {
      said.length = 0;
      const one = new Life(provider, storage);
      for (let count = 0; count < 4; count++) {
        said.push(someUsage(random));
        await (count % 2 === 0 ? one.ask() : one.stream());
      }
      const now = await one.end();
      for (const name of ["tokens", "nano", "spent"] as const) {
        const grown = now[name] - before[name];
        const isSane = Number.isSafeInteger(now[name]) && grown >= 0 && grown <= 4 * 2e8 * 10_000;
        assert(isSane, `${name} of ${now[name]} after ${before[name]} and ${JSON.stringify(said)}`);
      }
      assert(now.tokens > before.tokens, JSON.stringify(said));
      assertEquals(one.traces, []);
      before = now;
    }
  });

  it("a limit that is not configured puts no model out, and the one that is set acts in time", async () => {
    for (const total_tokens of oddCounts) {
      const usage = { prompt_tokens: 60, completion_tokens: 40, total_tokens };
      const settings = tuned({ pool: { deactivation: { token_limit: 300 } } });
      await using scene = await stage({ a: ok({ text: "from a", usage }), b: ok({ text: "from b" }) }, settings);
      const texts = (await scene.askTimes(4)).map(({ text }) => text);
      assertEquals(texts, ["from a", "from a", "from a", "from b"], JSON.stringify(total_tokens));
    }
  });

  for (const dialect of dialects) {
    const { connector, model, respond: answer } = speaking[dialect];
    const usages: Record<typeof dialect, (count: unknown) => Record<string, unknown>> = {
      openai: (count) => ({ prompt_tokens: count, completion_tokens: count, total_tokens: count }),
      anthropic: (count) => ({ input_tokens: count, output_tokens: count, cache_read_input_tokens: count }),
      gemini: (count) => ({ promptTokenCount: count, candidatesTokenCount: count, totalTokenCount: count }),
    };
    it(`in ${dialect}'s dialect, odd numbers are estimated`, async () => {
      for (const count of [...oddCounts, undefined]) {
        const reply = answer({ pieces: [text], usage: usages[dialect](count) });
        await using scene = await stage({ a: reply }, (urls) => ({
          config: {
            providers: { a: { connector, base_url: urls.a, api_key: "key-of-a-0123456789" } },
            models: { a: { model, provider: "a", capabilities: ["chat-completion"], pricing } },
            pools: { chat: { models: ["a"], ...pool } },
          },
        }));
        const seen = await scene.ask(request as never);
        assertEquals([seen.status, seen.headers.get("x-mesh-cost-usd")], [200, null], JSON.stringify(count));
        assertEquals(kept(scene.proxy.mesh.exportState()).tokens, estimatedInput + 100, JSON.stringify(count));
        await scene.askStream(request as never);
        assertEquals(kept(scene.proxy.mesh.exportState()).tokens, 2 * (estimatedInput + 100), JSON.stringify(count));
      }
    });
  }
});

describe("usage that is missing", () => {
  for (const usage of [null, ...oddUsages]) {
    it(`is estimated from what was asked and answered: ${JSON.stringify(usage)}`, async () => {
      const life = new Life(saying(() => usage));
      await life.ask();
      await life.stream();
      const cost = 2 * (estimatedInput * 1000 + 100 * 10_000);
      assertEquals(await life.end(), { tokens: 2 * (estimatedInput + 100), nano: cost, spent: cost });
    });
  }

  it("in part is estimated in part", async () => {
    const cases = [
      [{ prompt_tokens: 50 }, 150],
      [{ completion_tokens: 7 }, estimatedInput + 7],
      [{ total_tokens: 70 }, 70],
      [{ total_tokens: 5 }, 5],
    ] as const;
    for (const [usage, tokens] of cases) {
      const life = new Life(saying(() => usage));
      await life.ask();
      assertEquals((await life.end()).tokens, tokens, JSON.stringify(usage));
    }
  });

  it("since the client left a stream is what was read, and streamed until then", async () => {
    const gate = new Gate();
    const upstream = await startUpstream(stream({ pieces: [text, text, "the end"], usage: null, gate }));
    await using _ = upstream;
    const storage = memoryStorage();
    const scene = clientOver({
      upstreams: { a: upstream.url },
      pool: { deactivation: pool.deactivation },
      options: { storage: stateIn(storage) },
    });
    gate.open(3); // the role and two pieces
    const events = await scene.client.chat.completions.create({ ...request, stream: true });
    let pieces = 0;
    for await (const { choices } of events) {
      if (choices[0]?.delta.content && ++pieces === 2) break;
    }
    await scene.client.close();
    const state = JSON.parse(new TextDecoder().decode(await storage.load("state")));
    assertEquals(kept(state).tokens, estimatedInput + 200);
  });

  it("of a stream whose events are joined on their way is estimated from all of them", async () => {
    const pieces = Array.from({ length: 75 }, () => "abc ");
    await using scene = await stage(
      { a: stream({ pieces, usage: null }) },
      tuned({ models: { a: { pricing } }, pool }),
    );
    await scene.askStream(request as never);
    assertEquals(kept(scene.proxy.mesh.exportState()).tokens, estimatedInput + 100);
  });

  it("is not reported to the provider as if it had said so", async () => {
    const reports: unknown[] = [];
    const reportUsage = (report: unknown) => void reports.push(report);
    const life = new Life({ ...saying(() => ({ prompt_tokens: "3", completion_tokens: 2 })), reportUsage });
    await life.ask();
    await life.end();
    assertEquals(reports, []);
  });
});
