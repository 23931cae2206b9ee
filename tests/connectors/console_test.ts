import { assert, assertEquals, assertThrows } from "@std/assert";
import { consoleObservability } from "../../connectors/observability/console.ts";
import { envSecrets } from "../../connectors/secrets/declarations.ts";
import type { LogRecord, MeshEvent, RoutingRecord, TraceEntry } from "../../src/contracts/events.ts";
import type { Runtime } from "../../src/contracts/runtime.ts";
import { ConfigError } from "../../src/errors.ts";

const runtime = {} as Runtime;

const rotation: MeshEvent = {
  type: "event",
  event: "rotation",
  id: "1",
  timestamp: "2026-09-01T12:03:04.567Z",
  pool: "demo",
  model: "b",
  provider: "two",
  from: "a",
  to: "b",
  reason: "rate_limited",
  metadata: { status: 429 },
};

const deactivation: MeshEvent = {
  ...rotation,
  event: "deactivation",
  model: "a",
  provider: "one",
  from: "active",
  to: "standby",
  reason: "retry_limit",
  metadata: {},
};

const outage: MeshEvent = {
  type: "event",
  event: "health",
  id: "2",
  timestamp: rotation.timestamp,
  provider: "one",
  reason: "probe_failed",
  metadata: {},
};

const routing: RoutingRecord = {
  type: "routing",
  timestamp: rotation.timestamp,
  request_id: "r",
  capability: null,
  pool: "demo",
  model: "b",
  provider: "two",
  delivery: "sync",
  fallback_chain: [
    { model: "a", provider: "one", outcome: "rate_limited", status: 429, ms: 3 },
    { model: "b", provider: "two", outcome: "ok", status: 200, ms: 9 },
  ],
  routing_latency_ms: 0.123,
  attempts: 2,
};

const refusal: LogRecord = {
  type: "log",
  timestamp: rotation.timestamp,
  level: "warning",
  request_id: "r",
  method: "GET",
  path: "/v1/models",
  status: 401,
  code: "invalid_api_key",
};

const note: TraceEntry = {
  type: "trace",
  timestamp: rotation.timestamp,
  severity: "warning",
  component: "router",
  message: "slow",
};

function sink(settings: Record<string, unknown> = {}) {
  const lines: string[] = [];
  const observability = consoleObservability.create(
    { write: (line: string) => lines.push(line), ...settings },
    runtime,
  );
  return { observability, lines };
}

Deno.test("mesh.console.v1 writes one JSON line per record, type first", async () => {
  const { observability, lines } = sink();
  observability.emit(rotation);
  observability.emit(routing);
  observability.trace(note);
  await observability.flush();
  assertEquals(lines.map((line) => JSON.parse(line)), [rotation, routing, note] as unknown[]);
  assert(lines.every((line) => line.startsWith(`{"type":"`)));
});

Deno.test("mesh.console.v1 writes compact lines for people", () => {
  const { observability, lines } = sink({ format: "text" });
  for (const record of [rotation, deactivation, outage, routing]) observability.emit(record);
  const spent = { scope: "pool", id: "demo", window: "day", step: 0.5, spent: 2.5, limit: 5, window_end: "" };
  observability.emit({ ...outage, event: "budget", reason: "alert_at", metadata: spent });
  observability.emit({ ...outage, event: "budget", reason: "alert_at", metadata: { ...spent, id: "", scope: "all" } });
  observability.emit({ ...routing, status: 200, duration_ms: 12, tokens_in: 3, tokens_out: 4, cost_usd: 0.01 });
  observability.log?.(refusal);
  observability.log?.({ ...refusal, client: "app", suppressed: 3 });
  observability.trace(note);
  assertEquals(lines, [
    "12:03:04 rotation demo: a -> b (rate_limited, 429)",
    "12:03:04 deactivation demo: a active -> standby (retry_limit)",
    "12:03:04 health: one (probe_failed)",
    "12:03:04 routing demo: a rate_limited -> b ok (attempts 2, overhead 0.1 ms)",
    "12:03:04 budget pool demo: $2.50 of $5.00 spent this day, $2.50 left",
    "12:03:04 budget all: $2.50 of $5.00 spent this day, $2.50 left",
    "12:03:04 routing demo: a rate_limited -> b ok (attempts 2, overhead 0.1 ms, 200 in 12 ms, 3 + 4 tokens, 0.01 USD)",
    "12:03:04 warning refused GET /v1/models: 401 invalid_api_key",
    "12:03:04 warning refused GET /v1/models from app: 401 invalid_api_key, and 3 more before",
    "12:03:04 warning router: slow",
  ]);
});

Deno.test("mesh.console.v1 lets no record break out of its line or steer the terminal", () => {
  const nasty = "x\n\r\t\u001b[2J\u009b31m\u2028\u202e\u0000y";
  for (const format of ["json", "text"]) {
    const { observability, lines } = sink({ format });
    observability.emit({ ...rotation, pool: nasty, metadata: { status: nasty } });
    observability.trace({ ...note, message: nasty });
    assertEquals(lines.length, 2);
    for (const line of lines) {
      // deno-lint-ignore no-control-regex
      assert(!/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e]/.test(line));
    }
    if (format === "json") assertEquals(JSON.parse(lines[0]!).pool, nasty);
  }
});

Deno.test("mesh.console.v1 never throws, and counts what it could not write", () => {
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  const { observability } = sink();
  observability.emit({ ...rotation, metadata: cyclic });
  observability.emit({ ...rotation, metadata: { big: 1n } });
  observability.emit(rotation);
  assertEquals(observability.lost, 2);
  for (const format of ["json", "text"]) {
    const { observability: broken } = sink({
      format,
      write: () => {
        throw new Error("closed");
      },
    });
    broken.emit(rotation);
    broken.trace(note);
    broken.emit({ type: "event" } as MeshEvent);
    broken.emit(undefined as unknown as MeshEvent);
    assertEquals(broken.lost, 4);
  }
});

Deno.test("mesh.console.v1 refuses settings that do not fit", () => {
  for (const settings of [{ format: "yaml" }, { write: "stderr" }]) {
    assertThrows(() => consoleObservability.create(settings, runtime), ConfigError);
  }
  consoleObservability.create({}, runtime);
});

Deno.test("mesh.env.v1 reads variables and lists nothing", async () => {
  const variables: Record<string, string> = { KEY: " value ", BLANK: "  " };
  const store = envSecrets.create({}, { env: (name: string) => variables[name] } as Runtime);
  assertEquals(await store.get("KEY"), " value ");
  assertEquals(await store.get("BLANK"), undefined);
  assertEquals(await store.get("MISSING"), undefined);
  assertEquals([store.list, store.set, store.delete], [undefined, undefined, undefined]);
});
