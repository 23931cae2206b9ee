/**
 * The section `models`.
 * @module
 */
import type { Given } from "./field.ts";
import { priceRow } from "./prices.ts";

/** An entry of `models`. */
export const model = {
  type: "object",
  required: ["provider"],
  foreign: {
    LiteLLM: {
      model_name: '"pools.<name>"',
      litellm_params: '"provider", "model", "limits" and "pricing", and the key in "providers"',
      model_info: '"features", "constraints" and "pricing"',
      api_key: '"providers.<name>.api_key"',
      api_base: '"providers.<name>.base_url"',
    },
  },
  fields: {
    /** The entry of `providers` that serves the model; also a connector or a vendor that has a single entry. */
    provider: { type: "text", isLiteral: true },
    /** Model id sent to the provider. Defaults to the model's name without the vendor's prefix. */
    model: { type: "text" },
    /**
     * The model of the built-in catalogue that a deployment or a fine-tuned model with another id is, such as
     * `openai/gpt-4o`. Its capabilities, features, constraints, prices and rules of parameters apply, unless they are set
     * here.
     */
    base_model: { type: "text", isLiteral: true },
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
