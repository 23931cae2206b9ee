import { assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ConfigError, create, ModelMesh } from "../../mod.ts";
import { createHandler } from "../../proxy.ts";
import { makeFolder } from "../support/_library.ts";
import { assertRefused, checkRefused, getRaw, listeners, type Refused } from "../support/_surface.ts";
import { startTestProxy, testConfig, type TestProxy, type TestProxyOptions } from "../support/proxy.ts";
import { respond, startUpstream, type Upstream } from "../support/upstream.ts";

const tokens = ["first-token-0123456789", "second+token/0123456789==", "third-token-0123456789"];
const noToken: Refused = { status: 401, code: "invalid_api_key", headers: { "www-authenticate": "Bearer" } };
const noHost: Refused = { status: 403, code: "host_not_allowed" };
const badHost: Refused = { status: 400, code: "invalid_value" };

/** Runs a test on proxies over a provider that answers, one for each kind of server. */
async function withProxy(
  options: Omit<TestProxyOptions, "upstreams">,
  test: (proxy: TestProxy, upstream: Upstream) => Promise<void>,
): Promise<void> {
  for (const listener of listeners) {
    await using upstream = await startUpstream(respond());
    await using proxy = await startTestProxy({ ...options, upstreams: { a: upstream.url }, listener });
    await test(proxy, upstream);
  }
}

/** Everything that is not let in with these tokens. */
function refusedLines(accepted: readonly string[]): (readonly string[])[] {
  const [token = ""] = accepted;
  const values = [
    "",
    "Bearer",
    "Bearer ",
    "Bearer null",
    "Bearer undefined",
    `Bearer ${token.slice(0, -1)}`,
    `Bearer ${token.slice(1)}`,
    `Bearer ${token}x`,
    `Bearer x${token}`,
    `Bearer ${token.toUpperCase()}`,
    `Bearer ${token} ${token}`,
    `Bearer ${token}, Bearer ${token}`,
    `Bearer "${token}"`,
    `Bearer ${accepted.join(",")},`,
    `Bearer ${"x".repeat(8000)}`,
    `Bearer\u00a0${token}`,
    `Bearer${token}`,
    token,
    `Basic ${btoa(`user:${token}`)}`,
    `Token ${token}`,
  ];
  return [
    [],
    ...values.map((value) => [`Authorization: ${value}`]),
    [`Authorization: Bearer ${token}`, "Authorization: Bearer wrong"],
    ["Authorization: Bearer wrong", `Authorization: Bearer ${token}`],
    [`Authorization: Bearer ${token}`, `Authorization: Bearer ${token}`],
    [`Cookie: token=${token}`],
    [`Proxy-Authorization: Bearer ${token}`],
  ];
}

describe("A proxy with tokens", () => {
  for (const count of [1, 3]) {
    const accepted = tokens.slice(0, count);
    it(`lets in who has one of ${count}, however the scheme is written`, async () => {
      await withProxy({ tokens: accepted }, async (proxy) => {
        for (const token of accepted) {
          for (const scheme of ["Bearer", "bearer", "BEARER", "Bearer "]) {
            const { status } = await getRaw(proxy.url, "/v1/models", [`Authorization: ${scheme} ${token}`]);
            assertEquals(status, 200, `${scheme} ${token}`);
          }
          const answered = await proxy.chat({}, {
            headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          });
          assertEquals((await answered.json()).object, "chat.completion");
        }
      });
    });

    it(`answers everyone else 401, with ${count}`, async () => {
      await withProxy({ tokens: accepted }, async (proxy, upstream) => {
        for (const lines of refusedLines(accepted)) {
          checkRefused(await getRaw(proxy.url, "/v1/models", lines), noToken, lines.join(" | ").slice(0, 80));
        }
        await assertRefused(await proxy.chat(), noToken, "chat");
        assertEquals(upstream.calls, 0);
      });
    });
  }

  it("takes none from the query, and does not say what it was given", async () => {
    await withProxy({ tokens }, async (proxy) => {
      for (const name of ["token", "api_key", "key", "access_token", "authorization"]) {
        const { message } = checkRefused(await getRaw(proxy.url, `/v1/models?${name}=${tokens[0]}`), noToken, name);
        assertEquals(message.includes(tokens[0]!), false);
      }
    });
  });

  it("takes those of the configuration and those of the program alike", async () => {
    const config = { proxy: { auth: { tokens: [tokens[0], { token: tokens[1], name: "app" }] } } };
    await withProxy({ tokens: [tokens[2]!], config }, async (proxy) => {
      for (const token of tokens) {
        assertEquals((await getRaw(proxy.url, "/v1/models", [`Authorization: Bearer ${token}`])).status, 200, token);
      }
      checkRefused(await getRaw(proxy.url, "/v1/models"), noToken);
    });
  });

  it("refuses before it reads a body, whatever the path or the method", async () => {
    await withProxy({ tokens, config: { proxy: { body_limit: "1000B" } } }, async (proxy, upstream) => {
      await assertRefused(await proxy.chat({ user: "u".repeat(5000) }), noToken, "too large");
      await assertRefused(await proxy.chat({}, { body: "{" }), noToken, "malformed");
      await assertRefused(await fetch(`${proxy.url}/v1/nothing`), noToken, "an unknown path");
      await assertRefused(await fetch(`${proxy.url}/v1/models`, { method: "DELETE" }), noToken, "a wrong method");
      assertEquals(upstream.calls, 0);
    });
  });

  it("answers probes for everyone, and gives details to callers with a token only", async () => {
    await withProxy({ tokens }, async (proxy) => {
      for (const path of ["/health", "/ready", "/live"]) {
        for (const token of [undefined, "wrong"]) {
          const response = await fetch(
            proxy.url + path,
            token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } },
          );
          assertEquals([response.status, await response.json()], [200, { status: "ok" }], `${path} ${token}`);
        }
      }
      const response = await fetch(`${proxy.url}/health`, { headers: { authorization: `Bearer ${tokens[1]}` } });
      const { status, ...details } = await response.json();
      assertEquals([status, Object.keys(details).sort()], ["ok", ["pools", "uptime_seconds", "version"]]);
    });
  });
});

describe("A configuration that requires bearer tokens and has none", () => {
  const config = (upstream: Upstream) =>
    testConfig({ upstreams: { a: upstream.url }, config: { proxy: { auth: { method: "bearer" } } } });
  const missing = "proxy.auth.tokens: bearer tokens are required";
  const list = (headers: Record<string, string> = {}) => new Request("http://localhost/v1/models", { headers });

  it("has no handler, which would be open to all", async () => {
    await using upstream = await startUpstream(respond());
    const mesh = new ModelMesh();
    await mesh.initialize(config(upstream));
    assertThrows(() => createHandler(mesh), ConfigError, missing);
    const handler = createHandler(mesh, { tokens });
    assertEquals((await handler(list())).status, 401);
    assertEquals((await handler(list({ authorization: `Bearer ${tokens[0]}` }))).status, 200);
    await mesh.close();
  });

  it("has none before the mesh is ready, either", async () => {
    await using upstream = await startUpstream(respond());
    await using client = create({ config: config(upstream) });
    assertThrows(() => createHandler(client.mesh), ConfigError, missing);
    createHandler(client.mesh, { tokens });
  });

  it("serves nothing when it was read after the handler was created", async () => {
    await using upstream = await startUpstream(respond());
    await using folder = await makeFolder();
    const path = await folder.write("mesh.json", JSON.stringify(config(upstream)));
    const traces: string[] = [];
    await using client = create({ config: path });
    const sink = { emit: () => {}, log: () => {}, flush: () => Promise.resolve() };
    client.mesh.addSink({ ...sink, trace: ({ message }) => void traces.push(message) });
    const handler = createHandler(client.mesh);
    await client.ready();
    for (const path of ["v1/models", "health", "v1/files"]) {
      const { status } = await handler(new Request(`http://localhost/${path}`));
      assertEquals(status, 500, path);
    }
    assertEquals(traces.some((message) => message.includes(missing)), true, traces.join("\n"));
  });

  it("does not replace one that has some", async () => {
    await using upstream = await startUpstream(respond());
    const [before, next] = [new ModelMesh(), new ModelMesh()];
    const auth = { method: "bearer", tokens: [tokens[0]] };
    await before.initialize(testConfig({ upstreams: { a: upstream.url }, config: { proxy: { auth } } }));
    await next.initialize(config(upstream));
    const handler = createHandler(before);
    assertThrows(() => assertEquals(handler.replace(next), undefined), ConfigError, missing);
    assertEquals((await handler(list())).status, 401);
    assertEquals((await handler(list({ authorization: `Bearer ${tokens[0]}` }))).status, 200);
    await Promise.all([before.close(), next.close()]);
  });
});

describe("No spelling of a path", () => {
  const targets = [
    "//v1/models",
    "///v1/models",
    "/v1/models;/health",
    "/v1/models?/health",
    "/v1/models/",
    "/v1/models/health",
    "http://localhost/v1/models",
    "http://evil.example/v1/models",
    "http://health/v1/models",
    "HTTP://localhost/v1/models",
  ];
  const ambiguous = [
    "/health/../v1/models",
    "/health/%2e%2e/v1/models",
    "/health/.%2E/v1/models",
    "/health\\..\\v1\\models",
    "/health;/../v1/models",
    "/live/./../v1/models",
    "/.//v1/models",
    "/\\/v1/models",
    "/v1/models%2f..%2f..%2fhealth",
    "/v1/../health",
    "//health/../../health",
    "/v1/%2e%2e/health",
    "http://localhost/health/../v1/models",
  ];

  it("leads to a protected handler without a token", async () => {
    await withProxy({ tokens }, async (proxy) => {
      for (const target of targets) checkRefused(await getRaw(proxy.url, target), noToken, target);
      const invalid = { status: 400, code: "invalid_url" };
      for (const target of ambiguous) checkRefused(await getRaw(proxy.url, target), invalid, target);
      assertEquals((await getRaw(proxy.url, "/health?/../v1/models")).body, '{"status":"ok"}');
      assertEquals(JSON.parse((await getRaw(proxy.url, "http://localhost?/health")).body).name, "modelmesh");
    });
  });

  it("or Host leads to another one than the path that was checked", async () => {
    await withProxy({ tokens }, async (proxy) => {
      for (const host of ["localhost/health?", "localhost/health#", "a/health?x=", "localhost\\health", "user@host"]) {
        checkRefused(await getRaw(proxy.url, "/v1/models", [`Host: ${host}`]), badHost, host);
      }
      const { status, body } = await getRaw(proxy.url, "/v1/models", ["Host: localhost", "Host: a/health?"]);
      assertEquals([status, body.includes("list")], [400, false], "two Hosts");
    });
  });
});

describe("The Host header", () => {
  const malformed = [
    "local host",
    'loc"al',
    "localhost/",
    "a@localhost",
    "localhost?",
    "[::1",
    "localhost:99999",
    "localhost:abc",
  ];
  const loopback = [
    "localhost",
    "LOCALHOST:8080",
    "127.0.0.1",
    "127.8.9.1:1",
    "[::1]",
    "[::1]:9",
    "app.localhost:3000",
  ];
  const foreign = [
    "evil.example",
    "evil.example:8080",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "127.0.0.1.",
    "10.0.0.1",
    "169.254.169.254",
    "[::2]",
    "0.0.0.0",
    "notlocalhost",
  ];

  it("has to be a loopback name as long as there is no token, against DNS rebinding", async () => {
    await withProxy({}, async (proxy) => {
      for (const host of loopback) {
        assertEquals((await getRaw(proxy.url, "/v1/models", [`Host: ${host}`])).status, 200, host);
      }
      for (const host of foreign) {
        checkRefused(await getRaw(proxy.url, "/v1/models", [`Host: ${host}`]), noHost, host);
      }
      checkRefused(await getRaw(proxy.url, "/health", ["Host: evil.example"]), noHost, "/health");
      const { message } = checkRefused(await getRaw(proxy.url, "/", ["Host: evil.example"]), noHost);
      assertNotEquals(message.match(/proxy\.allowed_hosts/), null, "it says what to do");
    });
  });

  it("may be one of proxy.allowed_hosts, whatever its case", async () => {
    await withProxy({ config: { proxy: { allowed_hosts: ["mesh.internal", "Mesh.Example"] } } }, async (proxy) => {
      for (const host of ["mesh.internal", "mesh.internal:8080", "MESH.internal", "mesh.example", "Mesh.Example:1"]) {
        assertEquals((await getRaw(proxy.url, "/v1/models", [`Host: ${host}`])).status, 200, host);
      }
      checkRefused(await getRaw(proxy.url, "/v1/models", ["Host: other.internal"]), noHost);
      checkRefused(await getRaw(proxy.url, "/v1/models", ["Host: x.mesh.internal"]), noHost);
    });
  });

  it("may be any with a token, or beyond loopback", async () => {
    for (const options of [{ tokens }, { config: { proxy: { host: "0.0.0.0" } } }]) {
      await withProxy(options, async (proxy) => {
        const headers = ["Host: proxy.example", `Authorization: Bearer ${tokens[0]}`];
        assertEquals((await getRaw(proxy.url, "/v1/models", headers)).status, 200);
      });
    }
  });

  it("is 400 when it is none, with a token and without", async () => {
    for (const options of [{}, { tokens }]) {
      await withProxy(options, async (proxy) => {
        for (const host of malformed) {
          checkRefused(await getRaw(proxy.url, "/v1/models", [`Host: ${host}`]), badHost, host);
          checkRefused(await getRaw(proxy.url, "/health", [`Host: ${host}`]), badHost, host);
        }
      });
    }
  });
});
