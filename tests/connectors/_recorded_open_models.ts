/**
 * The same of makers and hosts of open models.
 * @module
 */
import { chunk, counted, counts, end, fault, hello, list, type Recorded } from "./_recorded_parts.ts";

const minimaxFault = (type: string, message: string, http_code: string) => ({
  type: "error",
  error: { type, message, http_code },
  request_id: "r1",
});

/** By connector. */
export const recordedOpenModels: Readonly<Record<string, Recorded>> = {
  "moonshot.kimi.v1": {
    errors: [
      [401, { error: { message: "Incorrect API key provided", type: "incorrect_api_key_error" } }, "auth"],
      [
        403,
        fault("Your account is not active, organization exceeded current quota", "exceeded_current_quota_error"),
        "quota_exhausted",
      ],
      [
        429,
        { error: { message: "Your account is suspended due to insufficient balance, please recharge your account" } },
        "quota_exhausted",
      ],
      [429, fault("Your account reached max RPM: 3", "rate_limit_reached_error"), "rate_limited"],
      [404, fault("Not found the model one or Permission denied", "resource_not_found_error"), "model_not_found"],
    ],
    events: [
      chunk({ role: "assistant", reasoning_content: "Greet" }),
      ...hello(),
      end("stop", {}, { usage: { ...counts, cached_tokens: 5 } }),
      counted({}, { cached_tokens: 5 }),
    ],
    thoughts: "Greet",
    usage: [10, 5],
    models: list({ context_length: 262_144, supports_reasoning: true }),
  },
  "zai.glm.v1": {
    errors: [
      [400, { error: { code: "1211", message: "Unknown Model, please check the model code." } }, "model_not_found"],
      [400, { error: { code: "1214", message: "The messages parameter is illegal." } }, "request"],
      [401, { error: { code: "1001", message: "Authentication parameter not received in Header" } }, "auth"],
      [
        429,
        { error: { code: "1113", message: "Insufficient balance or no resource package. Please recharge." } },
        "quota_exhausted",
      ],
      [429, { error: { code: "1302", message: "Rate limit reached for requests" } }, "rate_limited"],
    ],
    events: [
      chunk({ role: "assistant", reasoning_content: "Greet" }),
      ...hello(),
      end("stop", { usage: { ...counts, prompt_tokens_details: { cached_tokens: 0 } } }),
    ],
    thoughts: "Greet",
    usage: [10, 5],
    models: list(),
  },
  "qwen.dashscope.v1": {
    errors: [
      [400, {
        error: {
          message: "Access denied, please make sure your account is in good standing.",
          type: "Arrearage",
          param: null,
          code: "Arrearage",
        },
      }, "quota_exhausted"],
      [401, fault("Incorrect API key provided.", "invalid_request_error", "invalid_api_key"), "auth"],
      [
        404,
        fault(
          "The model `one` does not exist or you do not have access to it.",
          "invalid_request_error",
          "model_not_found",
        ),
        "model_not_found",
      ],
      [429, fault("You exceeded your current requests list.", "limit_requests", "limit_requests"), "rate_limited"],
    ],
    events: [chunk({ role: "assistant", content: null, reasoning_content: "Greet" }), ...hello(), end(), counted()],
    thoughts: "Greet",
    usage: [10, 5],
    models: list(),
  },
  "minimax.api.v1": {
    errors: [
      [401, minimaxFault("authorized_error", "login fail: please carry the API secret key (1004)", "401"), "auth"],
      [429, minimaxFault("insufficient_balance_error", "insufficient balance (1008)", "429"), "quota_exhausted"],
      [429, minimaxFault("rate_limit_error", "rate limit exceeded (1002)", "429"), "rate_limited"],
      [400, minimaxFault("bad_request_error", "invalid params (2013)", "400"), "request"],
    ],
    events: [
      chunk({ role: "assistant", content: "", reasoning_content: "Greet", reasoning_details: [{ text: "Greet" }] }),
      ...hello(),
      end(),
      counted({ base_resp: { status_code: 0, status_msg: "" } }),
    ],
    thoughts: "Greet",
    usage: [10, 5],
    models: list(),
  },
  "deepinfra.api.v1": {
    errors: [
      [401, { detail: { error: "User not authenticated" } }, "auth"],
      [402, { error: { message: "inference prohibited, please enter a payment method" } }, "quota_exhausted"],
      [404, { error: { message: "The model `one` does not exist" } }, "model_not_found"],
      [429, { error: { message: "Model busy, retry later" } }, "rate_limited"],
    ],
    events: [...hello(), end("stop", { usage: { ...counts, estimated_cost: 0.000_1 } })],
    usage: [10, 5],
    models: list({ metadata: { context_length: 131_072, pricing: { input_tokens: 0.1, output_tokens: 0.2 } } }),
  },
  "novita.api.v1": {
    errors: [
      [401, { code: 401, reason: "FAILED_TO_AUTH", message: "failed to authenticate API key" }, "auth"],
      [404, { code: 404, reason: "MODEL_NOT_FOUND", message: "model not found" }, "model_not_found"],
      [429, { code: 429, reason: "RATE_LIMIT_EXCEEDED", message: "request rate limit exceeded" }, "rate_limited"],
    ],
    events: [...hello(), end(), counted()],
    usage: [10, 5],
    models: list({ context_size: 131_072 }),
  },
  "nebius.api.v1": {
    errors: [
      [401, { detail: "Couldn't authenticate. Reason: token is not present" }, "auth"],
      [402, { detail: "Payment required" }, "quota_exhausted"],
      [404, { detail: "The model `one` does not exist." }, "model_not_found"],
      [422, { detail: [{ loc: ["body", "messages"], msg: "Field required" }] }, "request"],
    ],
    events: [...hello(), end(), counted()],
    usage: [10, 5],
    models: list(),
  },
  "baseten.api.v1": {
    errors: [
      [403, { error: "please check the api-key you provided" }, "auth"],
      [404, { error: "Model one not found" }, "model_not_found"],
      [429, { error: "Too many requests" }, "rate_limited"],
    ],
    events: [...hello(), end(), counted()],
    usage: [10, 5],
    models: list({ context_length: 131_072 }),
  },
  "vercel.gateway.v1": {
    errors: [
      [401, fault("Authentication failed", "authentication_error"), "auth"],
      [402, fault("Insufficient funds. Please add credits to your account.", "insufficient_funds"), "quota_exhausted"],
      [404, fault("Model 'one' not found", "model_not_found"), "model_not_found"],
      [429, fault("Rate limit exceeded", "rate_limit_exceeded"), "rate_limited"],
    ],
    events: [chunk({ role: "assistant", reasoning: "Greet" }), ...hello(), end(), counted()],
    thoughts: "Greet",
    usage: [10, 5],
    models: list({ context_window: 131_072, max_tokens: 8_192, type: "language", pricing: { input: "0.000001" } }),
  },
};
