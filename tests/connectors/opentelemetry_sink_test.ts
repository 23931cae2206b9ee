/** mesh.opentelemetry.v1: spans and metrics as a collector gets them. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { openTelemetryObservability } from "../../connectors/observability/opentelemetry.ts";
import { ConfigError, type RoutingRecord } from "../../mod.ts";
import { denoRuntime } from "../../src/runtime/deno.ts";
import { readMetrics, readSpans } from "../support/otlp.ts";
import { retryingClock } from "../support/sinks.ts";
import { startTestProxy } from "../support/proxy.ts";
import { json, ok, startUpstream, status, stream } from "../support/upstream.ts";

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/** A proxy that exports to a collector, and its requests by path once it is closed. */
async function exported(
  script: Parameters<typeof startUpstream>[0],
  act: (proxy: Awaited<ReturnType<typeof startTestProxy>>) => Promise<void>,
) {
  await using collector = await startUpstream(json({}));
  await using a = await startUpstream(script);
  await using b = await startUpstream(ok());
  const sink = {
    connector: "mesh.opentelemetry.v1",
    url: collector.url.replace("/v1", "/"),
    config: { headers: { "X-Token": "t" }, service_name: "my-mesh" },
  };
  const proxy = await startTestProxy({
    upstreams: { a: a.url, b: b.url },
    pool: { retry: { max_attempts: 1 } },
    config: { observability: { routing: sink, statistics: { ...sink, flush_interval: "1h" } } },
  });
  await act(proxy);
  await proxy[Symbol.asyncDispose]();
  for (const { headers, method } of collector.requests) {
    assertEquals([method, headers["content-type"], headers["x-token"]], ["POST", "application/json", "t"]);
  }
  return {
    exports: collector.requests.filter(({ path }) => path === "/v1/traces").map(({ body }) => readSpans(body)),
    metrics: collector.requests.filter(({ path }) => path === "/v1/metrics").map(({ body }) => readMetrics(body)),
  };
}

Deno.test("the OpenTelemetry sink exports a span for each try under one for the request, in the caller's trace", async () => {
  const { exports } = await exported(status(503), async (proxy) => {
    await (await proxy.chat({}, { headers: { "content-type": "application/json", traceparent: parent } })).text();
  });
  const [{ resource, spans }] = exports as [typeof exports[0]];
  assertEquals(resource, { "service.name": "my-mesh" });
  const [root, ...tries] = spans as [typeof spans[0], ...typeof spans];
  assertEquals([root.traceId, root.parentSpanId, root.name, root.kind], [
    "0af7651916cd43dd8448eb211c80319c",
    "b7ad6b7169203331",
    "chat chat",
    2,
  ]);
  const { attributes } = root;
  assertEquals(attributes["gen_ai.operation.name"], "chat");
  assertEquals([attributes["gen_ai.response.model"], attributes["gen_ai.provider.name"]], ["b", "b"]);
  assertEquals([attributes["gen_ai.usage.input_tokens"], attributes["gen_ai.usage.output_tokens"]], [10, 5]);
  assertEquals([attributes["modelmesh.pool"], attributes["modelmesh.attempts"]], ["chat", 3]);
  assertEquals(
    tries.map(({ name, kind, parentSpanId, traceId, error }) => [
      name,
      kind,
      parentSpanId === root.spanId && traceId === root.traceId,
      error,
    ]),
    [["chat a", 3, true, "server"], ["chat a", 3, true, "server"], ["chat b", 3, true, undefined]],
  );
  assertEquals([tries[0]!.attributes["error.type"], tries[0]!.attributes["http.response.status_code"]], [
    "server",
    503,
  ]);
  assert(tries.every(({ startMs, endMs }) => startMs >= root.startMs && endMs <= root.endMs));
});

Deno.test("the OpenTelemetry sink begins a trace where the caller has none, or says nonsense", async () => {
  const { exports } = await exported(stream({}), async (proxy) => {
    for (const traceparent of ["nonsense", undefined]) {
      const headers = { "content-type": "application/json", ...(traceparent === undefined ? {} : { traceparent }) };
      await (await proxy.chat({ stream: true }, { headers })).text();
    }
  });
  const roots = exports.flatMap(({ spans }) => spans.filter(({ kind }) => kind === 2));
  assertEquals(roots.map(({ parentSpanId }) => parentSpanId), [undefined, undefined]);
  assertEquals(new Set(roots.map(({ traceId }) => traceId)).size, 2);
});

Deno.test("the OpenTelemetry sink exports metrics under the names of the semantic conventions", async () => {
  const { metrics } = await exported(ok(), async (proxy) => {
    for (let request = 0; request < 3; request++) await (await proxy.chat()).text();
  });
  const find = (name: string) => metrics.at(-1)!.find((metric) => metric.name === name)!;
  const duration = find("gen_ai.client.operation.duration");
  assertEquals([duration.kind, duration.unit], ["histogram", "s"]);
  assertEquals(duration.points, [{
    attributes: {
      "gen_ai.operation.name": "chat",
      "modelmesh.pool": "chat",
      "gen_ai.request.model": "a",
      "gen_ai.provider.name": "a",
    },
    value: 3,
  }]);
  const usage = find("gen_ai.client.token.usage");
  assertEquals(usage.points.map(({ attributes, value }) => [attributes["gen_ai.token.type"], value]), [
    ["input", 3],
    ["output", 3],
  ]);
  assertEquals(find("modelmesh.requests").points.map(({ value }) => value), [3]);
  assertEquals(find("modelmesh.model_active").kind, "gauge");
});

Deno.test("the OpenTelemetry sink of a collector that refuses counts losses and keeps a bounded number", async () => {
  await using collector = await startUpstream(status(503));
  const runtime = { ...denoRuntime(), clock: retryingClock() };
  const sink = openTelemetryObservability.create({ url: collector.url }, runtime);
  const record = { type: "routing", pool: "p", attempts: 0, routing_latency_ms: 0, fallback_chain: [] } as unknown;
  for (let number = 0; number < 5_000; number++) sink.emit(record as RoutingRecord, []);
  assertEquals(sink.lost, 5_000 - 2_048);
  await sink.flush();
  assertEquals(sink.lost, 5_000);
  assertEquals(collector.calls, 8 * 4);
});

Deno.test("the OpenTelemetry sink takes its address from the environment, and refuses what is none", () => {
  const runtime = (env: Record<string, string>) => ({ ...denoRuntime(), env: (name: string) => env[name] });
  openTelemetryObservability.create({}, runtime({}));
  openTelemetryObservability.create({}, runtime({ OTEL_EXPORTER_OTLP_ENDPOINT: "https://c:4318" }));
  assertThrows(() => openTelemetryObservability.create({}, runtime({ OTEL_EXPORTER_OTLP_ENDPOINT: "c" })), ConfigError);
  assertThrows(() => openTelemetryObservability.create({ headers: { a: 1 } }, runtime({})), ConfigError, "texts");
});
