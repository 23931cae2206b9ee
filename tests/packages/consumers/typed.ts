// A program in strict TypeScript. It is compiled, not run: what must not compile says so.
import {
  type BaseProvider,
  type ChatCompletion,
  create,
  type CreateOptions,
  type ErrorCode,
  type MeshClient,
  MeshConfig,
  MeshError,
  mockClient,
  ModelMesh,
  openAiCompatible,
  type Provider,
  type ProviderConnector,
  routingOf,
} from "@modelmesh/core";
import {
  BrowserBaseProvider,
  create as createInBrowser,
  createBrowserProviderConfig,
  openai,
  roundRobin,
} from "@modelmesh/core/browser";
import { BaseProvider as ConnectorBase, type OperationTable, UpstreamError } from "@modelmesh/core/connectors";
import { type LanguageModel, mesh as meshModels, type MeshProvider } from "@modelmesh/core/ai-sdk";
import { main } from "@modelmesh/core/cli";
import { createHandler, type RunningProxy, serve } from "@modelmesh/core/proxy";

const options: CreateOptions = { providers: ["openai"], strategy: "round-robin" };
const client: MeshClient = create("chat-completion", options);

const whole: ChatCompletion = await client.chat.completions.create({
  messages: [{ role: "user", content: "Hi" }],
});
export const text: string | null | undefined = whole.choices[0]?.message.content;
export const model: string | null | undefined = routingOf(whole)?.model;

const stream = await client.chat.completions.create({ messages: [{ role: "user", content: "Hi" }], stream: true });
for await (const chunk of stream) console.log(chunk.choices[0]?.delta.content?.length);

// a vendor's own member comes by a spread
await client.chat.completions.create({ messages: [], seed: 1, ...{ vendor_member: true } });
// @ts-expect-error: a misspelt member
await client.chat.completions.create({ messages: [], temprature: 1 });
// @ts-expect-error: a misspelt member of a message
await client.chat.completions.create({ messages: [{ role: "user", contents: "Hi" }] });
// @ts-expect-error: no such role
await client.chat.completions.create({ messages: [{ role: "usr", content: "Hi" }] });
// @ts-expect-error: a misspelt member of the routing
await client.chat.completions.create({ messages: [], mesh: { olny: ["openai"] } });
// @ts-expect-error: a misspelt member
await client.embeddings.create({ input: "red", dimension: 3 });
// @ts-expect-error: a misspelt member
await client.images.generate({ prompt: "red", sise: "1024x1024" });
// @ts-expect-error: a misspelt member
await client.moderations.create({ input: "red", modle: "m" });
// @ts-expect-error: a misspelt member
await client.audio.speech.create({ input: "red", voice: "alloy", sped: 2 });
// @ts-expect-error: a misspelt member
await client.rerank.create({ query: "red", documents: ["rose"], topn: 3 });
// @ts-expect-error: a misspelt member
await client.search.create({ query: "red", limit: 3 });
// @ts-expect-error: a misspelt member
await client.responses.create({ inputs: "red" });
// @ts-expect-error: a misspelt setting
await client.responses.create({ input: "red" }, { timeouts: 1000 });
// @ts-expect-error: a message has a role
await client.chat.completions.create({ messages: [{ content: "Hi" }] });
export const known: ErrorCode = "rate_limit_exceeded";
// @ts-expect-error: a misspelt error code
export const unknown: ErrorCode = "rate_limit_exeeded";
// @ts-expect-error: no such option
create("chat-completion", { provider: "openai" });
// @ts-expect-error: a misspelt capability
create("chat-compltion");
// @ts-expect-error: a misspelt capability among the options
create({ capability: "chat-compltion" });
// @ts-expect-error: a misspelt strategy
create("chat-completion", { strategy: "round-robbin" });
// @ts-expect-error: a misspelt strategy, without a capability
create({ strategy: "round-robbin" });
// @ts-expect-error: a misspelt provider
create("chat-completion", { providers: ["openai", "antropic"] });
create("generation.text-generation.chat-completion", { strategy: "mesh.round-robin.v1", providers: ["openai.llm.v1"] });
create("chat-completion", { strategy: "priority", providers: ["claude", "gemini"] });
// names that only run time knows, and those that a configuration may define
const named: string = String(Date.now());
create(named, { strategy: named, providers: [named, ...["openai"]] });
create("haiku-writing", { config: "modelmesh.yaml", strategy: "acme-first", providers: ["mine"] });
create({ capability: "haiku-writing", config: { pools: { chat: { models: ["gpt-4o"], strategy: "acme-first" } } } });

create({
  config: {
    providers: {
      "openai.llm.v1": { api_key: "k" },
      own: { connector: "openai.compatible.v1", base_url: "http://127.0.0.1" },
    },
    models: {
      mini: { provider: "openai.llm.v1", capabilities: ["chat-completion"], pricing: { input: 1, output: 2 } },
    },
    pools: { chat: { models: ["mini"], strategy: "priority", retry: { max_attempts: 1 }, "recovery.cooldown": "30s" } },
    storage: { connector: "aws.s3.v1", bucket: "state" },
    proxy: {
      port: 8080,
      auth: { method: "bearer", tokens: ["a-token", { token: "another", name: "sales", rpm: 60 }] },
    },
  },
});
create({ config: JSON.parse("{}") as Record<string, unknown> });
// @ts-expect-error: a misspelt section
create({ config: { pool: {} } });
// @ts-expect-error: a misspelt key
create({ config: { pools: { chat: { stratgy: "priority" } } } });
// @ts-expect-error: a misspelt key further in
create({ config: { pools: { chat: { retry: { max_attempt: 1 } } } } });
// @ts-expect-error: a number is not a duration
create({ config: { pools: { chat: { recovery: { cooldown: 30 } } } } });
// @ts-expect-error: a choice has its own words
create({ config: { pools: { chat: { retry: { backoff: "linear" } } } } });
// @ts-expect-error: a model has a provider
create({ config: { models: { mini: { capabilities: ["chat-completion"] } } } });

export const disposable: AsyncDisposable = client;
export const dispose: () => Promise<void> = () => Promise.resolve(client[Symbol.asyncDispose]());

const mock = mockClient({ responses: ["Hello", new Error("Out of luck")] });
await mock.ready();
const lookUp = { id: "call_1", type: "function", function: { name: "look_up", arguments: "{}" } } as const;
mockClient({ responses: [{ choices: [{ message: { tool_calls: [lookUp] } }] }, { data: [{ embedding: [1, 2] }] }] });
// @ts-expect-error: a completion has choices
mockClient({ responses: [{ model: "m" }] });

const mesh = new ModelMesh({ on: (record) => console.log(record.type) });
await mesh.initialize(MeshConfig.parse({ providers: {} }).document);
const handler: (request: Request) => Promise<Response> = createHandler(mesh, { tokens: ["a-long-secret"] });
export const answer: Response = await handler(new Request("http://127.0.0.1/health"));

const proxy: RunningProxy = await serve({ port: 0 });
await proxy.stop();

export const acme: ProviderConnector = openAiCompatible({
  id: "acme.llm.v1",
  vendor: "acme",
  baseUrl: "https://api.acme.example/v1",
});
export const isProvider = (value: BaseProvider): Provider => value;

class Searching extends ConnectorBase {
  override listModels() {
    return Promise.resolve([]);
  }
  protected override get calls(): OperationTable {
    return { search: () => Promise.reject(new UpstreamError("No search", { kind: "request" })) };
  }
}
export const searching: Provider = new Searching("acme", []);

class Acme extends BrowserBaseProvider {
  protected override _getCompletionEndpoint(): string {
    return "https://api.acme.example/v2/chat";
  }
}

const provider = new Acme(createBrowserProviderConfig({ apiKey: "k", models: ["acme-small"] }));
export const inPage: MeshClient = createInBrowser("chat-completion", {
  providers: [provider, openai({ apiKey: () => Promise.resolve("k"), models: ["gpt-5-mini"] })],
  strategy: roundRobin,
});
// @ts-expect-error: a vendor is called with its key
createInBrowser("chat-completion", { providers: [openai] });
const models: MeshProvider = meshModels(client);
export const spoken: LanguageModel = models("chat");
// @ts-expect-error: a model is asked by a name
models(4);
export const older: "v2" = meshModels(client, { specification: "v2" })("chat").specificationVersion;
export const code: number = await main(["--version"]);

try {
  await client.close();
} catch (error) {
  if (MeshError.isInstance(error)) console.log(error.code, error.requestId);
}
