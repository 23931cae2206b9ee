/**
 * The section `models`.
 * @module
 */
import type { ModelConstraints, ModelFeatures, ParameterRules, Pricing, RateLimits } from "../../contracts/provider.ts";
import { list, mapOf, object, passThrough, recordOf } from "./_containers.ts";
import type { Field } from "./field.ts";
import { duration, flag, integer, number, oneOf, size, text } from "./_fields.ts";
import { defaultWeight } from "../settings/defaults.ts";
import type { ConfiguredModel } from "../settings/settings.ts";

/** Batches of a model, as read. */
export interface BatchValues {
  readonly max_items?: number;
  readonly max_payload?: number;
  readonly completion_window?: number;
  readonly cost_discount?: number;
  readonly callback?: boolean;
  readonly polling?: boolean;
  readonly partial_results?: boolean;
}

export interface ModelValues {
  readonly provider?: string;
  readonly model?: string;
  readonly capabilities?: readonly string[];
  readonly delivery?: ConfiguredModel["delivery"];
  readonly features?: ModelFeatures;
  readonly constraints?: ModelConstraints;
  readonly pricing?: Pricing;
  readonly limits?: RateLimits;
  readonly batch?: BatchValues;
  readonly weight?: number;
  readonly embedding_space?: string;
  readonly voices?: ReadonlyMap<string, string>;
  readonly response_formats?: readonly string[];
  readonly parameters?: ParameterRules;
}

const count = () => integer({ min: 1 });
const price = () => number({ min: 0 });

const pricing = () =>
  object<Pricing>({
    /** USD per million tokens read. */
    input: price(),
    /** USD per million tokens written. */
    output: price(),
    /** USD per million tokens read from a cache. */
    cached_input: price(),
    /** USD per million tokens written into a cache. */
    cache_write: price(),
    /** USD per million tokens of sound read. */
    audio_input: price(),
    /** USD per million tokens of sound written. */
    audio_output: price(),
    /** USD per request. */
    per_request: price(),
    /** USD per image. */
    per_image: price(),
    /** USD per search. */
    per_search: price(),
    /** USD per minute of sound. */
    per_minute: price(),
    /** USD per million characters. */
    per_million_characters: price(),
  });

const features = () =>
  object<ModelFeatures>({
    /** Calls functions. */
    tool_calling: flag(),
    /** Answers by a JSON Schema. */
    structured_output: flag(),
    /** Answers in some JSON. */
    json_mode: flag(),
    /** Takes a system prompt. */
    system_prompt: flag(),
    /** Grounds its answers in sources. */
    grounding: flag(),
    /** Reports log probabilities. */
    logprobs: flag(),
    /** Can be fine-tuned. */
    fine_tunable: flag(),
    /** Reads images. */
    vision: flag(),
    /** Reads sound. */
    audio_input: flag(),
    /** Thinks before it answers. */
    reasoning: flag(),
  });

const constraints = () =>
  object<ModelConstraints>({
    /** Tokens read and written together. */
    context_window: count(),
    /** Tokens written per request. */
    max_output_tokens: count(),
    /** Images per request. */
    max_images: integer({ min: 0 }),
    /** Largest input file. */
    max_file_size: size(),
    /** ISO language codes. */
    supported_languages: list(text()),
  });

const parameters = () =>
  object<ParameterRules>({
    /** Other names for fields, such as `max_tokens: max_completion_tokens`. */
    rename: recordOf(text({ isLiteral: true })),
    /** Sampling parameters the model refuses: left out and named in the answer. */
    drop: list(text({ isLiteral: true })),
    /** Parameters that matter and that the model refuses: it is skipped for a request that has one. */
    refuse: list(text({ isLiteral: true })),
    /** Filled in when the request has none. */
    fill: passThrough(),
    /** The same, for requests that carry tools. */
    fill_with_tools: passThrough(),
    /** What takes the place of a `reasoning_effort`, by that effort, such as `none: {thinking: {type: disabled}}`. */
    efforts: recordOf(passThrough()),
    /** How thoughts of earlier answers go back: as `reasoning`, or `none`; as they came unless given. */
    thoughts: oneOf(["reasoning", "none"]),
    /** Whether `cache_control` in messages and tools goes on; the connector knows unless given. */
    cache_control: flag(),
  });

const batch = () =>
  object<BatchValues>({
    /** Most requests of one batch: a larger one is split, and joined again. */
    max_items: count(),
    /** Largest file of one batch: a larger one is split, and joined again. */
    max_payload: size(),
    /** Expected turnaround: what a batch has that names none, and the least that one may ask for. */
    completion_window: duration(),
    /** Price relative to a single request; 0.5 is half of it. The vendor's, where that is known, unless given. */
    cost_discount: number({ min: 0, max: 1 }),
    /** The end of a batch is an event `batch`, which webhooks deliver. */
    callback: flag({ default: false }),
    /** Batches that are open are asked for once a minute, so that their end is noticed without a client; as `callback`, unless given. */
    polling: flag(),
    /** Responses of a batch that was split can be had while parts of it are under way. */
    partial_results: flag({ default: false }),
  });

const delivery = () =>
  object<ConfiguredModel["delivery"]>({
    /** Whole answers. */
    synchronous: flag(),
    /** Streamed answers. */
    streaming: flag(),
    /** Batches. */
    batch: flag(),
  });

const limits = () =>
  object<RateLimits>({
    /** Requests a minute. */
    rpm: count(),
    /** Tokens a minute. */
    tpm: count(),
    /** Requests a day. */
    rpd: count(),
    /** Requests at once. */
    concurrent: count(),
  });

const model = () =>
  object<ModelValues>({
    /** The entry of `providers` that serves it. */
    provider: text({ isLiteral: true }),
    /** The id sent upstream; the model's name, less the vendor's prefix, unless given. */
    model: text(),
    /** Capability leaves, by full path or short name. */
    capabilities: list(text({ isLiteral: true }), { min: 1 }),
    /** Delivery modes; they narrow what the capability has. */
    delivery: delivery(),
    /** What it can do; false rules it out for requests that need it. */
    features: features(),
    /** Sizes it works within. */
    constraints: constraints(),
    /** What it costs; goes over the built-in catalogue field by field. */
    pricing: pricing(),
    /** What the vendor allows; its answers' headers override. */
    limits: limits(),
    /** Its share under round-robin and load-balanced. */
    weight: number({ above: 0, max: 1000, default: defaultWeight }),
    /** How requests are reworded for it. */
    parameters: parameters(),
    /** Batches of this model. */
    batch: batch(),
    /** Embeddings rotate only among models of one space. */
    embedding_space: text({ isLiteral: true }),
    /** The vendor's voice for each voice asked for; `default` for any other. */
    voices: mapOf(text()),
    /** Formats of a transcription or of the sound of a speech that it has; all unless given. */
    response_formats: list(text({ isLiteral: true }), { min: 1 }),
  }, { required: ["provider"] });

/** Models by the name they go by here. */
export const models = (): Field<ReadonlyMap<string, ModelValues>> => mapOf(model());
