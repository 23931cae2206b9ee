import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ConfigError, ModelMesh, type Observability } from "../../mod.ts";
import { createHandler } from "../../proxy.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { assertRefused, checkRefused, getRaw, listeners, type Refused } from "../support/_surface.ts";
import { startTestProxy, type TestProxy } from "../support/proxy.ts";
import { respond, startUpstream, status, type Upstream } from "../support/upstream.ts";

const token = "cors-token-0123456789";
const page = "https://app.example";
const refusedOrigin: Refused = {
  status: 403,
  code: "origin_not_allowed",
  headers: { "access-control-allow-origin": null },
};
const exposed = [
  "x-request-id",
  "x-mesh-pool",
  "x-mesh-model",
  "x-mesh-provider",
  "x-mesh-attempts",
  "x-mesh-fallbacks",
  "x-mesh-overhead-ms",
  "x-mesh-cost-usd",
  "x-mesh-dropped-params",
  "retry-after",
  "retry-after-ms",
  "x-should-retry",
];

interface Setup {
  readonly tokens?: readonly string[];
  readonly proxy?: Readonly<Record<string, unknown>>;
}

/** Runs a test on proxies over a provider that answers, one for each kind of server. */
async function withProxy(
  { tokens, proxy: section }: Setup,
  test: (proxy: TestProxy, upstream: Upstream) => Promise<void>,
): Promise<void> {
  const config = section === undefined ? {} : { proxy: section };
  for (const listener of listeners) {
    await using upstream = await startUpstream(respond());
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url }, tokens, config, listener });
    await test(proxy, upstream);
  }
}

function listFrom(proxy: TestProxy, origin: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${proxy.url}/v1/models`, { headers: { origin, authorization: `Bearer ${token}`, ...headers } });
}

function preflight(proxy: TestProxy, origin: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${proxy.url}/v1/chat/completions`, {
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": "POST", ...headers },
  });
}

/** What a browser reads, and the body thrown away. */
async function readCors(response: Response): Promise<{ status: number; origin: string | null; vary: string | null }> {
  await response.body?.cancel();
  assertEquals(response.headers.get("access-control-allow-credentials"), null, "never with credentials");
  const origin = response.headers.get("access-control-allow-origin");
  const names = response.headers.get("access-control-expose-headers")?.split(", ") ?? [];
  assertEquals(exposed.filter((name) => !names.includes(name)), origin === null ? exposed : [], "what is exposed");
  return { status: response.status, origin, vary: response.headers.get("vary") };
}

const anyone = { status: 200, origin: "*", vary: null };
const echoed = (origin: string) => ({ status: 200, origin, vary: "Origin" });

describe("With a token, a web page", () => {
  it("may come from any origin", async () => {
    await withProxy({ tokens: [token] }, async (proxy) => {
      for (const origin of [page, "http://localhost:3000", "https://evil.example:444", "null"]) {
        assertEquals(await readCors(await listFrom(proxy, origin)), anyone, origin);
      }
    });
  });

  it("has to come from one of the origins configured, which are echoed to the letter", async () => {
    await withProxy(
      { tokens: [token], proxy: { cors: { origins: [page, "http://localhost:3000"] } } },
      async (proxy) => {
        for (const origin of [page, "http://localhost:3000"]) {
          assertEquals(await readCors(await listFrom(proxy, origin)), echoed(origin), origin);
        }
        const foreign = [
          "https://evil.example",
          "http://app.example",
          `${page}:8443`,
          `${page}.evil.example`,
          "https://sub.app.example",
          "http://localhost:3001",
          "null",
        ];
        for (const origin of foreign) await assertRefused(await listFrom(proxy, origin), refusedOrigin, origin);
      },
    );
  });

  it("still needs the token for everything but the preflight", async () => {
    await withProxy({ tokens: [token] }, async (proxy, upstream) => {
      const response = await preflight(proxy, page, { "access-control-request-headers": "authorization, x-anything" });
      assertEquals([response.status, await response.text()], [204, ""]);
      assertEquals(response.headers.get("access-control-allow-origin"), "*");
      assertEquals(response.headers.get("access-control-allow-methods"), "POST");
      assertEquals(response.headers.get("access-control-allow-headers"), "authorization, x-anything");
      assertEquals(response.headers.get("access-control-max-age"), "600");
      assertEquals(response.headers.get("access-control-allow-credentials"), null);
      await assertRefused(await proxy.chat({}, { headers: { origin: page, "content-type": "application/json" } }), {
        status: 401,
        code: "invalid_api_key",
        headers: { "access-control-allow-origin": "*" },
      });
      const plain = await fetch(`${proxy.url}/v1/chat/completions`, { method: "OPTIONS", headers: { origin: page } });
      await assertRefused(plain, { status: 401, code: "invalid_api_key" }, "OPTIONS that is no preflight");
      assertEquals(upstream.calls, 0);
    });
  });
});

describe("Without a token, a web page", () => {
  const loopback = [
    "http://localhost",
    "http://localhost:3000",
    "https://127.0.0.1:9",
    "http://[::1]:8",
    "http://a.localhost",
  ];
  const foreign = [
    page,
    "https://localhost.evil.example",
    "http://127.0.0.1.evil.example",
    "http://evil.example#localhost",
    "http://localhost@evil.example",
    "null",
    "file://",
    "localhost",
    "",
  ];

  it("has to come from the own machine, and spends nothing if it does not", async () => {
    await withProxy({}, async (proxy, upstream) => {
      for (const origin of loopback) {
        assertEquals(await readCors(await listFrom(proxy, origin)), echoed(origin), origin);
      }
      for (const origin of foreign) {
        const headers = { origin, "content-type": "text/plain" }; // what a page may send without a preflight
        await assertRefused(await proxy.chat({}, { headers }), refusedOrigin, origin);
        await assertRefused(await preflight(proxy, origin), refusedOrigin, `preflight from ${origin}`);
      }
      await assertRefused(await fetch(`${proxy.url}/health`, { headers: { origin: page } }), refusedOrigin, "/health");
      assertEquals(upstream.calls, 0);
    });
  });

  it("may come from the origins configured, too", async () => {
    await withProxy({ proxy: { cors: { origins: [page] } } }, async (proxy) => {
      for (const origin of [page, "http://localhost:3000"]) {
        assertEquals(await readCors(await listFrom(proxy, origin)), echoed(origin), origin);
      }
      await assertRefused(await listFrom(proxy, "https://other.example"), refusedOrigin);
    });
    await withProxy({ proxy: { cors: { origins: ["*"] } } }, async (proxy) => {
      assertEquals((await readCors(await listFrom(proxy, page))).status, 200);
    });
  });

  it("is not an exception where its own name leads to the proxy, beyond loopback", async () => {
    await withProxy({ proxy: { host: "0.0.0.0" } }, async (proxy) => {
      const host = "Host: rebound.example";
      assertEquals((await getRaw(proxy.url, "/v1/models", [host])).status, 200, "any Host, beyond loopback");
      const page = await getRaw(proxy.url, "/v1/models", [host, "Origin: http://rebound.example"]);
      checkRefused(page, refusedOrigin);
    });
  });
});

describe("An origin that is refused", () => {
  /** Warnings about origins that requests of these have caused. */
  async function warnings(origins: readonly string[], clock = fakeClock()): Promise<string[]> {
    const messages: string[] = [];
    const sink: Observability = {
      emit: () => {},
      flush: () => Promise.resolve(),
      trace: ({ message }) => void messages.push(message),
    };
    const config = { observability: { tracing: { connector: "test.sink.v1" } } };
    await using upstream = await startUpstream(respond());
    const sinks = { "test.sink.v1": sink };
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url }, config, sinks, clock });
    for (const origin of origins) {
      if (origin === "") await clock.advance(1_000);
      else await assertRefused(await listFrom(proxy, origin), refusedOrigin, origin);
    }
    await proxy.mesh.close();
    return messages.filter((message) => message.includes("origin_not_allowed"));
  }

  it("is in the log once, with the setting that allows it", async () => {
    const other = "https://other.example";
    assertEquals(
      await warnings([page, page, other, page, other]),
      [page, other].map((origin) =>
        `Requests of web pages from "${origin}" are refused (origin_not_allowed): to allow them, add the origin to ` +
        "proxy.cors.origins, or pass it with --cors-origin"
      ),
    );
  });

  it("fills no log, however many are invented, and however long they are", async () => {
    const invented = Array.from({ length: 25 }, (_, index) => `https://${index}.${"x".repeat(1_000)}.example`);
    const lines = await warnings([...invented, "", page]);
    assertEquals(lines.length, 11, "ten in a second");
    assertStringIncludes(lines.at(-1)!, page);
    assertEquals(lines.filter((line) => line.length > 400), []);
  });
});

describe("Origins that the program adds", () => {
  it("may send requests, besides those of the configuration, and have CORS headers", async () => {
    const other = "http://localhost:3000";
    const sections = [{ origins: [other] }, { origins: [other], enabled: false }, {}];
    for (const cors of sections) {
      await using upstream = await startUpstream(respond());
      await using proxy = await startTestProxy({
        upstreams: { a: upstream.url },
        config: { proxy: { cors } },
        origins: [page],
      });
      assertEquals(await readCors(await listFrom(proxy, page)), echoed(page));
      assertEquals(await readCors(await listFrom(proxy, other)), echoed(other), "of the configuration, or loopback");
      await assertRefused(await listFrom(proxy, "https://evil.example"), refusedOrigin);
    }
  });

  it("are checked when the handler is created", () => {
    const create = () => createHandler(new ModelMesh(), { origins: ["https://App.example/"] });
    assertThrows(create, ConfigError, 'proxy.cors.origins: "https://App.example/": expected "*" or an origin');
  });
});

describe("CORS headers", () => {
  it("are on errors and streams as on everything else", async () => {
    await using upstream = await startUpstream([status(401), status(400), respond(), respond()]);
    const options = { upstreams: { a: upstream.url }, tokens: [token], config: { proxy: { body_limit: "1000B" } } };
    await using proxy = await startTestProxy(options);
    const headers = { origin: page, authorization: `Bearer ${token}`, "content-type": "application/json" };
    const rows: readonly (readonly [what: string, status: number, response: () => Promise<Response>])[] = [
      ["a refused key", 502, () => proxy.chat({}, { headers })],
      ["a fault of the request", 400, () => proxy.chat({}, { headers })],
      ["an answer", 200, () => proxy.chat({}, { headers })],
      ["a stream", 200, () => proxy.chat({ stream: true }, { headers })],
      ["no token", 401, () => proxy.chat({}, { headers: { ...headers, authorization: "" } })],
      ["no such model", 404, () => proxy.chat({ model: "none" }, { headers })],
      ["no such path", 404, () => fetch(`${proxy.url}/none`, { headers })],
      ["a wrong method", 405, () => fetch(`${proxy.url}/v1/models`, { method: "DELETE", headers })],
      ["a wrong type", 415, () => proxy.chat({}, { headers: { ...headers, "content-type": "text/plain" } })],
      ["too large a body", 413, () => proxy.chat({ user: "u".repeat(1000) }, { headers })],
      ["a probe", 200, () => fetch(`${proxy.url}/live`, { headers })],
    ];
    for (const [what, status, response] of rows) {
      assertEquals(await readCors(await response()), { ...anyone, status }, what);
    }
  });

  it("are absent where there is no Origin, and where CORS is off", async () => {
    await withProxy({ tokens: [token] }, async (proxy) => {
      const response = await fetch(`${proxy.url}/live`);
      assertEquals(await readCors(response), { status: 200, origin: null, vary: null });
    });
    await withProxy({ tokens: [token], proxy: { cors: { enabled: false } } }, async (proxy) => {
      assertEquals(await readCors(await listFrom(proxy, page)), { status: 200, origin: null, vary: null });
      const asked = await preflight(proxy, page, { authorization: `Bearer ${token}` });
      await assertRefused(asked, { status: 405, code: "method_not_allowed", headers: { allow: "POST" } });
    });
    await withProxy({ proxy: { cors: { enabled: false } } }, async (proxy) => {
      await assertRefused(await listFrom(proxy, page), refusedOrigin, "off is no way in");
    });
  });

  it("say what is configured: methods, headers, how long", async () => {
    const cors = { methods: ["POST"], headers: ["authorization", "x-own"], max_age: "1m30s" };
    await withProxy({ tokens: [token], proxy: { cors } }, async (proxy) => {
      const { headers, status } = await preflight(proxy, page, { "access-control-request-headers": "x-other" });
      assertEquals(status, 204);
      assertEquals(headers.get("access-control-allow-methods"), "POST");
      assertEquals(headers.get("access-control-allow-headers"), "authorization, x-own");
      assertEquals(headers.get("access-control-max-age"), "90");
    });
    await withProxy({}, async (proxy) => {
      const response = await fetch(`${proxy.url}/v1/models`, {
        method: "OPTIONS",
        headers: { origin: "http://localhost:3000", "access-control-request-method": "GET" },
      });
      assertEquals(response.headers.get("access-control-allow-methods"), "GET");
      assertStringIncludes(response.headers.get("access-control-allow-headers") ?? "", "authorization");
    });
  });
});
