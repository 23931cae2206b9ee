/**
 * Models of vendors for tests of coding agents: what each rejects, and the responses of a model with tools.
 * @module
 */
import type { Dialect, Json, Reply } from "./_dialects.ts";
import { respondWithResponse } from "./_responses_behaviours.ts";
import { catchRejection, findFault, readSent, strictVendors } from "./_strict_calls.ts";
import {
  callAfterUser,
  completeSchemas,
  jsonWithoutTools,
  mistralOrder,
  nonBlankStops,
  nonBlankText,
  objectArguments,
  plainParameters,
  type Rule,
  userFirst,
} from "./_strict_history.ts";
import { strictly } from "./_strict_models.ts";
import {
  findRejection,
  groqMembers,
  mistralMembers,
  openAiMembers,
  openAiMessages,
  openAiReasoning,
  qwenTemplate,
  type Rejection,
} from "./_strict_vendors.ts";
import { type Play, playTools, readResponsesTurn, type Turn } from "./_tool_loop.ts";
import type { Behaviour, ReceivedRequest } from "./upstream.ts";

/** A model, and what its vendor rejects beside malformed conversations. */
export interface Vendor {
  readonly connector: string;
  readonly model: string;
  readonly dialect: Dialect;
  readonly rejections?: readonly Rejection[];
  /** Rules for conversations beside those of the dialect. */
  readonly rules?: readonly Rule[];
  /** Usage of every response, if it is not that of the dialect. */
  readonly usage?: Json;
}

const openAi = [openAiMembers, openAiMessages];
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

/** Models of several vendors, by what they are called in tests. */
export const vendors: Readonly<Record<string, Vendor>> = {
  "gpt-4o of OpenAI": { connector: "openai.llm.v1", model: "gpt-4o", dialect: "openai", rejections: openAi },
  "a new model of OpenAI": {
    ...{ connector: "openai.llm.v1", model: "gpt-99", dialect: "openai" },
    rejections: [...openAi, openAiReasoning],
  },
  "a model of Groq": { connector: "groq.api.v1", model: "m", dialect: "openai", rejections: [groqMembers] },
  "a model of Mistral": {
    ...{ connector: "mistral.api.v1", model: "m", dialect: "openai" },
    ...{ rejections: [mistralMembers], rules: [mistralOrder] },
    usage, // streams have it unasked
  },
  "Qwen on Ollama": { connector: "ollama.local.v1", model: "qwen", dialect: "openai", rejections: [qwenTemplate] },
  "Claude Haiku 4.5": { connector: "anthropic.claude.v1", model: "claude-haiku-4-5", dialect: "anthropic" },
  "a new model of Anthropic": { connector: "anthropic.claude.v1", model: "claude-next-9", dialect: "anthropic" },
  "Gemini 2.5 Flash": { connector: "google.gemini.v1", model: "gemini-2.5-flash", dialect: "gemini" },
  "a Gemini 3": { connector: "google.gemini.v1", model: "gemini-3-flash-preview", dialect: "gemini" },
};

/**
 * A provider that rejects what the vendor rejects, and otherwise lets a model reply. OpenAI's get requests of the Responses
 * API as they came.
 */
export function playVendor(vendor: Vendor, reply: Play): (request: ReceivedRequest) => Behaviour {
  const { dialect, rejections = [], usage } = vendor;
  const play = (turn: Turn) => ({ ...reply(turn), ...(usage === undefined ? {} : { usage }) });
  const strict = strictly(dialect, playTools(dialect, play));
  return (request) =>
    request.path.endsWith("/responses")
      ? respondWithResponse(toResponse(play(readResponsesTurn(request.json()))))
      : findRejection(request, rejections) ?? findBrokenRule(vendor, request) ?? strict(request);
}

const rulesOfDialects: Readonly<Record<Dialect, readonly Rule[]>> = {
  openai: [plainParameters, completeSchemas, objectArguments],
  anthropic: [userFirst, nonBlankText, nonBlankStops, plainParameters],
  gemini: [callAfterUser, completeSchemas, jsonWithoutTools],
};

/** Names and ids of calls, and the rules of the dialect and the vendor. */
function findBrokenRule(
  { connector, model, dialect, rules = [] }: Vendor,
  request: ReceivedRequest,
): Behaviour | undefined {
  const strict = strictVendors.find((vendor) => vendor.connector === connector) ??
    { connector, model, dialect, names: /./ };
  const faults = [...rulesOfDialects[dialect], ...rules].map((rule) => rule(request.json(), strict, request));
  const fault = [findFault(strict, readSent(strict, request)), ...faults].find((found) => found !== undefined);
  return fault === undefined ? undefined : catchRejection(strict, fault);
}

/** A vendor's model at an address. */
export interface PlacedVendor {
  readonly vendor: Vendor;
  readonly url: string;
}

/** A configuration with the pool `chat` of vendors' models, in order of priority. */
export function vendorConfig(...members: readonly PlacedVendor[]): Json {
  const names = members.map((_, index) => `model-${index + 1}`);
  const byName = (toValue: (member: PlacedVendor, name: string) => Json) =>
    Object.fromEntries(members.map((member, index) => [names[index]!, toValue(member, names[index]!)]));
  return {
    providers: byName(({ vendor: { connector }, url }, name) => ({
      connector,
      base_url: url,
      api_key: `key-of-${name}-0123456789`,
    })),
    models: byName(({ vendor: { model } }, provider) => ({ provider, model, capabilities: ["chat-completion"] })),
    pools: { chat: { models: names, strategy: "priority", model_priority: names, retry: { max_attempts: 0 } } },
    aliases: { "claude-haiku-4-5-20251001": "chat" },
  };
}

function toResponse({ id = "resp_1", pieces = [], calls = [] }: Reply) {
  const items = calls.map(({ id, name, input }) => ({
    ...{ id: `fc_${id}`, type: "function_call", status: "completed" },
    ...{ call_id: id, name, arguments: JSON.stringify(input) },
  }));
  return { text: pieces.join(""), items, more: { id } };
}
