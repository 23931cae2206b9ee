/**
 * Requests of every endpoint and dialect to providers of every dialect, and what these reply.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import { testRuntime } from "../../src/runtime/test.ts";
import type { OperationFacts } from "../connectors/_operation.ts";
import { ofSearch } from "../connectors/_search_operations.ts";
import { ofSound } from "../connectors/_sound_operations.ts";
import { own, usual } from "../connectors/_vendor_operations.ts";
import { bedrock } from "./_bedrock.ts";
import { type Reply, speaking } from "./_dialects.ts";
import { chatRequests } from "./_mutated_clients.ts";
import { captured, type ReplyBody } from "./_mutated_replies.ts";
import { respondWithResponse } from "./_responses_behaviours.ts";
import { loadedProviders } from "./connectors.ts";
import { type Behaviour, completeResponse, json } from "./upstream.ts";

/** A provider, with one model of the same name. */
export interface MutatedProvider {
  readonly name: string;
  readonly connector: string;
  /** The entry's `config`. */
  readonly config: object;
  /** The upstream id of the model. */
  readonly model: string;
  readonly capability: string;
}

/** A request to one of the providers, and its reply. */
export interface MutatedCase {
  readonly name: string;
  readonly provider: MutatedProvider;
  readonly path: string;
  readonly body: JsonObject;
  /** Files of a form; without files, the request is JSON. */
  readonly files?: OperationFacts["files"];
  readonly reply: ReplyBody;
}

/** What providers say: text with thoughts, and calls of tools. */
const replies: readonly Reply[] = [
  { pieces: ["Hel", "lo"], thoughts: "hm" },
  {
    calls: [{ id: "c1", name: "weather", input: { city: "Zürich" }, state: "c2ln" }, {
      id: "c2",
      name: "time",
      input: {},
    }],
  },
];

/** A provider of chat. */
interface ChatWire {
  readonly connector: string;
  readonly model: string;
  readonly config?: object;
  /** Replies at endpoints which the provider has itself. */
  readonly natives?: Readonly<Record<string, Behaviour>>;
  respond(reply: Reply): Behaviour;
  path(isStream: boolean): string;
}

const choice = { text: " a time", index: 0, logprobs: null, finish_reason: "stop" };
const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
const completed = { id: "cmpl-1", object: "text_completion", created: 7, model: "small", choices: [choice], usage };
const completedEvents = [{ ...completed, choices: [{ ...choice, finish_reason: null }] }, completed]
  .map((event) => `data: ${JSON.stringify(event)}\n\n`).join("") + "data: [DONE]\n\n";

const openAiWire = (connector: string, more: Partial<ChatWire> = {}): ChatWire => ({
  connector,
  model: "small",
  respond: speaking.openai.respond,
  path: () => "/v1/chat/completions",
  ...more,
});

const chatWires: readonly ChatWire[] = [
  openAiWire("openai.compatible.v1"),
  openAiWire("openai.compatible.v1", {
    config: { responses: true, completions: true },
    natives: {
      responses: respondWithResponse({ text: "Hi", thoughts: "hm", calls: ["weather"] }),
      completions: {
        play: (exchange) =>
          (exchange.request.json().stream === true
            ? completeResponse(200, completedEvents, "text/event-stream")
            : json(completed))
            .play(exchange),
      },
    },
  }),
  ...["openai.llm.v1", "mistral.api.v1", "openrouter.gateway.v1", "deepseek.api.v1", "groq.api.v1"].map((id) =>
    openAiWire(id)
  ),
  { ...speaking.anthropic, path: () => "/v1/messages" },
  {
    ...speaking.gemini,
    model: "gemini-3-flash-preview",
    path: (isStream) => `/v1/models/x:${isStream ? "streamGenerateContent" : "generateContent"}`,
  },
  {
    ...bedrock,
    config: { region: "eu-central-1" },
    path: (isStream) => `/model/x/${isStream ? "converse-stream" : "converse"}`,
  },
];

async function chatCases(wire: ChatWire, index: number): Promise<MutatedCase[]> {
  const { connector, model, config = {}, natives = {} } = wire;
  const provider = { name: `chat-${index}`, connector, config, model, capability: "chat-completion" };
  const cases: MutatedCase[] = [];
  for (const stream of [false, true]) {
    const bodies = await Promise.all(
      replies.map((reply) => captured(wire.respond(reply), wire.path(stream), { model, stream })),
    );
    for (const [client, request] of Object.entries(chatRequests)) {
      const native = natives[client];
      const all = native === undefined ? bodies : [await captured(native, `/v1/${client}`, { model, stream })];
      for (const [at, reply] of all.entries()) {
        const name = `${client}${stream ? " streamed" : ""} to ${connector} (${native ? "native" : `reply ${at}`})`;
        cases.push({ name, provider, ...request(provider.name, stream), reply });
      }
    }
  }
  return cases;
}

/** Endpoint and capability of each operation other than chat. */
const operations: Readonly<Record<string, readonly [path: string, capability: string]>> = {
  "embeddings": ["/v1/embeddings", "text-embeddings"],
  "rerank": ["/v1/rerank", "reranking"],
  "moderation": ["/v1/moderations", "content-moderation"],
  "speech": ["/v1/audio/speech", "text-to-speech"],
  "transcription": ["/v1/audio/transcriptions", "speech-to-text"],
  "audio-translation": ["/v1/audio/translations", "speech-to-text"],
  "image": ["/v1/images/generations", "text-to-image"],
  "image-edit": ["/v1/images/edits", "image-to-image"],
  "search": ["/v1/search", "web-search"],
  "documents": ["/v1/documents/parse", "document-parsing"],
};

/** What a connector needs to be made at all. */
const configs: Readonly<Record<string, object>> = {
  "aws.bedrock.v1": { region: "eu-central-1" },
  "google.vertex.v1": { project: "my-project", location: "europe-west1" },
};

function operationFacts(): { connector: string; operation: string; facts: OperationFacts }[] {
  return loadedProviders.flatMap(({ id: connector, create }) => {
    const settings = { id: connector, baseUrl: "https://provider.example/v1", config: configs[connector] ?? {} };
    return (create(settings, testRuntime()).operations ?? []).flatMap((operation) => {
      const facts = (own[connector] ?? ofSound[connector] ?? ofSearch[connector])?.[operation] ?? usual[operation];
      return facts === undefined ? [] : [{ connector, operation, facts }];
    });
  });
}

async function operationCases(): Promise<MutatedCase[]> {
  return await Promise.all(
    operationFacts().map(async ({ connector, operation, facts }, index) => {
      const { body, files, replies, model = "small" } = facts;
      const [path, capability] = operations[operation]!;
      const provider = {
        name: `${operation}-${index}`,
        connector,
        config: configs[connector] ?? {},
        model,
        capability,
      };
      const reply = "play" in replies
        ? await captured(replies as Behaviour, path, {})
        : { kind: "json", value: replies } as const;
      const name = `${operation} to ${connector}`;
      return { name, provider, path, body: { ...body, model: provider.name }, ...(files && { files }), reply };
    }),
  );
}

/** Gemini's endpoints for embeddings and token counts, and Claude's, to the providers of other cases. */
function otherCases(all: readonly MutatedCase[]): MutatedCase[] {
  const part = { parts: [{ text: "red" }] };
  return all.flatMap((mutatedCase): MutatedCase[] => {
    const { provider: { name, connector }, path } = mutatedCase;
    const at = (method: string, body: JsonObject) => ({
      ...mutatedCase,
      name: `${method} to ${connector}`,
      path: `/v1beta/models/${name}:${method}`,
      body,
    });
    if (path === "/v1/embeddings") {
      const request = { model: `models/${name}`, content: part, taskType: "RETRIEVAL_QUERY", outputDimensionality: 2 };
      return [
        { ...at("embedContent", request), reply: shortened(mutatedCase.reply) },
        at("batchEmbedContents", { requests: [request, request] }),
      ];
    }
    if (path === "/v1/messages") {
      return [{ ...mutatedCase, name: `count_tokens to ${connector}`, path: `${path}/count_tokens` }];
    }
    return path.endsWith(":generateContent") ? [at("countTokens", mutatedCase.body)] : [];
  });
}

/** A reply about the first of several inputs alone. */
function shortened(reply: ReplyBody): ReplyBody {
  const first = (value: unknown): unknown => {
    if (Array.isArray(value)) return [value.find((item) => Object(item).index === 0) ?? value[0]].map(first);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, first(member)]));
  };
  if (reply.kind !== "json") return reply;
  const value = first(reply.value) as { embeddings?: unknown };
  // Gemini's reply to one input has a name of its own
  return { kind: "json", value: Array.isArray(value.embeddings) ? { embedding: value.embeddings[0] } : value };
}

/** All cases. Replies are captured once. */
export async function mutatedCases(): Promise<readonly MutatedCase[]> {
  const chats = (await Promise.all(chatWires.map(chatCases))).flat();
  const all = [...chats, ...await operationCases()];
  return [...all, ...otherCases(all)];
}
