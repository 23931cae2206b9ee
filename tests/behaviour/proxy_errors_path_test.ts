import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { assertRefused, getRaw, goodBody, listeners, type Refused, refusing } from "../support/_surface.ts";
import { startTestProxy } from "../support/proxy.ts";
import { answer, startUpstream } from "../support/upstream.ts";

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
  ...["/", "/v1", "/v1/", "/v1/chat", "/v1/chat/completions/x", "/V1/models", "/v1/Models", "/v1//models", "/healthz"]
    .map((path) => ["GET", path, noPath] as const),
  ["POST", "/chat/completions", noPath],
  ["POST", "/v1/chat/completions//", noPath],
  ...["none", "..%2f..%2fetc%2fpasswd", "%2e%2e%2fmodels", "%00", "%zz", "%", "__proto__", "chat/x", "Chat"]
    .map((id) => ["GET", `/v1/models/${id}`, noModel] as const),
];

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
    await using upstream = await startUpstream(answer());
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
      await using upstream = await startUpstream(answer());
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
