/** Clients that authenticate by JWTs of configured issuers. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { Buffer } from "node:buffer";
import { describe, it } from "@std/testing/bdd";
import type { LogRecord, RoutingRecord } from "../../mod.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { createPair, type Issuer, joinToken, type SigningPair, startIssuer, startS } from "../support/_issuer.ts";
import { openSocket } from "../support/_web_socket.ts";
import { startTestProxy, type TestProxy } from "../support/proxy.ts";
import { hang, holdOpen, ok, respond, startUpstream, status, stream, type Upstream } from "../support/upstream.ts";

type Parts = Readonly<Record<string, unknown>>;

interface Stage {
  readonly issuer: Issuer;
  readonly upstream: Upstream;
  readonly proxy: TestProxy;
  /** Messages for the operator. */
  readonly traces: string[];
  /** Asks the pool with a token and returns status and code. */
  ask(token: string): Promise<string>;
}

const alice = { token: "token-of-alice-0123456789", name: "alice", pools: ["chat"], rpm: 1000 };

/** Runs a test on a proxy that accepts the tokens of an issuer. */
async function withIssuer(settings: Parts, test: (stage: Stage) => Promise<void>): Promise<void> {
  await using upstream = await startUpstream(respond());
  await using issuer = await startIssuer();
  const jwt = [{ issuer: issuer.url, audience: "mesh", ...settings }];
  const teams = { research: { rpm: 2 } };
  const config = { teams, proxy: { auth: { tokens: ["plain-token-0123456789", alice], jwt } } };
  const provider = { execution: { timeout: "1h" } }; // of silence in a stream
  await using proxy = await startTestProxy({ upstreams: { a: upstream.url }, provider, config, clock: fakeClock() });
  const traces: string[] = [];
  const sink = { emit: () => {}, trace: ({ message }: { message: string }) => void traces.push(message) };
  proxy.mesh.addSink({ ...sink, flush: () => Promise.resolve() });
  const ask = async (token: string) => {
    const response = await proxy.chat({}, { headers: bearer(token) });
    const { error } = await response.json();
    return error === undefined ? String(response.status) : `${response.status} ${error.code}`;
  };
  await test({ issuer, upstream, proxy, traces, ask });
}

const bearer = (token: string) => ({ "authorization": `Bearer ${token}`, "content-type": "application/json" });

describe("a proxy that accepts JWTs", () => {
  it("serves a valid token, checks its signature once, and fetches the keys once for all", async () => {
    await withIssuer({}, async ({ issuer, ask }) => {
      const signed = await Promise.all(["0", "1", "2", "3"].map((sub) => issuer.token({ sub })));
      const tokens = Array.from({ length: 20 }, (_, index) => signed[index % 4]!);
      const { verify } = crypto.subtle;
      let checks = 0;
      crypto.subtle.verify = (...received: Parameters<typeof verify>) => {
        checks++;
        return verify.apply(crypto.subtle, received);
      };
      try {
        assertEquals(new Set(await Promise.all(tokens.map(ask))), new Set(["200"]));
        assertEquals([await ask(tokens[0]!), checks], ["200", 4]);
      } finally {
        crypto.subtle.verify = verify;
      }
      assertEquals(await ask("plain-token-0123456789"), "200");
      assertEquals(issuer.fetches, 1);
    });
  });

  it("refuses what is not signed by the issuer for it", async () => {
    await withIssuer({ algorithms: ["ES256"] }, async ({ issuer, ask, upstream }) => {
      const claims = { iss: issuer.url, aud: "mesh", exp: startS + 600 };
      const publicKey = Buffer.from(JSON.stringify(issuer.key.jwk));
      const symmetric = await crypto.subtle.importKey("raw", publicKey, { name: "HMAC", hash: "SHA-256" }, false, [
        "sign",
      ]);
      const byPublicKey = (text: string) => crypto.subtle.sign("HMAC", symmetric, new TextEncoder().encode(text));
      const other = await createPair("one");
      const tokens = [
        await joinToken({ alg: "none" }, claims, () => Promise.resolve(new Uint8Array())),
        await joinToken({ alg: "HS256", kid: "one" }, claims, byPublicKey),
        await issuer.token({}, other),
        await issuer.token({ aud: "another" }),
        await issuer.token({ aud: undefined }),
        await issuer.token({ iss: "https://elsewhere.example" }),
        await issuer.token({ iss: undefined }),
        await issuer.token({ exp: undefined }),
        await issuer.token({ exp: "never" }),
        (await issuer.token()).replace(/\.[^.]+$/, ".AAAA"),
        "eyJ.eyJ.eyJ",
        "eyJhbGciOiJFUzI1NiJ9..",
        `${await issuer.token()}.a.b`,
      ];
      for (const token of tokens) assertEquals(await ask(token), "401 invalid_api_key", token);
      assertEquals(upstream.calls, 0);
      assertEquals(await ask(await issuer.token({ aud: ["another", "mesh"] })), "200");
    });
  });

  it("tolerates clocks that differ by less than a minute, and forgets what has expired", async () => {
    await withIssuer({}, async ({ issuer, ask, proxy: { clock } }) => {
      assertEquals(await ask(await issuer.token({ exp: startS - 59 })), "200");
      assertEquals(await ask(await issuer.token({ exp: startS - 61 })), "401 invalid_api_key");
      assertEquals(await ask(await issuer.token({ nbf: startS + 60 })), "200");
      assertEquals(await ask(await issuer.token({ nbf: startS + 62 })), "401 invalid_api_key");
      const token = await issuer.token({ exp: startS + 10 });
      assertEquals(await ask(token), "200");
      await clock.advance(69_000);
      assertEquals(await ask(token), "200");
      await clock.advance(1_000);
      assertEquals(await ask(token), "401 invalid_api_key");
    });
  });

  it("fetches the keys for unknown ones at most once in 30 s, for all callers", async () => {
    await withIssuer({}, async ({ issuer, ask, proxy: { clock } }) => {
      const next = await createPair("two");
      const [old, token] = [await issuer.token(), await issuer.token({}, next)];
      assertEquals([await ask(old), issuer.fetches], ["200", 1]);
      const asked = await Promise.all(Array.from({ length: 10 }, () => ask(token)));
      assertEquals([new Set(asked), issuer.fetches], [new Set(["401 invalid_api_key"]), 1]);
      await clock.advance(30_000);
      issuer.respond([next]);
      assertEquals(new Set(await Promise.all(Array.from({ length: 10 }, () => ask(token)))), new Set(["200"]));
      assertEquals(issuer.fetches, 2);
      assertEquals([await ask(old), issuer.fetches], ["401 invalid_api_key", 2]); // its key is gone
    });
  });

  it("tries each key for a token that names none", async () => {
    await withIssuer({}, async ({ issuer, ask }) => {
      const [other, unnamed] = [await createPair("zero"), {
        ...issuer.key,
        jwk: { ...issuer.key.jwk, kid: undefined },
      }];
      issuer.respond([other, issuer.key]);
      assertEquals(await ask(await issuer.token({}, unnamed as unknown as SigningPair)), "200");
      const unsigned = { ...await createPair("x"), jwk: unnamed.jwk } as unknown as SigningPair;
      assertEquals(await ask(await issuer.token({}, unsigned)), "401 invalid_api_key");
    });
  });

  it("answers 503 while it has no keys, and serves by known ones for a day", async () => {
    await withIssuer({}, async ({ issuer, ask, proxy, traces }) => {
      issuer.respond(status(500));
      const token = await issuer.token({ exp: startS + 200_000 });
      const refused = await proxy.chat({}, { headers: bearer(token) });
      assertEquals([refused.status, (await refused.json()).error.code], [503, "issuer_unavailable"]);
      assertEquals(refused.headers.get("retry-after"), "5");
      assertEquals([await ask(token), issuer.fetches], ["503 issuer_unavailable", 1]);
      assertEquals(traces.filter((message) => message.includes("answered 500")).length, 1);
      await proxy.clock.advance(5_000);
      issuer.respond([issuer.key]);
      assertEquals(await ask(token), "200");
      issuer.respond(status(500));
      for (const [hours, expected] of [[1, "200"], [22, "200"], [1, "503 issuer_unavailable"]] as const) {
        await proxy.clock.advance(hours * 3_600_000);
        assertEquals(await ask(token), expected);
        await issuer.server.received(issuer.server.requests.length);
      }
    });
  });

  it("does not wait longer than 5 s for an issuer, nor longer than its client", async () => {
    await withIssuer({ jwks_uri: "http://127.0.0.1:1/keys" }, async ({ issuer, ask }) => {
      assertEquals(await ask(await issuer.token()), "503 issuer_unavailable");
    });
    await withIssuer({}, async ({ issuer, ask, proxy: { clock } }) => {
      issuer.respond(hang());
      const asked = ask(await issuer.token());
      await issuer.server.received(2);
      await clock.advance(5_000);
      assertEquals(await asked, "503 issuer_unavailable");
    });
  });

  for (const [what, behaviour] of [["no JSON", ok()], ["other JSON", { keys: "none" }]] as const) {
    it(`answers 503 for an issuer that has ${what} in place of keys`, async () => {
      await withIssuer({}, async ({ issuer, ask, traces }) => {
        issuer.respond("keys" in behaviour ? [] : behaviour);
        const code = await ask(await issuer.token());
        assertEquals(code, "keys" in behaviour ? "401 invalid_api_key" : "503 issuer_unavailable");
        assertEquals(traces.length > 0, true);
      });
    });
  }

  it("fetches no keys for a token that is not a JWT", async () => {
    await withIssuer({}, async ({ issuer, ask }) => {
      for (const token of ["x", "a.b.c", "eyJhbGciOiJFUzI1NiJ9", "mm_x"]) {
        assertEquals(await ask(token), "401 invalid_api_key");
      }
      assertEquals(issuer.server.requests.length, 0);
    });
  });
});

describe("the client of a JWT", () => {
  const settings = { client: "https://example.com/client", team: "groups.team" };
  const claims = { "https://example.com/client": "alice" };

  it("is a known one, whose limits hold and who is in the records", async () => {
    await withIssuer(settings, async ({ issuer, ask, proxy }) => {
      assertEquals(await ask(await issuer.token(claims)), "200");
      const routing = proxy.records.filter((record): record is RoutingRecord => record.type === "routing");
      assertEquals(routing.map(({ client }) => client), ["alice"]);
      const denied = await fetch(`${proxy.url}/mesh/deactivate`, {
        method: "POST",
        headers: bearer(await issuer.token(claims)),
        body: '{"model":"a"}',
      });
      assertEquals([denied.status, (await denied.json()).error.code], [403, "not_an_administrator"]);
    });
  });

  it("may be in a team, or be a team alone, which limits all of its tokens, and has tags", async () => {
    await withIssuer({ client: "name", team: "groups", tags: "labels" }, async ({ issuer, ask, proxy }) => {
      const team = { groups: ["unknown", "research"], labels: ["a", "b"] };
      assertEquals(await ask(await issuer.token({ ...team, sub: "one" })), "200");
      assertEquals(await ask(await issuer.token({ ...team, name: "alice" })), "200");
      assertEquals(await ask(await issuer.token({ ...team, sub: "two" })), "429 rate_limit_exceeded");
      assertEquals(await ask(await issuer.token({ groups: "unknown" })), "403 access_denied");
      assertEquals(await ask(await issuer.token({ groups: "unknown", name: "alice" })), "200");
      const routing = proxy.records.filter((record): record is RoutingRecord => record.type === "routing");
      assertEquals(
        routing.filter(({ status }) => status === 200).map(({ client, team, tags }) => [client, team, tags]),
        [
          ["team research", "research", ["a", "b"]],
          ["alice", "research", ["a", "b"]],
          ["alice", undefined, undefined],
        ],
      );
    });
  });

  it("is never registered by a claim, and operators learn why it is refused", async () => {
    await withIssuer(settings, async ({ issuer, ask, proxy, traces, upstream }) => {
      const token = await issuer.token({ "https://example.com/client": "mallory" });
      const response = await proxy.chat({}, { headers: bearer(token) });
      const { error } = await response.json();
      assertEquals([response.status, error.code, error.message.includes("mallory")], [403, "access_denied", false]);
      assertStringIncludes(response.headers.get("www-authenticate")!, 'error="insufficient_scope"');
      assertStringIncludes(traces.join("\n"), 'its claim "https://example.com/client" names no client: "mallory"');
      assertEquals(await ask(await issuer.token()), "403 access_denied");
      const metrics = await (await fetch(`${proxy.url}/metrics`, { headers: bearer("plain-token-0123456789") })).text();
      assertEquals([metrics.includes("mallory"), upstream.calls], [false, 0]);
    });
  });

  it("needs the values that are required", async () => {
    const allow = { email_verified: true, "org.units": ["ai", "ml"], scope: "mesh" };
    await withIssuer({ allow }, async ({ issuer, ask }) => {
      const accepted = { email_verified: true, org: { units: ["hr", "ml"] }, scope: "openid mesh" };
      assertEquals(await ask(await issuer.token(accepted)), "200");
      const refused = [
        { ...accepted, email_verified: "true" },
        { ...accepted, org: { units: ["hr"] } },
        { ...accepted, scope: "meshes" },
        { email_verified: true, scope: "mesh" },
      ];
      for (const claims of refused) assertEquals(await ask(await issuer.token(claims)), "403 access_denied");
    });
  });

  it("has the rights of its role", async () => {
    await withIssuer({ ...settings, role: "realm_access.roles" }, async ({ issuer, proxy, ask }) => {
      const tokens = await Promise.all(
        [["admin"], ["x", "viewer"], ["x"]].map((roles) =>
          issuer.token({ ...roles[0] === "x" && roles.length === 1 ? claims : {}, realm_access: { roles } })
        ),
      );
      const calls = [
        ["GET", "/mesh/status"],
        ["GET", "/metrics"],
        ["GET", "/mesh/clients"],
        ["GET", "/mesh/cache"],
        ["DELETE", "/mesh/cache"],
        ["POST", "/mesh/deactivate"],
        ["POST", "/mesh/clients"],
      ];
      const call = async (token: string, [method, path]: string[]) => {
        const init = { method: method!, headers: bearer(token), ...(method === "POST" && { body: '{"model":"a"}' }) };
        const response = await fetch(`${proxy.url}${path}`, init);
        await response.body?.cancel();
        return response.status;
      };
      const statuses = tokens.map((token) => Promise.all(calls.map((one) => call(token, one))));
      assertEquals(await Promise.all(statuses), [
        [200, 200, 400, 400, 400, 200, 400], // there is no storage of clients, and no cache
        [200, 200, 400, 400, 403, 403, 403],
        [200, 200, 403, 403, 403, 403, 403],
      ]);
      const role = async (token: string) =>
        (await (await fetch(`${proxy.url}/mesh/status`, { headers: bearer(token) })).json()).role;
      assertEquals(await Promise.all(tokens.map(role)), ["administrator", "viewer", "client"]);
      const metrics = async (token: string) =>
        (await (await fetch(`${proxy.url}/metrics`, { headers: bearer(token) })).text()).includes("requests_in_flight");
      assertEquals(await Promise.all(tokens.map(metrics)), [true, true, false]);
      const init = { method: "POST", headers: bearer(tokens[0]!), body: '{"model":"a"}' };
      assertEquals((await (await fetch(`${proxy.url}/mesh/activate`, init)).json()).model, "a");
      assertEquals(await Promise.all(tokens.map(ask)), ["200", "403 access_denied", "200"]);
    });
  });

  it("sends its token as each dialect does, and by a WebSocket", async () => {
    await withIssuer(settings, async ({ issuer, proxy, upstream }) => {
      const token = await issuer.token(claims);
      const gemini = { contents: [{ role: "user", parts: [{ text: "Hi" }] }] };
      const claude = { model: "chat", max_tokens: 9, messages: [{ role: "user", content: "Hi" }] };
      const calls: [path: string, headers: Record<string, string>, body: unknown][] = [
        ["/v1beta/models/chat:generateContent", { "x-goog-api-key": token }, gemini],
        [`/v1beta/models/chat:generateContent?key=${token}`, {}, gemini],
        ["/v1/messages", { "x-api-key": token, "anthropic-version": "2023-06-01" }, claude],
      ];
      for (const [path, headers, body] of calls) {
        const init = { method: "POST", headers: { "content-type": "application/json", ...headers } };
        const response = await fetch(`${proxy.url}${path}`, { ...init, body: JSON.stringify(body) });
        assertEquals(response.status, 200, await response.text());
      }
      upstream.follow(stream());
      using client = await openSocket(proxy.url, { headers: { authorization: `Bearer ${token}` } });
      client.ask();
      assertEquals((await client.rest()).at(-1)!.type, "response.completed");
      assert(!upstream.requests.some((request) => JSON.stringify([request.headers, request.path]).includes(token)));
    });
  });

  it("keeps a stream whose token expires meanwhile", async () => {
    await withIssuer(settings, async ({ issuer, proxy, upstream }) => {
      const held = holdOpen();
      upstream.follow(held);
      const asked = proxy.chat({ stream: true }, {
        headers: bearer(await issuer.token({ ...claims, exp: startS + 1 })),
      });
      await upstream.received(1);
      for (const text of ["Good", " day"]) {
        await held.send(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text } }] })}\n\n`);
        await asked;
        await proxy.clock.advance(120_000);
      }
      await held.send(`data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}\n\n`);
      await held.send("data: [DONE]\n\n");
      assertMatch(await (await asked).text(), / day[\s\S]*\[DONE\]/);
    });
  });

  it("is in no log", async () => {
    await withIssuer(settings, async ({ issuer, proxy, traces }) => {
      const logs: LogRecord[] = [];
      const log = (record: LogRecord) => void logs.push(record);
      proxy.mesh.addSink({ emit: () => {}, log, trace: () => {}, flush: () => Promise.resolve() });
      const tokens = [await issuer.token(), await issuer.token({ aud: "x" }), await issuer.token(claims)];
      for (const token of tokens) {
        await proxy.chat({}, { headers: bearer(token) }).then((response) => response.text());
        const path = `/v1/${encodeURIComponent(token)}?key=${token}`;
        await fetch(`${proxy.url}${path}`, { headers: bearer(token) }).then((response) => response.text());
      }
      const text = JSON.stringify([logs, traces]);
      assert(logs.length > 2);
      for (const token of tokens) for (const part of token.split(".")) assert(!text.includes(part), part);
    });
  });
});

describe("the metadata of a protected resource", () => {
  it("is public, and refused requests lead to it", async () => {
    await withIssuer({}, async ({ issuer, proxy }) => {
      const refused = await proxy.chat();
      await refused.body?.cancel();
      const url = `${proxy.url}/.well-known/oauth-protected-resource`;
      assertEquals(refused.headers.get("www-authenticate"), `Bearer resource_metadata="${url}"`);
      const expired = await proxy.chat({}, { headers: bearer(await issuer.token({ exp: 1 })) });
      await expired.body?.cancel();
      assertEquals(expired.headers.get("www-authenticate"), `Bearer resource_metadata="${url}", error="invalid_token"`);
      const { resource, authorization_servers } = await (await fetch(url)).json();
      assertEquals([resource, authorization_servers], [proxy.url, [issuer.url]]);
    });
  });

  it("is unknown without issuers", async () => {
    await using upstream = await startUpstream(respond());
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url }, tokens: ["plain-token-0123456789"] });
    const response = await fetch(`${proxy.url}/.well-known/oauth-protected-resource`);
    await response.body?.cancel();
    assertEquals([response.status, response.headers.get("www-authenticate")], [401, "Bearer"]);
  });
});
