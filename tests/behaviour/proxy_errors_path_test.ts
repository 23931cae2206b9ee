import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  assertRefused,
  checkRefused,
  getRaw,
  goodBody,
  listeners,
  type Refused,
  refusing,
  sendRaw,
} from "../support/_surface.ts";
import { createHandler, listen } from "../../proxy.ts";
import { startTestProxy } from "../support/proxy.ts";
import { respond, startUpstream } from "../support/upstream.ts";

const getOnly = { status: 405, code: "method_not_allowed", headers: { allow: "GET" } };
const postOnly = { status: 405, code: "method_not_allowed", headers: { allow: "POST" } };
const noPath = { status: 404, code: "unknown_url" };
const noModel = { status: 404, code: "model_not_found", param: "model" };

const paths: readonly (readonly [method: string, path: string, refused: Refused])[] = [
  ...["GET", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"].map((method) =>
    [method, "/v1/chat/completions", postOnly] as const
  ),
  ...["/v1/models", "/v1/models/chat", "/health", "/ready", "/live"].flatMap((path) => [
    ["POST", path, getOnly] as const,
    ["DELETE", path, getOnly] as const,
  ]),
  ...["/v1", "/v1/", "/v1/chat", "/v1/chat/completions/x", "/V1/models", "/v1/Models", "/v1//models", "/healthz"]
    .map((path) => ["GET", path, noPath] as const),
  ["POST", "/chat/completions", noPath],
  ["POST", "/v1/chat/completions//", noPath],
  ...["none", "..none", "%zz", "%", "__proto__", "chat/x", "Chat"]
    .map((id) => ["GET", `/v1/models/${id}`, noModel] as const),
];

/** Targets whose path `new URL`, or a proxy in front, may understand as another one. */
const ambiguous: readonly string[] = [
  "/mesh\\status",
  "/v1\\..\\metrics",
  "/v1/..\\metrics",
  "/mesh%5Cstatus",
  "/v1/../metrics",
  "/v1/./models",
  "/v1/models/..",
  "/v1/models/.",
  "/v1/%2e%2e/metrics",
  "/v1/%2E./metrics",
  "/v1/.%2e/metrics",
  "/v1/%2e/models",
  "/v1/models/..%2f..%2fetc%2fpasswd",
  "/v1/models/%2e%2e%2fmodels",
  "/health%00",
  "/health%0a",
  "/health%0D%0Ax",
  "/health%1f",
  "/health%7F",
  "/health%23x",
  "/health#x",
  "/health?x#y",
  "/health?x=\\",
  "http://127.0.0.1/v1/../metrics",
  "http://127.0.0.1/mesh\\status",
  "http://127.0.0.1/v1/%2e%2e/metrics",
  "http://127.0.0.1\\..\\metrics",
];

describe("A target that is ambiguous", () => {
  const invalid = { status: 400, code: "invalid_url" };

  it("is 400, on every server", async () => {
    await refusing(async (proxy) => {
      for (const target of ambiguous) {
        const answer = await getRaw(proxy.url, target);
        // this server may reject it before any handler
        if (answer.body === "" && (target.includes("#") || target.startsWith("http:"))) {
          assertEquals(answer.status, 400, target);
        } else checkRefused(answer, invalid, target);
      }
    }, { listeners });
  });

  it("is 400 behind a handler that wraps the proxy's", async () => {
    await using upstream = await startUpstream(respond());
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url } });
    for (const listener of listeners) {
      const handler = createHandler(proxy.mesh);
      const server = await listen((request) => handler(request), { port: 0, listener: listener! });
      for (const target of ["/v1/../metrics", "/mesh\\status", "/v1/%2e%2e/metrics"]) {
        checkRefused(await getRaw(`http://127.0.0.1:${server.port}`, target), invalid, `${listener} ${target}`);
      }
      await server.stop(0);
    }
  });

  it("has its error in the dialect of its path", async () => {
    await refusing(async (proxy) => {
      for (const target of ["/v1beta/models?x=\\y", "/v1beta/models/..%2f..%2Fmetrics:generateContent"]) {
        const { status, body } = await getRaw(proxy.url, target);
        assertEquals([status, JSON.parse(body).error.status], [400, "INVALID_ARGUMENT"], target);
      }
    }, { listeners });
  });

  it("is served or refused, and never an error of the proxy, if its host is invalid", async () => {
    await refusing(async (proxy) => {
      for (const host of ["127.0.0.1:99999", "[", "a%00b"]) {
        for (const path of ["/v1/files?limit=1", "/v1/batches", "/v1/fine_tuning/jobs/ftjob-1/events", "/v1/models"]) {
          const { status } = await getRaw(proxy.url, `http://${host}${path}`);
          assert([200, 400, 404].includes(status), `${host}${path}: ${status}`);
        }
        const answer = await sendRaw(proxy.url, `GET http://${host}/v1/models HTTP/1.0\r\n\r\n`);
        assert([200, 400].includes(answer.status), `${host} without a Host header: ${answer.status}`);
      }
    }, { listeners });
  });

  it("is none whose query has encoded characters, or whose segments have dots", async () => {
    await refusing(async (proxy) => {
      for (const path of ["/v1/models?x=%5c%23%00&y=/../.", "/v1/models?x=a/b"]) {
        assertEquals((await getRaw(proxy.url, path)).status, 200, path);
      }
      checkRefused(await getRaw(proxy.url, "/v1/models/a..b"), noModel);
      checkRefused(await getRaw(proxy.url, "/v1/models/...%2f.a"), noModel);
    }, { listeners });
  });
});

describe("A path or method the proxy does not know", () => {
  it("is 404, or 405 with the methods there are", async () => {
    await refusing(async (proxy) => {
      for (const [method, path, refused] of paths) {
        const about = `${method} ${path}`;
        const response = await fetch(proxy.url + path, { method });
        if (method === "HEAD") assertEquals([response.status, await response.text()], [405, ""], about);
        else await assertRefused(response, refused, about);
      }
    });
  });

  it("lets one trailing slash and a query pass", async () => {
    await using upstream = await startUpstream(respond());
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url } });
    for (const path of ["/v1/models/", "/v1/models?limit=3", "/health/", "/v1/models/chat?x=/../.."]) {
      assertEquals((await getRaw(proxy.url, path)).status, 200, path);
    }
    const response = await fetch(`${proxy.url}/v1/chat/completions/?api-version=1`, {
      method: "POST",
      body: JSON.stringify(goodBody),
    });
    // `fetch` says text/plain for a string without a content type
    await assertRefused(response, { status: 415, code: "unsupported_media_type" });
  });

  for (const listener of listeners) {
    it(`answers HEAD with the headers of GET, and no body (${listener})`, async () => {
      await using upstream = await startUpstream(respond());
      await using proxy = await startTestProxy({ upstreams: { a: upstream.url }, listener });
      const headers = { accept: "*/*", "accept-encoding": "identity" };
      for (const path of ["/v1/models", "/v1/models/chat", "/health", "/metrics", "/ui", "/mesh/status"]) {
        const get = await fetch(`${proxy.url}${path}`, { headers });
        const { byteLength: length } = await get.arrayBuffer();
        const head = await fetch(`${proxy.url}${path}`, { method: "HEAD", headers });
        assertEquals([path, head.status, await head.text()], [path, 200, ""]);
        for (const name of ["content-type", "cache-control"]) {
          assertEquals(head.headers.get(name), get.headers.get(name), path);
        }
        // times differ, and so may their digits
        if (path !== "/mesh/status") assertEquals([path, head.headers.get("content-length")], [path, String(length)]);
      }
      const events = await fetch(`${proxy.url}/mesh/events`, { method: "HEAD" });
      assertEquals([events.headers.get("content-type"), await events.text()], ["text/event-stream", ""]);
    });
  }
});
