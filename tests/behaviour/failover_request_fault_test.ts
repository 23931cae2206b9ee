/**
 * A provider says that the request itself is at fault: others are asked, no failure is counted, and the client reads the
 * first provider's own words when all of them agree.
 */
import { assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { stage } from "../support/_failover.ts";
import { testConfig } from "../support/proxy.ts";
import { assertMatchesSchema } from "../support/schema.ts";
import { type Behaviour, errorIn200, ok, status, stream } from "../support/upstream.ts";

const oneOutcome = { deactivation: { retry_limit: 1 } };
const tooLong = {
  message: "This model's maximum context length is 8192 tokens",
  type: "invalid_request_error",
  param: "messages",
  code: "context_length_exceeded",
};

describe("a fault of the request", () => {
  for (const code of [400, 413, 422]) {
    it(`${code}: another provider takes the request, and the first one is not blamed`, async () => {
      await using scene = await stage({ a: status(code), b: ok({ text: "from b" }) }, { pool: oneOutcome });
      const seen = await scene.ask();
      assertEquals([seen.status, seen.text, seen.route], [200, "from b", "b 2/1"]);
      assertEquals([scene.calls, scene.states()], [{ a: 1, b: 1 }, { a: "active", b: "active" }]);
      assertEquals(scene.events, ["rotation a>b request"]);
    });

    it(`${code} from all: the client reads the first one's words, and all stay active`, async () => {
      const other = status(code, { error: { message: "The words of b" } });
      await using scene = await stage({ a: status(code, { error: tooLong }), b: other }, { pool: oneOutcome });
      const seen = await scene.ask();
      assertEquals([seen.status, seen.error], [code, tooLong]);
      assertEquals(seen.headers.get("retry-after"), null);
      assertEquals([scene.calls, scene.states()], [{ a: 1, b: 1 }, { a: "active", b: "active" }]);
      assertEquals(scene.events, ["rotation a>b request"]);
    });

    it(`${code} before a stream: the same`, async () => {
      await using scene = await stage({ a: status(code, { error: tooLong }) }, { pool: oneOutcome });
      const response = await scene.proxy.chat({ stream: true });
      assertEquals([response.status, await response.json()], [code, { error: tooLong }]);
      assertEquals([scene.calls, scene.states()], [{ a: 1 }, { a: "active" }]);
    });
  }

  it("400, 413, 422 from three: the first one's status counts", async () => {
    const cast = { a: status(422, { error: tooLong }), b: status(400), c: status(413) };
    await using scene = await stage(cast, { pool: oneOutcome });
    const seen = await scene.ask();
    assertEquals([seen.status, seen.error], [422, tooLong]);
    assertEquals(scene.calls, { a: 1, b: 1, c: 1 });
  });

  it("is carried to three models at most", async () => {
    const cast = { a: status(400), b: status(400), c: status(400), d: ok() };
    await using scene = await stage(cast, { pool: oneOutcome });
    assertEquals((await scene.ask()).status, 400);
    assertEquals(scene.calls, { a: 1, b: 1, c: 1, d: 0 });
  });

  it("other failures do not count among those three", async () => {
    const cast = { a: status(400), b: status(500), c: status(400), d: ok({ text: "from d" }) };
    await using scene = await stage(cast, { pool: { ...oneOutcome, retry: { max_attempts: 0 } } });
    assertEquals((await scene.ask()).text, "from d");
    assertEquals(scene.calls, { a: 1, b: 1, c: 1, d: 1 });
  });

  const shapes: readonly [name: string, behaviour: Behaviour, message: string][] = [
    ["{error: text}", status(400, { json: { error: "Too long" } }), "Too long"],
    ["{message}", status(400, { json: { message: "Too long", type: "BadRequest" } }), "Too long"],
    ["{detail}", status(400, { json: { detail: "Too long" } }), "Too long"],
    ["a page", status(400, { text: "<html><h1>Bad  Request</h1></html>" }), "Bad Request"],
    ["text", status(400, { text: "Too long" }), "Too long"],
    ["nothing", status(400, { text: "" }), "HTTP status 400"],
  ];
  for (const [name, behaviour, message] of shapes) {
    it(`reported as ${name}: the client gets OpenAI's shape`, async () => {
      await using scene = await stage({ a: behaviour });
      const seen = await scene.ask();
      assertMatchesSchema("ErrorResponse", seen.body);
      assertEquals([seen.status, seen.error?.message], [400, message]);
      assertEquals(seen.headers.get("x-should-retry"), "false");
    });
  }

  const mixed: readonly [name: string, other: Behaviour, calls: number][] = [
    ["500", status(500), 3],
    ["401", status(401), 1],
    ["404", status(404), 1],
    ["429", status(429), 3],
    ["402", status(402), 1],
  ];
  for (const [name, other, calls] of mixed) {
    it(`and a ${name} of another provider, in either order: 502, no words of either`, async () => {
      for (const cast of [{ a: status(400), b: other }, { b: other, a: status(400) }]) {
        await using scene = await stage(cast);
        const seen = await scene.ask();
        assertEquals([seen.status, seen.error?.code, seen.error?.type], [502, "all_attempts_failed", "server_error"]);
        assertEquals(seen.headers.get("x-should-retry"), name === "429" ? null : "false");
        assertMatch(seen.error!.message, /\ba \(request, 400, 127\.0\.0\.1:\d+\)/);
        assertNotMatch(seen.error!.message, /Scripted/);
        assertEquals([scene.calls.a, scene.calls.b], [1, calls]);
      }
    });
  }

  it("401 and 403 of all never pass through: they would accuse the client", async () => {
    await using scene = await stage({ a: status(401), b: status(403) });
    const seen = await scene.ask();
    assertEquals([seen.status, seen.error?.code], [502, "upstream_auth_error"]);
    assertEquals(seen.headers.get("www-authenticate"), null);
    assertNotMatch(seen.error!.message, /Scripted/);
  });

  it("404 of all never passes through: the pool's name is right", async () => {
    await using scene = await stage({ a: status(404), b: status(404, { error: { code: "model_not_found" } }) });
    const seen = await scene.ask();
    assertEquals([seen.status, seen.error?.code], [502, "all_attempts_failed"]);
  });

  it("400 that means a bad key is the provider's fault: blamed, and not shown", async () => {
    await using scene = await stage({ a: status(400, { error: { code: "invalid_api_key" } }) }, { pool: oneOutcome });
    const seen = await scene.ask();
    assertEquals([seen.status, seen.error?.code], [502, "upstream_auth_error"]);
    assertEquals(scene.states(), { a: "retry_limit for 60s" });
  });
});

describe("a request that exceeds the context of a model", () => {
  /** A proxy over models with these context windows; undefined is unknown. */
  const over = (cast: Record<string, Behaviour>, windows: Record<string, number | undefined>) =>
    stage(cast, (urls) => {
      const { models: _, ...config } = testConfig({ upstreams: urls }) as { models: unknown };
      const models = Object.entries(windows).map(([name, context_window]) => [
        name,
        {
          provider: name,
          capabilities: ["chat-completion"],
          ...(context_window && { constraints: { context_window } }),
        },
      ]);
      return { config: { ...config, models: Object.fromEntries(models) } };
    });
  const full = status(400, { error: tooLong });
  const from = (name: string) => ok({ text: `from ${name}` });

  it("is tried once, then goes to one with more room, past those that have no more", async () => {
    const cast = { a: full, b: from("b"), c: from("c"), d: from("d") };
    await using scene = await over(cast, { a: 8192, b: 4096, c: 8192, d: 32_768 });
    const seen = await scene.ask();
    assertEquals([seen.text, seen.route, scene.calls], ["from d", "d 2/1", { a: 1, b: 0, c: 0, d: 1 }]);
    assertEquals(scene.states().a, "active");
    assertEquals((await scene.askStream()).route, "d 2/1");
  });

  it("goes to one whose context is unknown, which may have more", async () => {
    await using scene = await over({ a: full, b: from("b"), c: from("c") }, { a: 8192, b: 4096, c: undefined });
    assertEquals([(await scene.ask()).text, scene.calls], ["from c", { a: 1, b: 0, c: 1 }]);
  });

  it("goes to one with as much, which may count fewer tokens, if there is none with more", async () => {
    await using scene = await over({ a: full, b: from("b"), c: from("c") }, { a: 8192, b: 4096, c: 8192 });
    assertEquals([(await scene.ask()).text, scene.calls], ["from c", { a: 1, b: 0, c: 1 }]);
  });

  it("is refused with the words of the provider if all others have less", async () => {
    await using scene = await over({ a: full, b: from("b") }, { a: 8192, b: 4096 });
    const seen = await scene.ask();
    assertEquals([seen.status, seen.error, scene.calls], [400, tooLong, { a: 1, b: 0 }]);
  });

  it("goes on as before where the exceeded context is unknown", async () => {
    await using scene = await over({ a: full, b: from("b") }, { a: undefined, b: 4096 });
    assertEquals((await scene.ask()).text, "from b");
  });
});

describe("a fault of the request under status 200", () => {
  const said = { ...tooLong, code: "context_length_exceeded" };
  it("another provider takes the request", async () => {
    await using scene = await stage({ a: errorIn200(said), b: ok({ text: "from b" }) }, { pool: oneOutcome });
    assertEquals((await scene.ask()).text, "from b");
    assertEquals(scene.calls, { a: 1, b: 1 });
  });

  it("from all: never a success of 200, but 400 and the words", async () => {
    await using scene = await stage({ a: errorIn200(said) }, { pool: oneOutcome });
    const seen = await scene.ask();
    assertEquals([seen.status, seen.error], [400, said]);
  });

  it("with a numeric code: that status and the words", async () => {
    await using scene = await stage({ a: errorIn200({ ...said, code: 413 }) }, { pool: oneOutcome });
    const seen = await scene.ask();
    assertEquals([seen.status, seen.error?.message], [413, said.message]);
  });

  it("as the first event of a stream: 400 and the words", async () => {
    await using scene = await stage({ a: stream({ error: { after: "headers", error: said } }) }, { pool: oneOutcome });
    const response = await scene.proxy.chat({ stream: true });
    assertEquals([response.status, await response.json()], [400, { error: said }]);
  });
});
