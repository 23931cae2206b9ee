/**
 * A proxy with a search pool, over a model that searches, and requests of each dialect of clients.
 * @module
 */
import { startDialectProxy, toApiKey } from "./_dialect_proxy.ts";
import { type Dialect, type Json, type Reply, speaking } from "./_dialects.ts";
import { playTools, type Turn } from "./_tool_loop.ts";
import type { TestProxy, TestProxyOptions } from "./proxy.ts";
import { json, type Script, startUpstream, type Upstream } from "./upstream.ts";

/** What the search engine finds. */
export const pages: readonly Json[] = [
  { title: "Kumquats", url: "https://fruit.example/kumquat", snippet: "A small fruit." },
  { title: "Flowers", url: "https://flowers.example/", snippet: "Ranunculus blooms.", published: "2026-01-02" },
];

/** A text of a model that cites the first page. */
export const cited: readonly string[] = [
  "A kumquat is small ([Kum",
  "quats](https://fruit.example/kumquat)), I",
  " read.",
];

/** A stage of a test. */
export interface SearchStage extends AsyncDisposable {
  readonly proxy: TestProxy;
  readonly model: Upstream;
  readonly engine: Upstream;
}

interface SearchStageOptions extends Omit<TestProxyOptions, "upstreams" | "config"> {
  readonly dialect?: Dialect;
  /** What the model replies; by default, it searches once and cites a page. */
  readonly play?: (turn: Turn) => Reply;
  /** In place of `play`. */
  readonly script?: Script;
  readonly engine?: Script;
  /** The section `proxy.tools.web_search`; undefined leaves it out. */
  readonly settings?: Json | undefined;
  readonly proxySettings?: Json;
  readonly guards?: Json;
  /** The section `cache`; undefined leaves it out. */
  readonly cache?: Json;
  /** Strategy of the pool; by priority by default. */
  readonly strategy?: string;
  /** Further models of the pool, after the first one. */
  readonly others?: Readonly<
    Record<string, { readonly connector: string; readonly url: string; readonly model: string; readonly config?: Json }>
  >;
}

/** A model that searches once, and then responds with text. */
export function searchOnce({ tools, results }: Turn): Reply {
  const name = tools.find((tool) => /search/.test(tool)) ?? "none";
  if (results.length === 0) return { calls: [{ id: "call_s1", name, input: { query: "kumquat" } }] };
  return { pieces: cited };
}

/** Starts a model, a search engine and a proxy. */
export async function startSearchStage(
  {
    dialect = "openai",
    play = searchOnce,
    script,
    engine = json({ object: "search", model: "m", results: pages }),
    ...options
  }: SearchStageOptions = {},
): Promise<SearchStage> {
  const { settings = { pool: "search" }, proxySettings, guards, cache, others = {}, strategy = "priority", ...rest } =
    options;
  const model = await startUpstream(script ?? playTools(dialect, play));
  const searching = await startUpstream(engine);
  const { connector, model: id } = speaking[dialect];
  const models = ["only", ...Object.keys(others)];
  const proxy = await startDialectProxy({}, {
    ...rest,
    config: {
      providers: {
        ...mapOthers(others, ({ connector, url, config }, name) => ({
          connector,
          base_url: url,
          api_key: toApiKey(name),
          ...(config && { config }),
        })),
        only: { connector, base_url: model.url, api_key: toApiKey("only") },
        engine: { connector: "openai.compatible.v1", base_url: searching.url, api_key: toApiKey("engine") },
      },
      models: {
        ...mapOthers(others, ({ model }, provider) => ({ provider, model, capabilities: ["chat-completion"] })),
        only: { provider: "only", model: id, capabilities: ["chat-completion"], pricing: { input: 1, output: 1 } },
        engine: { provider: "engine", model: "engine", capabilities: ["web-search"], pricing: { per_search: 0.008 } },
      },
      pools: {
        chat: {
          models,
          strategy,
          ...(strategy === "priority" ? { model_priority: models } : {}),
          retry: { max_attempts: 0 },
        },
        search: { models: ["engine"], retry: { max_attempts: 0 } },
      },
      ...(guards && { guards }),
      ...(cache && { cache }),
      proxy: {
        ...("settings" in options && options.settings === undefined ? {} : { tools: { web_search: settings } }),
        ...proxySettings,
      },
    },
  });
  const dispose = async () => {
    await proxy[Symbol.asyncDispose]();
    await Promise.all([model.close(), searching.close()]);
  };
  return { proxy, model, engine: searching, [Symbol.asyncDispose]: dispose };
}

function mapOthers<One, Value>(others: Readonly<Record<string, One>>, toValue: (value: One, name: string) => Value) {
  return Object.fromEntries(Object.entries(others).map(([name, value]) => [name, toValue(value, name)]));
}

/** A client of the search. */
export interface SearchClient {
  path(stream: boolean): string;
  /** A request with the search tool. */
  body(more?: { readonly tools?: readonly Json[]; readonly tool?: Json }): Json;
  /** Another tool, `look`. */
  readonly other: Json;
}

/** The clients, by dialect. */
export const searchClients: Readonly<Record<"responses" | "messages" | "gemini", SearchClient>> = {
  responses: {
    path: () => "/v1/responses",
    body: ({ tools = [], tool = {} } = {}) => ({
      model: "chat",
      input: "What is a kumquat?",
      tools: [{ type: "web_search", ...tool }, ...tools],
    }),
    other: { type: "function", name: "look", parameters: { type: "object", properties: {} } },
  },
  messages: {
    path: () => "/v1/messages",
    body: ({ tools = [], tool = {} } = {}) => ({
      model: "chat",
      max_tokens: 500,
      messages: [{ role: "user", content: "What is a kumquat?" }],
      tools: [{ type: "web_search_20250305", name: "web_search", ...tool }, ...tools],
    }),
    other: { name: "look", input_schema: { type: "object", properties: {} } },
  },
  gemini: {
    path: (stream) => `/v1beta/models/chat:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    body: ({ tools = [], tool = {} } = {}) => ({
      contents: [{ role: "user", parts: [{ text: "What is a kumquat?" }] }],
      tools: [{ googleSearch: tool }, ...tools.length === 0 ? [] : [{ functionDeclarations: tools }]],
    }),
    other: { name: "look", parametersJsonSchema: { type: "object", properties: {} } },
  },
};

/** Sends a request of a client. */
export function askSearching(
  { proxy }: Pick<SearchStage, "proxy">,
  client: keyof typeof searchClients,
  { stream, body = searchClients[client].body(), headers = {}, signal }: {
    readonly stream: boolean;
    readonly body?: Json;
    readonly headers?: Readonly<Record<string, string>>;
    readonly signal?: AbortSignal;
  },
): Promise<Response> {
  return fetch(proxy.url + searchClients[client].path(stream), {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(client === "gemini" ? body : { ...body, stream }),
    ...(signal === undefined ? {} : { signal }),
  });
}
