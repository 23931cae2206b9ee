/** What answers say of their vendor's limits takes headroom away and gives it back; no model changes its state for it. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type Stage, stage } from "../support/_failover.ts";
import { tuned } from "../support/_tuned.ts";
import { ok, type ResponseHeaders, type Script, status, stream } from "../support/upstream.ts";

const b = ok({ text: "from b" });
const from = (headers: ResponseHeaders) => ok({ text: "from a", headers });
const unlimited = from({});
const noRetry = { retry: { max_attempts: 0 } };

/** Spent, and whole again after 30 s: the stage begins at 18:00:00 UTC. */
const spent: Readonly<Record<string, Record<string, string>>> = {
  "x-ratelimit-*-requests": {
    "x-ratelimit-limit-requests": "100",
    "x-ratelimit-remaining-requests": "0",
    "x-ratelimit-reset-requests": "30s",
  },
  "x-ratelimit-*-tokens": {
    "x-ratelimit-limit-tokens": "9000",
    "x-ratelimit-remaining-tokens": "3",
    "x-ratelimit-reset-tokens": "0m30s",
  },
  "anthropic-ratelimit-requests-*": {
    "anthropic-ratelimit-requests-limit": "50",
    "anthropic-ratelimit-requests-remaining": "0",
    "anthropic-ratelimit-requests-reset": "2026-01-01T18:00:30Z",
  },
  "anthropic-ratelimit-output-tokens-*": {
    "anthropic-ratelimit-requests-limit": "50",
    "anthropic-ratelimit-requests-remaining": "49",
    "anthropic-ratelimit-requests-reset": "2026-01-01T18:00:01Z",
    "anthropic-ratelimit-output-tokens-limit": "8000",
    "anthropic-ratelimit-output-tokens-remaining": "0",
    "anthropic-ratelimit-output-tokens-reset": "2026-01-01T18:00:30Z",
  },
  "ratelimit (structured)": {
    "ratelimit": '"default";r=0;t=30',
    "ratelimit-policy": '"default";q=100;w=60',
  },
  "ratelimit-* (older drafts)": { "ratelimit-limit": "100", "ratelimit-remaining": "0", "ratelimit-reset": "30" },
  "x-ratelimit-* (plain)": {
    "x-ratelimit-limit": "100",
    "x-ratelimit-remaining": "0",
    "x-ratelimit-reset": "1767290430",
  },
};

/** Who serves the next request. */
async function next(scene: Stage): Promise<string> {
  return (await scene.ask()).text ?? "nobody";
}

describe("headers of a response", () => {
  for (const [family, headers] of Object.entries(spent)) {
    it(`${family}: nothing left, until it is said to come back`, async () => {
      const script: Script = [from(headers), unlimited];
      await using scene = await stage({ a: script, b });
      assertEquals([await next(scene), await next(scene)], ["from a", "from b"]);
      await scene.clock.advance(29_000);
      assertEquals(await next(scene), "from b");
      await scene.clock.advance(1_000);
      assertEquals(await next(scene), "from a");
      assertEquals([scene.events, scene.states()], [[], { a: "active", b: "active" }]);
    });
  }

  const pastResets: Readonly<Record<string, string>> = {
    "x-ratelimit-reset-requests": "0s",
    "x-ratelimit-reset-tokens": "0",
    "anthropic-ratelimit-requests-reset": "2026-01-01T17:59:59Z",
    "anthropic-ratelimit-output-tokens-reset": "2026-01-01T17:59:59Z",
    "ratelimit": '"default";r=0;t=0',
    "ratelimit-reset": "0",
    "x-ratelimit-reset": "1767290390",
  };
  for (const [family, headers] of Object.entries(spent)) {
    it(`${family}: a reset of 0, or in the past, is now`, async () => {
      const over = Object.entries(headers).map(([name, value]) => [name, pastResets[name] ?? value]);
      await using scene = await stage({ a: [from(Object.fromEntries(over)), unlimited] });
      assertEquals([await next(scene), await next(scene)], ["from a", "from a"]);
    });
  }

  it("take away headroom for 60 s when they do not say for how long", async () => {
    await using scene = await stage({ a: [from({ "x-ratelimit-remaining-requests": "0" }), unlimited], b });
    assertEquals([await next(scene), await next(scene)], ["from a", "from b"]);
    await scene.clock.advance(59_000);
    assertEquals(await next(scene), "from b");
    await scene.clock.advance(1_000);
    assertEquals(await next(scene), "from a");
  });

  it("let through as many as are left, at once too", async () => {
    const headers = { "x-ratelimit-limit-requests": "100", "x-ratelimit-remaining-requests": "4" };
    await using scene = await stage({ a: [from(headers), unlimited], b });
    await next(scene);
    await Promise.all(Array.from({ length: 20 }, () => next(scene)));
    assertEquals(scene.calls, { a: 1 + 4, b: 16 });
  });

  it("give headroom back before its time when a later response says so", async () => {
    const left = (count: number) =>
      from({
        "x-ratelimit-limit-requests": "100",
        "x-ratelimit-remaining-requests": String(count),
        "x-ratelimit-reset-requests": "60s",
      });
    await using scene = await stage({ a: [left(1), left(50), unlimited], b });
    assertEquals([await next(scene), await next(scene)], ["from a", "from a"]);
    assertEquals(await next(scene), "from a");
  });

  it("override what is declared, in both directions", async () => {
    const roomy = {
      "x-ratelimit-limit-requests": "100",
      "x-ratelimit-remaining-requests": "90",
      "x-ratelimit-reset-requests": "60s",
    };
    await using more = await stage({ a: from(roomy), b }, tuned({ models: { a: { limits: { rpm: 2 } } } }));
    const tight = { ...roomy, "x-ratelimit-limit-requests": "3", "x-ratelimit-remaining-requests": "0" };
    await using less = await stage({ a: from(tight), b }, tuned({ models: { a: { limits: { rpm: 1000 } } } }));
    for (let turn = 0; turn < 5; turn++) assertEquals(await next(more), "from a");
    assertEquals([await next(less), await next(less)], ["from a", "from b"]);
  });

  it("of a failure count like those of a response", async () => {
    const headers = spent["x-ratelimit-*-requests"]!;
    await using scene = await stage({ a: [status(500, { headers }), unlimited], b }, { pool: noRetry });
    assertEquals([await next(scene), await next(scene)], ["from b", "from b"]);
    await scene.clock.advance(30_000);
    assertEquals(await next(scene), "from a");
  });

  it("of a stream count from its first byte", async () => {
    const headers = spent["x-ratelimit-*-requests"]!;
    await using scene = await stage({ a: [stream({ headers, cut: { after: 1, how: "hang" } }), unlimited], b });
    const open = await scene.proxy.chat({ stream: true });
    assertEquals(await next(scene), "from b");
    await open.body!.cancel();
  });

  it("that make no sense change nothing", async () => {
    const senseless = { "x-ratelimit-limit-requests": "0", "x-ratelimit-remaining-requests": "0" };
    await using scene = await stage({
      a: [from(senseless), from({ "x-ratelimit-remaining-requests": "-1" }), unlimited],
      b,
    });
    for (let turn = 0; turn < 3; turn++) assertEquals(await next(scene), "from a");
  });

  it("of the only model make the proxy refuse, until it is said to come back", async () => {
    await using scene = await stage({ a: [from(spent["x-ratelimit-*-requests"]!), unlimited] });
    await next(scene);
    const { status: code, error, headers } = await scene.ask();
    assertEquals([code, error!.code, headers.get("retry-after")], [429, "rate_limit_exceeded", "30"]);
    assertEquals([headers.get("retry-after-ms"), headers.get("x-should-retry")], ["30000", null]);
    assertEquals(scene.calls, { a: 1 });
    await scene.clock.advance(30_000);
    assertEquals(await next(scene), "from a");
    assert(scene.events.length === 0, scene.events.join());
  });

  it("of one model say nothing of another of the same provider", async () => {
    const models = ["a", "a2"];
    const script: Script = ({ json }) =>
      (json() as { model: string }).model === "a" ? from(spent["x-ratelimit-*-requests"]!) : ok({ text: "from a2" });
    await using scene = await stage(
      { a: script },
      tuned({
        config: {
          models: Object.fromEntries(
            models.map((name) => [name, { provider: "a", capabilities: ["chat-completion"] }]),
          ),
          pools: { chat: { models, strategy: "priority", model_priority: models } },
        },
      }),
    );
    assertEquals([await next(scene), await next(scene), await next(scene)], ["from a", "from a2", "from a2"]);
  });
});
