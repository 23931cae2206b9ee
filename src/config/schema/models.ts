/**
 * The section `models`.
 * @module
 */
import type {
  IdentifierRule,
  ModelConstraints,
  ModelFeatures,
  ParameterRules,
  Pricing,
  RateLimits,
} from "../../contracts/provider.ts";
import { list, mapField, object, passThrough, recordField } from "./_containers.ts";
import type { Field } from "./field.ts";
import { duration, flag, integer, number, oneOf, size, text } from "./_fields.ts";
import { defaultWeight } from "../settings/defaults.ts";
import type { ConfiguredModel } from "../settings/settings.ts";

/** Batch settings of a model, as parsed. */
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
    /** USD per million input tokens. */
    input: price(),
    /** USD per million output tokens. */
    output: price(),
    /** USD per million input tokens read from the vendor's prompt cache. */
    cached_input: price(),
    /** USD per million input tokens written to the vendor's prompt cache. */
    cache_write: price(),
    /** USD per million audio input tokens. */
    audio_input: price(),
    /** USD per million audio output tokens. */
    audio_output: price(),
    /** USD per request. */
    per_request: price(),
    /** USD per image. */
    per_image: price(),
    /** USD per search. */
    per_search: price(),
    /** USD per minute of audio. */
    per_minute: price(),
    /** USD per million characters of text. */
    per_million_characters: price(),
  });

const features = () =>
  object<ModelFeatures>({
    /** Whether the model supports tool calling. */
    tool_calling: flag(),
    /** Whether the model supports output that conforms to a JSON Schema. */
    structured_output: flag(),
    /** Whether the model supports JSON mode, without a schema. */
    json_mode: flag(),
    /** Whether the model accepts a system prompt. */
    system_prompt: flag(),
    /** Whether the model grounds its answers in sources. */
    grounding: flag(),
    /** Whether the model returns log probabilities. */
    logprobs: flag(),
    /** Whether the model can be fine-tuned. */
    fine_tunable: flag(),
    /** Whether the model accepts images. */
    vision: flag(),
    /** Whether the model accepts audio. */
    audio_input: flag(),
    /** Whether the model is a reasoning model. */
    reasoning: flag(),
  });

const constraints = () =>
  object<ModelConstraints>({
    /** Context window in tokens: input and output together. */
    context_window: count(),
    /** Maximum number of output tokens per request. */
    max_output_tokens: count(),
    /** Maximum number of images per request. */
    max_images: integer({ min: 0 }),
    /** Maximum size of an input file. */
    max_file_size: size(),
    /** Supported languages, as ISO language codes. */
    supported_languages: list(text()),
  });

const identifiers = () =>
  object<IdentifierRule>({
    /** Accepted characters: `alphanumeric` is `a-z`, `A-Z` and `0-9`, `word` also `_` and `-`, `dotted` also `.`. */
    characters: oneOf(["any", "alphanumeric", "word", "dotted"], "any"),
    /** Whether the first character must be a letter or `_`. */
    starts_with_letter: flag({ default: false }),
    /** Minimum length in characters. */
    min_length: integer({ min: 1, max: 9 }),
    /** Maximum length in characters. */
    max_length: integer({ min: 9 }),
  });

const parameters = () =>
  object<ParameterRules>({
    /** Request members to rename, such as `max_tokens: max_completion_tokens`. */
    rename: recordField(text({ isLiteral: true })),
    /**
     * Sampling parameters that the model rejects. They are removed and listed in `x-mesh-dropped-params`. Those that are
     * added without the client, such as `stream_options`, are not added.
     */
    drop: list(text({ isLiteral: true })),
    /**
     * Parameters that the model rejects and that must not be dropped. The model is skipped for requests that contain
     * one.
     */
    refuse: list(text({ isLiteral: true })),
    /** Parameters that the model rejects in requests with tools. The model is skipped for such requests. */
    refuse_with_tools: list(text({ isLiteral: true })),
    /** Members that are added when the request does not contain them. */
    fill: passThrough(),
    /** Members that are added to requests with tools, when the request does not contain them. */
    fill_with_tools: passThrough(),
    /** Members that replace `reasoning_effort`, by its value, such as `none: {thinking: {type: disabled}}`. */
    efforts: recordField(passThrough()),
    /**
     * How the reasoning of earlier answers is sent back: as `reasoning`, or not at all (`none`). By default unchanged.
     */
    thoughts: oneOf(["reasoning", "none"]),
    /** Whether `cache_control` in messages and tools is forwarded. The connector decides by default. */
    cache_control: flag(),
    /** Maximum number of stop sequences. Further ones are removed, and `stop` is listed in `x-mesh-dropped-params`. */
    max_stop_sequences: count(),
    /**
     * Whether stop sequences of white space alone are sent. Otherwise they are removed, and `stop` is listed in
     * `x-mesh-dropped-params`. The connector decides by default.
     */
    blank_stop_sequences: flag(),
    /** Whether the model knows the role `developer`, which is sent as `system` otherwise. The connector decides by default. */
    developer_role: flag(),
    /**
     * Where instructions may stand. `first` joins all `system` and `developer` messages into one at the start, for models
     * whose chat template accepts no other; `anywhere` leaves them in place. The connector decides by default.
     */
    system: oneOf(["first", "anywhere"]),
    /**
     * Whether a `user` message may follow the results of tools. Otherwise an assistant message is inserted between them.
     * The connector decides by default.
     */
    user_after_tool: flag(),
    /** Accepted ids of tool calls. Others are replaced in requests. The connector decides by default. */
    tool_call_ids: identifiers(),
    /** Whether ids of tool calls may be repeated. Otherwise later calls get another id. The connector decides by default. */
    repeated_call_ids: flag(),
    /** Accepted names of tools. Others are replaced in requests, and restored in answers. The connector decides by default. */
    tool_names: identifiers(),
    /**
     * Whether arguments of earlier tool calls that are not a JSON object are sent as they are. Otherwise they are sent as
     * the member `INVALID_JSON` of an object. The connector decides by default.
     */
    invalid_arguments: flag(),
    /**
     * Whether the parameters of a tool may have `anyOf`, `oneOf`, `allOf` or `$ref` at the top level. Otherwise these are
     * merged into one object. The connector decides by default.
     */
    combined_parameters: flag(),
    /**
     * Whether schemas may have arrays without `items`, and names without a property in `required`. Otherwise they are
     * completed. The connector decides by default.
     */
    incomplete_schemas: flag(),
  });

const batch = () =>
  object<BatchValues>({
    /** Maximum number of requests per batch. A larger batch is split, and its results are merged. */
    max_items: count(),
    /** Maximum file size of a batch. A larger batch is split, and its results are merged. */
    max_payload: size(),
    /** Completion window of a batch that does not set one, and the minimum that a batch may request. */
    completion_window: duration(),
    /** Price relative to single requests: 0.5 is half price. Defaults to the vendor's known discount. */
    cost_discount: number({ min: 0, max: 1 }),
    /** Whether a `batch` event is emitted when a batch ends. Webhooks deliver it. */
    callback: flag({ default: false }),
    /**
     * Whether open batches are polled once a minute, so that their end is detected without a client. Defaults to the
     * value of `callback`.
     */
    polling: flag(),
    /** Whether the results of a split batch are available while some of its parts are still running. */
    partial_results: flag({ default: false }),
  });

const delivery = () =>
  object<ConfiguredModel["delivery"]>({
    /** Whether the model serves whole responses. */
    synchronous: flag(),
    /** Whether the model serves streamed responses; of speech, those with `stream_format: sse` or `stream: true`. */
    streaming: flag(),
    /** Whether the model serves batches. */
    batch: flag(),
  });

const limits = () =>
  object<RateLimits>({
    /** Requests per minute. */
    rpm: count(),
    /** Tokens per minute. */
    tpm: count(),
    /** Requests per UTC day. */
    rpd: count(),
    /** Concurrent requests. */
    concurrent: count(),
  });

const model = () =>
  object<ModelValues>({
    /** The entry of `providers` that serves the model. */
    provider: text({ isLiteral: true }),
    /** Model id sent to the provider. Defaults to the model's name without the vendor's prefix. */
    model: text(),
    /** Capabilities, as leaves of the tree, by full path or short name. */
    capabilities: list(text({ isLiteral: true }), { min: 1 }),
    /** Delivery modes. They can only restrict those of the capability. */
    delivery: delivery(),
    /** Features. A model with `false` is skipped for requests that need the feature. */
    features: features(),
    /** Size limits. */
    constraints: constraints(),
    /** Prices. They override the built-in catalogue key by key. */
    pricing: pricing(),
    /** The vendor's rate limits. Limits reported in response headers take precedence. */
    limits: limits(),
    /** Weight of the model under `round-robin` and `load-balanced`. */
    weight: number({ above: 0, max: 1000, default: defaultWeight }),
    /** How request parameters are adapted to the model. */
    parameters: parameters(),
    /** Settings for batches. */
    batch: batch(),
    /** Embedding space. Embedding requests fail over only among models of the same space. */
    embedding_space: text({ isLiteral: true }),
    /** The vendor's voice for each requested voice. `default` applies to all others. */
    voices: mapField(text()),
    /** Supported formats of transcriptions or of synthesized speech. All by default. */
    response_formats: list(text({ isLiteral: true }), { min: 1 }),
  }, { required: ["provider"] });

/** Models by name. */
export const models = (): Field<ReadonlyMap<string, ModelValues>> => mapField(model());
