/**
 * A pool of one vendor is no worse than the vendor itself: failures that pass keep their meaning, come with the vendor's
 * wait, and never say that a retry is pointless. Prompts that are too long have the code by which agents compact.
 */
import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { anthropicError } from "../../support/_dialects.ts";
import { startTestProxy, type TestProxyOptions } from "../../support/proxy.ts";
import { type Behaviour, json, raw, startUpstream, status } from "../../support/upstream.ts";

const messages = [{ role: "user", content: "Hi" }];
const paths: Readonly<Record<string, readonly [path: string, body: Record<string, unknown>]>> = {
  chat: ["/v1/chat/completions", { messages }],
  messages: ["/v1/messages", { messages, max_tokens: 5 }],
  responses: ["/v1/responses", { input: "Hi" }],
  gemini: ["/v1beta/models/chat:generateContent", { contents: [{ role: "user", parts: [{ text: "Hi" }] }] }],
};

async function ask(
  dialect: string,
  behaviours: readonly Behaviour[],
  { messages: asked, ...options }: Omit<TestProxyOptions, "upstreams"> & { readonly messages?: unknown } = {},
) {
  const upstreams = await Promise.all(behaviours.map((behaviour) => startUpstream(behaviour)));
  const urls = Object.fromEntries(upstreams.map(({ url }, at) => [`m${at}`, url]));
  await using proxy = await startTestProxy({ upstreams: urls, ...options });
  const [path, body] = paths[dialect]!;
  const response = await fetch(proxy.url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "chat", ...body, ...(asked === undefined ? {} : { messages: asked }) }),
  });
  const answered = await response.json();
  for (const upstream of upstreams) await upstream.close();
  const { headers } = response;
  return {
    status: response.status,
    error: answered.error,
    retry: headers.get("x-should-retry"),
    after: headers.get("retry-after"),
  };
}

const overloads: Readonly<Record<string, Behaviour>> = {
  "529": status(529),
  "503": status(503),
  "an overload by its words": status(500, { error: { type: "overloaded_error" } }),
};

describe("An overload of the only vendor", () => {
  for (const [what, behaviour] of Object.entries(overloads)) {
    it(`stays one in every dialect: ${what}`, async () => {
      for (const dialect of Object.keys(paths)) {
        const { status, error, retry, after } = await ask(dialect, [behaviour]);
        assertEquals([status, retry, after], [dialect === "messages" ? 529 : 503, null, null], dialect);
        if (dialect === "chat") assertEquals([error.type, error.code], ["server_error", "overloaded"]);
        if (dialect === "messages") assertEquals(error.type, "overloaded_error");
        if (dialect === "gemini") assertEquals(error.status, "UNAVAILABLE");
      }
    });
  }

  it("of Anthropic's own API is Anthropic's own error", async () => {
    const provider = { connector: "anthropic.claude.v1" };
    const { status, error } = await ask("messages", [anthropicError(529, "overloaded_error", "Overloaded")], {
      provider,
    });
    assertEquals([status, error.type], [529, "overloaded_error"]);
  });

  it("comes with the vendor's wait", async () => {
    const { status: code, retry, after } = await ask("chat", [status(503, { headers: { "retry-after": "7" } })]);
    assertEquals([code, retry, after], [503, null, "7"]);
  });

  it("never says that a retry is pointless, however long the vendor's wait, of which a day counts", async () => {
    for (const [given, named] of [["120", "120"], ["99999999", "86400"]] as const) {
      const { retry, after } = await ask("messages", [status(529, { headers: { "retry-after": given } })]);
      assertEquals([retry, after], [null, named]);
    }
  });

  it("of one of two vendors is one of all failures", async () => {
    const { status: code, error, retry } = await ask("chat", [status(529), status(500)]);
    assertEquals([code, error.code, retry], [502, "all_attempts_failed", null]);
  });
});

describe("A failure that may pass", () => {
  it("never says that a retry is pointless", async () => {
    for (const behaviour of [raw("", "reset"), raw("", "close"), status(504), status(408), status(520)]) {
      const { status: code, retry } = await ask("chat", [behaviour]);
      assertEquals([code, retry], [502, null]);
    }
  });

  it("is a rate limit without a known end, too, in every dialect", async () => {
    for (const dialect of Object.keys(paths)) {
      const { status: code, retry, after } = await ask(dialect, [status(429)]);
      assertEquals([code, retry, after], [429, null, null], dialect);
    }
  });

  it("differs from one that does not", async () => {
    for (const behaviour of [status(500), status(404), status(401)]) {
      assertEquals((await ask("chat", [behaviour])).retry, "false");
    }
  });
});

describe("A key that is refused", () => {
  it("is named by its provider", async () => {
    const { status: code, error } = await ask("chat", [status(401)]);
    assertEquals([code, error.code], [502, "upstream_auth_error"]);
    assertMatch(error.message, /^Every provider refused the key configured for it: m0 \(401\) at 127\.0\.0\.1:\d+$/);
  });

  it("is named among other failures, too", async () => {
    const { error } = await ask("chat", [status(403), status(500)]);
    assertMatch(error.message, /The provider "m0" refused its key/);
  });
});

describe("A prompt that is too long", () => {
  const words = [
    {
      message: "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
      type: "BadRequestError",
    },
    { message: "the request exceeds the available context size, try increasing it", type: "exceed_context_size_error" },
    {
      message: "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    },
    { message: "prompt is too long: 210000 tokens > 200000 maximum" },
    { message: "Too long", code: "context_length_exceeded" },
    { message: "This model's maximum prompt length is 131072 but the request contains 150000 tokens." },
    { message: "The input (9000 tokens) is longer than the model's context length (8192 tokens)." },
    { message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)." },
    {
      message:
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens",
    },
    { message: "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000." },
    { message: "Input is too long for requested model." },
    { message: "The decoder prompt (length 5000) is longer than the maximum model length of 4096." },
    { message: "prompt token count of 140000 exceeds the limit of 128000", code: "model_max_prompt_tokens_exceeded" },
    { message: "Prompt length (5000) exceeds maximum input length (4096)" },
    {
      message:
        "Trying to keep the first 5000 tokens when context the overflows. The model is loaded with context length 4096",
    },
    { message: "Your input exceeds the context window of this model. Please adjust your input and try again." },
    {
      message:
        "Unable to submit request because the input token count is 1200000 but model only supports up to 1048576.",
    },
    { message: "Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input." },
    { message: "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]" },
    { message: "Invalid request: Your request exceeded model token limit: 8192" },
    { message: "The number of tokens to keep from the initial prompt is greater than the context length." },
    { message: "You passed 9000 input tokens. However, the model's context length is only 8192 tokens" },
    { message: "Request body too large for gpt-4o model. Max size: 8000 tokens.", code: "tokens_limit_reached" },
    { message: "Please reduce the length of the messages or completion." },
  ];

  it("has the code that agents know, whatever the vendor says", async () => {
    for (const error of words) {
      const answered = await ask("chat", [status(400, { error })]);
      assertEquals([answered.status, answered.error.code], [400, "context_length_exceeded"], error.message);
      const claude = await ask("messages", [status(400, { error })]);
      assertEquals([claude.status, claude.error.type], [400, "invalid_request_error"]);
      assertMatch(claude.error.message, /prompt is too long/);
    }
  });

  it("has it also where a server answers with 500, and is not tried again", async () => {
    const message = "the request exceeds the available context size. try increasing the context size";
    const behaviour = status(500, { error: { message, type: "server_error", code: 500 } });
    for (const dialect of Object.keys(paths)) {
      const { status: code, error } = await ask(dialect, [behaviour]);
      assertEquals(code, 400, dialect);
      if (dialect === "chat") assertEquals(error.code, "context_length_exceeded");
      if (dialect === "messages") assertMatch(error.message, /prompt is too long/);
    }
  });

  it("has it also in the errors of Cloudflare", async () => {
    const message =
      "AiError: The estimated number of input and maximum output tokens (9000) exceeded this model context" +
      " window limit (8000)";
    const behaviour = status(413, { json: { success: false, errors: [{ code: 5021, message }] } });
    const provider = { connector: "cloudflare.workers-ai.v1" };
    const { error } = await ask("chat", [behaviour], { provider });
    assertEquals([error.code, error.message], ["context_length_exceeded", message]);
  });

  it("has it also in what OpenRouter relays", async () => {
    const raw = JSON.stringify({ error: { message: "prompt is too long: 210000 tokens > 200000 maximum" } });
    const error = { message: "Provider returned error", code: 400, metadata: { raw, provider_name: "Anthropic" } };
    const answered = await ask("chat", [status(400, { json: { error } })], {
      provider: { connector: "openrouter.gateway.v1" },
    });
    assertEquals([answered.status, answered.error.code], [400, "context_length_exceeded"]);
    assertMatch(answered.error.message, /^Provider returned error: .*210000 tokens/);
  });

  it("is not what an error about a short member says", async () => {
    for (const message of ["Invalid 'messages[0].content': string too long", "prompt_cache_key is too long"]) {
      assertEquals((await ask("chat", [status(400, { error: { message, code: "x" } })])).error.code, "x");
    }
  });

  it("has it also where the vendor's error is in a response with status 200", async () => {
    const error = { message: "This endpoint's maximum context length is 131072 tokens", code: 400 };
    const answered = await ask("chat", [json({ error })]);
    assertEquals([answered.status, answered.error.code], [400, "context_length_exceeded"]);
  });

  it("is not what an error about the limit of output says", async () => {
    const error = { message: "max_tokens is too large: 100000. This model supports at most 16384", code: "x" };
    assertEquals((await ask("chat", [status(400, { error })])).error.code, "x");
  });

  it("is not what an error about an array in the input says", async () => {
    const error = { message: "Invalid 'input': array too long. Expected an array with maximum length 2048", code: "x" };
    assertEquals((await ask("chat", [status(400, { error })])).error.code, "x");
  });

  it("has it also when no model has room for it", async () => {
    const config = {
      models: { m0: { provider: "m0", capabilities: ["chat-completion"], constraints: { context_window: 100 } } },
    };
    const long = [{ role: "user", content: "word ".repeat(500) }];
    const answered = await ask("chat", [status(500)], { config, messages: long });
    assertEquals([answered.status, answered.error.code], [400, "context_length_exceeded"]);
    assertMatch(
      (await ask("messages", [status(500)], { config, messages: long })).error.message,
      /^prompt is too long: /,
    );
  });
});
