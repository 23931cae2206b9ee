/** mesh.opentelemetry.v1: spans and metrics as a collector gets them. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { toSpans } from "../../connectors/observability/_otlp_spans.ts";
import { openTelemetryObservability } from "../../connectors/observability/opentelemetry.ts";
import { ConfigError, type RoutingRecord } from "../../mod.ts";
import { version } from "../../src/version.ts";
import { denoRuntime } from "../../src/runtime/deno.ts";
import { assertOtlp, readMetrics, readSpans } from "../support/otlp.ts";
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
  let requestId: string | undefined;
  const { exports } = await exported(status(503), async (proxy) => {
    const response = await proxy.chat({}, { headers: { "content-type": "application/json", traceparent: parent } });
    requestId = response.headers.get("x-request-id") ?? "none";
    await response.text();
  });
  const [{ resource, spans }] = exports as [typeof exports[0]];
  assertEquals([resource["service.name"], resource["service.version"]], ["my-mesh", version]);
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
  assertEquals(spans.map(({ attributes }) => attributes["modelmesh.request.id"]), spans.map(() => requestId));
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
  assertThrows(
    () => openTelemetryObservability.create({ headers: { a: 1 } }, runtime({})),
    ConfigError,
    "string values",
  );
});

Deno.test("the OpenTelemetry sink names operations by the semantic conventions, and begins a trace for a parent of zeros", async () => {
  const operations = {
    "embeddings": "embeddings",
    "speech": "generate_content",
    "search": "retrieval",
    "rerank": "rerank",
  };
  for (const [operation, name] of Object.entries(operations)) {
    const record = { operation, pool: "p", model: "m", duration_ms: 1 } as unknown as RoutingRecord;
    const [root, attempt] = toSpans(record, [{ model: "m", provider: "a", outcome: "ok", startedAt: 1, ms: 1 }], 5);
    for (const { name: spanName, attributes } of [root!, attempt!]) {
      assert(spanName.startsWith(`${name} `));
      const value = attributes.find(({ key }) => key === "gen_ai.operation.name")?.value;
      assertEquals(value, { stringValue: name });
    }
  }
  const dialects = {
    "completions": "text_completion",
    "generateContent": "generate_content",
    "messages": "chat",
    "responses": "chat",
  };
  for (const [dialect, name] of Object.entries(dialects)) {
    const record = { operation: "chat", dialect, pool: "p", model: "m", duration_ms: 1 } as unknown as RoutingRecord;
    const tries = [{ model: "m", provider: "a", outcome: "ok", startedAt: 1, ms: 1 }];
    // the client asked in its own format, the model is asked to chat
    assertEquals(toSpans(record, tries, 5).map((span) => span.name), [`${name} p`, "chat m"]);
  }
  const zeros = [
    `00-${"0".repeat(32)}-b7ad6b7169203331-01`,
    `00-0af7651916cd43dd8448eb211c80319c-${"0".repeat(16)}-01`,
  ];
  const { exports } = await exported(ok(), async (proxy) => {
    for (const traceparent of zeros) {
      await (await proxy.chat({}, { headers: { "content-type": "application/json", traceparent } })).text();
    }
  });
  const roots = exports.flatMap(({ spans }) => spans.filter(({ kind }) => kind === 2));
  assertEquals(roots.map(({ parentSpanId }) => parentSpanId), [undefined, undefined]);
  assert(roots.every(({ traceId }) => traceId !== "0af7651916cd43dd8448eb211c80319c"));
});

Deno.test("the OpenTelemetry sink sends what a collector refuses once, and again only what it asks for again", async () => {
  for (
    const [code, tries] of [[400, 1], [401, 1], [404, 1], [413, 1], [500, 1], [429, 4], [502, 4], [503, 4], [504, 4]]
  ) {
    await using collector = await startUpstream(status(code!));
    const runtime = { ...denoRuntime(), clock: retryingClock() };
    const sink = openTelemetryObservability.create({ url: collector.url }, runtime);
    sink.emit({ type: "routing", operation: "chat", pool: "p" } as unknown as RoutingRecord, []);
    await sink.flush();
    assertEquals([code, collector.calls, sink.lost], [code, tries, 1]);
  }
});

Deno.test("the reader of exports is strict: what opentelemetry-proto does not define is an error", () => {
  const span = { traceId: "0af7651916cd43dd8448eb211c80319c", kind: 2, startTimeUnixNano: "1", status: { code: 2 } };
  const request = (one: object) => ({ resourceSpans: [{ scopeSpans: [{ spans: [one] }] }] });
  assertOtlp(request(span), "ExportTraceServiceRequest");
  const bad = [{ kind: "SERVER" }, { kind: 9 }, { startTimeUnixNano: 1 }, { traceId: "g" }, { trace_id: "" }, {
    status: [],
  }];
  for (const one of bad) assertThrows(() => assertOtlp(request({ ...span, ...one }), "ExportTraceServiceRequest"));
});
