/** mesh.prometheus.v1: metrics as a file, or pushed. */
import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { prometheusObservability } from "../../connectors/observability/prometheus.ts";
import { ConfigError, ModelMesh } from "../../mod.ts";
import { denoRuntime } from "../../src/runtime/deno.ts";
import { testRuntime } from "../../src/runtime/test.ts";
import { readPrometheus } from "../support/prometheus.ts";
import { retryingClock, sinkStage } from "../support/sinks.ts";
import { json, ok, startUpstream, status } from "../support/upstream.ts";

Deno.test("the Prometheus sink replaces a file at each interval and at the end", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/mesh.prom`;
  const statistics = { connector: "mesh.prometheus.v1", path, flush_interval: "10s" };
  const stage = await sinkStage(ok(), { statistics });
  await stage.ask();
  await stage[Symbol.asyncDispose]();
  const families = readPrometheus(await Deno.readTextFile(path));
  assertEquals(families.get("modelmesh_requests_total")!.samples.map(({ value }) => value), [1]);
  assertEquals(families.get("modelmesh_model_active")!.samples.length, 1);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("the Prometheus sink pushes with PUT, the latest numbers only, and counts what was not accepted", async () => {
  await using gateway = await startUpstream([status(503), json({}), status(500)]);
  const clock = retryingClock();
  const sink = prometheusObservability.create({ url: gateway.url }, { ...denoRuntime(), clock });
  const families = () => [{ name: "up", help: "It is.", type: "gauge" as const, samples: [{ labels: {}, value: 1 }] }];
  await sink.flush({ records: [], families });
  assertEquals(gateway.requests.map(({ method, body }) => [method, readPrometheus(body).size]), [["PUT", 1], [
    "PUT",
    1,
  ]]);
  assertMatch(gateway.requests[0]!.headers["content-type"]!, /version=0\.0\.4/);
  await sink.flush({ records: [], families });
  assertEquals(sink.lost, 1);
});

Deno.test("the Prometheus sink needs either a path or a URL, and stands in statistics alone", async () => {
  for (const settings of [{}, { path: "a", url: "http://b" }]) {
    assertThrows(() => prometheusObservability.create(settings, testRuntime({})), ConfigError, "either");
  }
  const mesh = new ModelMesh({ env: { OPENAI_API_KEY: "key-0123456789abcdef" } });
  const routing = { connector: "mesh.prometheus.v1", path: "a" };
  const error = await mesh.initialize({ observability: { routing } }).catch((error) => error);
  assertMatch(
    error.message,
    /observability\.routing\.connector: "mesh\.prometheus\.v1" has no effect here: it supports "observability\.statistics"/,
  );
  await mesh.close();
});
