/**
 * A stream that breaks: before its first content it goes unnoticed, after it the client keeps what it has and reads
 * that it is not all.
 */
import { assertEquals, assertNotMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { cutAfter, earlyBreaks, errorFirst, lateBreaks } from "../support/_broken_streams.ts";
import { tripped } from "../support/_failing_statuses.ts";
import { after, isOpen, readStream, refusing, soon, stage, type StageOptions } from "../support/_failover.ts";
import { assertMatchesSchema } from "../support/schema.ts";
import { type Behaviour, hang, html200, status, stream, type StreamOptions } from "../support/upstream.ts";

const oneOutcome = { deactivation: { retry_limit: 1 } };
const fromB = stream({ pieces: ["from", " b"] });
describe("a stream that breaks before its first content", () => {
  for (const { name, behaviour, outcome, calls = 3, state = tripped } of earlyBreaks) {
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
    for (const behaviour of [status(500), cutAfter(0, "end"), errorFirst({}), html200()]) {
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

describe("a stream that breaks after its first content", () => {
  const options: StreamOptions = { pieces: ["one", " two"] };
  for (const { name, breaks, pieces = 2 } of lateBreaks) {
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
      assertNotMatch(rest.error!.message, /http:|key-of/);
      assertEquals([response.status, response.headers.get("x-mesh-model")], [200, "a"]);
      assertEquals([scene.calls, scene.states()], [{ a: 2, b: 0 }, { a: tripped, b: "active" }]);
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
    assertEquals([scene.calls, scene.states()], [{ a: 6, b: 0 }, { a: tripped, b: "active" }]);
    assertEquals((await scene.askStream()).text, "from b");
  });
});

describe("a stream that falls silent", () => {
  // heartbeats would begin the response earlier
  const config = { proxy: { heartbeat: "0s" } };
  const noRetry = { config, pool: { ...oneOutcome, retry: { max_attempts: 0 } } };
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
      assertEquals([scene.states(), scene.events.at(-1)], [
        { a: tripped, b: "active" },
        "rotation a>b first_token_timeout",
      ]);
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
      assertEquals([scene.calls, scene.states()], [{ a: 1, b: 0 }, { a: tripped, b: "active" }]);
    });
  }
});
