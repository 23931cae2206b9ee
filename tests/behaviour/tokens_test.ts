/** Tokens in place of keys: `auth.method: oauth`. */
import { assert, assertEquals, assertFalse } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { create } from "../../mod.ts";
import { serve } from "../../proxy.ts";
import { after, behind } from "../support/_failover.ts";
import { getText } from "../support/_library.ts";
import {
  cast,
  client,
  guarded,
  guardedCast,
  listTraces,
  startTokenEndpoint,
  tokenAt,
} from "../support/_token_endpoint.ts";
import { assertInStandby, readModelStatus, scenery } from "../support/_transitions.ts";
import { Gate, hang, json, ok, type Script, startUpstream, status, stream } from "../support/upstream.ts";

const hourMs = 3_600_000;

describe("client credentials", () => {
  it("fetch a token, which goes out as Authorization: Bearer", async () => {
    await using endpoint = await startTokenEndpoint();
    await using scene = await cast({ token_url: endpoint.url, ...client, scope: "one two" }, ok({ text: "from a" }));
    assertEquals([(await scene.ask()).route, endpoint.calls], ["a 1/0", 1]);
    assertEquals(endpoint.forms, [{ grant_type: "client_credentials", ...client, scope: "one two" }]);
    const { headers, method } = await endpoint.received(1);
    assertEquals([method, headers["content-type"]], ["POST", "application/x-www-form-urlencoded"]);
    assertEquals(scene.upstreams.a!.requests[0]!.headers.authorization, `Bearer ${tokenAt(1)}`);
  });

  it("take the place of the header that a vendor has for keys", async () => {
    await using endpoint = await startTokenEndpoint();
    for (const connector of ["google.gemini.v1", "anthropic.claude.v1"]) {
      await using scene = await cast({ token_url: endpoint.url, ...client }, status(500), { provider: { connector } });
      await scene.ask();
      const { headers } = scene.upstreams.a!.requests[0]!;
      assertEquals(
        [headers.authorization, headers["x-goog-api-key"], headers["x-api-key"]],
        [`Bearer ${endpoint.token}`, undefined, undefined],
      );
    }
  });

  it("of a provider that is added later", async () => {
    await using endpoint = await startTokenEndpoint();
    await using scene = await scenery({ a: guarded(() => endpoint), b: ok() }, { models: { b: "b" } });
    await scene.proxy.mesh.addProvider({
      id: "late",
      connector: "openai.compatible.v1",
      base_url: scene.upstreams.a!.url,
      auth: { method: "oauth", token_url: endpoint.url, ...client },
      models: { late: { capabilities: ["chat-completion"] } },
    });
    assertEquals((await scene.ask({ model: "late" })).route, "late 1/0");
  });

  it("serve streams", async () => {
    await using endpoint = await startTokenEndpoint();
    await using scene = await cast({ token_url: endpoint.url, ...client }, stream({ text: "streamed" }));
    assertEquals((await scene.askStream()).text, "streamed");
    assertEquals(scene.upstreams.a!.requests[0]!.headers.authorization, `Bearer ${tokenAt(1)}`);
  });
});

describe("a token", () => {
  it("is kept until 60 s before its end", async () => {
    await using endpoint = await startTokenEndpoint();
    await using scene = await guardedCast(endpoint);
    await scene.ask();
    await scene.clock.advance(hourMs - 60_001);
    await scene.ask();
    assertEquals(endpoint.calls, 1);
    await scene.clock.advance(1);
    assertEquals([(await scene.ask()).route, endpoint.calls], ["a 1/0", 2]);
  });

  it("without an end is kept until it is refused", async () => {
    await using endpoint = await startTokenEndpoint({ expires_in: undefined });
    await using scene = await guardedCast(endpoint);
    await scene.ask();
    await scene.clock.advance(30 * 24 * hourMs);
    await scene.ask();
    assertEquals(endpoint.calls, 1);
  });

  it("is fetched once for all who wait", async () => {
    await using endpoint = await startTokenEndpoint();
    await using scene = await guardedCast(endpoint);
    const routes = await Promise.all(Array.from({ length: 20 }, async () => (await scene.ask()).route));
    assertEquals([new Set(routes), endpoint.calls], [new Set(["a 1/0"]), 1]);
  });

  it("that one request waits for and leaves is fetched for the others all the same", async () => {
    await using endpoint = await startTokenEndpoint();
    await using scene = await guardedCast(endpoint);
    const leaving = new AbortController();
    const left = scene.ask({}, { signal: leaving.signal }).catch(() => "left");
    await endpoint.received(1);
    const other = scene.ask();
    leaving.abort();
    assertEquals([await left, (await other).route, endpoint.calls], ["left", "a 1/0", 1]);
  });

  it("that is refused is replaced once, for all at once, and no failure of the model is counted", async () => {
    await using endpoint = await startTokenEndpoint();
    const gate = new Gate();
    const all = guarded(() => ({ token: tokenAt(2) })); // the vendor took the first one back
    await using scene = await cast({ token_url: endpoint.url, ...client }, (request) => behind(gate, all(request)));
    const asked = Promise.all(Array.from({ length: 5 }, async () => (await scene.ask()).route));
    await gate.reached(5); // all of them with the first one
    gate.openAll();
    assertEquals([new Set(await asked), endpoint.calls], [new Set(["a 2/0"]), 2]);
    assertEquals([readModelStatus(scene), scene.events], [{ status: "active" }, []]);
  });

  it("that is refused although it is new counts as refused: the next model is asked", async () => {
    await using endpoint = await startTokenEndpoint();
    const pool = { provider_deactivation: "on_auth_failure" };
    await using scene = await cast({ token_url: endpoint.url, ...client }, status(401), { pool });
    assertEquals([(await scene.ask()).route, endpoint.calls], ["b 3/1", 2]);
    assertInStandby(scene, "provider_auth_failure", 60);
  });
});

describe("a refresh token", () => {
  it("is what a token is asked for with; a new one takes its place", async () => {
    const next = { refresh_token: "canary-refresh-2-0123456789" };
    await using endpoint = await startTokenEndpoint(next);
    const refresh_token = "canary-refresh-1-0123456789";
    await using scene = await cast({ token_url: endpoint.url, refresh_token, client_id: "the-client" }, ok());
    await scene.ask();
    await scene.clock.advance(hourMs);
    await scene.ask();
    const form = { grant_type: "refresh_token", client_id: "the-client" };
    assertEquals(endpoint.forms, [{ ...form, refresh_token }, { ...form, ...next }]);
  });
});

describe("a token endpoint that fails", () => {
  it("with 5xx is asked again by the next try", async () => {
    await using endpoint = await startTokenEndpoint();
    endpoint.follow([status(503), json({ access_token: tokenAt(1), expires_in: 3600 })]);
    await using scene = await cast({ token_url: endpoint.url, ...client }, ok({ text: "from a" }), {
      pool: { retry: { max_attempts: 1 } },
    });
    assertEquals([(await scene.ask()).route, endpoint.calls, scene.clock.sleeps.length], ["a 1/0", 2, 1]);
  });

  it("to the end, by any means, is the provider's failure: the next model is asked, and the reason is recorded", async () => {
    const failures: readonly (readonly [Script, string])[] = [
      [status(503), "The token endpoint answered 503"],
      [status(429), "The token endpoint answered 429"],
      [
        status(400, { json: { error: "invalid_client" } }),
        "refused the credentials configured for it: 400 invalid_client",
      ],
      [
        status(401, { text: "<html>canary-secret-0123456789</html>" }),
        "refused the credentials configured for it: 401",
      ],
      [
        status(307, { headers: { location: "/other" } }),
        "The token endpoint answered 307: its URL is probably wrong",
      ],
      [json({ token_type: "Bearer" }), "The token endpoint answered without a token"],
      [json({ access_token: "two\nlines" }), "The token endpoint answered without a token"],
      [json([1]), "The token endpoint answered without a token"],
      [json({ access_token: "x".repeat(70_000) }), "The token endpoint answered with more than 65536 bytes"],
    ];
    for (const [script, message] of failures) {
      await using endpoint = await startTokenEndpoint();
      endpoint.follow(script);
      await using scene = await cast({ token_url: endpoint.url, ...client }, ok());
      const traces = listTraces(scene);
      const { route } = await scene.ask();
      assertEquals([route, scene.upstreams.a!.calls], ["b 1/1", 0], message);
      assert(traces.some((trace) => trace.message.includes(message)), `${message}: ${JSON.stringify(traces)}`);
      assertFalse(JSON.stringify([traces, scene.proxy.records]).includes("canary"), message);
    }
  });

  it("with a refusal is not asked again", async () => {
    await using endpoint = await startTokenEndpoint({}, () => "invalid_client");
    await using scene = await guardedCast(endpoint, { models: { a: "a" }, pool: { retry: { max_attempts: 3 } } });
    const { status: code, error } = await scene.ask();
    assertEquals([code, error?.code, endpoint.calls], [502, "upstream_auth_error", 1]);
    assertFalse(error!.message.includes("canary"), error!.message);
  });

  it("where no server listens", async () => {
    await using scene = await cast({ token_url: "http://127.0.0.1:2/token", ...client }, ok(), { models: { a: "a" } });
    const { status: code, error } = await scene.ask();
    assertEquals([code, error?.message.includes("The token endpoint cannot be reached")], [502, true]);
  });

  it("by silence delays no caller for more than 10 s", async () => {
    await using endpoint = await startTokenEndpoint();
    endpoint.follow(hang());
    await using scene = await cast({ token_url: endpoint.url, ...client }, ok());
    const asked = scene.ask();
    await endpoint.received(1);
    assertEquals((await after(scene.clock, 10_000, asked)).route, "b 1/1");
  });

  it("is asked anew by the next request", async () => {
    await using endpoint = await startTokenEndpoint();
    endpoint.follow([status(503), json({ access_token: tokenAt(1), expires_in: 3600 })]);
    await using scene = await cast({ token_url: endpoint.url, ...client }, ok());
    assertEquals((await scene.askTimes(2)).map(({ route }) => route), ["b 1/1", "a 1/0"]);
  });
});

describe("tokens", () => {
  const configOf = (base_url: string, token_url: string) => ({
    providers: {
      a: { connector: "openai.compatible.v1", base_url, auth: { method: "oauth" as const, token_url, ...client } },
    },
    models: { m: { provider: "a", capabilities: ["chat-completion"] } },
    pools: { chat: { models: ["m"] } },
  });
  const request = { model: "chat", messages: [{ role: "user" as const, content: "Hi" }] };

  it("are there for a client that create() makes", async () => {
    await using endpoint = await startTokenEndpoint();
    await using upstream = await startUpstream(guarded(() => endpoint));
    await using client = create({ config: configOf(upstream.url, endpoint.url) });
    assertEquals(getText(await client.chat.completions.create(request)), "from a");
  });

  it("are there for a proxy that serve() starts", async () => {
    await using endpoint = await startTokenEndpoint();
    await using upstream = await startUpstream(guarded(() => endpoint));
    const proxy = await serve({ config: configOf(upstream.url, endpoint.url), port: 0 });
    try {
      const answer = await fetch(`${proxy.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(request),
      });
      assertEquals(getText(await answer.json()), "from a");
    } finally {
      await proxy.stop();
    }
  });
});

describe("tokens and what they are fetched with", () => {
  it("are shown nowhere, not even when the provider echoes them", async () => {
    await using endpoint = await startTokenEndpoint();
    const echo: Script = ({ headers }) =>
      status(422, { error: { message: `Wrong: ${headers.authorization?.slice(7)}` } });
    await using scene = await cast({ token_url: endpoint.url, ...client }, echo, { models: { a: "a" } });
    const traces = listTraces(scene);
    const { body, error } = await scene.ask();
    assertEquals(error?.message, "Wrong: [redacted]");
    const { mesh, records } = scene.proxy;
    const reported = [body, traces, records, mesh.exportState(), mesh.poolStatus(), mesh.stats()];
    assertFalse(JSON.stringify(reported).includes("canary"));
  });
});
