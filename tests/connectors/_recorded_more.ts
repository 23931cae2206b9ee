/**
 * The same of further vendors, clouds and servers.
 * @module
 */
import { perplexity as perplexityModels } from "../../connectors/providers/catalogue/model_makers.ts";
import { chunk, counted, counts, end, fault, hello, list, perMinute, type Recorded } from "./_recorded_parts.ts";

/** What servers of vLLM's kind response errors with. */
const plainFault = (code: number, type: string, message: string) => ({
  object: "error",
  message,
  type,
  param: null,
  code,
});

/** A page of the list of Workers AI. */
const workersModels = (names: readonly string[]) => ({
  success: true,
  errors: [],
  messages: [],
  result: names.map((name) => ({ id: crypto.randomUUID(), source: 1, name, task: { name: "Text Generation" } })),
});

/** By connector. */
export const recordedMore: Readonly<Record<string, Recorded>> = {
  "cohere.nlp.v1": {
    errors: [
      [400, { message: "invalid request: message must be at least 1 token long" }, "request"],
      [401, { message: "invalid api token" }, "auth"],
      [404, { message: "model 'one' not found, make sure the correct model ID was used" }, "model_not_found"],
      [429, { message: "You are using a Trial key, which is limited to 10 API calls / minute." }, "rate_limited"],
      [500, { message: "internal server error" }, "server"],
    ],
    events: [...hello(), end("stop", { usage: counts })],
    usage: [10, 5],
    ownList: {
      pages: [
        ["/v1/models?page_size=1000", {
          models: [{ name: "one", is_deprecated: false, endpoints: ["chat"], context_length: 128_000 }],
          next_page_token: "a=",
        }],
        ["/v1/models?page_size=1000&page_token=a%3D", {
          models: [{ name: "two", endpoints: ["embed"] }, { name: "one" }],
          next_page_token: "",
        }],
      ],
      ids: ["one", "two"],
    },
  },
  "perplexity.search.v1": {
    errors: [
      [400, fault("Invalid model 'one'.", "invalid_model", 400), "model_not_found"],
      [400, fault("Last message must have role `user`.", "invalid_message", 400), "request"],
      [401, "<html><head><title>401 Authorization Required</title></head></html>", "auth"],
      [429, fault("Request rate limit exceeded.", "request_rate_limit_exceeded", 429), "rate_limited"],
    ],
    events: [
      ...hello({ usage: { ...counts, completion_tokens: 1 }, citations: ["https://a.example/"], search_results: [] }, {
        message: {},
      }),
      end("stop", { usage: { ...counts, cost: { total_cost: 0.1 } }, citations: ["https://a.example/"] }),
    ],
    usage: [10, 5],
    // the list of its API is of other models
    ownList: {
      pages: [["/v1/async/chat/completions", { requests: [], next_token: null }]],
      ids: perplexityModels.map(({ id }) => id),
    },
  },
  "cerebras.api.v1": {
    errors: [
      [400, {
        message: "Please reduce the length of the messages.",
        type: "invalid_request_error",
        param: "messages",
        code: "context_length_exceeded",
      }, "request"],
      [
        401,
        { message: "Wrong API Key", type: "invalid_request_error", param: "api_key", code: "wrong_api_key" },
        "auth",
      ],
      [404, {
        message: "Model one does not exist or you do not have access to it.",
        type: "not_found_error",
        param: "model",
        code: "model_not_found",
      }, "model_not_found"],
      [429, {
        message: "Tokens per minute limit exceeded.",
        type: "too_many_tokens_error",
        param: "quota",
        code: "token_quota_exceeded",
      }, "rate_limited"],
      [429, {
        message: "We're experiencing high traffic right now!",
        type: "too_many_requests_error",
        param: "queue",
        code: "queue_exceeded",
      }, "rate_limited"],
    ],
    rates: [
      {
        ...perMinute("requests-day", 14_400, 14_399, "33011.382867"),
        ...perMinute("tokens-minute", 60_000, 59_000, "11.38"),
      },
      {
        requests: { limit: 14_400, remaining: 14_399, resetMs: 33_011_382.867 },
        tokens: { limit: 60_000, remaining: 59_000, resetMs: 11_380 },
      },
    ],
    events: [
      chunk({ role: "assistant", reasoning: "Greet" }),
      ...hello(),
      end("stop", { usage: counts, time_info: { total_time: 0.1 } }),
    ],
    thoughts: "Greet",
    usage: [10, 5],
    models: list(),
  },
  "fireworks.api.v1": {
    errors: [
      [400, {
        error: {
          object: "error",
          type: "invalid_request_error",
          code: "invalid_request_error",
          message: "Invalid prompt",
        },
      }, "request"],
      [401, {
        error: {
          object: "error",
          type: "invalid_request_error",
          code: "unauthorized",
          message: "The API key you provided is invalid.",
        },
      }, "auth"],
      [404, {
        error: {
          object: "error",
          type: "invalid_request_error",
          code: "NOT_FOUND",
          message: "Model not found, inaccessible, and/or not deployed",
        },
      }, "model_not_found"],
      [429, {
        error: { object: "error", type: "invalid_request_error", code: "rate_limited", message: "Too many requests" },
      }, "rate_limited"],
    ],
    events: [
      ...hello({ usage: null }),
      end("stop", { usage: { ...counts, prompt_tokens_details: { cached_tokens: 0 } } }),
    ],
    usage: [10, 5],
    models: list({ supports_chat: true, context_length: 131_072 }),
  },
  "sambanova.api.v1": {
    errors: [
      [401, { error: "Invalid API key" }, "auth"],
      [404, fault("Model not found", "invalid_request_error", "model_not_found"), "model_not_found"],
      [429, fault("Rate limit exceeded", "rate_limit_exceeded"), "rate_limited"],
    ],
    events: [...hello(), end(), counted({}, { completion_tokens_per_sec: 400.5, is_last_response: true })],
    usage: [10, 5],
    models: list(),
  },
  "nvidia.nim.v1": {
    errors: [
      [401, { status: 401, title: "Unauthorized", detail: "Authentication failed" }, "auth"],
      [404, "404 page not found", "misconfigured"],
      [410, { title: "Gone", status: 410, detail: "The model 'one' has reached its end of life." }, "model_not_found"],
      [429, { status: 429, title: "Too Many Requests" }, "rate_limited"],
    ],
    events: [...hello({}, { logprobs: null }), end(), counted()],
    usage: [10, 5],
    models: list({ root: "one", parent: null }),
  },
  "huggingface.inference.v1": {
    errors: [
      [
        400,
        fault(
          "The requested model 'one' is not supported by any provider you have enabled.",
          "invalid_request_error",
          "model_not_supported",
          "model",
        ),
        "model_not_found",
      ],
      [401, { error: "Invalid username or password." }, "auth"],
      [402, { error: "You have exceeded your monthly included credits for Inference Providers." }, "quota_exhausted"],
      [503, "upstream connect error", "server"],
    ],
    events: [...hello(), end(), counted()],
    usage: [10, 5],
    models: list({ providers: [{ provider: "x", status: "live" }] }),
  },
  "cloudflare.workers-ai.v1": {
    errors: [
      [400, {
        errors: [{ code: 5007, message: "No such model one or task" }],
        success: false,
        result: {},
        messages: [],
      }, "model_not_found"],
      [400, { errors: [{ code: 6003, message: "Invalid request headers" }], success: false }, "auth"],
      [400, { errors: [{ code: 5004, message: "Invalid data type for base64 input" }], success: false }, "request"],
      [401, { errors: [{ code: 10_000, message: "Authentication error" }], success: false }, "auth"],
      [
        429,
        { errors: [{ code: 3036, message: "You have used up your daily free allocation" }], success: false },
        "quota_exhausted",
      ],
      [
        429,
        { errors: [{ code: 3040, message: "No more data centers to forward the request to" }], success: false },
        "rate_limited",
      ],
    ],
    events: [...hello({ p: "abcdef" }), end(), counted({ p: "abc" })],
    usage: [10, 5],
    ownList: {
      pages: [
        ["/models/search?per_page=100", workersModels(Array.from({ length: 100 }, () => "one"))],
        ["/models/search?per_page=100&page=2", workersModels(["two"])],
      ],
      ids: ["one", "two"],
    },
  },
  "azure.openai.v1": {
    errors: [
      [400, {
        error: {
          message: "The response was filtered",
          type: null,
          param: "prompt",
          code: "content_filter",
          status: 400,
          innererror: { code: "ResponsibleAIPolicyViolation" },
        },
      }, "request"],
      [401, {
        statusCode: 401,
        message: "Unauthorized. Access token is missing, invalid, audience is incorrect, or have expired.",
      }, "auth"],
      [
        404,
        { error: { code: "DeploymentNotFound", message: "The API deployment for this resource does not exist." } },
        "model_not_found",
      ],
      [429, { error: { code: "429", message: "Requests have exceeded call rate limit." } }, "rate_limited"],
    ],
    rates: [
      { "x-ratelimit-remaining-requests": "99", "x-ratelimit-remaining-tokens": "99998" },
      { requests: { remaining: 99 }, tokens: { remaining: 99_998 } },
    ],
    // what could be deployed, not what is
    ownList: { pages: [["/v1/models", list()]], ids: [] },
    events: [
      {
        id: "",
        object: "",
        created: 0,
        model: "",
        choices: [],
        prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }],
      },
      ...hello({ system_fingerprint: "fp" }, { content_filter_results: {} }),
      end(),
      counted(),
    ],
    usage: [10, 5],
  },
  "ollama.local.v1": {
    errors: [
      [400, fault("invalid message content type", "invalid_request_error"), "request"],
      [404, fault('model "one" not found, try pulling it first', "not_found_error"), "model_not_found"],
      [500, fault("model requires more system memory", "api_error"), "server"],
    ],
    events: [chunk({ role: "assistant", content: "", reasoning: "Greet" }), ...hello(), end(), counted()],
    thoughts: "Greet",
    usage: [10, 5],
    models: list(),
  },
  "lmstudio.local.v1": {
    errors: [
      [400, { error: "Unexpected endpoint or method." }, "request"],
      [404, fault('Model "one" not found.', "invalid_request_error", "model_not_found", "model"), "model_not_found"],
    ],
    events: [...hello({}, { logprobs: null }), end("stop", { stats: {} })],
    usage: null,
    models: list(),
  },
  "vllm.local.v1": {
    errors: [
      [400, plainFault(400, "BadRequestError", "This model's maximum context length is 4096 tokens."), "request"],
      [401, { error: "Unauthorized" }, "auth"],
      [404, plainFault(404, "NotFoundError", "The model `one` does not exist."), "model_not_found"],
      [200, { error: plainFault(500, "InternalServerError", "EngineCore encountered an issue.") }, "server"],
    ],
    events: [...hello({}, { token_ids: null, stop_reason: null }), end(), counted()],
    usage: [10, 5],
    models: list({ max_model_len: 4_096, permission: [] }),
  },
  "localai.local.v1": {
    errors: [
      [401, fault("An authentication key is required", "invalid_request_error", 401), "auth"],
      [500, fault("could not load model: rpc error", "", 500), "server"],
    ],
    events: [chunk({ role: "assistant", content: null }), ...hello().slice(1), end(), counted()],
    usage: [10, 5],
    models: { object: "list", data: [{ id: "one", object: "model" }, { id: "two", object: "model" }] },
  },
};
