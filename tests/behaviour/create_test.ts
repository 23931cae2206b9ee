import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ConfigError, create, type CreateOptions, type MeshClient, MeshError, NoProvidersError } from "../../mod.ts";
import { getEngine } from "../../src/engine/get_engine.ts";
import { environment, getText, messages, toVendorKey } from "../support/_library.ts";
import { respond, startUpstream, status } from "../support/upstream.ts";

/** Hosted providers in the order they take in a pool: variable and id. */
const hosted: readonly (readonly [variable: string, id: string])[] = [
  ["OPENAI_API_KEY", "openai.llm.v1"],
  ["ANTHROPIC_API_KEY", "anthropic.claude.v1"],
  ["GEMINI_API_KEY", "google.gemini.v1"],
  ["GROQ_API_KEY", "groq.api.v1"],
  ["MISTRAL_API_KEY", "mistral.api.v1"],
  ["DEEPSEEK_API_KEY", "deepseek.api.v1"],
  ["TOGETHER_API_KEY", "together.api.v1"],
  ["OPENROUTER_API_KEY", "openrouter.gateway.v1"],
  ["XAI_API_KEY", "xai.grok.v1"],
  ["COHERE_API_KEY", "cohere.nlp.v1"],
  ["PERPLEXITY_API_KEY", "perplexity.search.v1"],
  ["CEREBRAS_API_KEY", "cerebras.api.v1"],
  ["FIREWORKS_API_KEY", "fireworks.api.v1"],
  ["SAMBANOVA_API_KEY", "sambanova.api.v1"],
  ["NVIDIA_API_KEY", "nvidia.nim.v1"],
  ["HF_TOKEN", "huggingface.inference.v1"],
  ["MOONSHOT_API_KEY", "moonshot.kimi.v1"],
  ["ZAI_API_KEY", "zai.glm.v1"],
  ["DASHSCOPE_API_KEY", "qwen.dashscope.v1"],
  ["MINIMAX_API_KEY", "minimax.api.v1"],
  ["DEEPINFRA_API_KEY", "deepinfra.api.v1"],
  ["NOVITA_API_KEY", "novita.api.v1"],
  ["NEBIUS_API_KEY", "nebius.api.v1"],
  ["BASETEN_API_KEY", "baseten.api.v1"],
  ["AI_GATEWAY_API_KEY", "vercel.gateway.v1"],
];

/** Every hosted provider at once, the last one's variable first. */
const everyKey = Object.fromEntries(hosted.toReversed().map(([variable]) => [variable, "key-0123456789"]));

function ids(client: MeshClient): string[] {
  return client.describe().providers.map(({ id }) => id);
}

function members(client: MeshClient): string[] {
  return client.describe().pools[0]?.models.map(({ name }) => name) ?? [];
}

function refusal(options: CreateOptions, capability = "chat-completion"): ConfigError {
  return assertThrows(() => create(capability, options), ConfigError);
}

describe("create() without a configuration", () => {
  it("finds providers in one order, whatever the order of the variables", () => {
    const client = create("chat-completion", { env: everyKey });
    assertEquals(ids(client), hosted.map(([, id]) => id));
    assertEquals(client.describe().providers.map(({ source }) => source), hosted.map(([variable]) => variable));
  });

  it("refuses options that do not exist, naming the nearest", () => {
    const misspelt = { api_keys: { openai: "k" }, fallbacks: [], strategy: "round-robin", env: everyKey };
    assertEquals(
      refusal(misspelt as CreateOptions).problems.map(({ path, message }) => `${path} ${message.slice(0, 50)}`),
      [
        'api_keys unknown option, did you mean "apiKeys"?',
        "fallbacks unknown option; there are capability, config, prov",
      ],
    );
  });

  it("makes a pool for chat when a client for something else is used for it", async () => {
    await using client = create("text-embeddings", { env: { OPENAI_API_KEY: "key-0123456789" } });
    assertEquals((await client.explain({ messages })).pool, "chat-completion");
  });

  it("says what to do when a pool for something else is used for chat", async () => {
    await using client = create("text-embeddings", { env: { OPENAI_API_KEY: "key-0123456789" } });
    const request = { model: "text-embeddings", messages };
    const { message } = await assertRejects(() => client.chat.completions.create(request), MeshError);
    assertStringIncludes(message, 'Ask for a pool or capability that serves chat, such as "chat-completion"');
  });

  it("puts one or two models of each provider into the one pool, in the providers' order", () => {
    const { pools } = create("chat-completion", { env: everyKey }).describe();
    assertEquals(pools.map(({ name }) => name), ["chat-completion"]);
    const providers = pools[0]!.models.map(({ provider }) => provider);
    assertEquals([...new Set(providers)], hosted.map(([, id]) => id));
    for (const [, id] of hosted) {
      const count = providers.filter((provider) => provider === id).length;
      assert(count === 1 || count === 2, `${id} has ${count} models in the pool`);
    }
  });

  it("answers, with and without await, and takes the variables for address and key", async () => {
    await using upstream = await startUpstream(respond());
    const env = environment({ openai: upstream.url });
    for (const made of [create("chat-completion", { env }), await create("chat-completion", { env })]) {
      assertEquals(getText(await made.chat.completions.create({ messages })), "Hello world");
      await made.close();
    }
    const [request] = upstream.requests;
    assertEquals(request?.path, "/v1/chat/completions");
    assertEquals(request?.headers.authorization, `Bearer ${toVendorKey("openai")}`);
  });

  it("asks the vendor's own address unless a variable names another, over the fetch it is given", async () => {
    await using upstream = await startUpstream(respond());
    const asked: string[] = [];
    const redirected: typeof fetch = (input, init) => {
      asked.push(String(input));
      return fetch(`${upstream.url}/chat/completions`, init);
    };
    const own = create("chat-completion", { env: { GROQ_API_KEY: "key-0123" }, fetch: redirected });
    await own.chat.completions.create({ messages });
    const other = create("chat-completion", {
      env: (name) => ({ GROQ_API_KEY: "key-0123", GROQ_BASE_URL: "https://gateway.example/v9/" })[name],
      fetch: redirected,
    });
    await other.chat.completions.create({ messages });
    assertEquals(asked, [
      "https://api.groq.com/openai/v1/chat/completions",
      "https://gateway.example/v9/chat/completions",
    ]);
  });

  it("reaches the catalogue's other models by name", async () => {
    await using upstream = await startUpstream(respond());
    const client = create("chat-completion", { env: environment({ openai: upstream.url }) });
    assert(!members(client).includes("openai.gpt-4o"));
    for (const model of ["openai.gpt-4o", "openai/gpt-4o", "gpt-4o"]) {
      assertEquals((await client.chat.completions.create({ model, messages })).model, "gpt-4o");
    }
    await client.close();
  });

  const nodes: readonly (readonly [capability: string, pool: string, path: string])[] = [
    ["chat-completion", "chat-completion", "generation.text-generation.chat-completion"],
    ["text-generation.chat-completion", "chat-completion", "generation.text-generation.chat-completion"],
    ["generation.text-generation.chat-completion", "chat-completion", "generation.text-generation.chat-completion"],
    ["text-generation", "text-generation", "generation.text-generation"],
    ["generation.text-generation", "text-generation", "generation.text-generation"],
    ["generation", "generation", "generation"],
    ["interaction", "interaction", "interaction"],
  ];
  for (const [capability, pool, path] of nodes) {
    it(`takes the capability "${capability}"`, async () => {
      await using upstream = await startUpstream(respond());
      const client = create(capability, { env: environment({ groq: upstream.url }) });
      const { pools } = client.describe();
      assertEquals(pools.map((one) => [one.name, one.capability]), [[pool, path]]);
      assertEquals(getText(await client.chat.completions.create({ messages })), "Hello world");
      await client.close();
    });
  }

  it("makes one pool per leaf that is served, when no capability is named", () => {
    const { capability, pools } = create({ env: { GROQ_API_KEY: "key-0123" } }).describe();
    assertEquals(capability, null);
    const names = pools.map(({ name }) => name);
    assert(names.includes("chat-completion") && names.includes("code-generation"), names.join());
    assert(pools.every(({ models }) => models.length > 0));
  });

  it("throws at once for an unknown capability, and names the nearest", () => {
    const error = refusal({ env: everyKey }, "chat-completoin");
    assertEquals(error.problems.map(({ path }) => path), ["capability"]);
    assertStringIncludes(error.message, '"chat-completoin"');
    assertStringIncludes(error.message, '"chat-completion"');
    assertStringIncludes(refusal({ env: everyKey }, "generation.imgae").message, '"generation.image"');
  });

  it("throws at once for an ambiguous capability, and lists the paths", () => {
    const { message } = refusal({ env: everyKey }, "audio");
    assertStringIncludes(message, "generation.audio");
    assertStringIncludes(message, "understanding.audio");
  });

  it("throws when there is no provider, and lists the variables", () => {
    const { message } = assertThrows(() => create("chat-completion", { env: {} }), NoProvidersError);
    const variables = hosted.map(([variable]) => variable);
    const first = variables.slice(0, variables.indexOf("HF_TOKEN") + 1).join(", ");
    assertStringIncludes(message, `No providers were detected. Set at least one of ${first}`);
    for (const variable of variables) assertStringIncludes(message, variable);
    for (const variable of ["OLLAMA_HOST", "LMSTUDIO_HOST", "VLLM_HOST", "LOCALAI_HOST"]) {
      assertStringIncludes(message, variable);
    }
  });

  it("takes blank and placeholder keys for unset", () => {
    for (const key of ["", "  ", "\n", "sk-...", "your-key", "your-api-key-here", "<key>", "sk-xxxx", "$OPENAI_KEY"]) {
      const env = { OPENAI_API_KEY: key };
      assertThrows(() => create("chat-completion", { env }), NoProvidersError, "No providers", JSON.stringify(key));
      assertEquals(ids(create("chat-completion", { env: { ...env, GROQ_API_KEY: "key-0123" } })), ["groq.api.v1"]);
    }
  });
});

describe("create() with providers, models, strategy and keys", () => {
  const filters: readonly (readonly [providers: string[], ids: string[]])[] = [
    [["groq"], ["groq.api.v1"]],
    [["groq.api.v1"], ["groq.api.v1"]],
    [["openai", "groq.api.v1"], ["openai.llm.v1", "groq.api.v1"]],
  ];
  for (const [providers, expected] of filters) {
    it(`keeps to the providers ${providers.join(" and ")}`, () => {
      assertEquals(ids(create("chat-completion", { env: everyKey, providers })), expected);
    });
  }

  it("leaves out a provider without a key and names it, and fails only when none is left", () => {
    const env = { OPENAI_API_KEY: "key-0123" };
    const client = create("chat-completion", { env, providers: ["openai", "groq"] });
    assertEquals(ids(client), ["openai.llm.v1"]);
    assertStringIncludes(JSON.stringify(getEngine(client.mesh).settings.warnings), "groq");
    const error = assertThrows(() => create("chat-completion", { env, providers: ["groq"] }), NoProvidersError);
    assertEquals(error.message, "No providers were detected. Set at least one of GROQ_API_KEY");
  });

  const mistakes: readonly (readonly [path: string, options: CreateOptions, hint: string])[] = [
    ["providers[1]", { providers: ["openai", "gorq"] }, '"groq"'],
    ["strategy", { strategy: "round-robbin" }, '"round-robin"'],
    ["models[0]", { models: ["openai.gpt-4oo"], providers: ["groq"] }, "no model"],
    ["models[1]", { models: ["openai.gpt-4o", "gpt-4o-minni"] }, '"openai.gpt-4o-mini"'],
    ["apiKeys.gorq", { apiKeys: { gorq: "key-0123" } }, '"groq"'],
  ];
  for (const [path, options, hint] of mistakes) {
    it(`refuses ${JSON.stringify(options)}, and names the nearest`, () => {
      const { problems } = refusal({ env: everyKey, ...options });
      assertEquals(problems.map((problem) => problem.path), [path]);
      assertStringIncludes(problems[0]!.message, hint);
    });
  }

  const strategies: readonly (readonly [name: string, id: string, served: string])[] = [
    ["round-robin", "mesh.round-robin.v1", "openai groq openai groq"],
    ["mesh.round-robin.v1", "mesh.round-robin.v1", "openai groq openai groq"],
    ["priority", "mesh.priority-selection.v1", "openai openai openai openai"],
    ["stick-until-failure", "mesh.stick-until-failure.v1", "openai openai openai openai"],
  ];
  for (const [strategy, id, expected] of strategies) {
    it(`chooses by the strategy ${strategy}`, async () => {
      await using openai = await startUpstream(respond({ text: "openai" }));
      await using groq = await startUpstream(respond({ text: "groq" }));
      const env = environment({ openai: openai.url, groq: groq.url });
      const models = ["openai.gpt-4o", "groq.openai/gpt-oss-20b"];
      const client = create("chat-completion", { env, strategy, models });
      assertEquals(client.describe().pools[0]?.strategy, id);
      const served: unknown[] = [];
      for (let turn = 0; turn < 4; turn++) served.push(getText(await client.chat.completions.create({ messages })));
      assertEquals(served.join(" "), expected);
      await client.close();
    });
  }

  it("chooses by a strategy given as an object", async () => {
    await using upstream = await startUpstream(respond());
    const client = create("chat-completion", {
      env: environment({ openai: upstream.url }),
      models: ["openai.gpt-4o", "openai.gpt-4.1"],
      strategy: { select: (candidates) => candidates.at(-1), score: () => 0 },
    });
    assertEquals((await client.chat.completions.create({ messages })).model, "gpt-4.1");
    await client.close();
  });

  it("takes models in the given order, in place of the providers' defaults", async () => {
    await using openai = await startUpstream(respond());
    await using groq = await startUpstream([status(400), respond()]);
    const env = environment({ openai: openai.url, groq: groq.url });
    const models = ["groq.openai/gpt-oss-20b", "openai/gpt-4o", "gpt-4o-mini"];
    const client = create("chat-completion", { env, models });
    assertEquals(members(client), ["groq.openai/gpt-oss-20b", "openai.gpt-4o", "openai.gpt-4o-mini"]);
    assertEquals((await client.chat.completions.create({ messages })).model, "gpt-4o");
    assertEquals(groq.calls, 1);
    await client.close();
  });

  it("still reaches the other models by name when models are given", async () => {
    await using upstream = await startUpstream(respond());
    const client = create("chat-completion", { env: environment({ openai: upstream.url }), models: ["openai.gpt-4o"] });
    const { model } = await client.chat.completions.create({ model: "openai.gpt-4.1", messages });
    assertEquals(model, "gpt-4.1");
    await client.close();
  });

  for (const name of ["OPENAI_API_KEY", "openai", "openai.llm.v1"]) {
    it(`takes a key by ${name}, over the environment's`, async () => {
      await using upstream = await startUpstream(respond());
      const env = environment({ openai: upstream.url });
      const client = create("chat-completion", { env, apiKeys: { [name]: "key-of-the-program" } });
      await client.chat.completions.create({ messages });
      assertEquals(upstream.requests[0]?.headers.authorization, "Bearer key-of-the-program");
      await client.close();
    });
  }
});
