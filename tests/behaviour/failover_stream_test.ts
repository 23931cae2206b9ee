/**
 * A stream that breaks: before its first content it goes unnoticed, after it the client keeps what it has and reads
 * that it is not all.
 */
import { assertEquals, assertNotMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { after, isOpen, readStream, refusing, soon, stage, type StageOptions } from "../support/_failover.ts";
import { assertMatchesSchema } from "../support/schema.ts";
import {
  type Behaviour,
  errorIn200,
  hang,
  headOf,
  html200,
  raw,
  reset,
  status,
  stream,
  type StreamOptions,
  truncatedJson,
} from "../support/upstream.ts";

const oneOutcome = { deactivation: { retry_limit: 1 } };
const voted = "retry_limit for 60s";
const fromB = stream({ pieces: ["from", " b"] });
const brokenJson = 'data: {"choices":[{"del';

/** One way to break before the first content. */
interface Early {
  readonly name: string;
  readonly behaviour: Behaviour | typeof refusing;
  readonly outcome: string;
  /** Calls it gets; 3 unless said. */
  readonly calls?: number;
  readonly state?: string;
}

const sse = (text: string) => raw(headOf(200, { "content-type": "text/event-stream" }) + text);
const cut = (after: "headers" | number, how: "end" | "close" | "reset", options: StreamOptions = {}) =>
  stream({ ...options, cut: { after, how } });
const errorFirst = (error: Record<string, unknown>, after: "headers" | 0 = "headers") =>
  stream({ error: { after, error } });
const contentless = 'data: {"choices":[{"index":0,"delta":{"role":"assistant"},"finish_reason":null}]}\n\n';

const early: readonly Early[] = [
  { name: "500", behaviour: status(500), outcome: "server" },
  { name: "401", behaviour: status(401), outcome: "auth", calls: 1 },
  { name: "nobody who listens", behaviour: refusing, outcome: "network", calls: 1 },
  { name: "a reset at once", behaviour: reset(), outcome: "network" },
  { name: "the head, then a clean end", behaviour: cut("headers", "end"), outcome: "invalid_response" },
  { name: "the head, then a close", behaviour: cut("headers", "close"), outcome: "network" },
  { name: "the head, then a reset", behaviour: cut("headers", "reset"), outcome: "network" },
  { name: "the role, then a clean end", behaviour: cut(0, "end"), outcome: "invalid_response" },
  { name: "the role, then a close", behaviour: cut(0, "close"), outcome: "network" },
  { name: "the role, then a reset", behaviour: cut(0, "reset"), outcome: "network" },
  { name: "comments, then a clean end", behaviour: sse(": ping\n\n".repeat(9)), outcome: "invalid_response" },
  { name: "[DONE] alone", behaviour: sse("data: [DONE]\n\n"), outcome: "invalid_response" },
  { name: "60 KiB without content", behaviour: sse(contentless.repeat(700)), outcome: "invalid_response" },
  { name: "an error first", behaviour: errorFirst({}), outcome: "server" },
  { name: "an error after the role", behaviour: errorFirst({}, 0), outcome: "server" },
  { name: "an overload first", behaviour: errorFirst({ code: 529 }), outcome: "server" },
  { name: "a rate limit first", behaviour: errorFirst({ code: "rate_limit_exceeded" }), outcome: "rate_limited" },
  {
    name: "no quota first",
    behaviour: errorFirst({ code: "insufficient_quota" }),
    outcome: "quota_exhausted",
    calls: 1,
    state: "quota_exhausted for 21600s",
  },
  { name: "a bad key first", behaviour: errorFirst({ code: "invalid_api_key" }), outcome: "auth", calls: 1 },
  {
    name: "broken JSON first",
    behaviour: stream({ garbage: { after: "headers", text: brokenJson } }),
    outcome: "invalid_response",
  },
  {
    name: "broken JSON after the role",
    behaviour: stream({ garbage: { after: 0, text: brokenJson } }),
    outcome: "invalid_response",
  },
  {
    name: "an event named error",
    behaviour: sse('event: error\ndata: {"message":"Overloaded"}\n\ndata: [DONE]\n\n'),
    outcome: "server",
  },
  { name: "data: null", behaviour: sse("data: null\n\n"), outcome: "invalid_response" },
  { name: "a web page", behaviour: html200(), outcome: "invalid_response" },
  { name: "JSON that breaks off", behaviour: truncatedJson(), outcome: "invalid_response" },
  { name: "JSON that is an error", behaviour: errorIn200(), outcome: "server" },
];

describe("a stream that breaks before its first content", () => {
  for (const { name, behaviour, outcome, calls = 3, state = voted } of early) {
    it(`${name}: the client reads the other provider's stream and nothing else`, async () => {
      await using scene = await stage({ a: behaviour, b: fromB }, { pool: oneOutcome });
      const seen = await scene.askStream();
      assertEquals([seen.status, seen.text, seen.done, seen.last], [200, "from b", 1, "done"]);
      assertEquals(seen.chunks.map((chunk) => (chunk as unknown as { model: string }).model), Array(4).fill("b"));
      assertEquals(seen.route, `b ${calls + 1}/1`);
      assertEquals(scene.calls, behaviour === refusing ? { b: 1 } : { a: calls, b: 1 });
      assertEquals([scene.states(), scene.events.at(-1)], [{ a: state, b: "active" }, `rotation a>b ${outcome}`]);
      assertEquals([scene.routing.delivery, scene.routing.model], ["stream", "b"]);
    });
  }

  it("without another model: a status, not a stream", async () => {
    for (const behaviour of [status(500), cut(0, "end"), errorFirst({}), html200()]) {
      await using scene = await stage({ a: behaviour });
      const response = await scene.proxy.chat({ stream: true });
      const body = await response.json();
      assertMatchesSchema("ErrorResponse", body);
      assertEquals([response.status, body.error.code], [502, "all_attempts_failed"]);
      assertEquals(response.headers.get("content-type"), "application/json");
      assertNotMatch(body.error.message, /Scripted|Sign in/);
    }
  });
});

/** One way to break after the first content: the piece "one" and, unless said, " two". */
interface Late {
  readonly name: string;
  readonly breaks: StreamOptions;
  readonly pieces?: 1;
}

const late: readonly Late[] = [
  ...(["end", "close", "reset"] as const).flatMap((how): Late[] => [
    { name: `${how} after the first piece`, breaks: { cut: { after: 1, how } }, pieces: 1 },
    { name: `${how} after the second piece`, breaks: { cut: { after: 2, how } } },
  ]),
  { name: "an error after the first piece", breaks: { error: { after: 1 } }, pieces: 1 },
  { name: "a rate limit after the second piece", breaks: { error: { after: 2, error: { code: 429 } } } },
  {
    name: "an event named error after the first piece",
    breaks: { garbage: { after: 1, text: 'event: error\ndata: {"message":"Overloaded"}' } },
    pieces: 1,
  },
  { name: "broken JSON after the first piece", breaks: { garbage: { after: 1, text: brokenJson } }, pieces: 1 },
  { name: "broken JSON after the second piece", breaks: { garbage: { after: 2, text: brokenJson } } },
  { name: "data: null after the second piece", breaks: { garbage: { after: 2, text: "data: null" } } },
  { name: "no finish reason and no [DONE]", breaks: { finishReason: null, done: false, usage: null } },
];

describe("a stream that breaks after its first content", () => {
  const options: StreamOptions = { pieces: ["one", " two"] };
  for (const { name, breaks, pieces = 2 } of late) {
    it(`${name}: what was sent stays as it was, then one error, no [DONE], and no other model is asked`, async () => {
      await using scene = await stage({ a: stream(options), b: fromB }, { pool: oneOutcome });
      const whole = (await (await scene.proxy.chat({ stream: true })).text()).split(/(?<=\n\n)/);
      scene.upstreams.a!.follow(stream({ ...options, ...breaks }));
      const response = await scene.proxy.chat({ stream: true });
      const text = await response.text();
      const prefix = whole.slice(0, 1 + pieces).join("");
      assertEquals(text.slice(0, prefix.length), prefix);
      const rest = readStream(text.slice(prefix.length));
      assertEquals([rest.chunks, rest.done, rest.last], [[], 0, "error"]);
      assertEquals([rest.error?.type, rest.error?.code], ["server_error", "stream_interrupted"]);
      assertNotMatch(rest.error!.message, /127\.0\.0\.1|key-of/);
      assertEquals([response.status, response.headers.get("x-mesh-model")], [200, "a"]);
      assertEquals([scene.calls, scene.states()], [{ a: 2, b: 0 }, { a: voted, b: "active" }]);
      assertEquals(scene.events, ["deactivation a retry_limit"]);
    });
  }

  it("is one failure each: the third in a row opens the breaker, a complete one in between starts anew", async () => {
    const broken = stream({ cut: { after: 1, how: "end" } });
    const script = [broken, broken, stream(), broken, broken, broken];
    await using scene = await stage({ a: script, b: fromB });
    for (let count = 0; count < 5; count++) await scene.askStream();
    assertEquals(scene.states(), { a: "active", b: "active" });
    await scene.askStream();
    assertEquals([scene.calls, scene.states()], [{ a: 6, b: 0 }, { a: voted, b: "active" }]);
    assertEquals((await scene.askStream()).text, "from b");
  });
});

describe("a stream that falls silent", () => {
  const noRetry = { pool: { ...oneOutcome, retry: { max_attempts: 0 } } };
  const silent: readonly [name: string, behaviour: Behaviour][] = [
    ["before its head", hang()],
    ["after its head", stream({ cut: { after: "headers", how: "hang" } })],
    ["after the role", stream({ cut: { after: 0, how: "hang" } })],
  ];
  for (const [name, behaviour] of silent) {
    it(`${name}: after 60 s, not a ms before, another provider's stream comes`, async () => {
      await using scene = await stage({ a: behaviour, b: fromB }, noRetry);
      const answer = scene.askStream();
      const call = await scene.received("a");
      await isOpen(answer); // the head arrives
      await scene.clock.advance(59_999);
      assertEquals([await isOpen(answer), call.isClosed], [true, false]);
      const seen = await after(scene.clock, 1, answer);
      assertEquals([seen.text, seen.last, seen.route], ["from b", "done", "b 2/1"]);
      await soon(call.closed);
      assertEquals([scene.states(), scene.events.at(-1)], [{ a: voted, b: "active" }, "rotation a>b timeout"]);
    });
  }

  const midway = stream({ cut: { after: 1, how: "hang" } });
  const limits: readonly [name: string, options: StageOptions, ms: number][] = [
    ["60 s", noRetry, 60_000],
    ["execution.timeout, where there is one", { ...noRetry, provider: { execution: { timeout: "10s" } } }, 10_000],
  ];
  for (const [name, options, ms] of limits) {
    it(`after content: after ${name}, the client gets the error and the provider's call ends`, async () => {
      await using scene = await stage({ a: midway, b: fromB }, options);
      const response = await scene.proxy.chat({ stream: true }); // with its head comes the first piece
      const call = await scene.received("a");
      const text = response.text();
      assertEquals([await isOpen(text), call.isClosed], [true, false]);
      await scene.clock.advance(ms - 1);
      assertEquals([await isOpen(text), call.isClosed], [true, false]);
      const seen = readStream(await after(scene.clock, 1, text));
      assertEquals([seen.text, seen.done, seen.error?.code], ["Hello", 0, "stream_interrupted"]);
      await soon(call.closed);
      assertEquals([scene.calls, scene.states()], [{ a: 1, b: 0 }, { a: voted, b: "active" }]);
    });
  }
});
