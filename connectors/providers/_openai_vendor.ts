/**
 * Declarations of OpenAI-compatible vendors.
 * @module
 */
import type {
  Attributes,
  Detection,
  PromptCacheFacts,
  ProviderDeclaration,
  ProviderSettings,
} from "../../src/contracts/connector.ts";
import type { InfrastructureFacts } from "../../src/contracts/infrastructure.ts";
import type { ChatMessage, JsonObject } from "../../src/contracts/openai.ts";
import type {
  CallOptions,
  DatedPricing,
  IdentifierRule,
  ModelInfo,
  OperationCall,
  OperationRequest,
  OperationTable,
  ParameterRules,
  Quota,
} from "../../src/contracts/provider.ts";
import type { Runtime, UpstreamResponse } from "../../src/contracts/runtime.ts";
import type { BilledUsage } from "../../src/contracts/usage.ts";
import type { CompletionDefaults } from "../../src/util/normalize_completion.ts";
import type { FaultReader } from "./_http.ts";

/**
 * Posts a request body to a path relative to the vendor's base URL, such as `embeddings`, with the API key and the
 * upstream model id. A body that differs from the client's is passed without `wire`.
 *
 * @throws {UpstreamError} If the response status is not a success.
 */
export type Post = (path: string, request: PostedRequest, options: CallOptions) => Promise<UpstreamResponse>;

/** A request, and the vendor-specific content to send in place of its body. */
export interface PostedRequest extends OperationRequest {
  /** A JSON body to send unchanged, without a model. */
  readonly json?: JsonObject;
  /** Form fields to send with the request's files, in place of its body. */
  readonly fields?: JsonObject;
  /** Additional headers; names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A body of another media type, sent unchanged. */
  readonly raw?: { readonly type: string; readonly chunks: readonly Uint8Array[] };
  /** Sends no body: retrieves the result of an earlier request. */
  readonly method?: "GET";
}

/** Creates the calls of an operation. */
export type VendorOperation = (post: Post, runtime: Pick<Runtime, "clock">) => OperationCall;

/** Factories of a vendor's calls, by operation. */
export type VendorOperations = { readonly [name in keyof OperationTable]: VendorOperation };

/** How responses of a native dialect are read: with what fills in members that they lack. */
export interface NativeReading extends CompletionDefaults {
  /** Extracts what the vendor bills. */
  readonly readBilled?: OpenAiCompatible["readBilled"] | undefined;
  /** Called once a stream lacks nothing but its end. */
  readonly reportComplete?: CallOptions["reportComplete"];
}

/** Declaration of an OpenAI-compatible vendor. */
export interface OpenAiCompatible {
  /** The connector id. */
  readonly id: string;
  /** The vendor's short name, which prefixes its model names. */
  readonly vendor: string;
  /** Further short names by which configurations may refer to it, such as that of its models: `claude`. */
  readonly otherNames?: readonly string[];
  /** Its name in OpenTelemetry's semantic conventions (`gen_ai.provider.name`), if that differs. */
  readonly telemetryName?: string;
  /**
   * The base URL with the version prefix; or a function that derives it from the entry's settings and the environment,
   * and throws a `ConfigError` if they are invalid. Omitted if it must be configured.
   */
  readonly baseUrl?:
    | string
    | ((settings: ProviderSettings, env?: (name: string) => string | undefined) => string);
  /** Derives the region in which calls are processed from the base URL. */
  readonly findRegion?: (baseUrl: string) => string | undefined;
  /** Environment variables by which it is detected. */
  readonly detection?: Detection;
  /** The catalogue of known models; a function lets bundlers remove the catalogue together with the vendor. */
  readonly models?: readonly ModelInfo[] | (() => readonly ModelInfo[]);
  /** Parameter rules that apply to all of its models. */
  readonly parameters?: ParameterRules;
  /**
   * Returns the parameter rules of a chat model that the catalogue does not know, in addition to `parameters`; by default
   * those of Mistral's models, which many servers offer.
   */
  readonly findRules?: (model: ModelInfo) => ParameterRules | undefined;
  /** What it takes for its prompt cache; nothing by default. Marks are set in chat requests to Claude. */
  readonly promptCache?: PromptCacheFacts;
  /** Whether it is a local server. */
  readonly local?: boolean;
  /** Whether it works without an API key. */
  readonly keyless?: boolean;
  /** The OAuth scope of its access tokens, unless `auth.scope` overrides it. */
  readonly tokenScope?: string;
  /** Attributes that it reads from the entry's `config`; none by default. */
  readonly attributes?: Attributes;
  /** Header that carries the API key alone, in place of `Authorization: Bearer`; its name in lower case. */
  readonly credentialHeader?: string;
  /** Headers that carry the API key in another form. */
  readonly authorize?: (credential: string) => Record<string, string>;
  /** URL of a path of the API for a model; `<baseUrl>/<path>` by default. */
  readonly address?: (path: string, model?: string) => string;
  /** Whether it does not support chat; such a vendor has no `GET /models` either. */
  readonly withoutChat?: boolean;
  /** Its model list, if that is not `GET <baseUrl>/models` in OpenAI's shape. */
  readonly list?: {
    /** Path relative to the vendor's base URL. A free `GET` request that verifies availability and API key. */
    readonly path: string;
    /**
     * The members of a page with the models, and of a model with its id. When omitted, the response lists no models,
     * and those of the catalogue are used.
     */
    readonly members?: readonly [list: string, id: string];
    /** The path of the next page, given the body and number of a page; undefined after the last. */
    readonly next?: (page: JsonObject, number: number) => string | undefined;
  };
  /** Extracts model facts besides the id from an entry of its model list, given the catalogue's entry. */
  readonly describe?: (entry: JsonObject, info: ModelInfo | undefined) => Omit<ModelInfo, "id">;
  /** The path of its quota, relative to the base URL, and the parser of the response. */
  readonly quota?: { readonly path: string; readonly read: (body: JsonObject) => Quota };
  /**
   * Native dialects besides chat that it supports at its own URL; a local server, at any URL. Elsewhere,
   * `config.<dialect>` enables them. An omitted dialect is not supported anywhere.
   */
  readonly dialects?: { readonly responses?: boolean; readonly completions?: boolean };
  /** Whether it counts the input tokens of Responses requests, free of charge. */
  readonly countsTokens?: boolean;
  /** Whether its URL does not have the Responses API, whichever models it serves. */
  readonly withoutResponses?: boolean;
  /** The members of earlier responses that it accepts, of those in `ProviderDeclaration.ownState`; none by default. */
  readonly ownState?: readonly string[];
  /** Adapts the messages of a chat request to what it accepts; returns the same list if nothing changes. */
  readonly adaptMessages?: (messages: ChatMessage[]) => ChatMessage[];
  /** Whether it supports `stream_options.include_usage`; true by default. */
  readonly streamUsage?: boolean;
  /** Parses its errors, if they deviate from OpenAI's. */
  readonly readError?: FaultReader["readError"];
  /** The supported operations other than chat. Those in OpenAI's shape are implemented by `_openai_<operation>.ts`. */
  readonly operations?: VendorOperations;
  /** File, batch and fine-tuning features at OpenAI's paths; none by default. */
  readonly infrastructure?: InfrastructureFacts;
  /**
   * Extracts what the vendor bills from a response or a chunk with `usage` or a finish reason, as far as it deviates from
   * OpenAI's usage: units other than tokens, tiers by other names, the cost, counts elsewhere.
   */
  readonly readBilled?: (response: JsonObject) => BilledUsage | undefined;
  /**
   * If its responses state their cost: high prices, from which a budget reserves the cost of a request to a model without
   * known prices. Without them, such a model cannot be used under a budget.
   */
  readonly assumedPrices?: DatedPricing;
  /** Whether audio in a chat is billed by its duration (`per_minute`). */
  readonly billsAudioByDuration?: boolean;
  /** Parses a retry delay from a vendor-specific place. */
  readonly readRetryAfter?: FaultReader["readRetryAfter"];
}

/**
 * Rules of servers that apply the chat templates of open models. Qwen's and others accept instructions only as the first
 * message (vllm#41114, llama.cpp#14246).
 */
export const onlyFirst: ParameterRules = { system: "first" };

/** Names of tools that OpenAI's API accepts (openai-python#1389), and the APIs of most vendors with it. */
const openAiNames: IdentifierRule = { characters: "word", max_length: 64 };

/** What OpenAI's chat API and gateways to it accept (agno#5382: ids; RooCodeInc/Roo-Code#10726: schemas). */
export const openAiTools: ParameterRules = {
  tool_call_ids: { max_length: 40 },
  combined_parameters: false,
  incomplete_schemas: false,
};

/**
 * What Mistral's models accept: its API, and servers with mistral-common or the models' chat templates.
 *
 * Sources: order of messages: zed#31736, swarmauri-sdk#276, hermes-agent#20154 (NVIDIA), crush#279 (OpenRouter); ids of tool
 * calls: mistral-common, which vLLM uses as well.
 */
export const mistralRules: ParameterRules = {
  system: "first",
  user_after_tool: false,
  tool_call_ids: { characters: "alphanumeric", min_length: 9, max_length: 9 },
};

const mistralFamily = /mistral|ministral|magistral|mixtral|pixtral|codestral|devstral/i;

/** The declaration of a vendor's connector. Its model list is evaluated on first access. */
export function createDeclaration(vendor: OpenAiCompatible): ProviderDeclaration {
  return {
    kind: "provider",
    id: vendor.id,
    vendor: vendor.vendor,
    get models() {
      return listVendorModels(vendor);
    },
    needsBaseUrl: vendor.baseUrl === undefined,
    apis: ["chat", "responses"],
    keyless: vendor.keyless ?? vendor.local ?? false,
    local: vendor.local ?? false,
    attributes: vendor.attributes ?? {},
    queries: [
      ...(vendor.describe === undefined ? [] : ["details", "capabilities", "pricing"] as const),
      ...(vendor.quota === undefined ? [] : ["quota"] as const),
    ],
    ...(vendor.otherNames === undefined ? {} : { otherNames: vendor.otherNames }),
    ...(vendor.telemetryName === undefined ? {} : { telemetryName: vendor.telemetryName }),
    ...(vendor.detection === undefined ? {} : { detection: vendor.detection }),
    parameters: {
      cache_control: false,
      developer_role: false,
      invalid_arguments: false,
      ...(vendor.local ? onlyFirst : { tool_names: openAiNames }),
      ...vendor.parameters,
    },
    // the chat API of a vendor with the Responses API does not know what that one has created
    ownState: [...vendor.dialects?.responses ? [] : [vendor.vendor], ...vendor.ownState ?? []],
    findRules: vendor.findRules ?? (({ id }) => mistralFamily.test(id) ? mistralRules : undefined),
    ...(vendor.infrastructure === undefined ? {} : { infrastructure: vendor.infrastructure }),
    ...(vendor.credentialHeader && { credentialHeader: vendor.credentialHeader }),
    ...(vendor.tokenScope === undefined ? {} : { tokenScope: vendor.tokenScope }),
    ...(vendor.assumedPrices === undefined ? {} : { assumedPrices: vendor.assumedPrices }),
    ...(vendor.promptCache && { promptCache: vendor.promptCache }),
    ...(vendor.billsAudioByDuration && { billsAudioByDuration: true }),
  };
}

const catalogues = new WeakMap<OpenAiCompatible, readonly ModelInfo[]>();

/**
 * The catalogue of a vendor: the same objects at each call, so that a provider which reports them reports no change.
 */
export function listVendorModels(vendor: OpenAiCompatible): readonly ModelInfo[] {
  let models = catalogues.get(vendor);
  if (models === undefined) {
    models = typeof vendor.models === "function" ? vendor.models() : vendor.models ?? [];
    catalogues.set(vendor, models);
  }
  return models;
}

type VendorDialects = NonNullable<OpenAiCompatible["dialects"]>;

const attributes: Readonly<Record<keyof VendorDialects, Attributes[string]>> = {
  responses: {
    type: "flag",
    about:
      "Whether the server implements `POST /responses`, for clients of `/v1/responses`. By default only OpenAI, Azure " +
      "OpenAI and xAI, at the vendor's own address.",
  },
  completions: {
    type: "flag",
    about:
      "Whether the server implements `POST /completions`, for clients of `/v1/completions`. By default Cerebras, " +
      "Fireworks, LM Studio, LocalAI, Ollama and vLLM.",
  },
};

/** The attributes for the dialects of a vendor. */
export function dialectAttributes(dialects: VendorDialects): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => name in dialects));
}

/** Adds these attributes to a vendor's own. */
export function withDialectAttributes(vendor: OpenAiCompatible): OpenAiCompatible {
  const { dialects } = vendor;
  if (dialects === undefined) return vendor;
  return { ...vendor, attributes: { ...vendor.attributes, ...dialectAttributes(dialects) } };
}
