/**
 * A provider says 200 and then nothing of use, or says nothing at all: connections that break, answers that never
 * come, bodies that are none.
 */
import { assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { after, isOpen, refusing, type Seen, soon, stage } from "../support/_failover.ts";
import {
  type Behaviour,
  completion,
  cutAt,
  emptyBody,
  errorIn200,
  hang,
  hangAfterHeaders,
  html200,
  json,
  ok,
  raw,
  reset,
  type Script,
  status,
  stream,
  truncatedJson,
  whole,
} from "../support/upstream.ts";

/** One way to fail. */
interface Row {
  readonly name: string;
  readonly behaviour: Behaviour;
  readonly outcome: string;
  /** Calls it gets while another provider is up; 3 unless said. */
  readonly calls?: number;
  /** The state of its model in a pool where one failure is enough. */
  readonly state?: string;
  /** What the client reads when there is no other model. */
  readonly alone?: string;
  /** It is unknown whether it was billed. */
  readonly billed?: true;
}

const lie = whole(200, '{"choices":[]}', "application/json", { "content-encoding": "gzip" });
const limited = { outcome: "rate_limited", alone: "429 rate_limit_exceeded" };
const noQuota = {
  outcome: "quota_exhausted",
  calls: 1,
  state: "quota_exhausted for 21600s",
  alone: "429 insufficient_quota",
};
const invalid = { outcome: "invalid_response" };

const rows: readonly Row[] = [
  { name: "a reset at once", behaviour: reset(), outcome: "network", billed: true },
  { name: "a close at once", behaviour: reset("close"), outcome: "network", billed: true },
  { name: "a reset in the head", behaviour: cutAt(ok(), 20), outcome: "network", billed: true },
  { name: "a reset after the head", behaviour: cutAt(ok(), "headers"), outcome: "network" },
  { name: "a close after the head", behaviour: cutAt(ok(), "headers", "close"), outcome: "network" },
  { name: "a reset in the body", behaviour: cutAt(ok(), 200), outcome: "network" },
  { name: "a close in the body", behaviour: cutAt(ok(), 200, "close"), outcome: "network" },
  { name: "a body that says gzip and is none", behaviour: lie, outcome: "network" },
  { name: "no HTTP", behaviour: raw("SSH-2.0-OpenSSH_9.6\r\n"), outcome: "network", billed: true },
  { name: "a web page", behaviour: html200(), ...invalid },
  { name: "a stream nobody asked for", behaviour: stream(), ...invalid },
  { name: "JSON that breaks off", behaviour: truncatedJson(), ...invalid },
  { name: "an empty body", behaviour: emptyBody(), ...invalid },
  { name: "204", behaviour: status(204), ...invalid },
  { name: "null", behaviour: json(null), ...invalid },
  { name: "a list", behaviour: json([]), ...invalid },
  { name: "a text", behaviour: json("Hello"), ...invalid },
  { name: "an object without choices", behaviour: json({}), ...invalid },
  { name: "choices: null", behaviour: json({ choices: null }), ...invalid },
  { name: "choices: []", behaviour: json({ choices: [] }), ...invalid },
  { name: "an error of no kind", behaviour: errorIn200(), outcome: "server" },
  { name: "an error that is a text", behaviour: json({ error: "Overloaded" }), outcome: "server" },
  {
    name: "an error beside choices: null",
    behaviour: json({ error: { message: "No" }, choices: null }),
    outcome: "server",
  },
  {
    name: "an error beside a whole answer",
    behaviour: json({ ...completion({ model: "a" }), error: { message: "The guard tripped" } }),
    outcome: "server",
  },
  { name: "an error with code 502", behaviour: errorIn200({ code: 502 }), outcome: "server" },
  { name: "a rate limit", behaviour: errorIn200({ code: "rate_limit_exceeded" }), ...limited },
  { name: "a rate limit with code 429", behaviour: errorIn200({ code: 429 }), ...limited },
  { name: "no quota", behaviour: errorIn200({ code: "insufficient_quota" }), ...noQuota },
  { name: "no quota with code 402", behaviour: errorIn200({ code: 402 }), ...noQuota },
  {
    name: "a bad key",
    behaviour: errorIn200({ code: "invalid_api_key" }),
    outcome: "auth",
    calls: 1,
    alone: "502 upstream_auth_error",
  },
];

const oneOutcome = { deactivation: { retry_limit: 1 } };
const voted = "retry_limit for 60s";

describe("one provider gives nothing of use, another is up", () => {
  for (const { name, behaviour, outcome, calls = 3, state = voted, billed } of rows) {
    it(`${name}: the other one answers`, async () => {
      await using scene = await stage({ a: behaviour, b: ok({ text: "from b" }) }, { pool: oneOutcome });
      const seen = await scene.ask();
      assertEquals([seen.status, seen.text, seen.route], [200, "from b", `b ${calls + 1}/1`]);
      assertEquals(scene.calls, { a: calls, b: 1 });
      assertEquals(scene.states(), { a: state, b: "active" });
      assertEquals(scene.events.at(-1), `rotation a>b ${outcome}`);
      assertEquals(scene.routing.possibly_billed, billed);
    });
  }
});

describe("the only provider gives nothing of use", () => {
  for (const { name, behaviour, calls = 3, state = voted, alone = "502 all_attempts_failed" } of rows) {
    it(`${name}: ${alone}`, async () => {
      await using scene = await stage({ a: behaviour }, { pool: oneOutcome });
      const seen = await scene.ask();
      assertFailed(seen, alone);
      assertEquals([scene.calls, scene.states(), seen.route], [{ a: calls }, { a: state }, `a ${calls}/1`]);
    });
  }
});

describe("a provider on whose port no server listens", () => {
  it("is left at once for another", async () => {
    await using scene = await stage({ a: refusing, b: ok({ text: "from b" }) }, { pool: oneOutcome });
    const seen = await scene.ask();
    assertEquals([seen.text, scene.clock.sleeps, scene.calls], ["from b", [], { b: 1 }]);
    assertEquals(scene.states(), { a: voted, b: "active" });
    assertEquals(scene.events, ["deactivation a retry_limit", "rotation a>b network"]);
    assertEquals(scene.routing.possibly_billed, undefined);
  });

  it("and there is no other model: tried again after a wait, then 502", async () => {
    await using scene = await stage({ a: refusing }, { pool: oneOutcome });
    assertFailed(await scene.ask(), "502 all_attempts_failed");
    assertEquals([scene.clock.sleeps, scene.states()], [[250, 500], { a: voted }]);
    assertEquals(scene.routing.possibly_billed, undefined);
  });
});

describe("a provider that never answers", () => {
  const silences: readonly [name: string, behaviour: Behaviour][] = [
    ["not a byte", hang()],
    ["the head and no more", hangAfterHeaders()],
    ["half a body", raw('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{"id', "hang")],
  ];
  for (const [name, behaviour] of silences) {
    it(`${name}: after execution.timeout, not a ms before, the other one answers`, async () => {
      const options = { pool: oneOutcome, provider: { execution: { timeout: "301s" } } };
      await using scene = await stage({ a: behaviour, b: ok({ text: "from b" }) }, options);
      const answer = scene.ask();
      const call = await scene.received("a");
      await scene.clock.advance(300_999);
      assertEquals([await isOpen(answer), call.isClosed], [true, false]);
      const seen = await after(scene.clock, 1, answer);
      assertEquals([seen.text, seen.route], ["from b", "b 2/1"]);
      await soon(call.closed); // the call was given up, not left behind
      assertEquals(scene.states(), { a: voted, b: "active" });
      assertEquals(scene.events.at(-1), "rotation a>b timeout");
    });
  }

  it("the limit is 240 s unless configured", async () => {
    await using scene = await stage({ a: hang(), b: ok({ text: "from b" }) });
    const answer = scene.ask();
    await scene.received("a");
    await scene.clock.advance(239_999);
    assertEquals(await isOpen(answer), true);
    assertEquals((await after(scene.clock, 1, answer)).text, "from b");
    assertEquals([scene.calls, scene.routing.possibly_billed], [{ a: 1, b: 1 }, true]);
  });

  it("is asked again where the deadline has room for two more such waits", async () => {
    const options = { pool: oneOutcome, provider: { execution: { timeout: "10s" } } };
    const script: Script = [hang(), ok({ text: "from a, late" })];
    await using scene = await stage({ a: script, b: ok() }, options);
    const answer = scene.ask();
    await scene.received("a");
    const seen = await after(scene.clock, 10_000, answer);
    assertEquals([seen.text, scene.calls, scene.states().a], ["from a, late", { a: 2, b: 0 }, "active"]);
  });

  it("and is alone is asked again all the same, then 502", async () => {
    const options = { pool: oneOutcome, provider: { execution: { timeout: "150s" } } };
    await using scene = await stage({ a: hang() }, options);
    const answer = scene.ask();
    for (const number of [1, 2, 3]) {
      await scene.received("a", number);
      await scene.clock.advance(150_000);
    }
    assertFailed(await soon(answer), "502 all_attempts_failed");
    assertMatch((await answer).error!.message, /\ba \(timeout\)/);
    assertEquals([scene.calls, scene.states()], [{ a: 3 }, { a: voted }]);
  });
});

function assertFailed(seen: Seen, row: string): void {
  assertEquals(`${seen.status} ${seen.error?.code}`, row);
  assertNotMatch(seen.error!.message, /Scripted|Sign in|html|key-of-a|127\.0\.0\.1|http:/);
  if (seen.status === 502) {
    assertMatch(seen.error!.message, /\ba \(/);
    assertEquals(seen.headers.get("x-should-retry"), "false");
  }
}
