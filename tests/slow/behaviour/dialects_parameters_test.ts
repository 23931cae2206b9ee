/**
 * What of a request reaches which provider: parameters in its own format, nothing private, numbers to the last digit.
 */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { dialects, type Json, speaking } from "../../support/_dialects.ts";
import { type DialectProvider, startDialectProxy, toApiKey } from "../../support/_dialect_proxy.ts";
import { assertMatchesSchema } from "../../support/schema.ts";
import { type ReceivedRequest, startUpstream, type Upstream } from "../../support/upstream.ts";

/** Sends a body to a pool of one provider: what it was sent, and the response's headers. */
async function sent(
  provider: Omit<DialectProvider, "url">,
  body: Json,
  init: RequestInit = {},
): Promise<{ request: ReceivedRequest; headers: Headers }> {
  await using upstream = await startUpstream(speaking[provider.dialect].respond());
  await using proxy = await startDialectProxy({ only: { ...provider, url: upstream.url } });
  const response = await proxy.chat(body, init);
  assertEquals([response.status, await response.text().then((text) => text.includes('"error"'))], [200, false]);
  return { request: upstream.requests[0]!, headers: response.headers };
}

const toNew = { parameters: { rename: { max_tokens: "max_completion_tokens" } } };
const toOld = { parameters: { rename: { max_completion_tokens: "max_tokens" } } };

describe("The token limit goes by the name the provider knows", () => {
  const limit = (name: string, value: number) => ({ [name]: value });
  const rows: [name: string, provider: Omit<DialectProvider, "url">, asked: Json, reported: Json][] = [
    ["as it came", { dialect: "openai" }, limit("max_tokens", 7), limit("max_tokens", 7)],
    [
      "the new name",
      { dialect: "openai", settings: toNew },
      limit("max_tokens", 7),
      limit("max_completion_tokens", 7),
    ],
    [
      "the old name",
      { dialect: "openai", settings: toOld },
      limit("max_completion_tokens", 7),
      limit("max_tokens", 7),
    ],
    [
      "the one it knows when both are given",
      { dialect: "openai", settings: toNew },
      { max_tokens: 7, max_completion_tokens: 8 },
      limit("max_completion_tokens", 8),
    ],
    ...[null, -1].flatMap((none): [string, Omit<DialectProvider, "url">, Json, Json][] => [
      [`${none} as it came`, { dialect: "openai" }, { max_tokens: none }, { max_tokens: none }],
      [`${none} as it came, under the name it knows`, { dialect: "openai", settings: toNew }, { max_tokens: none }, {
        max_completion_tokens: none,
      }],
      [`${none} beside a limit`, { dialect: "openai", settings: toOld }, {
        max_tokens: none,
        max_completion_tokens: 7,
      }, limit("max_tokens", 7)],
      [`Anthropic's for ${none}`, { dialect: "anthropic" }, { max_tokens: none }, limit("max_tokens", 16_384)],
      [`Anthropic's for ${none} beside a limit`, { dialect: "anthropic" }, {
        max_tokens: 7,
        max_completion_tokens: none,
      }, limit("max_tokens", 7)],
      [`Google's for ${none}`, { dialect: "gemini" }, { max_completion_tokens: none, max_tokens: none }, {}],
      [`Google's for ${none} beside a limit`, { dialect: "gemini" }, {
        max_tokens: 7,
        max_completion_tokens: none,
      }, limit("maxOutputTokens", 7)],
    ]),
    ["Anthropic's, from the old", { dialect: "anthropic" }, limit("max_tokens", 7), limit("max_tokens", 7)],
    ["Anthropic's, from the new", { dialect: "anthropic" }, limit("max_completion_tokens", 7), limit("max_tokens", 7)],
    ["Anthropic's, which is demanded", { dialect: "anthropic" }, {}, limit("max_tokens", 16_384)],
    ["Google's, from the old", { dialect: "gemini" }, limit("max_tokens", 7), limit("maxOutputTokens", 7)],
    ["Google's, from the new", { dialect: "gemini" }, limit("max_completion_tokens", 7), limit("maxOutputTokens", 7)],
  ];
  for (const [name, provider, asked, reported] of rows) {
    it(name, async () => {
      for (const stream of [false, true]) {
        const { request } = await sent(provider, { ...asked, stream });
        const { generationConfig, ...body } = request.json();
        const limits = Object.entries({ ...body, ...generationConfig }).filter(([key]) => /^max.*tokens$/i.test(key));
        assertEquals(Object.fromEntries(limits), reported);
      }
    });
  }
});

describe("Sampling parameters that a model refuses are left out and named", () => {
  const asked = {
    temperature: 0.5,
    top_p: 0.9,
    seed: 7,
    frequency_penalty: 1,
    presence_penalty: 1,
    logit_bias: { 5: 1 },
    parallel_tool_calls: true,
    user: "me",
  };
  const rows: [name: string, provider: Omit<DialectProvider, "url">, dropped: string[]][] = [
    ["none by an unknown server", { dialect: "openai" }, []],
    [
      "those of the configuration",
      { dialect: "openai", settings: { parameters: { drop: ["temperature", "top_p"] } } },
      ["temperature", "top_p"],
    ],
    // the API takes one of temperature and top_p
    ["Claude's", { dialect: "anthropic" }, ["frequency_penalty", "presence_penalty", "seed", "logit_bias", "top_p"]],
    [
      "those of a Claude without sampling",
      { dialect: "anthropic", model: "claude-sonnet-5-5" },
      ["frequency_penalty", "presence_penalty", "seed", "logit_bias", "temperature", "top_p"],
    ],
    [
      "those of a Claude that nobody knows yet",
      { dialect: "anthropic", model: "claude-next-9" },
      ["frequency_penalty", "presence_penalty", "seed", "logit_bias", "temperature", "top_p"],
    ],
    [
      "Gemini's",
      { dialect: "gemini" },
      ["presence_penalty", "frequency_penalty", "logit_bias", "parallel_tool_calls", "user"],
    ],
    [
      "those of a Gemini that nobody knows yet",
      { dialect: "gemini", model: "gemini-9-pro" },
      ["presence_penalty", "frequency_penalty", "logit_bias", "parallel_tool_calls", "user", "temperature", "top_p"],
    ],
  ];
  for (const [name, provider, dropped] of rows) {
    it(name, async () => {
      for (const stream of [false, true]) {
        const { request, headers } = await sent(provider, { ...asked, stream });
        const named = headers.get("x-mesh-dropped-params")?.split(", ") ?? [];
        assertEquals([...named].sort(), [...dropped].sort());
        const words = request.body.toLowerCase().replaceAll("_", "");
        for (const param of dropped) assert(!words.includes(`"${param.replaceAll("_", "")}":`), `${param} in ${words}`);
        if (provider.dialect === "openai") assertEquals(request.json().user, "me");
      }
      const neutral = Object.fromEntries(Object.keys(asked).map((param) => [param, null]));
      assertEquals((await sent(provider, neutral)).headers.get("x-mesh-dropped-params"), null);
    });
  }
});

describe("What a translation does not support is named", () => {
  const odd = {
    store: true,
    prompt_cache_key: "k",
    metadata: { a: "b" },
    "x,own\u00fc\ud800\n": 1,
    ["y".repeat(99)]: 1,
  };
  const oddNames = ["store", "prompt_cache_key", "metadata", "x%2Cown%C3%BC%EF%BF%BD%0A", `${"y".repeat(64)}...`];
  const thinking = { reasoning_effort: "high", max_completion_tokens: 99, temperature: 0.5 };
  const neutral = {
    store: false,
    user: null,
    modalities: null,
    stop: [],
    n: 1,
    stream_options: { include_usage: true },
  };
  const rows: [name: string, provider: Omit<DialectProvider, "url">, asked: Json, dropped: string[]][] = [
    ["what only others know, by Claude", { dialect: "anthropic" }, odd, oddNames],
    ["what only others know, by Gemini", { dialect: "gemini" }, odd, oddNames],
    ["nothing that asks for nothing, by Claude", { dialect: "anthropic" }, neutral, []],
    ["nothing that asks for nothing, by Gemini", { dialect: "gemini" }, neutral, []],
    ["thinking, where there is no room for it", { dialect: "anthropic" }, thinking, ["reasoning_effort"]],
    ["sampling, beside thinking", { dialect: "anthropic" }, { ...thinking, max_completion_tokens: 9999 }, [
      "temperature",
    ]],
    ["thinking of a model that does not", { dialect: "anthropic", model: "claude-3-haiku" }, thinking, [
      "reasoning_effort",
    ]],
    ["thinking of a Gemini that does not", { dialect: "gemini", model: "gemini-2.0-flash" }, thinking, [
      "reasoning_effort",
    ]],
    ["a second name of the user", { dialect: "anthropic" }, { user: "a", safety_identifier: "b" }, [
      "safety_identifier",
    ]],
    ["nothing by who speaks OpenAI's dialect", { dialect: "openai" }, odd, []],
  ];
  for (const [name, provider, asked, dropped] of rows) {
    it(name, async () => {
      for (const stream of [false, true]) {
        const { headers } = await sent(provider, { ...asked, stream });
        const named = headers.get("x-mesh-dropped-params")?.split(", ") ?? [];
        assertEquals([...named].sort(), [...dropped].sort());
      }
    });
  }

  it("and a thousand names do not fill a header", async () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`x_${at}`, at]));
    const { headers } = await sent({ dialect: "gemini" }, many);
    const named = headers.get("x-mesh-dropped-params")!.split(", ");
    assertEquals([named.length, named[0], named.at(-1)], [33, "x_0", "..."]);
  });
});

/** Who of the two responses, and how often the first is asked. */
async function answerer(first: Omit<DialectProvider, "url">, body: Json): Promise<[string | null, number]> {
  await using one = await startUpstream(speaking[first.dialect].respond());
  await using two = await startUpstream(speaking.openai.respond());
  await using proxy = await startDialectProxy({
    first: { ...first, url: one.url },
    second: { dialect: "openai", url: two.url },
  });
  const response = await proxy.chat(body);
  await response.body?.cancel();
  return [response.headers.get("x-mesh-model"), one.calls];
}

const claude = { dialect: "anthropic" } as const;
const flash = { dialect: "gemini" } as const;
const newFlash = { dialect: "gemini", model: "gemini-3.5-flash" } as const;
const noStop = { dialect: "openai", settings: { parameters: { refuse: ["stop"] } } } as const;
const weighty: [provider: Omit<DialectProvider, "url">, body: Json][] = [
  [claude, { n: 2 }],
  [claude, { logprobs: true, top_logprobs: 3 }],
  [claude, { functions: [{ name: "f", parameters: {} }] }],
  [claude, { response_format: { type: "json_object" } }],
  [claude, {
    messages: [{ role: "user", content: [{ type: "input_audio", input_audio: { data: "", format: "wav" } }] }],
  }],
  [flash, { logprobs: true }],
  [newFlash, { n: 2 }],
  [noStop, { stop: ["x"] }],
];
const neutral: Json[] = [
  { n: 1 },
  { n: null },
  { logprobs: false },
  { logprobs: null },
  { tools: [] },
  { tools: [], tool_choice: "none" },
  { tool_choice: "auto" },
  { response_format: { type: "text" } },
  { response_format: null },
  { functions: [] },
  { audio: null },
  { stop: null },
  { stop: [] },
];

describe("A parameter that matters is never left out", () => {
  for (const [provider, body] of weighty) {
    const name = `${provider.dialect} and ${JSON.stringify(body).slice(0, 60)}`;
    it(`so a model that refuses it is skipped: ${name}`, async () => {
      for (const stream of [false, true]) assertEquals(await answerer(provider, { ...body, stream }), ["second", 0]);
    });

    it(`and when no model is left the request is: ${name}`, async () => {
      await using upstream = await startUpstream(speaking[provider.dialect].respond());
      await using proxy = await startDialectProxy({ only: { ...provider, url: upstream.url } });
      const response = await proxy.chat(body);
      const answer = await response.json();
      assertMatchesSchema("ErrorResponse", answer);
      const { error: { code, type } } = answer;
      assertEquals([response.status, code, type, upstream.calls], [
        400,
        "unsupported_by_pool",
        "invalid_request_error",
        0,
      ]);
    });
  }

  it("but a neutral value skips no model", async () => {
    for (const body of neutral) {
      for (const provider of [claude, newFlash, noStop]) {
        assertEquals(await answerer(provider, body), ["first", 1], `${provider.dialect} ${JSON.stringify(body)}`);
      }
    }
  });

  it("and one that a model takes reaches it", async () => {
    const { request } = await sent(flash, { n: 2 });
    assertEquals(request.json().generationConfig.candidateCount, 2);
  });
});

const secret = "secret-of-the-caller";
const privateFields = {
  mesh: { session: secret },
  models: ["only"],
  api_key: secret,
  api_base: `http://${secret}.example`,
  base_url: `http://${secret}.example`,
  extra_headers: { authorization: `Bearer ${secret}` },
};

for (const dialect of dialects) {
  describe(`A provider of the ${dialect} dialect`, () => {
    it("never sees fields that steer the proxy", async () => {
      for (const stream of [false, true]) {
        const { request } = await sent({ dialect }, { ...privateFields, stream });
        assert(!request.body.includes(secret), request.body);
        for (const name of Object.keys(privateFields)) assertEquals(request.json()[name], undefined, name);
      }
    });

    it("never sees the client's credentials, only its own key", async () => {
      const headers = {
        "content-type": "application/json",
        authorization: `Bearer ${secret}`,
        "x-api-key": secret,
        "api-key": secret,
        "x-goog-api-key": secret,
        "openai-api-key": secret,
        cookie: `session=${secret}`,
      };
      const { request } = await sent({ dialect }, {}, { headers });
      const all = JSON.stringify(request.headers);
      assert(!all.includes(secret), all);
      assert(all.includes(toApiKey("only")), all);
      assert(!request.path.includes("key"), request.path);
    });
  });
}

describe("A provider of OpenAI's dialect", () => {
  const big = "12345678901234567890";
  const texts = ['"seed":SEED', '"vendor_option":{"deep":[1,2.50,SEED],"html":"<\\u00e9>"}'];

  it("gets numbers and unknown fields to the last digit, edited or not, streamed or not", async () => {
    await using upstream = await startUpstream(speaking.openai.respond());
    const settings = { parameters: { drop: ["temperature"], rename: { max_tokens: "max_completion_tokens" } } };
    await using proxy = await startDialectProxy({
      only: { dialect: "openai", url: upstream.url, settings } as DialectProvider,
    });
    for (const stream of [false, true]) {
      for (const more of ["", ',"temperature":1,"max_tokens":9,"api_key":"x"']) {
        const extra = texts.join(",").replaceAll("SEED", big);
        const body = `{"model":"chat","stream":${stream},${extra}${more},"messages":[{"role":"user","content":"Hi"}]}`;
        await (await proxy.chat({}, { body })).body?.cancel();
        checkDigits(upstream, more !== "");
      }
    }
  });

  it("gets marks of what to cache where it is said to take them", async () => {
    await using upstream = await startUpstream(speaking.openai.respond());
    const settings = { parameters: { cache_control: true } };
    await using proxy = await startDialectProxy({ only: { dialect: "openai", url: upstream.url, settings } });
    const content = [{ type: "text", text: "Long", cache_control: { type: "ephemeral" } }];
    await (await proxy.chat({ messages: [{ role: "user", content }] })).body?.cancel();
    assertEquals(upstream.requests[0]!.json().messages[0].content, content);
  });

  function checkDigits(upstream: Upstream, isEdited: boolean): void {
    const { body, json } = upstream.requests.at(-1)!;
    for (const text of texts) assert(body.includes(text.replaceAll("SEED", big)), body);
    const { model, temperature, max_tokens, max_completion_tokens, api_key } = json();
    assertEquals([model, temperature, max_tokens, api_key], ["small", undefined, undefined, undefined]);
    assertEquals(max_completion_tokens, isEdited ? 9 : undefined);
  }
});
