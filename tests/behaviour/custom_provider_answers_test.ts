/** What a provider of the program's own answers about its models has its effect; the configuration wins over it. */
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  BudgetExceededError,
  ConfigError,
  create,
  type CreateOptions,
  ModelMesh,
  type Provider,
  RateLimitError,
  routingOf,
} from "../../mod.ts";
import { getEngine } from "../../src/engine/get_engine.ts";
import { createResponse, customProvider } from "../support/_custom_provider.ts";
import { fakeClock, getText, messages } from "../support/_library.ts";

const says = (text: string): Partial<Provider> => ({ complete: () => Promise.resolve({ body: createResponse(text) }) });

/** A client whose pool `chat` has a model `own` of the provider under test, then one of a plain provider. */
function createClient(answers: Partial<Provider>, settings: { own?: object; pool?: object; config?: object } = {}) {
  const traces: string[] = [];
  const config: CreateOptions["config"] = {
    providers: {
      own: { instance: customProvider({ ...says("own"), ...answers }) },
      plain: { instance: customProvider(says("plain")) },
    },
    models: { own: { provider: "own", model: "own-1", ...settings.own }, plain: { provider: "plain" } },
    pools: { chat: { models: ["own", "plain"], strategy: "priority", ...settings.pool } },
    ...settings.config,
  };
  const clock = fakeClock();
  const client = create({ config, clock });
  client.mesh.addSink({ emit: () => {}, trace: ({ message }) => void traces.push(message), flush: async () => {} });
  const ask = async (request: object = {}) => getText(await client.chat.completions.create({ messages, ...request }));
  return { client, clock, ask, traces, [Symbol.asyncDispose]: () => client.close() };
}

describe("getCapabilities", () => {
  it("puts a model into the pools of the capabilities it names, which may be short", async () => {
    const asked: string[] = [];
    const getCapabilities = (model: string) => (asked.push(model), ["translation", "nowhere"]);
    const pools = { texts: { capability: "translation" }, chat: { capability: "chat-completion" } };
    await using one = createClient({ getCapabilities }, { config: { pools } });
    await one.client.ready();
    assertEquals(asked, ["own-1"]);
    const { texts, chat } = one.client.mesh.poolStatus();
    assertEquals([texts, chat].map((pool) => pool?.models.map(({ name }) => name)), [["own"], ["plain"]]);
    assertEquals([await one.ask({ model: "texts" }), await one.ask({ model: "chat" })], ["own", "plain"]);
  });

  it("keeps a model out of a request that it names no capability for", async () => {
    await using one = createClient({ getCapabilities: () => ["text-embeddings"] });
    assertEquals(await one.ask(), "plain");
  });

  it("yields to the configuration", async () => {
    const own = { capabilities: ["chat-completion"] };
    await using one = createClient({ getCapabilities: () => ["text-embeddings"] }, { own });
    assertEquals(await one.ask(), "own");
  });
});

describe("supports", () => {
  it("keeps a model out of requests in a form it does not deliver", async () => {
    const asked: string[][] = [];
    const supports: Provider["supports"] = (...question) => (asked.push(question), question[2] !== "stream");
    await using one = createClient({ supports });
    assertEquals(await one.ask(), "own");
    const stream = await one.client.chat.completions.create({ messages, stream: true });
    for await (const _ of stream);
    assertEquals(routingOf(stream)?.model, "plain");
    assertEquals(
      asked,
      ["sync", "stream"].map((delivery) => {
        return ["own-1", "generation.text-generation.chat-completion", delivery];
      }),
    );
  });

  it("is not asked about what the configuration alone gives a model", async () => {
    const own = { capabilities: ["chat-completion"] };
    await using one = createClient({ getCapabilities: () => ["translation"], supports: () => false }, { own });
    assertEquals(await one.ask(), "own");
  });
});

describe("getModelInfo", () => {
  it("says which voices, formats and operations a model of sound has; what makes no sense is left out", async () => {
    const voices = { alloy: "anna", echo: 7, default: "bert" };
    const info = {
      id: "own-1",
      voices,
      response_formats: ["wav", 1],
      lacks: ["audio-translation", null],
      embedding_space: 3,
    };
    await using one = createClient({ getModelInfo: () => Promise.resolve(info as never) }, {
      own: { capabilities: ["text-to-speech"] },
      config: { pools: { speech: { models: ["own"] } } },
    });
    await one.client.ready();
    const { info: known } = getEngine(one.client.mesh).registry.model("own")!;
    assertEquals([known.voices, known.response_formats, known.lacks, known.embedding_space], [
      { alloy: "anna", default: "bert" },
      ["wav"],
      ["audio-translation"],
      undefined,
    ]);
  });

  it("says what a model can do and how much it takes", async () => {
    const info = { id: "own-1", features: { tool_calling: false }, constraints: { context_window: 100 } };
    await using one = createClient({ getModelInfo: (model) => Promise.resolve(model === "own-1" ? info : undefined) });
    const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
    assertEquals([await one.ask(), await one.ask({ tools })], ["own", "plain"]);
    assertEquals(await one.ask({ messages: [{ role: "user", content: "word ".repeat(1_000) }] }), "plain");
  });

  it("yields to the configuration, field by field", async () => {
    const info = { id: "own-1", features: { tool_calling: false, vision: false } };
    const own = { features: { tool_calling: true } };
    await using one = createClient({ getModelInfo: () => Promise.resolve(info) }, { own });
    const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } };
    assertEquals([await one.ask({ tools }), await one.ask({ messages: [{ role: "user", content: [image] }] })], [
      "own",
      "plain",
    ]);
  });

  it("may reword requests", async () => {
    const seen: unknown[] = [];
    const good = customProvider(says("own"));
    await using one = createClient({
      getModelInfo: () => Promise.resolve({ id: "own-1", parameters: { drop: ["temperature"] } }),
      complete: (request, options) => (seen.push(request.body.temperature), good.complete(request, options)),
    });
    assertEquals([await one.ask({ temperature: 1 }), seen], ["own", [undefined]]);
  });

  it("that never answers holds a start up for 5 s, and is reported", async () => {
    await using one = createClient({ getModelInfo: () => new Promise(() => {}) });
    const answer = one.ask();
    await one.clock.advance(5_000);
    assertEquals([await answer, one.traces], ["own", [
      'The provider "own": getModelInfo() did not respond within 5000 ms',
    ]]);
  });
});

describe("getPricing", () => {
  const cheap = [{ input: 1, output: 1 }];

  it("is what cost-first goes by, and what a response costs", async () => {
    const spent: unknown[] = [];
    const plain = { provider: "plain", pricing: { input: 2, output: 2 } };
    const reportUsage: Provider["reportUsage"] = ({ costUsd }) => spent.push(costUsd);
    for (
      const [pricing, expected] of [[cheap, "own"], [[{ input: 3, output: 3 }], "plain"], [undefined, "plain"]] as const
    ) {
      await using one = createClient({ getPricing: () => pricing, reportUsage }, {
        pool: { strategy: "cost-first" },
        config: { models: { own: { provider: "own", model: "own-1" }, plain } },
      });
      assertEquals(await one.ask(), expected);
    }
    assertEquals(spent, [5e-6]);
  });

  it("yields to the configuration, field by field", async () => {
    const spent: unknown[] = [];
    const own = { pricing: { output: 4 } };
    const answers: Partial<Provider> = { getPricing: () => cheap, reportUsage: ({ costUsd }) => spent.push(costUsd) };
    await using one = createClient(answers, { own });
    assertEquals([await one.ask(), spent], ["own", [11e-6]]);
  });
});

describe("getPricing under a budget", () => {
  const own = { instance: customProvider({ ...says("own"), getPricing: () => [{ input: 1, output: 1 }] }) };
  const priced = { plain: { provider: "plain", pricing: { input: 1, output: 1 } }, own: { provider: "own" } };

  it("is the price that the configuration need not say", async () => {
    const plain = { instance: customProvider(says("plain")) };
    await using one = createClient({}, {
      config: { providers: { own, plain }, models: priced, budget: { daily_limit: 1e-4 } },
    });
    assertEquals(await one.ask({ max_tokens: 50 }), "own");
    await assertRejects(() => one.ask({ max_tokens: 1_000 }), BudgetExceededError);
  });

  it("is missing where no source gives it", () => {
    const plain = { instance: customProvider(says("plain")) };
    const config = { providers: { own: plain, plain }, models: priced, budget: { daily_limit: 1 } };
    assertThrows(() => createClient({}, { config }), ConfigError, 'models.own.pricing: missing: "budget" needs');
  });
});

describe("getRateLimits", () => {
  it("holds like a declared limit", async () => {
    await using one = createClient({ getRateLimits: () => ({ rpm: 2 }) });
    assertEquals([await one.ask(), await one.ask(), await one.ask()], ["own", "own", "plain"]);
    assertEquals(await Promise.all([one.ask(), one.ask()]), ["plain", "plain"]);
    await assertRejects(() => one.ask({ model: "own" }), RateLimitError);
  });

  it("is asked again after each response, and applies when it says something new", async () => {
    const known: { limits?: { rpm: number } } = {};
    await using one = createClient({ getRateLimits: () => known.limits });
    assertEquals([await one.ask(), await one.ask()], ["own", "own"]);
    known.limits = { rpm: 3 };
    assertEquals([await one.ask(), await one.ask()], ["own", "plain"]);
    await one.clock.advance(61_000);
    assertEquals([await one.ask(), await one.ask(), await one.ask(), await one.ask()], ["own", "own", "own", "plain"]);
  });

  it("yields to the configuration, field by field", async () => {
    const own = { limits: { rpm: 1 } };
    await using one = createClient({ getRateLimits: () => ({ rpm: 2, concurrent: 1 }) }, { own });
    assertEquals([await one.ask(), await one.ask()], ["own", "plain"]);
  });
});

describe("A provider's responses", () => {
  const wrong = [null, 42, "text", {}, [null], [{ input: "free" }], { rpm: "many" }, { features: 7, constraints: [] }];

  it("that are not responses, and questions that throw, cost no request", async () => {
    const fails = () => {
      throw new Error("lost");
    };
    for (const answer of [...wrong, fails]) {
      const say = typeof answer === "function" ? answer : () => answer as never;
      const answers = { getCapabilities: say, supports: fails, getPricing: say, getRateLimits: say };
      await using one = createClient({ ...answers, getModelInfo: async () => await say() });
      assertEquals(await one.ask(), "own");
      assertEquals(one.traces.length, typeof answer === "function" ? 4 : 0);
    }
  });

  it("need not be there: a provider may have calls alone", async () => {
    const { complete, stream, classifyError, isRetryable, reportUsage } = customProvider(says("own"));
    const instance = { complete, stream, classifyError, isRetryable, reportUsage } as Provider;
    const plain = { instance: customProvider(says("plain")) };
    await using one = createClient({}, { config: { providers: { own: { instance }, plain } } });
    assertEquals([await one.ask(), one.traces], ["own", []]);
  });

  it("count for a provider that is added later, and for a connector of the program's own", async () => {
    const mesh = new ModelMesh({ clock: fakeClock() });
    mesh.registerConnector("acme.llm.v1", {
      id: "acme.llm.v1",
      kind: "provider",
      vendor: "acme",
      models: [{ id: "acme-1" }],
      keyless: true,
      create: () => customProvider({ getCapabilities: () => ["translation"] }),
    } as never);
    await mesh.initialize({
      providers: { "acme.llm.v1": {} },
      models: { first: { provider: "acme.llm.v1", model: "acme-1" } },
      pools: { texts: { capability: "translation" } },
    });
    assertEquals(mesh.poolStatus().texts?.models.map(({ name }) => name), ["first"]);
    const late = { id: "late", instance: customProvider({ getCapabilities: () => ["translation"] }) };
    await mesh.addProvider({ ...late, models: { second: { model: "late-1" } } } as never);
    assertEquals(mesh.poolStatus().texts?.models.map(({ name }) => name), ["first", "second"]);
    await mesh.close();
  });
});
