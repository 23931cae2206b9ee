/** mesh.opentelemetry.v1: whose child each span is, what the resource is, and how vendors and models are named. */
import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { serverConnectors } from "../../connectors/server.ts";
import { openTelemetryObservability } from "../../connectors/observability/opentelemetry.ts";
import { create, type Observability, type RoutingRecord } from "../../mod.ts";
import { denoRuntime } from "../../src/runtime/deno.ts";
import { version } from "../../src/version.ts";
import { startDialectProxy } from "../support/_dialect_proxy.ts";
import { type Dialect, speaking } from "../support/_dialects.ts";
import { readMetrics, readSpans } from "../support/otlp.ts";
import { recorder } from "../support/sinks.ts";
import { startTestProxy } from "../support/proxy.ts";
import { json, ok, respond, startUpstream, status, type Upstream } from "../support/upstream.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const caller = "b7ad6b7169203331";
const tracestate = "vendor=opaque,other=1";

/** The configuration of a sink that exports to a collector. */
const exportingTo = (collector: Upstream) => ({
  connector: "mesh.opentelemetry.v1",
  url: collector.url.replace("/v1", "/"),
});

/** Spans that a collector received. */
const spansAt = (collector: Upstream) =>
  collector.requests.filter(({ path }) => path === "/v1/traces").flatMap(({ body }) => readSpans(body).spans);

/** Trace headers that a provider received. */
const handedTo = (upstream: Upstream) =>
  upstream.requests.map(({ headers }) => ({ traceparent: headers.traceparent!, tracestate: headers.tracestate }));

/** A request with trace headers through a failover, with and without an exporter. */
async function trace(headers: Readonly<Record<string, string>>, isExporting = true) {
  await using collector = await startUpstream(json({}));
  await using a = await startUpstream(status(503));
  await using b = await startUpstream(ok());
  const proxy = await startTestProxy({
    upstreams: { a: a.url, b: b.url },
    pool: { retry: { max_attempts: 1 } },
    config: isExporting ? { observability: { routing: exportingTo(collector) } } : {},
  });
  await (await proxy.chat({}, { headers: { "content-type": "application/json", ...headers } })).text();
  await proxy[Symbol.asyncDispose]();
  const [root, ...tries] = spansAt(collector);
  return { root, tries, handed: [...handedTo(a), ...handedTo(b)] };
}

Deno.test("each provider's call is a span below ours, which is below the caller's; tracestate stays", async () => {
  const { root, tries, handed } = await trace({ traceparent: `00-${traceId}-${caller}-01`, tracestate });
  assertEquals([root!.traceId, root!.parentSpanId], [traceId, caller]);
  assertEquals(tries.map(({ parentSpanId }) => parentSpanId), [root!.spanId, root!.spanId, root!.spanId]);
  assertEquals(
    handed,
    tries.map(({ spanId }) => ({ traceparent: `00-${traceId}-${spanId}-01`, tracestate })),
  );
  assertEquals(new Set([caller, root!.spanId, ...tries.map(({ spanId }) => spanId)]).size, 5);
});

Deno.test("a caller that does not record its trace gets no spans of ours, and providers learn of it", async () => {
  const { root, tries, handed } = await trace({ traceparent: `00-${traceId}-${caller}-00`, tracestate });
  assertEquals([root, tries], [undefined, []]);
  for (const { traceparent, tracestate: state } of handed) {
    assertMatch(traceparent, new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
    assertEquals(state, tracestate);
  }
  assertEquals(handed.length, 3);
});

Deno.test("a trace of ours begins where the caller has none, and goes on in the providers", async () => {
  const none: readonly Readonly<Record<string, string>>[] = [{}, { traceparent: "nonsense", tracestate }, {
    tracestate,
  }];
  for (const headers of none) {
    const { root, tries, handed } = await trace(headers);
    assertEquals(root!.parentSpanId, undefined);
    assertNotEquals(root!.traceId, traceId);
    const traceparents = tries.map(({ spanId }) => `00-${root!.traceId}-${spanId}-01`);
    assertEquals(handed, traceparents.map((traceparent) => ({ traceparent, tracestate: undefined })));
  }
});

Deno.test("without an exporter there are no spans of ours: a provider's parent is the caller", async () => {
  const traceparent = `00-${traceId}-${caller}-01`;
  const { handed } = await trace({ traceparent, tracestate }, false);
  assertEquals(handed, Array.from({ length: 3 }, () => ({ traceparent, tracestate })));
});

Deno.test("traceparent is read as W3C defines it: later versions may be longer, version 00 may not", async () => {
  const rows: readonly (readonly [string, boolean])[] = [
    [`00-${traceId}-${caller}-01`, true],
    [`01-${traceId}-${caller}-01-what-the-future-brings`, true],
    [`00-${traceId}-${caller}-01-more`, false],
    [`ff-${traceId}-${caller}-01`, false],
    [`00-${traceId.toUpperCase()}-${caller}-01`, false],
    [`00-${traceId}-${caller}`, false],
  ];
  for (const [traceparent, isValid] of rows) {
    const { root, handed } = await trace({ traceparent });
    assertEquals([traceparent, root!.traceId === traceId], [traceparent, isValid]);
    assert(handed.every(({ traceparent }) => traceparent.startsWith(`00-${root!.traceId}-`)));
  }
});

Deno.test("tracestate that is too long, or not printable, is dropped", async () => {
  const traceparent = `00-${traceId}-${caller}-01`;
  for (const state of [`a=${"x".repeat(2047)}`, "a=\u00e9"]) {
    const { handed } = await trace({ traceparent, tracestate: state });
    assertEquals(handed.map(({ tracestate }) => tracestate), [undefined, undefined, undefined]);
  }
});

Deno.test("a program hands on the trace of its call", async () => {
  await using upstream = await startUpstream(ok());
  const records: RoutingRecord[] = [];
  await using client = create("chat-completion", {
    env: { OPENAI_API_KEY: "key-0123456789abcdef", OPENAI_BASE_URL: upstream.url },
    on: (record) => void (record.type === "routing" && records.push(record)),
  });
  const traceparent = `00-${traceId}-${caller}-01`;
  const messages = [{ role: "user" as const, content: "Hi" }];
  await client.chat.completions.create({ messages }, { headers: { traceparent, tracestate } });
  assertEquals(handedTo(upstream), [{ traceparent, tracestate }]);
  assertEquals(records[0]!.traceparent, traceparent);
});

Deno.test("a program's sink that begins spans gives providers their parents; one that fails harms no request", async () => {
  const own = `00-${traceId}-${caller}-01`;
  const rows: readonly (readonly [Observability["beginSpan"], string | undefined])[] = [
    [() => ({ traceparent: own }), own],
    [() => {
      throw new Error("broken");
    }, undefined],
  ];
  for (const [beginSpan, handed] of rows) {
    await using upstream = await startUpstream(ok());
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url } });
    proxy.mesh.addSink({ ...recorder(), ...(beginSpan && { beginSpan }) });
    const response = await proxy.chat();
    assertEquals([response.status, typeof await response.text()], [200, "string"]);
    assertEquals(upstream.requests[0]!.headers.traceparent, handed);
  }
});

/** The resource of the exports of a process. */
async function readResource(env: Record<string, string>, settings: object = {}) {
  await using collector = await startUpstream(json({}));
  const runtime = { ...denoRuntime(), env: (name: string) => env[name] };
  const warnings: string[] = [];
  const mesh = {
    storage: () => undefined,
    version: "1.2.3",
    instanceId: "process-1",
    warn: (message: string) => void warnings.push(message),
  };
  const sink = openTelemetryObservability.create({ url: collector.url, ...settings }, runtime, mesh);
  sink.emit({ type: "routing", operation: "chat", pool: "p" } as unknown as RoutingRecord, []);
  await sink.flush();
  return { resource: readSpans(collector.requests[0]!.body).resource, warnings };
}

Deno.test("the resource names service, version and process; the environment adds to it and overrides it", async () => {
  const own = { "service.name": "modelmesh", "service.version": "1.2.3", "service.instance.id": "process-1" };
  const given = "service.name=from-list, deployment.environment.name=prod%20eu,service.instance.id=pod-7,";
  const listed = { ...own, "service.instance.id": "pod-7", "deployment.environment.name": "prod eu" };
  const rows: readonly (readonly [Record<string, string>, object, object])[] = [
    [{}, {}, own],
    [{ OTEL_RESOURCE_ATTRIBUTES: given }, {}, { ...listed, "service.name": "from-list" }],
    [{ OTEL_RESOURCE_ATTRIBUTES: given, OTEL_SERVICE_NAME: "named" }, {}, { ...listed, "service.name": "named" }],
    [{ OTEL_SERVICE_NAME: "named" }, { service_name: "configured" }, { ...own, "service.name": "configured" }],
    [{ OTEL_SERVICE_NAME: "" }, {}, own],
  ];
  for (const [env, settings, expected] of rows) {
    const { resource, warnings } = await readResource(env, settings);
    assertEquals<unknown>([resource, warnings], [expected, []]);
  }
  for (const invalid of ["nonsense", "=value", "a=b,c=%zz"]) {
    const { resource, warnings } = await readResource({ OTEL_RESOURCE_ATTRIBUTES: invalid });
    assertEquals<unknown>([resource, warnings.length], [own, 1]);
  }
});

Deno.test("the resource of a proxy is one process in traces and metrics alike", async () => {
  await using collector = await startUpstream(json({}));
  await using a = await startUpstream(ok());
  const sink = exportingTo(collector);
  const config = { observability: { routing: sink, statistics: { ...sink, flush_interval: "1h" } } };
  const proxy = await startTestProxy({ upstreams: { a: a.url }, config });
  await (await proxy.chat()).text();
  await proxy[Symbol.asyncDispose]();
  const resources = collector.requests.map(({ body }) => {
    const [entry] = Object.values(JSON.parse(body)).flat() as {
      resource: { attributes: { key: string; value: { stringValue: string } }[] };
    }[];
    return Object.fromEntries(entry!.resource.attributes.map(({ key, value }) => [key, value.stringValue]));
  });
  assertEquals(resources.length, 2);
  assertEquals(resources[0], resources[1]);
  assertEquals(resources[0]!["service.version"], version);
  assertMatch(resources[0]!["service.instance.id"]!, /^[0-9a-f-]{36}$/);
});

/** Names of OpenTelemetry's semantic conventions, by connector. */
const wellKnown: Readonly<Record<string, string>> = {
  "openai.llm.v1": "openai",
  "anthropic.claude.v1": "anthropic",
  "google.gemini.v1": "gcp.gemini",
  "google.vertex.v1": "gcp.vertex_ai",
  "aws.bedrock.v1": "aws.bedrock",
  "azure.openai.v1": "azure.ai.openai",
  "cohere.nlp.v1": "cohere",
  "deepseek.api.v1": "deepseek",
  "groq.api.v1": "groq",
  "mistral.api.v1": "mistral_ai",
  "perplexity.search.v1": "perplexity",
  "xai.grok.v1": "x_ai",
};

Deno.test("connectors declare the names of the semantic conventions", () => {
  const declared = serverConnectors.flatMap((connector) =>
    "vendor" in connector
      ? [[connector.id, "telemetryName" in connector ? connector.telemetryName : connector.vendor] as const]
      : []
  );
  const names = Object.fromEntries(declared);
  assertEquals(Object.keys(wellKnown).map((id) => [id, names[id]]), Object.entries(wellKnown));
});

Deno.test("spans and metrics name the vendor, and the model as the vendor calls it", async () => {
  const rows: readonly (readonly [Dialect, string])[] = [
    ["openai", "mine"], // of any server the entry's id is known
    ["anthropic", "anthropic"],
    ["gemini", "gcp.gemini"],
  ];
  for (const [dialect, vendor] of rows) {
    for (const isStream of [false, true]) {
      await using collector = await startUpstream(json({}));
      await using upstream = await startUpstream(speaking[dialect].respond());
      const { model } = speaking[dialect];
      const sink = exportingTo(collector);
      const proxy = await startDialectProxy({ mine: { dialect, url: upstream.url } }, {
        config: { observability: { routing: sink, statistics: { ...sink, flush_interval: "1h" } } },
      });
      await (await proxy.chat({ stream: isStream })).text();
      await proxy[Symbol.asyncDispose]();
      const [root, attempt] = spansAt(collector).map(({ attributes }) => attributes);
      for (const attributes of [root!, attempt!]) {
        assertEquals([attributes["gen_ai.provider.name"], attributes["modelmesh.provider"]], [vendor, "mine"]);
        assertEquals(attributes["modelmesh.model"], "mine");
        assert(String(attributes["gen_ai.response.model"]).startsWith(model)); // dated, where the vendor says so
      }
      assertEquals([root!["gen_ai.request.model"], attempt!["gen_ai.request.model"]], ["chat", model]);
      const metrics = collector.requests.filter(({ path }) => path === "/v1/metrics").at(-1)!;
      const duration = readMetrics(metrics.body).find(({ name }) => name === "gen_ai.client.operation.duration")!;
      assertEquals(duration.points[0]!.attributes["gen_ai.provider.name"], vendor);
    }
  }
});

Deno.test("the model of a response is the one that the vendor names in it", async () => {
  for (const isStream of [false, true]) {
    await using collector = await startUpstream(json({}));
    await using a = await startUpstream(respond({ model: "gpt-4o-2024-08-06" }));
    const proxy = await startTestProxy({
      upstreams: { a: a.url },
      config: {
        models: { a: { provider: "a", model: "gpt-4o", capabilities: ["chat-completion"] } },
        observability: { routing: exportingTo(collector) },
      },
    });
    await (await proxy.chat({ stream: isStream })).text();
    await proxy[Symbol.asyncDispose]();
    for (const { attributes } of spansAt(collector)) {
      assertEquals(attributes["gen_ai.response.model"], "gpt-4o-2024-08-06");
    }
    assertEquals(spansAt(collector)[1]!.attributes["gen_ai.request.model"], "gpt-4o");
  }
});
