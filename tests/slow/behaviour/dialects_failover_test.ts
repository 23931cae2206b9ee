/**
 * A pool of three dialects: whichever fails, another dialect takes over, and every vendor's errors are understood.
 */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { getEngine } from "../../../src/engine/get_engine.ts";
import { anthropicError, type Dialect, dialects, googleError, type Json, speaking } from "../../support/_dialects.ts";
import { startDialectProxy, toApiKey } from "../../support/_dialect_proxy.ts";
import type { TestProxy } from "../../support/proxy.ts";
import { assertMatchesSchema } from "../../support/schema.ts";
import { type Behaviour, html200, reset, startUpstream, status, truncatedJson } from "../../support/upstream.ts";

const text = "Hello wörld, how are you?";
const question = "Wie geht's? 🌍";
const ask = { messages: [{ role: "user", content: question }] };
const onlyOnce = { retry: { max_attempts: 0 } };
const busy = anthropicError(529, "overloaded_error", "Overloaded");

/** What can go wrong before the first content. */
const wholeFaults: Record<Dialect, Behaviour[]> = {
  openai: [status(500), html200()],
  anthropic: [busy, truncatedJson()],
  gemini: [googleError(503, "UNAVAILABLE", "The model is overloaded"), reset()],
};
const streamFaults: Record<Dialect, Behaviour[]> = {
  openai: [speaking.openai.respond({ failsAfter: 1 }), speaking.openai.respond({ cut: { after: 1, how: "reset" } })],
  anthropic: [
    speaking.anthropic.respond({ failsAfter: 2 }),
    speaking.anthropic.respond({ cut: { after: 2, how: "end" } }),
  ],
  gemini: [speaking.gemini.respond({ failsAfter: 0 }), speaking.gemini.respond({ cut: { after: 0, how: "end" } })],
};

const orders = dialects.flatMap((first) =>
  dialects.filter((one) => one !== first).map((second) =>
    [first, second, dialects.find((one) => one !== first && one !== second)!] as const
  )
);

/** Two providers that fail and one that answers. */
async function failsOver(order: readonly [Dialect, Dialect, Dialect], place: number, stream: boolean): Promise<void> {
  const [first, second, third] = order;
  const faults = stream ? streamFaults : wholeFaults;
  await using one = await startUpstream(faults[first][place]!);
  await using two = await startUpstream(faults[second][place]!);
  await using three = await startUpstream(speaking[third].respond());
  await using proxy = await startDialectProxy({
    [`of-${first}`]: { dialect: first, url: one.url },
    [`of-${second}`]: { dialect: second, url: two.url },
    [`of-${third}`]: { dialect: third, url: three.url },
  }, { pool: onlyOnce });
  const response = await proxy.chat({ ...ask, stream });
  assertEquals([response.status, response.headers.get("x-mesh-model")], [200, `of-${third}`]);
  assertEquals([response.headers.get("x-mesh-attempts"), response.headers.get("x-mesh-fallbacks")], ["3", "2"]);
  assertEquals(stream ? streamedText(await response.text()) : wholeText(await response.json()), text);
  for (const [place, upstream] of [one, two, three].entries()) {
    assertEquals(upstream.requests.map((request) => speaking[order[place]!].userTexts(request)), [[question]]);
  }
}

function streamedText(body: string): string {
  assert(body.endsWith("data: [DONE]\n\n") && !body.includes('"error"'), body);
  return body.split("\n\n").filter((event) => event.startsWith("data: {"))
    .map((event) => JSON.parse(event.slice(6)).choices[0]?.delta.content ?? "").join("");
}

function wholeText(body: { choices: { message: { content: string } }[] }): string {
  assertMatchesSchema("CreateChatCompletionResponse", body);
  return body.choices[0]!.message.content;
}

describe("In a pool of three dialects another one takes over before the first content", () => {
  for (const order of orders) {
    it(`${order[0]} and ${order[1]} fail, ${order[2]} answers`, async () => {
      for (const stream of [false, true]) {
        for (const place of [0, 1]) await failsOver(order, place, stream);
      }
    });
  }
});

/** A provider of the dialect ahead of a healthy one. */
async function withSecond(
  dialect: Dialect,
  script: Behaviour | Behaviour[],
  body: (proxy: TestProxy, calls: () => number) => Promise<void>,
): Promise<void> {
  await using upstream = await startUpstream(script);
  await using healthy = await startUpstream(speaking.openai.respond());
  await using proxy = await startDialectProxy({
    first: { dialect, url: upstream.url },
    second: { dialect: "openai", url: healthy.url },
  });
  await body(proxy, () => upstream.calls);
}

/** Asks once; who answered. */
async function answerer(proxy: TestProxy): Promise<string | null> {
  const response = await proxy.chat(ask);
  await response.body?.cancel();
  return response.headers.get("x-mesh-model");
}

function readStandby(proxy: TestProxy): unknown {
  const { status, reason, retryAt } = proxy.mesh.poolStatus().chat!.models[0]!;
  const waitMs = retryAt === undefined ? undefined : Date.parse(retryAt) - proxy.clock.now();
  return [status, reason, waitMs];
}

const perMinute = { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [{ quotaId: "PerMinute" }] };
const perDay = { violations: [{ quotaId: "GenerateRequestsPerDayPerProjectPerModel-FreeTier" }] };
const retryIn = (retryDelay: string): Json => ({ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay });
const exhausted = (...details: Json[]) => googleError(429, "RESOURCE_EXHAUSTED", "You exceeded your quota", details);

describe("A vendor's own word for a wait", () => {
  const rows: [name: string, dialect: Dialect, script: Behaviour, waitMs: number][] = [
    ["Google's retryDelay", "gemini", exhausted(perMinute, retryIn("34s")), 34_000],
    ["Google's retryDelay with a fraction", "gemini", exhausted(retryIn("34.074824224s")), 34_075],
    // the clock starts at 16:00 Pacific time
    ["Google's daily quota", "gemini", exhausted(perDay, retryIn("36s")), 8 * 3_600_000],
    [
      "Anthropic's retry-after",
      "anthropic",
      anthropicError(429, "rate_limit_error", "Slow down", { "retry-after": "21" }),
      21_000,
    ],
    [
      "Anthropic's retry-after under an overload",
      "anthropic",
      anthropicError(529, "overloaded_error", "Overloaded", { "retry-after": "22" }),
      22_000,
    ],
  ];
  for (const [name, dialect, script, waitMs] of rows) {
    it(`is honored: ${name}`, () =>
      withSecond(dialect, [script, speaking[dialect].respond()], async (proxy, calls) => {
        assertEquals(await answerer(proxy), "second");
        assertEquals(readStandby(proxy), ["standby", "rate_limited", waitMs]);
        await proxy.clock.advance(waitMs - 1);
        assertEquals([await answerer(proxy), calls()], ["second", 1]);
        await proxy.clock.advance(1);
        assertEquals([await answerer(proxy), calls()], ["first", 2]);
      }));
  }

  it("is waited for when it is short", () =>
    withSecond("gemini", [exhausted(retryIn("0.3s")), speaking.gemini.respond()], async (proxy, calls) => {
      assertEquals([await answerer(proxy), calls(), proxy.clock.sleeps], ["first", 2, [300]]);
    }));
});

describe("An overload without a hint", () => {
  it("is tried again by back-off, then another provider takes over", () =>
    withSecond("anthropic", busy, async (proxy, calls) => {
      assertEquals([await answerer(proxy), calls(), proxy.clock.sleeps], ["second", 3, [250, 500]]);
    }));

  it("that passes is not noticed by the client", () =>
    withSecond("anthropic", [busy, speaking.anthropic.respond()], async (proxy, calls) => {
      assertEquals([await answerer(proxy), calls()], ["first", 2]);
      assertEquals(readStandby(proxy), ["active", undefined, undefined]);
    }));
});

const badKey = googleError(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", [
  { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID", domain: "googleapis.com" },
]);
const lowCredit = "Your credit balance is too low to access the Anthropic API.";

/** Alone in its pool, and with a healthy one behind it; how often it is asked. */
const faults: [name: string, dialect: Dialect, script: Behaviour, alone: [number, string], standby?: string][] = [
  ["Google's API_KEY_INVALID under 400", "gemini", badKey, [502, "upstream_auth_error"]],
  ["Google's 403", "gemini", googleError(403, "PERMISSION_DENIED", "No access"), [502, "upstream_auth_error"]],
  [
    "a region that Google closed",
    "gemini",
    googleError(400, "FAILED_PRECONDITION", "User location is not supported for the API use."),
    [502, "upstream_auth_error"],
  ],
  [
    "Anthropic's 401",
    "anthropic",
    anthropicError(401, "authentication_error", `invalid x-api-key ${toApiKey("first")}`),
    [502, "upstream_auth_error"],
  ],
  [
    "Anthropic's spent credit under 400",
    "anthropic",
    anthropicError(400, "invalid_request_error", lowCredit),
    [429, "insufficient_quota"],
    "quota_exhausted",
  ],
  [
    "a model that Anthropic does not have",
    "anthropic",
    anthropicError(404, "not_found_error", "model: claude-haiku-4-5"),
    [502, "all_attempts_failed"],
    "model_not_found",
  ],
  [
    "a model that Google does not have",
    "gemini",
    googleError(404, "NOT_FOUND", "models/gemini-2.5-flash is not found for API version v1beta"),
    [502, "all_attempts_failed"],
    "model_not_found",
  ],
];

describe("A refusal that is about us goes to another provider at once, and never accuses the client", () => {
  for (const [name, dialect, script, alone, standby] of faults) {
    it(name, async () => {
      await withSecond(dialect, script, async (proxy, calls) => {
        assertEquals([await answerer(proxy), calls(), proxy.clock.sleeps], ["second", 1, []]);
        assertEquals(proxy.mesh.poolStatus().chat!.models[0]!.reason, standby);
      });
      await using upstream = await startUpstream(script);
      await using proxy = await startDialectProxy({ first: { dialect, url: upstream.url } });
      const response = await proxy.chat(ask);
      const { error } = await response.json();
      assertEquals([response.status, error.code, upstream.calls], [...alone, 1]);
      assert(!error.message.includes("key-of"), error.message);
    });
  }
});

describe("A request that every vendor refuses", () => {
  it("gets the first refusal in OpenAI's shape", async () => {
    const field = { fieldViolations: [{ field: "generation_config.temperature", description: "hot" }] };
    await using google = await startUpstream(googleError(400, "INVALID_ARGUMENT", "Invalid value", [field]));
    await using claude = await startUpstream(anthropicError(400, "invalid_request_error", "Too hot"));
    await using proxy = await startDialectProxy({
      first: { dialect: "gemini", url: google.url },
      second: { dialect: "anthropic", url: claude.url },
    });
    const response = await proxy.chat(ask);
    const body = await response.json();
    assertMatchesSchema("ErrorResponse", body);
    const { message, type, param } = body.error;
    assertEquals([response.status, message, type, param], [
      400,
      "Invalid value",
      "invalid_request_error",
      "generation_config.temperature",
    ]);
    assertEquals([google.calls, claude.calls], [1, 1]);
    for (
      const { consecutiveFailures } of getEngine(proxy.mesh).registry.pool("chat")!.members.map(({ state }) => state)
    ) {
      assertEquals(consecutiveFailures, 0);
    }
  });
});
