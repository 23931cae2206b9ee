import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { effortsFor } from "../../connectors/providers/_catalogue.ts";
import { serverConnectors } from "../../connectors/server.ts";
import { servesOperation } from "../../src/capability/operations.ts";
import { capabilityTree } from "../../src/capability/tree.ts";
import { detectProviders } from "../../src/config/detect/detect.ts";
import type { ProviderConnector } from "../../src/contracts/connector.ts";
import type { CallOptions, CompletionRequest, ModelInfo } from "../../src/contracts/provider.ts";
import type { Runtime, UpstreamRequest } from "../../src/contracts/runtime.ts";
import { ConfigError, UpstreamError } from "../../src/errors.ts";
import { loadedProviders } from "../support/connectors.ts";
import { json, startUpstream } from "../support/upstream.ts";
import { connected } from "./_provider_calls.ts";

const tree = capabilityTree();
const runtime = { clock: { now: () => 0 }, random: () => 0.5 } as Runtime;
const providers = loadedProviders;

function provider(id: string): ProviderConnector {
  const connector = providers.find((one) => one.id === id);
  assert(connector !== undefined, id);
  return connector;
}

function model(id: string, name: string): ModelInfo {
  const info = provider(id).models.find((one) => one.id === name);
  assert(info !== undefined, name);
  return info;
}

function listLeaves({ capabilities = [] }: ModelInfo): string[] {
  return capabilities.map((name) => tree.resolve(name) ?? name);
}

/** What one call sends. */
async function sent(
  id: string,
  settings: Record<string, unknown> = {},
  more: Partial<CompletionRequest> = {},
): Promise<UpstreamRequest> {
  const requests: UpstreamRequest[] = [];
  const options: CallOptions = {
    signal: new AbortController().signal,
    credential: "key",
    send: (request) => {
      requests.push(request);
      return Promise.reject(new Error("enough"));
    },
  };
  const request: CompletionRequest = { model: { id: "m" }, stream: false, body: { messages: [] }, ...more };
  const instance = provider(id).create({ id: "entry", ...settings }, runtime);
  await assertRejects(async () => {
    if (!request.stream) await instance.complete(request, options);
    for await (const _ of instance.stream!(request, options));
  });
  return requests[0]!;
}

Deno.test("serverConnectors lists the providers in the contract's order of detection", () => {
  assertEquals(providers.map(({ id }) => id), [
    "openai.llm.v1",
    "anthropic.claude.v1",
    "google.gemini.v1",
    "groq.api.v1",
    "mistral.api.v1",
    "deepseek.api.v1",
    "together.api.v1",
    "openrouter.gateway.v1",
    "xai.grok.v1",
    "cohere.nlp.v1",
    "perplexity.search.v1",
    "cerebras.api.v1",
    "fireworks.api.v1",
    "sambanova.api.v1",
    "nvidia.nim.v1",
    "huggingface.inference.v1",
    "cloudflare.workers-ai.v1",
    "azure.openai.v1",
    "aws.bedrock.v1",
    "google.vertex.v1",
    "moonshot.kimi.v1",
    "zai.glm.v1",
    "qwen.dashscope.v1",
    "minimax.api.v1",
    "deepinfra.api.v1",
    "novita.api.v1",
    "nebius.api.v1",
    "baseten.api.v1",
    "vercel.gateway.v1",
    "elevenlabs.tts.v1",
    "azure.tts.v1",
    "deepgram.audio.v1",
    "assemblyai.stt.v1",
    "jina.ai.v1",
    "voyage.embeddings.v1",
    "tavily.search.v1",
    "serper.search.v1",
    "firecrawl.scrape.v1",
    "ollama.local.v1",
    "lmstudio.local.v1",
    "vllm.local.v1",
    "localai.local.v1",
    "openai.compatible.v1",
  ]);
});

Deno.test("docs/providers.md has every provider in this order, with its variables", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/providers.md", import.meta.url));
  const rows = page.split("\n").filter((line) => /^\| `[a-z0-9.-]+\.v1` \| /.test(line) && !/^.*verified/.test(line));
  const table = rows.slice(0, providers.length);
  assertEquals(table.map((row) => row.split("`")[1]), providers.map(({ id }) => id));
  for (const [index, { detection, local }] of providers.entries()) {
    const { keys = [], baseUrl = [], host = [], requires = {} } = detection ?? {};
    const names = [...local ? [] : keys, ...baseUrl, ...host, ...Object.values(requires).flat()];
    for (const name of names) assert(table[index]!.includes(`\`${name}\``), name);
  }
});

Deno.test("ids, vendors and keys belong to one connector each", () => {
  const ids = serverConnectors.map(({ id }) => id);
  const kinds = serverConnectors.map(({ kind, id }) => `${kind} ${id}`); // memory keeps states, and secrets
  assertEquals(kinds.length, new Set(kinds).size);
  for (const id of ids) assert(/^[a-z0-9-]+(\.guard)?\.[a-z0-9-]+\.v1$/.test(id), id);
  const vendors = providers.map(({ vendor }) => vendor);
  assertEquals(vendors.length, new Set(vendors).size);
  const keys = providers.flatMap(({ detection }) => detection?.keys ?? []);
  assertEquals(keys.length, new Set(keys).size);
});

Deno.test("every vendor has variables of the usual form, and one for its address", () => {
  for (const { id, detection } of providers) {
    if (id === "openai.compatible.v1" || id === "google.vertex.v1") {
      assertEquals(detection, undefined);
      continue;
    }
    const { keys, baseUrl = [], host = [], requires = {} } = detection!;
    for (const name of [...keys, ...baseUrl, ...host, ...Object.values(requires).flat()]) {
      assert(/^[A-Z][A-Z0-9_]*$/.test(name), name);
    }
    assert(keys.length + host.length > 0, id);
    assert(baseUrl.some((name) => name.endsWith("_BASE_URL")), id);
  }
});

Deno.test("the catalogue's capabilities are leaves of the tree, its ids unique", () => {
  for (const { id, models } of providers) {
    const ids = models.map((info) => info.id);
    assertEquals(ids.length, new Set(ids).size, id);
    for (const info of models) {
      assert(info.capabilities!.length > 0, info.id);
      for (const path of listLeaves(info)) assert(tree.isLeaf(path), `${info.id}: ${path}`);
    }
  }
});

Deno.test("an opened provider reports the catalogue's own entries: otherwise each start would assemble twice", async () => {
  const config = { region: "eu-central-1", project: "p", location: "global", account_id: "a" };
  const withEnv = { ...runtime, env: () => undefined } as Runtime;
  for (const { id, models: [first], create } of providers) {
    if (first === undefined) continue;
    const made = create({ id, config, baseUrl: "http://127.0.0.1:9/v1" }, withEnv);
    assert(await made.getModelInfo(first.id) === first, id);
  }
});

Deno.test("what openrouter/auto costs is unknown, and never 0", () => {
  assertEquals(model("openrouter.gateway.v1", "openrouter/auto").pricing, undefined);
});

Deno.test("every vendor with models has one or two defaults for chat, and defaults only for what they serve", () => {
  for (const { id, models } of providers) {
    const defaults = models.filter(({ defaultFor }) => defaultFor?.includes("chat-completion"));
    const chats = models.some((info) => listLeaves(info).some((leaf) => servesOperation(leaf, "chat")));
    if (chats) assert(defaults.length === 1 || defaults.length === 2, id);
    for (const info of models) {
      for (const short of info.defaultFor ?? []) {
        assert(listLeaves(info).includes(tree.resolve(short)!), `${info.id}: ${short}`);
      }
    }
  }
});

Deno.test("vendors with other endpoints have defaults for them", () => {
  const expected: Record<string, string[]> = {
    "openai.llm.v1": [
      "text-embeddings",
      "speech-to-text",
      "text-to-image",
      "inpainting",
      "content-moderation",
    ],
    "google.gemini.v1": ["text-to-image", "image-to-image", "text-to-speech", "speech-to-text"],
    "xai.grok.v1": ["text-to-image", "image-to-image"],
    "cloudflare.workers-ai.v1": ["text-to-image"],
    "fireworks.api.v1": ["text-embeddings", "text-to-image", "speech-to-text"],
    "aws.bedrock.v1": ["text-embeddings"],
    "google.vertex.v1": ["text-embeddings", "text-to-speech", "speech-to-text"],
    "elevenlabs.tts.v1": ["text-to-speech", "speech-to-text"],
    "azure.tts.v1": ["text-to-speech"],
    "deepgram.audio.v1": ["text-to-speech", "speech-to-text"],
    "assemblyai.stt.v1": ["speech-to-text"],
    "groq.api.v1": ["text-to-speech", "speech-to-text"],
    "mistral.api.v1": ["text-embeddings"],
    "cohere.nlp.v1": ["text-embeddings", "reranking"],
    "perplexity.search.v1": ["web-search"],
    "jina.ai.v1": ["text-embeddings", "reranking", "web-search", "document-parsing"],
    "voyage.embeddings.v1": ["text-embeddings", "reranking"],
    "tavily.search.v1": ["web-search"],
    "serper.search.v1": ["web-search"],
    "firecrawl.scrape.v1": ["web-search", "document-parsing"],
  };
  for (const [id, names] of Object.entries(expected)) {
    const served = provider(id).models.flatMap(({ defaultFor = [] }) => defaultFor);
    for (const name of names) assert(served.includes(name), `${id}: ${name}`);
  }
});

Deno.test("features and capabilities say the same", () => {
  for (const { id, models } of providers) {
    if (id === "anthropic.claude.v1" || id === "google.gemini.v1") continue;
    for (const { id: name, capabilities, features = {} } of models) {
      const serves = (short: string) => capabilities!.includes(tree.resolve(short)!);
      assertEquals(serves("tool-calling"), features.tool_calling === true, name);
      assertEquals(serves("json-generation"), features.structured_output === true, name);
      assertEquals(serves("image-captioning"), features.vision === true, name);
    }
  }
});

Deno.test("what matters is never dropped", () => {
  const weighty = ["n", "logprobs", "response_format", "tools", "stop", "max_tokens", "max_completion_tokens"];
  for (const { id, parameters, models } of providers) {
    for (const rules of [parameters, ...models.map((info) => info.parameters)]) {
      for (const name of rules?.drop ?? []) assert(!weighty.includes(name), `${id}: ${name}`);
      for (const [from, to] of Object.entries(rules?.rename ?? {})) assert(from !== to && from !== "", id);
    }
  }
});

Deno.test("reasoning models of OpenAI get the newer token limit and no sampling; older ones what was sent", () => {
  for (const name of ["gpt-6-luna", "gpt-5.6-terra", "gpt-5.4-mini", "gpt-5-mini", "o3"]) {
    const { rename, drop } = model("openai.llm.v1", name).parameters!;
    assertEquals(rename, { max_tokens: "max_completion_tokens" });
    for (const parameter of ["temperature", "top_p", "presence_penalty", "frequency_penalty"]) {
      assert(drop!.includes(parameter));
    }
  }
  for (const name of ["gpt-4.1", "gpt-4o-mini"]) {
    assertEquals(model("openai.llm.v1", name).parameters, undefined);
  }
  assert(model("openai.llm.v1", "gpt-5-nano").parameters!.refuse!.includes("stop"));
  for (const name of ["gpt-6.1-terra", "gpt-6-luna", "gpt-5.6-sol", "gpt-5.4"]) {
    assertEquals(model("openai.llm.v1", name).parameters!.tools_via, "responses", "tools need it");
  }
  for (const name of ["gpt-5.5-pro", "gpt-5.3-codex"]) {
    assertEquals(model("openai.llm.v1", name).parameters!.apis, ["responses"]);
  }
  assertEquals(provider("mistral.api.v1").parameters!.rename!.max_completion_tokens, "max_tokens");
  assertEquals(provider("groq.api.v1").parameters!.rename, undefined);
});

Deno.test("requests go to each vendor's address with its key", async () => {
  const addresses: Record<string, string> = {
    "openai.llm.v1": "https://api.openai.com/v1",
    "groq.api.v1": "https://api.groq.com/openai/v1",
    "mistral.api.v1": "https://api.mistral.ai/v1",
    "deepseek.api.v1": "https://api.deepseek.com",
    "together.api.v1": "https://api.together.xyz/v1",
    "openrouter.gateway.v1": "https://openrouter.ai/api/v1",
    "xai.grok.v1": "https://api.x.ai/v1",
    "cohere.nlp.v1": "https://api.cohere.ai/compatibility/v1",
    "perplexity.search.v1": "https://api.perplexity.ai",
    "cerebras.api.v1": "https://api.cerebras.ai/v1",
    "fireworks.api.v1": "https://api.fireworks.ai/inference/v1",
    "sambanova.api.v1": "https://api.sambanova.ai/v1",
    "nvidia.nim.v1": "https://integrate.api.nvidia.com/v1",
    "huggingface.inference.v1": "https://router.huggingface.co/v1",
    "moonshot.kimi.v1": "https://api.moonshot.ai/v1",
    "zai.glm.v1": "https://api.z.ai/api/paas/v4",
    "qwen.dashscope.v1": "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
    "minimax.api.v1": "https://api.minimax.io/v1",
    "deepinfra.api.v1": "https://api.deepinfra.com/v1/openai",
    "novita.api.v1": "https://api.novita.ai/openai/v1",
    "nebius.api.v1": "https://api.tokenfactory.nebius.com/v1",
    "baseten.api.v1": "https://inference.baseten.co/v1",
    "vercel.gateway.v1": "https://ai-gateway.vercel.sh/v1",
    "ollama.local.v1": "http://127.0.0.1:11434/v1",
    "lmstudio.local.v1": "http://127.0.0.1:1234/v1",
    "vllm.local.v1": "http://127.0.0.1:8000/v1",
    "localai.local.v1": "http://127.0.0.1:8080/v1",
  };
  for (const [id, address] of Object.entries(addresses)) {
    const { url, headers } = await sent(id);
    assertEquals(url, `${address}/chat/completions`);
    assertEquals(headers.authorization, "Bearer key");
    const proxied = await sent(id, { baseUrl: "https://proxy.example/llm/v1/" });
    assertEquals(proxied.url, "https://proxy.example/llm/v1/chat/completions");
  }
});

Deno.test("searches and documents go to each vendor's address with its key", async () => {
  const addresses = [
    ["mistral.api.v1", "documents", "https://api.mistral.ai/v1/ocr", "authorization"],
    ["perplexity.search.v1", "search", "https://api.perplexity.ai/search", "authorization"],
    ["jina.ai.v1", "embeddings", "https://api.jina.ai/v1/embeddings", "authorization"],
    ["jina.ai.v1", "search", "https://s.jina.ai/", "authorization"],
    ["jina.ai.v1", "documents", "https://r.jina.ai/", "authorization"],
    ["tavily.search.v1", "search", "https://api.tavily.com/search", "authorization"],
    ["serper.search.v1", "search", "https://google.serper.dev/search", "x-api-key"],
    ["firecrawl.scrape.v1", "search", "https://api.firecrawl.dev/v2/search", "authorization"],
    ["firecrawl.scrape.v1", "documents", "https://api.firecrawl.dev/v2/scrape", "authorization"],
  ] as const;
  const body = { query: "tower", url: "https://papers.example/", input: "red", messages: [] };
  for (const [id, operation, address, header] of addresses) {
    const { url, headers } = await sent(id, {}, { operation, body });
    assertEquals([url, headers[header]?.replace("Bearer ", "")], [address, "key"], id);
    const own = (await sent(id, { baseUrl: "https://proxy.example/v1" }, { operation, body })).url;
    assert(own.startsWith("https://proxy.example/v1/"), own);
  }
  const { headers } = await sent("jina.ai.v1", {}, { operation: "search", body });
  assertEquals([headers.accept, headers["x-respond-with"]], ["application/json", "no-content"]);
});

Deno.test("a vendor without chat proves by a free path that it is there, and has the catalogue's models", async () => {
  const paths = {
    "jina.ai.v1": "models",
    "tavily.search.v1": "usage",
    "serper.search.v1": "account",
    "firecrawl.scrape.v1": "team/credit-usage",
  };
  for (const [connector, path] of Object.entries(paths)) {
    await using upstream = await startUpstream(json({}));
    const { provider: instance, options } = connected({ connector }, upstream);
    assertEquals(await instance.listModels(options), provider(connector).models);
    const chat: CompletionRequest = { model: { id: "search" }, stream: false, body: { messages: [] } };
    for (const call of [() => instance.complete(chat, options), () => instance.stream!(chat, options)]) {
      await assertRejects(async () => void await call(), UpstreamError, "does not offer chat");
    }
    assertEquals(upstream.requests.map((request) => `${request.method} ${request.path}`), [`GET /v1/${path}`]);
  }
});

Deno.test("usage of a stream is asked for only where the vendor takes the question", async () => {
  for (
    const [id, asks] of [["openai.llm.v1", true], ["mistral.api.v1", false], ["perplexity.search.v1", false]] as const
  ) {
    const { body } = await sent(id, {}, { stream: true });
    assertEquals("stream_options" in JSON.parse(body as string), asks, id);
  }
});

Deno.test("cloudflare's address takes the account's id from the entry's config", async () => {
  const id = "cloudflare.workers-ai.v1";
  const address = "https://api.cloudflare.com/client/v4/accounts";
  assertEquals(provider(id).detection!.requires, { account_id: ["CLOUDFLARE_ACCOUNT_ID"] });
  assertEquals(provider(id).needsBaseUrl, false);
  const { url } = await sent(id, { config: { account_id: "abc" } });
  assertEquals(url, `${address}/abc/ai/v1/chat/completions`);
  assertEquals((await sent(id, { config: { account_id: "../x" } })).url, `${address}/..%2Fx/ai/v1/chat/completions`);
  assertEquals((await sent(id, { baseUrl: "http://c.example/v1" })).url, "http://c.example/v1/chat/completions");
  const environment: Record<string, string> = { CLOUDFLARE_API_TOKEN: "token", CLOUDFLARE_ACCOUNT_ID: "abc" };
  const [detected] = detectProviders(providers, (name) => environment[name]).providers;
  assertEquals((await sent(id, { config: detected!.entry.config })).url, url);
  for (const config of [undefined, {}, { account_id: "" }, { account_id: 7 }]) {
    assertThrows(() => provider(id).create({ id: "entry", config }, runtime), ConfigError, "CLOUDFLARE_ACCOUNT_ID");
  }
});

Deno.test("local servers are local, and any other server needs an address but no key", () => {
  for (const id of ["ollama.local.v1", "lmstudio.local.v1", "vllm.local.v1", "localai.local.v1"]) {
    const { local, keyless, needsBaseUrl, models, detection } = provider(id);
    assertEquals([local, keyless, needsBaseUrl, models.length], [true, true, false, 0]);
    assert(detection!.host!.some((name) => name.endsWith("_HOST")));
  }
  assert(!provider("ollama.local.v1").detection!.keys.includes("OLLAMA_API_KEY"), "that one is the cloud's");
  const environment: Record<string, string> = {
    OLLAMA_HOST: "0.0.0.0",
    VLLM_API_KEY: "k",
    LMSTUDIO_BASE_URL: "http://l/v1",
  };
  const detected = detectProviders(providers, (name) => environment[name]).providers.map(({ entry }) => entry);
  assertEquals(detected.map(({ id, baseUrl }) => [id, baseUrl]), [
    ["ollama.local.v1", "http://127.0.0.1:11434/v1"],
    ["lmstudio.local.v1", "http://l/v1"],
  ]);
  const { local, keyless, needsBaseUrl } = provider("openai.compatible.v1");
  assertEquals([local, keyless, needsBaseUrl], [false, true, true]);
});

Deno.test("models that reason get the nearest effort that their vendor's pages name", () => {
  const rows = [
    ["openai.llm.v1", "gpt-6.1-terra", "none low medium high xhigh max"],
    ["openai.llm.v1", "gpt-5.4-mini", "none low medium high xhigh"],
    ["openai.llm.v1", "gpt-5-mini", "minimal low medium high"],
    ["openai.llm.v1", "o3", "low medium high"],
    ["cohere.nlp.v1", "command-a-plus-05-2026", "none high"],
    ["xai.grok.v1", "grok-4.3", "none low medium high"],
    ["xai.grok.v1", "grok-4.5", "low medium high"],
    ["groq.api.v1", "openai/gpt-oss-120b", "low medium high"],
    ["huggingface.inference.v1", "openai/gpt-oss-120b", "low medium high"],
    ["fireworks.api.v1", "accounts/fireworks/models/glm-5p3", "low high max"],
  ] as const;
  const all = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
  for (const [id, name, taken] of rows) {
    const efforts = model(id, name).parameters!.efforts!;
    assertEquals(Object.keys(efforts), all.filter((effort) => !taken.split(" ").includes(effort)), name);
    for (const { reasoning_effort } of Object.values(efforts)) assert(taken.includes(String(reasoning_effort)), name);
  }
});

Deno.test("effortsFor() gives the nearest effort, of two the weaker, and turns thinking off only for little of it", () => {
  const asked = (taken: string, wanted: string) => effortsFor(taken.split(" "))[wanted]?.reasoning_effort;
  const three = "low medium high";
  assertEquals([asked(three, "none"), asked(three, "minimal"), asked(three, "max")], ["low", "low", "high"]);
  assertEquals([asked("none high", "minimal"), asked("none high", "low")], ["none", "high"]);
  assertEquals([asked("low high", "medium"), asked(three, "medium")], ["low", undefined]);
});

Deno.test("Fireworks' models of sound are at hosts of their own, unless there is an address of one's own", async () => {
  const bytes = new Uint8Array([1]);
  const files = [{ field: "file", name: "a.mp3", type: "audio/mpeg", bytes }];
  const heard = (id: string, settings = {}) =>
    sent("fireworks.api.v1", settings, { operation: "transcription", model: { id }, files });
  assertEquals((await heard("whisper-v3-turbo")).url, "https://audio-turbo.api.fireworks.ai/v1/audio/transcriptions");
  assertEquals((await heard("whisper-v3")).url, "https://audio-prod.api.fireworks.ai/v1/audio/transcriptions");
  const own = await heard("whisper-v3", { baseUrl: "http://127.0.0.1:9/v1/" });
  assertEquals([own.url, own.headers!.authorization], ["http://127.0.0.1:9/v1/audio/transcriptions", "Bearer key"]);
  assertEquals((await sent("fireworks.api.v1")).url, "https://api.fireworks.ai/inference/v1/chat/completions");
  const embeds = await sent("fireworks.api.v1", {}, { operation: "embeddings" });
  assertEquals(embeds.url, "https://api.fireworks.ai/inference/v1/embeddings");
});
