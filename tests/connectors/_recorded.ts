/**
 * What vendors of OpenAI's dialect response, in the shapes of their public references: errors, rate limits, the events of a
 * stream, lists of models. Names, numbers and texts are made up.
 * @module
 */
import { chunk, counted, counts, end, fault, hello, list, perMinute, type Recorded } from "./_recorded_parts.ts";

/** By connector. */
export const recorded: Readonly<Record<string, Recorded>> = {
  "openai.llm.v1": {
    errors: [
      [
        400,
        fault(
          "This model's maximum context length is 128000 tokens.",
          "invalid_request_error",
          "context_length_exceeded",
          "messages",
        ),
        "request",
      ],
      [401, fault("Incorrect API key provided: sk-...abcd.", "invalid_request_error", "invalid_api_key"), "auth"],
      [
        403,
        fault(
          "Country, region, or territory not supported",
          "request_forbidden",
          "unsupported_country_region_territory",
        ),
        "auth",
      ],
      [
        404,
        fault(
          "The model `one` does not exist or you do not have access to it.",
          "invalid_request_error",
          "model_not_found",
        ),
        "model_not_found",
      ],
      [429, fault("Rate limit reached for one on tokens per min.", "tokens", "rate_limit_exceeded"), "rate_limited"],
      [429, fault("You exceeded your current quota.", "insufficient_quota", "insufficient_quota"), "quota_exhausted"],
      [500, fault("The server had an error while processing your request.", "server_error"), "server"],
      [503, fault("The engine is currently overloaded.", "service_unavailable_error"), "server"],
    ],
    rates: [
      { ...perMinute("requests", 60, 59, "1s"), ...perMinute("tokens", 150_000, 149_984, "6m0s") },
      {
        requests: { limit: 60, remaining: 59, resetMs: 1_000 },
        tokens: { limit: 150_000, remaining: 149_984, resetMs: 360_000 },
      },
    ],
    events: [
      ...hello({ service_tier: "default", system_fingerprint: "fp", usage: null, obfuscation: "aX3" }, {
        logprobs: null,
      }),
      end("stop", { usage: null }),
      counted({}, { prompt_tokens_details: { cached_tokens: 4 }, completion_tokens_details: { reasoning_tokens: 0 } }),
    ],
    usage: [10, 5],
    models: list(),
  },
  "groq.api.v1": {
    errors: [
      [400, {
        error: {
          message: "Failed to call a function.",
          type: "invalid_request_error",
          code: "tool_use_failed",
          failed_generation: "<x>",
        },
      }, "request"],
      [401, fault("Invalid API Key", "invalid_request_error", "invalid_api_key"), "auth"],
      [
        404,
        fault(
          "The model `one` does not exist or you do not have access to it.",
          "invalid_request_error",
          "model_not_found",
        ),
        "model_not_found",
      ],
      [
        413,
        fault("Request too large for model `one` on tokens per minute (TPM)", "tokens", "rate_limit_exceeded"),
        "request",
      ],
      [
        429,
        fault("Rate limit reached for model `one`. Please try again in 7.66s.", "tokens", "rate_limit_exceeded"),
        "rate_limited",
      ],
      [498, fault("Flex tier capacity exceeded", "service_tier", "capacity_exceeded"), "server"],
    ],
    rates: [
      {
        "retry-after": "2",
        ...perMinute("requests", 14_400, 14_370, "2m59.56s"),
        ...perMinute("tokens", 18_000, 17_997, "7.66s"),
      },
      {
        requests: { limit: 14_400, remaining: 14_370, resetMs: 179_560 },
        tokens: { limit: 18_000, remaining: 17_997, resetMs: 7_660 },
      },
    ],
    events: [
      chunk({ role: "assistant", content: "" }, { x_groq: { id: "req_1" } }),
      chunk({ reasoning: "Greet", channel: "analysis" }),
      ...hello(),
      end("stop", { x_groq: { id: "req_1", usage: { ...counts, queue_time: 0.1 } } }),
      counted(),
    ],
    thoughts: "Greet",
    usage: [10, 5],
    models: list({ active: true, context_window: 131_072, public_apps: null }),
  },
  "mistral.api.v1": {
    errors: [
      [401, { detail: "Unauthorized" }, "auth"],
      [
        400,
        { object: "error", message: "Invalid model: one", type: "invalid_model", param: null, code: "1500" },
        "model_not_found",
      ],
      [422, {
        object: "error",
        message: { detail: [{ type: "missing", loc: ["body", "messages"], msg: "Field required" }] },
        type: "invalid_request_error",
      }, "request"],
      [429, {
        object: "error",
        message: "Service tier capacity exceeded for this model.",
        type: "service_tier_capacity_exceeded",
        code: "3505",
      }, "rate_limited"],
    ],
    rates: [
      { ...perMinute("tokens-minute", 500_000, 499_000, ""), ...perMinute("req-minute", 60, 58, "") },
      { requests: { limit: 60, remaining: 58 }, tokens: { limit: 500_000, remaining: 499_000 } },
    ],
    events: [
      chunk({ role: "assistant", content: [{ type: "thinking", thinking: [{ type: "text", text: "Greet" }] }] }, {
        p: "ab",
      }),
      chunk({ content: [{ type: "text", text: "Hello" }] }),
      chunk({ content: " there" }),
      end("stop", { usage: counts }),
    ],
    thoughts: "Greet",
    usage: [10, 5],
    models: list({ capabilities: { completion_chat: true }, aliases: [] }),
  },
  "deepseek.api.v1": {
    errors: [
      [400, fault("Invalid request body format", "invalid_request_error", "invalid_request_error"), "request"],
      [401, fault("Authentication Fails (no such user)", "authentication_error", "invalid_request_error"), "auth"],
      [402, fault("Insufficient Balance", "unknown_error", "invalid_request_error"), "quota_exhausted"],
      [422, fault("Invalid parameters", "invalid_request_error"), "request"],
      [503, "", "server"],
    ],
    events: [
      ": keep-alive",
      chunk({ role: "assistant", content: null, reasoning_content: "" }),
      chunk({ content: null, reasoning_content: "Greet" }),
      ...hello(),
      end("stop", { usage: { ...counts, prompt_cache_hit_tokens: 4, prompt_cache_miss_tokens: 6 } }),
    ],
    thoughts: "Greet",
    usage: [10, 5],
    models: {
      object: "list",
      data: [{ id: "one", object: "model", owned_by: "x" }, { id: "two", object: "model", owned_by: "x" }],
    },
  },
  "together.api.v1": {
    errors: [
      [401, { id: "o1", ...fault("Invalid API key provided.", "invalid_request_error", "invalid_api_key") }, "auth"],
      [404, {
        id: "o1",
        ...fault(
          "Unable to access model one. Please visit the site to view the list of supported models.",
          "invalid_request_error",
          "model_not_available",
        ),
      }, "misconfigured"],
      [
        429,
        { id: "o1", ...fault("You have reached the rate limit specific to this model.", "model_rate_limit") },
        "rate_limited",
      ],
    ],
    events: [
      ...hello({ usage: null }, { text: "x", seed: 1, logprobs: null }),
      end("stop", { usage: counts }, { text: "" }),
    ],
    usage: [10, 5],
    models: [{ id: "one", object: "model", created: 1, type: "chat" }, {
      id: "two",
      object: "model",
      created: 1,
      type: "chat",
    }],
  },
  "openrouter.gateway.v1": {
    errors: [
      [401, { error: { code: 401, message: "No auth credentials found" } }, "auth"],
      [402, { error: { code: 402, message: "Insufficient credits" } }, "quota_exhausted"],
      [404, { error: { code: 404, message: "No endpoints found for one." } }, "misconfigured"],
      [429, {
        error: {
          code: 429,
          message: "Rate limit exceeded: free-models-per-min.",
          metadata: { headers: { "X-RateLimit-Limit": "20" } },
        },
      }, "rate_limited"],
      [200, { error: { code: 502, message: "Provider returned error" } }, "server"],
      [200, { error: { code: 429, message: "one is temporarily rate-limited upstream" } }, "rate_limited"],
    ],
    rates: [
      { "x-ratelimit-limit": "20", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1700000060000" },
      { requests: { limit: 20, remaining: 0, resetMs: 60_000 } },
    ],
    events: [
      ": OPENROUTER PROCESSING",
      chunk(
        {
          role: "assistant",
          content: "",
          reasoning: "Greet",
          reasoning_details: [{ type: "reasoning.text", text: "Greet" }],
        },
        { provider: "X" },
        { native_finish_reason: null },
      ),
      ...hello({ provider: "X" }),
      end("stop", { provider: "X" }, { native_finish_reason: "completed" }),
      counted({ provider: "X" }, { cost: 0.1, is_byok: false }),
    ],
    thoughts: "Greet",
    usage: [10, 5],
    models: {
      data: [{ id: "one", name: "One", pricing: { prompt: "0" } }, {
        id: "two",
        name: "Two",
        pricing: { prompt: "0" },
      }],
    },
  },
  "xai.grok.v1": {
    errors: [
      [400, { code: "Client specified an invalid argument", error: "Incorrect API key provided: xa***bc." }, "auth"],
      [
        400,
        { code: "Client specified an invalid argument", error: "Argument not supported on this model: stop" },
        "request",
      ],
      [
        403,
        { code: "The caller does not have permission", error: "Your team doesn't have any credits yet." },
        "quota_exhausted",
      ],
      [403, { code: "The caller does not have permission", error: "Access to this model is blocked." }, "auth"],
      [404, {
        code: "Some requested entity was not found",
        error: "The model one does not exist or your team does not have access to it.",
      }, "model_not_found"],
      [429, { code: "Some resource has been exhausted", error: "Too many requests for your team." }, "rate_limited"],
    ],
    events: [
      chunk({ role: "assistant", reasoning_content: "Greet" }, { system_fingerprint: "fp" }),
      ...hello(),
      end(),
      counted({}, { completion_tokens_details: { reasoning_tokens: 2 }, num_sources_used: 0 }),
    ],
    thoughts: "Greet",
    usage: [10, 5],
    models: list(),
  },
};
