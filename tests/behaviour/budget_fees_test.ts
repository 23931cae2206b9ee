/** What no price covers, under a budget: fine-tuning jobs, tools that a vendor runs, files with a fee. */
import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { create, type FileObject, type FileUpload, type Infrastructure } from "../../mod.ts";
import { customProvider } from "../support/_custom_provider.ts";
import { ask, fileForm, objectStage, requestLines } from "../support/_objects.ts";
import { startDialectProxy } from "../support/_dialect_proxy.ts";
import { startTestProxy } from "../support/proxy.ts";
import { json, respond, startUpstream } from "../support/upstream.ts";

const token = "token-of-the-web-0123456789";
const spent = { daily_limit: 0 };
const ample = { daily_limit: 1000 };

/** Where a budget may stand, with the token of its client. */
const places: readonly (readonly [name: string, config: (budget: object) => Record<string, object>])[] = [
  ["everything", (budget) => ({ budget })],
  ["the provider", (budget) => ({ provider: { budget } })],
  ["the pool", (budget) => ({ pools: { chat: { models: ["a"], budget } } })],
  ["the client", (budget) => ({ proxy: { auth: { tokens: [{ token, name: "web", budget }] } } })],
];

const training = (headers?: HeadersInit) => ({
  body: fileForm('{"messages":[]}\n', { purpose: "fine-tune" }, { name: "train.jsonl" }),
  ...(headers && { headers }),
});

describe("A fine-tuning job, whose cost is unknown", () => {
  for (const [place, config] of places) {
    for (const budget of [spent, ample]) {
      it(`never reaches the provider under a budget of ${place} of ${budget.daily_limit}`, async () => {
        await using stage = await objectStage(["a"], config(budget));
        const { proxy, vendors: { a } } = stage;
        const { json: { id: training_file } } = await ask(proxy, "files", { ...training(), token });
        const made = await ask(proxy, "fine_tuning/jobs", { json: { model: "chat", training_file }, token });
        assertEquals([made.status, made.json.error.code, a!.jobs.size], [429, "budget_exceeded", 0]);
        assertMatch(made.json.error.message, /no_price|The budget of the client "web" is spent/);
        assertEquals(made.headers.get("x-should-retry"), "false");
      });
    }
  }

  it("is made where no budget applies to it, or its model costs nothing", async () => {
    const free = { model: { pricing: { input: 0, output: 0 } }, budget: spent };
    const elsewhere = { pools: { chat: { models: ["a"] }, other: { models: ["a"], budget: spent } } };
    for (const config of [{}, free, elsewhere]) {
      await using stage = await objectStage(["a"], config);
      const { json: { id: training_file } } = await ask(stage.proxy, "files", training());
      const made = await ask(stage.proxy, "fine_tuning/jobs", { json: { model: "chat", training_file } });
      assertEquals(made.status, 200, JSON.stringify(made.json));
    }
  });

  it("is paused and cancelled under a budget, and not resumed", async () => {
    await using stage = await objectStage();
    const { json: { id: training_file } } = await ask(stage.proxy, "files", training());
    const { json: { id } } = await ask(stage.proxy, "fine_tuning/jobs", { json: { model: "chat", training_file } });
    const proxy = await stage.another({ budget: spent });
    const change = async (action: string) =>
      (await ask(proxy, `fine_tuning/jobs/${id}/${action}`, { method: "POST" })).status;
    assertEquals([await change("pause"), await change("resume"), await change("cancel")], [200, 429, 200]);
    assertEquals((await ask(proxy, `fine_tuning/jobs/${id}`)).json.status, "cancelled");
  });
});

describe("A file at a vendor that charges for files", () => {
  const upload = async (hasFee: boolean, config: object) => {
    let uploads = 0;
    const infrastructure = {
      facts: { files: { hasFee } },
      uploadFile: async ({ content }: FileUpload) => {
        for await (const _ of content) { /* read to its end */ }
        uploads++;
        return { id: "f", object: "file", bytes: 1, created_at: 0, filename: "a", purpose: "user_data" } as FileObject;
      },
    };
    const instance = customProvider({ infrastructure: infrastructure as unknown as Infrastructure });
    await using client = create({
      config: {
        providers: { own: { instance } },
        models: { a: { provider: "own", capabilities: ["chat-completion"], pricing: { input: 1, output: 1 } } },
        pools: { chat: { models: ["a"] } },
        ...config,
      },
    });
    const file = new File(["x"], "a.txt");
    const made = await client.files.create({ file, purpose: "user_data" }).then(
      () => "uploaded",
      (error) => error.code,
    );
    return [made, uploads];
  };

  it("is not uploaded under a budget", async () => {
    assertEquals(await upload(true, { budget: ample }), ["budget_exceeded", 0]);
    assertEquals(await upload(true, {}), ["uploaded", 1]);
    assertEquals(await upload(false, { budget: ample }), ["uploaded", 1]);
  });
});

/** Requests for tools that a vendor runs. */
const vendorTools: readonly Readonly<Record<string, unknown>>[] = [
  { tools: [{ type: "web_search" }] },
  { tools: [{ type: "function", function: { name: "look" } }, { type: "browser_search" }] },
  { tools: [{ type: "code_interpreter", container: { type: "auto" } }] },
  { web_search_options: {} },
  { search_parameters: { mode: "auto" } },
  { plugins: [{ id: "web" }] },
];

/** Requests that cost their tokens. */
const withoutFee: readonly Readonly<Record<string, unknown>>[] = [
  { tools: [{ type: "function", function: { name: "look" } }] },
  { tools: [{ type: "custom", custom: { name: "look" } }] },
  { tools: [], web_search_options: null, plugins: [] },
  { search_parameters: { mode: "off" } },
];

describe("Tools that a vendor runs for a fee", () => {
  const messages = [{ role: "user", content: "Hi" }];
  const capabilities = ["chat-completion"];
  const pricing = { input: 1, output: 1 };
  const models = { a: { provider: "a", capabilities, pricing } };

  it("are refused under a budget: what they cost is unknown", async () => {
    await using upstream = await startUpstream(respond());
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url }, config: { models, budget: ample } });
    for (const body of vendorTools) {
      const response = await proxy.chat(body);
      const { error } = await response.json();
      assertEquals([response.status, error?.code], [503, "no_active_model"], JSON.stringify(body));
      assertMatch(error.message, /a \(no_price\)/);
      assertEquals(response.headers.get("x-should-retry"), "false");
    }
    assertEquals(upstream.calls, 0);
    for (const body of withoutFee) {
      const response = await proxy.chat(body);
      assertEquals(response.status, 200, JSON.stringify([body, await response.json()]));
    }
  });

  it("are run without a budget, and by a model that costs nothing", async () => {
    for (const config of [{}, { budget: ample, free: true }]) {
      await using upstream = await startUpstream(respond());
      await using other = await startUpstream(respond());
      await using proxy = await startTestProxy({
        upstreams: { a: upstream.url, b: other.url },
        config: {
          models: { ...models, b: { provider: "b", capabilities, pricing: { input: 0, output: 0 } } },
          ...("budget" in config ? { budget: config.budget } : {}),
        },
      });
      const response = await proxy.chat({ tools: [{ type: "web_search" }] });
      await response.body?.cancel();
      assertEquals([response.status, response.headers.get("x-mesh-model")], [200, "free" in config ? "b" : "a"]);
    }
  });

  it("are beyond max_price, and explain() says so of a budget", async () => {
    await using upstream = await startUpstream(respond());
    await using proxy = await startTestProxy({
      upstreams: { a: upstream.url },
      config: { models, budget: ample },
    });
    const body = { model: "chat", messages, tools: [{ type: "web_search" }] };
    assertEquals((await proxy.mesh.explain(body)).excluded, [{ model: "a", reason: "no_price" }]);
    const response = await proxy.chat({ ...body, mesh: { max_price: 1 } });
    assertEquals([response.status, (await response.json()).error.code], [400, "unsupported_by_pool"]);
  });

  it("are found in the Responses API, in Gemini's and in the Messages API as well", async () => {
    await using upstream = await startUpstream(json({}));
    const provider = { config: { responses: true } };
    await using own = await startTestProxy({
      upstreams: { a: upstream.url },
      provider,
      config: { models, budget: ample },
    });
    const gemini = { dialect: "gemini", url: upstream.url, settings: { pricing } } as const;
    await using google = await startDialectProxy({ a: gemini }, { config: { budget: ample } });
    const contents = [{ role: "user", parts: [{ text: "Hi" }] }];
    const claude = { dialect: "anthropic", url: upstream.url, settings: { pricing } } as const;
    await using anthropic = await startDialectProxy({ a: claude }, { config: { budget: ample } });
    const message = { model: "chat", max_tokens: 64, messages };
    const asked: readonly (readonly [url: string, body: object])[] = [
      [`${anthropic.url}/v1/messages`, { ...message, tools: [{ type: "web_search_20250305", name: "web_search" }] }],
      [`${anthropic.url}/v1/messages`, { ...message, tools: [{ type: "telepathy_20301231", name: "telepathy" }] }],
      [`${own.url}/v1/responses`, { model: "chat", input: "Hi", tools: [{ type: "web_search" }] }],
      [`${own.url}/v1/responses`, { model: "chat", input: "Hi", tools: [{ type: "image_generation" }] }],
      [`${google.url}/v1beta/models/chat:generateContent`, { contents, tools: [{ googleSearch: {} }] }],
      [`${google.url}/v1beta/models/chat:generateContent`, { contents, tools: [{ google_maps: {} }] }],
    ];
    for (const [url, body] of asked) {
      const headers = { "content-type": "application/json" };
      const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
      const { error } = await response.json();
      assertEquals(response.status, 503, JSON.stringify(error));
      assertMatch(error.message, /a \(no_price\)/);
    }
    assertEquals(upstream.calls, 0);
    for (const type of ["bash_20250124", "text_editor_20250728", "memory_20250818", "web_fetch_20250910"]) {
      upstream.follow(json({ type: "message", content: [], stop_reason: "max_tokens" }));
      const response = await fetch(`${anthropic.url}/v1/messages`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...message, tools: [{ type, name: "own" }] }),
      });
      assertEquals([type, response.status], [type, 200], await response.text());
    }
  });

  it("are refused in a batch under a budget", async () => {
    await using stage = await objectStage(["a"], { budget: ample });
    const { proxy, vendors: { a } } = stage;
    const lines = requestLines(2, { tools: [{ type: "web_search" }], max_tokens: 5 });
    const { json: { id } } = await ask(proxy, "files", { body: fileForm(lines) });
    const made = await ask(proxy, "batches", {
      json: { input_file_id: id, endpoint: "/v1/chat/completions", completion_window: "24h" },
    });
    assertEquals([made.status, made.json.error.code, a!.batches.size], [429, "budget_exceeded", 0]);
  });
});
