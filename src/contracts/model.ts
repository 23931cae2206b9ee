/**
 * What is known of a model: what it can do, its sizes, limits and prices.
 * @module
 */

/** What a request asks for: one for each kind of endpoint. */
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

/** A dotted path of the capability tree. */
export type CapabilityPath = string;

/** How a response is delivered. */
export type Delivery = "sync" | "stream" | "batch";

/** What a model can do; an explicit `false` rules it out for a request that needs it. */
export interface ModelFeatures {
  /** Calls functions. */
  readonly tool_calling?: boolean;
  /** Answers by a JSON Schema. */
  readonly structured_output?: boolean;
  /** Answers in some JSON. */
  readonly json_mode?: boolean;
  /** Takes a system prompt. */
  readonly system_prompt?: boolean;
  /** Grounds responses in sources. */
  readonly grounding?: boolean;
  /** Reports log probabilities. */
  readonly logprobs?: boolean;
  /** Can be fine-tuned. */
  readonly fine_tunable?: boolean;
  /** Reads images. */
  readonly vision?: boolean;
  /** Reads sound. */
  readonly audio_input?: boolean;
  /** Thinks before it answers. */
  readonly reasoning?: boolean;
}

/** Sizes a model works within. */
export interface ModelConstraints {
  /** Tokens read and written together. */
  readonly context_window?: number;
  /** Tokens written per request. */
  readonly max_output_tokens?: number;
  /** Images per request. */
  readonly max_images?: number;
  /** Largest input file, bytes. */
  readonly max_file_size?: number;
  /** ISO language codes. */
  readonly supported_languages?: readonly string[];
}

/** Prices in USD; tokens per million. Unknown prices are left out, never 0. */
export interface Pricing {
  /** Per million tokens read. */
  readonly input?: number;
  /** Per million tokens written. */
  readonly output?: number;
  /** Per million tokens read from a cache. */
  readonly cached_input?: number;
  /** Per million tokens written into a cache. */
  readonly cache_write?: number;
  /** Per million tokens of sound read. */
  readonly audio_input?: number;
  /** Per million tokens of sound written. */
  readonly audio_output?: number;
  /** Per request. */
  readonly per_request?: number;
  /** Per image. */
  readonly per_image?: number;
  /** Per search. */
  readonly per_search?: number;
  /** Per minute of sound. */
  readonly per_minute?: number;
  /** Per million characters. */
  readonly per_million_characters?: number;
}

/** A price from a date and a prompt size on. The last one that applies is used. */
export interface DatedPricing extends Pricing {
  /** ISO date the price applies from; always, when left out. */
  readonly from?: string;
  /** The price applies to prompts over this many tokens. */
  readonly above_tokens?: number;
}

/** How a request has to be reworded for a model. */
export interface ParameterRules {
  /** Other name for a field, such as `max_tokens` for `max_completion_tokens`. */
  readonly rename?: Readonly<Record<string, string>>;
  /** Sampling parameters the model refuses: dropped and named in `x-mesh-dropped-params`. */
  readonly drop?: readonly string[];
  /** Parameters that matter and that the model refuses: it is skipped for a request that carries one. */
  readonly refuse?: readonly string[];
  /** Filled in when the request has none. */
  readonly fill?: Readonly<Record<string, unknown>>;
  /** The same, for requests that carry tools. */
  readonly fill_with_tools?: Readonly<Record<string, unknown>>;
  /** What takes the place of a `reasoning_effort`, by that effort, where the model has other words for it. */
  readonly efforts?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /**
   * How thoughts of earlier answers go back to it: under the name `reasoning`, or not at all, where it refuses a request
   * for them. As they came, which is `reasoning_content` for answers of ours, when left out.
   */
  readonly thoughts?: "reasoning" | "none";
  /**
   * Whether it takes marks of what to cache, `cache_control` in messages, parts and tools, as they came; false: they are left
   * out, since it refuses a request for them.
   * @default {true}
   */
  readonly cache_control?: boolean;
}

/** How much a model takes per time. */
export interface RateLimits {
  /** Requests a minute. */
  readonly rpm?: number;
  /** Tokens a minute. */
  readonly tpm?: number;
  /** Requests a day. */
  readonly rpd?: number;
  /** Requests at once. */
  readonly concurrent?: number;
}

/** What is known of a model from the catalogue, the configuration or its provider. */
export interface ModelInfo {
  /** The id its provider knows it by. */
  readonly id: string;
  /** Capability leaves, as full paths or short names. */
  readonly capabilities?: readonly CapabilityPath[];
  /** What it can do. */
  readonly features?: ModelFeatures;
  /** What it works within. */
  readonly constraints?: ModelConstraints;
  /** What it costs, oldest price first. */
  readonly pricing?: readonly DatedPricing[];
  /** How requests are reworded for it. */
  readonly parameters?: ParameterRules;
  /** Capabilities (short names) this model is its provider's default choice for. */
  readonly defaultFor?: readonly string[];
  /** Numbers in an embedding, unless a request asks for fewer. */
  readonly dimensions?: number;
  /** Response formats of a transcription or of images, or formats of the sound of a speech. */
  readonly response_formats?: readonly string[];
  /** Embeddings of one space can be compared; models of one space replace one another. */
  readonly embedding_space?: string;
  /** The vendor's voice for each voice asked for; `default` for any other. */
  readonly voices?: Readonly<Record<string, string>>;
  /** Operations of its leaves that it does not perform, such as `audio-translation`. */
  readonly lacks?: readonly OperationName[];
  /** ISO date from which its provider does not answer for it any more, where one is announced. */
  readonly retires?: string;
  /** Where the facts come from. */
  readonly source?: string;
  /** ISO date on which the source was read. */
  readonly asOf?: string;
}
