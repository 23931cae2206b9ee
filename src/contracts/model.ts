/**
 * Model facts: capabilities, features, constraints, rate limits and prices.
 * @module
 */

/** The requested operation: one per kind of endpoint. */
export type OperationName =
  | "chat"
  | "embeddings"
  | "speech"
  | "transcription"
  | "audio-translation"
  | "image"
  | "image-edit"
  | "moderation"
  | "rerank"
  | "search"
  | "documents";

/** An API through which chat requests are sent to a model: chat completions, or Responses. */
export type ChatApi = "chat" | "responses";

/** A dotted path of the capability tree. */
export type CapabilityPath = string;

/** How a response is delivered. */
export type Delivery = "sync" | "stream" | "batch";

/** The features of a model. A feature set to `false` excludes the model from requests that need it. */
export interface ModelFeatures {
  /** Supports tool (function) calling. */
  readonly tool_calling?: boolean;
  /** Supports output constrained by a JSON Schema. */
  readonly structured_output?: boolean;
  /** Supports JSON mode. */
  readonly json_mode?: boolean;
  /** Supports a system prompt. */
  readonly system_prompt?: boolean;
  /** Supports grounding in sources. */
  readonly grounding?: boolean;
  /** Supports log probabilities. */
  readonly logprobs?: boolean;
  /** Can be fine-tuned. */
  readonly fine_tunable?: boolean;
  /** Accepts image input. */
  readonly vision?: boolean;
  /** Accepts audio input. */
  readonly audio_input?: boolean;
  /** Generates reasoning before its response. */
  readonly reasoning?: boolean;
}

/** Size constraints of a model. */
export interface ModelConstraints {
  /** Context window: input and output tokens together. */
  readonly context_window?: number;
  /** Maximum output tokens per request. */
  readonly max_output_tokens?: number;
  /** Maximum images per request. */
  readonly max_images?: number;
  /** Maximum size of an input file, bytes. */
  readonly max_file_size?: number;
  /** Supported languages, ISO language codes. */
  readonly supported_languages?: readonly string[];
}

/** Prices in USD. An unknown price is omitted, never 0. */
export interface Pricing {
  /** Per million input tokens. */
  readonly input?: number;
  /** Per million output tokens. */
  readonly output?: number;
  /** Per million input tokens read from a prompt cache. */
  readonly cached_input?: number;
  /** Per million input audio tokens read from a prompt cache. Defaults to `cached_input`. */
  readonly cached_audio_input?: number;
  /** Per million input image tokens read from a prompt cache. Defaults to `cached_input`. */
  readonly cached_image_input?: number;
  /** Per million tokens written to a prompt cache for its default duration, such as five minutes. */
  readonly cache_write?: number;
  /** Per million tokens written to a prompt cache for one hour. Defaults to `cache_write`. */
  readonly cache_write_1h?: number;
  /** Per million tokens written to a prompt cache for more than twelve hours. Defaults to `cache_write_1h`. */
  readonly cache_write_12h?: number;
  /** Per million input audio tokens. */
  readonly audio_input?: number;
  /** Per million output audio tokens. */
  readonly audio_output?: number;
  /** Per million input image tokens. Defaults to `input`. */
  readonly image_input?: number;
  /** Per million output image tokens. Defaults to `output`. */
  readonly image_output?: number;
  /** Per million reasoning tokens. Defaults to `output`. */
  readonly reasoning?: number;
  /** Per request. */
  readonly per_request?: number;
  /** Per image. */
  readonly per_image?: number;
  /** Per search; in a chat in addition to tokens. */
  readonly per_search?: number;
  /** Per page of a document. */
  readonly per_page?: number;
  /** Per minute of audio. */
  readonly per_minute?: number;
  /** Per character of text. */
  readonly per_character?: number;
  /** Per million characters of text, in place of `per_character`. */
  readonly per_million_characters?: number;
  /** Per call of a tool that the vendor runs, other than a search. */
  readonly per_tool_call?: number;
}

/**
 * A service tier: which price of a vendor applies to a call. `default` and `standard` are the same as none. `speed: fast`
 * is the tier `fast`; requests of a batch have the tier `batch`.
 */
export type PriceTier =
  | "default"
  | "standard"
  | "batch"
  | "fast"
  | "flex"
  | "performance"
  | "priority"
  | "reserved"
  | "scale"
  | "ultrafast";

/** Factors of the prices per token, by the value of a fact about the call. */
export interface PriceMultipliers {
  /** By the region in which the vendor processed the call, such as `us`; `*` is any other region that is named. */
  readonly inference_geo?: Readonly<Record<string, number>>;
}

/**
 * The conditions of a price. Of the rows with the tier and region of a call, the last one that applies is used. Rows
 * are in order of their start dates, then of their prompt sizes, then of their hours (a row without hours first).
 */
export interface PriceConditions {
  /** ISO date from which the price applies; no lower bound when omitted. */
  readonly from?: string;
  /** The price applies to prompts with more tokens than this. */
  readonly above_tokens?: number;
  /** The service tier to which it applies; calls without a special tier when omitted. */
  readonly tier?: PriceTier;
  /** The hours in which it applies, UTC, such as `16:30-00:30` or `mon-fri 01:00-04:00`; all hours when omitted. */
  readonly hours?: string;
  /** The region to which it applies; regions without a row of their own when omitted. */
  readonly region?: string;
}

/** A row of a price list: prices, the conditions under which they apply, and their factors. */
export interface DatedPricing extends Pricing, PriceConditions {
  /** Factors of the prices per token. */
  readonly multipliers?: PriceMultipliers;
}

/** A rule for the names or ids that a model accepts. */
export interface IdentifierRule {
  /**
   * Accepted characters: `alphanumeric` is `a-z`, `A-Z` and `0-9`, `word` also `_` and `-`, `dotted` also `.`.
   * @default {"any"}
   */
  readonly characters?: "any" | "alphanumeric" | "word" | "dotted";
  /** Whether the first character must be a letter or `_`. */
  readonly starts_with_letter?: boolean;
  /** Minimum length, characters. */
  readonly min_length?: number;
  /** Maximum length, characters. */
  readonly max_length?: number;
}

/** Parameter rules: how a request is adapted to a model. */
export interface ParameterRules {
  /** Fields to rename, such as `max_completion_tokens` to `max_tokens`. */
  readonly rename?: Readonly<Record<string, string>>;
  /**
   * Sampling parameters that the model rejects. They are removed and reported in `x-mesh-dropped-params`. Those that
   * ModelMesh adds itself, such as `stream_options`, are not added.
   */
  readonly drop?: readonly string[];
  /**
   * Parameters that the model rejects and that must not be dropped silently: a request with one of them skips the
   * model.
   */
  readonly refuse?: readonly string[];
  /** Parameters that the model rejects in requests with tools, as `refuse`. */
  readonly refuse_with_tools?: readonly string[];
  /** Default values, set if the request has none. */
  readonly fill?: Readonly<Record<string, unknown>>;
  /**
   * The APIs through which chat requests reach the model, if its provider has them.
   * @default {["chat"]}
   */
  readonly apis?: readonly ChatApi[];
  /**
   * The API that requests with tools need unless their reasoning effort is `none`, since the other API does not support
   * tools together with reasoning.
   */
  readonly tools_via?: ChatApi;
  /** The effort of requests without `reasoning_effort`. Unknown when omitted. */
  readonly default_effort?: string;
  /** Replacement of `reasoning_effort`, by effort, on models with other parameters for it. */
  readonly efforts?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /**
   * How the reasoning of earlier responses is sent back: in the field `reasoning`, or not at all on models that reject
   * it. When omitted, the field is passed through; responses of this package have `reasoning_content`.
   */
  readonly thoughts?: "reasoning" | "none";
  /**
   * Whether cache marks, `cache_control` in messages, parts and tools, are passed through. If `false`, they are
   * removed, since the model rejects them.
   * @default {true}
   */
  readonly cache_control?: boolean;
  /** Maximum number of stop sequences. Further ones are removed, and `stop` is reported in `x-mesh-dropped-params`. */
  readonly max_stop_sequences?: number;
  /**
   * Whether the model accepts stop sequences of white space alone. If not, they are removed, and `stop` is reported in
   * `x-mesh-dropped-params`.
   * @default {true}
   */
  readonly blank_stop_sequences?: boolean;
  /**
   * Whether the model knows the role `developer`. If not, such messages are sent as `system`.
   * @default {true}
   */
  readonly developer_role?: boolean;
  /**
   * Where instructions (`system` and `developer` messages) may stand: `first` joins all of them into one message at the
   * start, for models whose chat template accepts no other; `anywhere` leaves them in place.
   * @default {"anywhere"}
   */
  readonly system?: "first" | "anywhere";
  /**
   * Whether a `user` message may follow the results of tools. If not, an assistant message is inserted between them.
   * @default {true}
   */
  readonly user_after_tool?: boolean;
  /** The ids of tool calls that the model accepts. Others are replaced in requests to it. */
  readonly tool_call_ids?: IdentifierRule;
  /**
   * Whether the model accepts several tool calls with one id in a conversation. If not, later ones get another id.
   * @default {true}
   */
  readonly repeated_call_ids?: boolean;
  /** The names of tools that the model accepts. Others are replaced in requests to it, and restored in its responses. */
  readonly tool_names?: IdentifierRule;
  /**
   * Whether the model accepts tool calls in a conversation whose arguments are not a JSON object, such as those of a
   * response that was cut off. If not, they are sent as the member `INVALID_JSON` of an object.
   * @default {true}
   */
  readonly invalid_arguments?: boolean;
  /**
   * Whether the parameters of a tool may be combined schemas or a reference: `anyOf`, `oneOf`, `allOf` or `$ref` at the
   * top level. If not, they are merged into one object.
   * @default {true}
   */
  readonly combined_parameters?: boolean;
  /**
   * Whether schemas may be incomplete: arrays without `items`, and `required` with names that have no property. If not,
   * they are completed.
   * @default {true}
   */
  readonly incomplete_schemas?: boolean;
}

/** Rate limits of a model. */
export interface RateLimits {
  /** Requests per minute. */
  readonly rpm?: number;
  /** Tokens per minute. */
  readonly tpm?: number;
  /** Requests per day. */
  readonly rpd?: number;
  /** Maximum concurrent requests. */
  readonly concurrent?: number;
}

/** Facts about a model, from the catalogue, the configuration or its provider. */
export interface ModelInfo {
  /** The upstream model id. */
  readonly id: string;
  /** Capability leaves that it serves, as full paths or short names. */
  readonly capabilities?: readonly CapabilityPath[];
  /** Supported features. */
  readonly features?: ModelFeatures;
  /** Size constraints. */
  readonly constraints?: ModelConstraints;
  /** Prices, in order of their start dates. */
  readonly pricing?: readonly DatedPricing[];
  /** Prices from which a budget reserves if the model's own are unknown. Its provider states the cost of each response. */
  readonly assumedPricing?: readonly DatedPricing[];
  /** Parameter rules for requests to it. */
  readonly parameters?: ParameterRules;
  /** The API of all chat requests to it. When omitted, that which its rules require. */
  readonly api?: ChatApi;
  /** Capabilities (short names) for which it is its provider's default model. */
  readonly defaultFor?: readonly string[];
  /** Dimensions of an embedding, unless a request asks for fewer. */
  readonly dimensions?: number;
  /** Supported response formats of transcriptions or images, or audio formats of speech. */
  readonly response_formats?: readonly string[];
  /**
   * Identifier of the embedding space. Only vectors of the same space are comparable, so only models of the same space
   * replace each other.
   */
  readonly embedding_space?: string;
  /** The vendor's voice for each requested voice; `default` for any other. */
  readonly voices?: Readonly<Record<string, string>>;
  /** Operations of its capabilities that it does not support, such as `audio-translation`. */
  readonly lacks?: readonly OperationName[];
  /** ISO date from which the provider no longer serves it, if announced. */
  readonly retires?: string;
  /** Source of the facts. */
  readonly source?: string;
  /** ISO date on which the source was retrieved. */
  readonly asOf?: string;
}
