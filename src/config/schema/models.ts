/**
 * The section `models`.
 * @module
 */
import { priceTiers } from "../../util/pricing.ts";
import type { Given } from "./field.ts";

/** A row of prices. */
export const priceRow = {
  type: "object",
  isVerbatim: true,
  fields: {
    /** First day on which the row applies, as an ISO date (UTC). */
    from: { type: "text", isLiteral: true, format: "day" },
    /** The row applies to prompts with more tokens than this. */
    above_tokens: { type: "integer", min: 1 },
    /**
     * Service tier to which the row applies, as responses name it. A row without a tier applies to standard responses. `fast`
     * is that of requests with `speed: fast`, `batch` the price of batches in place of `batch.cost_discount`.
     */
    tier: { type: "choice", values: priceTiers as typeof priceTiers },
    /**
     * Hours in which the row applies, UTC. They may extend past midnight, and follow the days of the week on which they
     * begin: `mon-fri 01:00-04:00`.
     */
    hours: { type: "text", isLiteral: true, format: "hours" },
    /** Region to which the row applies, as responses name it. Other regions have the rows without a region. */
    region: { type: "text", isLiteral: true },
    /** Factors of the prices per token. */
    multipliers: {
      type: "object",
      fields: {
        /**
         * Factors by the region in which the vendor processed the request, such as `us: 1.1`. `*` is any other region
         * that is named.
         */
        inference_geo: { type: "record", item: { type: "number", min: 0 } },
      },
    },
    /** USD per million input tokens. */
    input: { type: "number", min: 0 },
    /** USD per million output tokens. */
    output: { type: "number", min: 0 },
    /** USD per million input tokens read from the vendor's prompt cache. */
    cached_input: { type: "number", min: 0 },
    /** USD per million audio input tokens read from the vendor's prompt cache. Defaults to `cached_input`. */
    cached_audio_input: { type: "number", min: 0 },
    /** USD per million image input tokens read from the vendor's prompt cache. Defaults to `cached_input`. */
    cached_image_input: { type: "number", min: 0 },
    /** USD per million input tokens written to the vendor's prompt cache for its default duration. */
    cache_write: { type: "number", min: 0 },
    /** USD per million input tokens written to the vendor's prompt cache for one hour. Defaults to `cache_write`. */
    cache_write_1h: { type: "number", min: 0 },
    /** USD per million input tokens written to the vendor's prompt cache for over 12 hours. Defaults to `cache_write_1h`. */
    cache_write_12h: { type: "number", min: 0 },
    /** USD per million audio input tokens. */
    audio_input: { type: "number", min: 0 },
    /** USD per million audio output tokens. */
    audio_output: { type: "number", min: 0 },
    /** USD per million image input tokens. Defaults to `input`. */
    image_input: { type: "number", min: 0 },
    /** USD per million image output tokens. Defaults to `output`. */
    image_output: { type: "number", min: 0 },
    /** USD per million reasoning tokens. Defaults to `output`. */
    reasoning: { type: "number", min: 0 },
    /** USD per request. */
    per_request: { type: "number", min: 0 },
    /** USD per image. */
    per_image: { type: "number", min: 0 },
    /** USD per search; of a chat model, per search that the vendor runs, in addition to tokens. */
    per_search: { type: "number", min: 0 },
    /** USD per page of a document. */
    per_page: { type: "number", min: 0 },
    /** USD per minute of audio. */
    per_minute: { type: "number", min: 0 },
    /** USD per character of text. */
    per_character: { type: "number", min: 0 },
    /** USD per million characters of text, in place of `per_character`. */
    per_million_characters: { type: "number", min: 0 },
    /** USD per call of another tool that the vendor runs. */
    per_tool_call: { type: "number", min: 0 },
  },
} as const;

/** An entry of `models`. */
export const model = {
  type: "object",
  required: ["provider"],
  fields: {
    /** The entry of `providers` that serves the model. */
    provider: { type: "text", isLiteral: true },
    /** Model id sent to the provider. Defaults to the model's name without the vendor's prefix. */
    model: { type: "text" },
    /** Capabilities, as leaves of the tree, by full path or short name. */
    capabilities: { type: "list", min: 1, item: { type: "text", isLiteral: true } },
    /** Delivery modes. They can only restrict those of the capability. */
    delivery: {
      type: "object",
      isVerbatim: true,
      fields: {
        /** Whether the model serves non-streaming responses. */
        synchronous: { type: "flag" },
        /**
         * Whether the model serves streamed responses; of speech, those with `stream_format: sse` or `stream: true`.
         */
        streaming: { type: "flag" },
        /** Whether the model serves batches. */
        batch: { type: "flag" },
      },
    },
    /** Features. A model with `false` is skipped for requests that need the feature. */
    features: {
      type: "object",
      isVerbatim: true,
      fields: {
        /** Whether the model supports tool calling. */
        tool_calling: { type: "flag" },
        /** Whether the model supports output that conforms to a JSON Schema. */
        structured_output: { type: "flag" },
        /** Whether the model supports JSON mode, without a schema. */
        json_mode: { type: "flag" },
        /** Whether the model accepts a system prompt. */
        system_prompt: { type: "flag" },
        /** Whether the model grounds its responses in sources. */
        grounding: { type: "flag" },
        /** Whether the model returns log probabilities. */
        logprobs: { type: "flag" },
        /** Whether the model can be fine-tuned. */
        fine_tunable: { type: "flag" },
        /** Whether the model accepts images. */
        vision: { type: "flag" },
        /** Whether the model accepts audio. */
        audio_input: { type: "flag" },
        /** Whether the model is a reasoning model. */
        reasoning: { type: "flag" },
      },
    },
    /** Size limits. */
    constraints: {
      type: "object",
      isVerbatim: true,
      fields: {
        /** Context window in tokens: input and output together. */
        context_window: { type: "integer", min: 1 },
        /** Maximum number of output tokens per request. */
        max_output_tokens: { type: "integer", min: 1 },
        /** Maximum number of images per request. */
        max_images: { type: "integer", min: 0 },
        /** Maximum size of an input file. */
        max_file_size: { type: "size" },
        /** Supported languages, as ISO language codes. */
        supported_languages: { type: "list", item: { type: "text" } },
      },
    },
    /**
     * Prices. An object overrides every row of the built-in catalogue key by key; a list of rows with conditions
     * replaces them.
     */
    pricing: {
      type: "either",
      options: [{ type: "list", min: 1, item: priceRow as typeof priceRow }, priceRow as typeof priceRow],
    },
    /** The vendor's rate limits. Limits reported in response headers take precedence. */
    limits: {
      type: "object",
      isVerbatim: true,
      fields: {
        /** Requests per minute. */
        rpm: { type: "integer", min: 1 },
        /** Tokens per minute. */
        tpm: { type: "integer", min: 1 },
        /** Requests per UTC day. */
        rpd: { type: "integer", min: 1 },
        /** Concurrent requests. */
        concurrent: { type: "integer", min: 1 },
      },
    },
    /** Weight of the model under `round-robin` and `load-balanced`. */
    weight: { type: "number", above: 0, max: 1000, default: 1 },
    /**
     * The API of chat requests to the model. `auto` uses Responses where chat completions would lose something: for
     * requests with tools to a reasoning model that supports both together in Responses only, and for models without
     * chat completions. Responses of either API have the form that the client expects.
     */
    api: { type: "choice", values: ["auto", "chat", "responses"], default: "auto" },
    /** How request parameters are adapted to the model. */
    parameters: {
      type: "object",
      isVerbatim: true,
      isOptional: true,
      fields: {
        /** Request members to rename, such as `max_tokens: max_completion_tokens`. */
        rename: { type: "record", item: { type: "text", isLiteral: true } },
        /**
         * Sampling parameters that the model rejects. They are removed and listed in `x-mesh-dropped-params`. Those
         * that are added without the client, such as `stream_options`, are not added.
         */
        drop: { type: "list", item: { type: "text", isLiteral: true } },
        /**
         * Parameters that the model rejects and that must not be dropped. The model is skipped for requests that
         * contain one.
         */
        refuse: { type: "list", item: { type: "text", isLiteral: true } },
        /** Parameters that the model rejects in requests with tools. The model is skipped for such requests. */
        refuse_with_tools: { type: "list", item: { type: "text", isLiteral: true } },
        /** Members that are added when the request does not contain them. */
        fill: { type: "any" },
        /**
         * The APIs through which chat requests reach the model: `chat`, `responses`, or both. `chat` by default, or as
         * known of the vendor's models.
         */
        apis: { type: "list", min: 1, item: { type: "choice", values: ["chat", "responses"] } },
        /**
         * The API of requests with tools, unless their reasoning effort is `none`: for models that do not support tools
         * together with reasoning in the other API.
         */
        tools_via: { type: "choice", values: ["chat", "responses"] },
        /** The effort of requests without `reasoning_effort`, such as `none` of a model that reasons on request only. */
        default_effort: { type: "text", isLiteral: true },
        /** Members that replace `reasoning_effort`, by its value, such as `none: {thinking: {type: disabled}}`. */
        efforts: { type: "record", item: { type: "any" } },
        /**
         * How the reasoning of earlier responses is sent back: as `reasoning`, or not at all (`none`). By default
         * unchanged.
         */
        thoughts: { type: "choice", values: ["reasoning", "none"] },
        /** Whether `cache_control` in messages and tools is forwarded. The connector decides by default. */
        cache_control: { type: "flag" },
        /**
         * Maximum number of stop sequences. Further ones are removed, and `stop` is listed in `x-mesh-dropped-params`.
         */
        max_stop_sequences: { type: "integer", min: 1 },
        /**
         * Whether stop sequences of white space alone are sent. Otherwise they are removed, and `stop` is listed in
         * `x-mesh-dropped-params`. The connector decides by default.
         */
        blank_stop_sequences: { type: "flag" },
        /**
         * Whether the model knows the role `developer`, which is sent as `system` otherwise. The connector decides by
         * default.
         */
        developer_role: { type: "flag" },
        /**
         * Where instructions may stand. `first` joins all `system` and `developer` messages into one at the start, for
         * models whose chat template accepts no other; `anywhere` leaves them in place. The connector decides by
         * default.
         */
        system: { type: "choice", values: ["first", "anywhere"] },
        /**
         * Whether a `user` message may follow the results of tools. Otherwise an assistant message is inserted between
         * them. The connector decides by default.
         */
        user_after_tool: { type: "flag" },
        /** Accepted ids of tool calls. Others are replaced in requests. The connector decides by default. */
        tool_call_ids: {
          type: "object",
          fields: {
            /**
             * Accepted characters: `alphanumeric` is `a-z`, `A-Z` and `0-9`, `word` also `_` and `-`, `dotted` also
             * `.`.
             */
            characters: { type: "choice", values: ["any", "alphanumeric", "word", "dotted"], default: "any" },
            /** Whether the first character must be a letter or `_`. */
            starts_with_letter: { type: "flag", default: false },
            /** Minimum length in characters. */
            min_length: { type: "integer", min: 1, max: 9 },
            /** Maximum length in characters. */
            max_length: { type: "integer", min: 9 },
          },
        },
        /**
         * Whether ids of tool calls may be repeated. Otherwise later calls get another id. The connector decides by
         * default.
         */
        repeated_call_ids: { type: "flag" },
        /**
         * Accepted names of tools. Others are replaced in requests, and restored in responses. The connector decides by
         * default.
         */
        tool_names: {
          type: "object",
          fields: {
            /**
             * Accepted characters: `alphanumeric` is `a-z`, `A-Z` and `0-9`, `word` also `_` and `-`, `dotted` also
             * `.`.
             */
            characters: { type: "choice", values: ["any", "alphanumeric", "word", "dotted"], default: "any" },
            /** Whether the first character must be a letter or `_`. */
            starts_with_letter: { type: "flag", default: false },
            /** Minimum length in characters. */
            min_length: { type: "integer", min: 1, max: 9 },
            /** Maximum length in characters. */
            max_length: { type: "integer", min: 9 },
          },
        },
        /**
         * Whether arguments of earlier tool calls that are not a JSON object are sent as they are. Otherwise they are
         * sent as the member `INVALID_JSON` of an object. The connector decides by default.
         */
        invalid_arguments: { type: "flag" },
        /**
         * Whether the parameters of a tool may have `anyOf`, `oneOf`, `allOf` or `$ref` at the top level. Otherwise
         * these are merged into one object. The connector decides by default.
         */
        combined_parameters: { type: "flag" },
        /**
         * Whether schemas may have arrays without `items`, and names without a property in `required`. Otherwise they
         * are completed. The connector decides by default.
         */
        incomplete_schemas: { type: "flag" },
      },
    },
    /** Settings for batches. */
    batch: {
      type: "object",
      isOptional: true,
      fields: {
        /** Maximum number of requests per batch. A larger batch is split, and its results are merged. */
        max_items: { type: "integer", min: 1 },
        /** Maximum file size of a batch. A larger batch is split, and its results are merged. */
        max_payload: { type: "size" },
        /** Completion window of a batch that does not set one, and the minimum that a batch may request. */
        completion_window: { type: "duration" },
        /** Price relative to single requests: 0.5 is half price. Defaults to the vendor's known discount. */
        cost_discount: { type: "number", min: 0, max: 1 },
        /** Whether a `batch` event is emitted when a batch ends. Webhooks deliver it. */
        callback: { type: "flag", default: false },
        /**
         * Whether open batches are polled once a minute, so that their end is detected without a client. Defaults to
         * the value of `callback`.
         */
        polling: { type: "flag" },
        /** Whether the results of a split batch are available while some of its parts are still running. */
        partial_results: { type: "flag", default: false },
      },
    },
    /** Embedding space. Embedding requests fail over only among models of the same space. */
    embedding_space: { type: "text", isLiteral: true },
    /** The vendor's voice for each requested voice. `default` applies to all others. */
    voices: { type: "record", item: { type: "text" } },
    /** Supported formats of transcriptions or of synthesized speech. All by default. */
    response_formats: { type: "list", min: 1, item: { type: "text", isLiteral: true } },
  },
} as const;

/** An entry of `models` as given. */
export type ModelValues = Given<typeof model>;
