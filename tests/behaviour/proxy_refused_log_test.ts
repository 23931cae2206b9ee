/** Requests that are refused before they are routed leave a line. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { LogRecord } from "../../mod.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { getRaw, goodBody } from "../support/_surface.ts";
import { startTestProxy, type TestProxyOptions } from "../support/proxy.ts";
import { behind } from "../support/_failover.ts";
import { Gate, respond, type Script, startUpstream, status } from "../support/upstream.ts";

const token = "token-of-the-app-0123456789";

async function startSite(options: Partial<TestProxyOptions> = {}, script: Script = respond()) {
  const upstream = await startUpstream(script);
  const clock = fakeClock({ skipSleeps: true });
  const proxy = await startTestProxy({ upstreams: { a: upstream.url }, clock, ...options });
  const lines: LogRecord[] = [];
  const log = (record: LogRecord) => void lines.push(record);
  proxy.mesh.addSink({ emit: () => {}, log, trace: () => {}, flush: () => Promise.resolve() });
  return {
    proxy,
    clock,
    lines,
    async ask(path: string, init: RequestInit = {}) {
      const response = await fetch(`${proxy.url}${path}`, init);
      await response.body?.cancel();
      return response.status;
    },
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

const chat = "/v1/chat/completions";

describe("A refused request", () => {
  it("logs one line with the request and its client", async () => {
    const auth = { tokens: [{ token, name: "app" }] };
    await using site = await startSite({ config: { proxy: { auth, body_limit: "1000B" } } });
    const known = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const post = (body: string, headers: Record<string, string> = known) =>
      site.ask(chat, { method: "POST", headers, body });
    const refused = [
      await post("{}", {}),
      await site.ask("/v1/models?key=secret"),
      await site.ask("/v1/nothing?key=secret", { headers: known }),
      await site.ask(chat, { headers: known }),
      await post("{}", { ...known, "content-type": "text/plain" }),
      await post("{"),
      await post(JSON.stringify({ ...goodBody, model: "other" })),
      await post("x".repeat(2000)),
    ];
    const expected = [
      ["POST", chat, 401, "invalid_api_key", undefined],
      ["GET", "/v1/models", 401, "invalid_api_key", undefined],
      ["GET", "/v1/nothing", 404, "unknown_url", "app"],
      ["GET", chat, 405, "method_not_allowed", "app"],
      ["POST", chat, 415, "unsupported_media_type", "app"],
      ["POST", chat, 400, "invalid_json", "app"],
      ["POST", chat, 404, "model_not_found", "app"],
      ["POST", chat, 413, "request_too_large", "app"],
    ];
    assertEquals(
      site.lines.map(({ method, path, status, code, client }) => [method, path, status, code, client]),
      expected,
    );
    assertEquals(site.lines.map(({ status }) => status), refused);
    const { type, timestamp, level, request_id } = site.lines[0]!;
    assertEquals([type, timestamp, level], ["log", "2026-01-01T00:00:00.000Z", "warning"]);
    assertEquals(typeof request_id, "string");
  });

  it("leaves one for a foreign host and a full proxy, too", async () => {
    const gate = new Gate();
    await using site = await startSite({ config: { proxy: { max_concurrent: 1 } } }, behind(gate, respond()));
    await getRaw(site.proxy.url, "/v1/models", ["Host: evil.example"]);
    const first = site.proxy.chat();
    await gate.reached(1);
    await (await site.proxy.chat()).body?.cancel();
    gate.openAll();
    await (await first).body?.cancel();
    const refusals = site.lines.map(({ status, code }) => [status, code]);
    assertEquals(refusals, [[403, "host_not_allowed"], [503, "overloaded"]]);
  });

  it("leaves none when it was routed, which has a record of its own, or served", async () => {
    await using site = await startSite({ pool: { retry: { max_attempts: 0 } } }, [status(400), respond()]);
    for (const expected of [400, 200]) {
      const response = await site.proxy.chat();
      await response.body?.cancel();
      assertEquals(response.status, expected);
    }
    assertEquals(await site.ask("/health"), 200);
    assertEquals([site.lines, site.proxy.records.length], [[], 2]);
  });

  it("is counted when it is one of more than ten within a second", async () => {
    await using site = await startSite();
    const ask = () => site.ask("/nothing");
    await Promise.all(Array.from({ length: 30 }, ask));
    assertEquals(site.lines.length, 10);
    await site.clock.advance(999);
    await ask();
    assertEquals(site.lines.length, 10);
    await site.clock.advance(1);
    await Promise.all([ask(), ask()]);
    assertEquals(site.lines.slice(9).map(({ suppressed }) => suppressed), [undefined, 21, undefined]);
  });
});
