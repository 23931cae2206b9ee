/** mesh.clickhouse.v1: acknowledged inserts, retried, bounded; a row that the server rejects does not prevent the others. */
import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { clickHouseObservability } from "../../connectors/observability/clickhouse.ts";
import type { TraceEntry } from "../../src/contracts/events.ts";
import { ConfigError } from "../../src/errors.ts";
import { denoRuntime } from "../../src/runtime/deno.ts";
import { emitEach, eventRecord, oneOfEach, timedClock } from "../support/_sink_records.ts";
import { type ClickHouseBehaviour, clickHouseUser, startClickHouse } from "../support/clickhouse_server.ts";
import { until } from "../support/patience.ts";

/** A sink that inserts into a server, on a stopped clock. */
function setUp(settings: Readonly<Record<string, unknown>> = {}, behaviour: ClickHouseBehaviour = {}) {
  const server = startClickHouse(behaviour, ["modelmesh"]);
  const clock = timedClock(Date.UTC(2026, 8, 1, 12));
  const warnings: string[] = [];
  const mesh = { storage: () => undefined, warn: (message: string) => void warnings.push(message) };
  const runtime = { ...denoRuntime(), clock, random: () => 1 };
  const sink = clickHouseObservability.create({ url: server.url, ...clickHouseUser, ...settings }, runtime, mesh);
  const ids = () => (server.tables.get("default.modelmesh") ?? []).map(({ id }) => id);
  return { server, clock, warnings, behaviour, sink, ids };
}

describe("The log sink in ClickHouse", () => {
  it("inserts each record as a row of columns and its JSON, and waits until the table has it", async () => {
    const { server, sink } = setUp();
    await using _ = server;
    await emitEach(sink);
    await sink.flush();
    const rows = server.tables.get("default.modelmesh")!;
    const { event, routing, log, trace, stats } = oneOfEach;
    assertEquals(rows.map(({ record }) => JSON.parse(String(record))), [event, routing, log, trace, stats]);
    const { record: _record, ...columns } = rows[1]!;
    assertEquals(columns, {
      timestamp: "2026-09-01T12:00:00.000Z",
      type: "routing",
      request_id: "r1",
      pool: "chat",
      model: "a",
      provider: "p",
      status: 200,
      attempts: 1,
      duration_ms: 5,
      routing_latency_ms: 0.5,
      tokens_in: 7,
      cost_usd: 0.25,
    });
    assertEquals(rows[3]!.status, undefined, "a value that does not fit its column is only part of the record");
    const { query: _query, ...parameters } = Object.fromEntries(server.calls[0]!);
    assertEquals(parameters, {
      async_insert: "1",
      wait_for_async_insert: "1",
      input_format_skip_unknown_fields: "1",
      date_time_input_format: "best_effort",
    });
    assertEquals([server.calls.length, sink.lost], [1, 0]);
  });

  it("replaces half of a surrogate pair, which ClickHouse rejects, and keeps what only looks like one", async () => {
    const { server, sink } = setUp();
    await using _ = server;
    const message = "cut \u{1f600}".slice(0, -1) + ", whole \u{1f600}, text \\ud83d \\\\ud83d";
    sink.trace({ ...oneOfEach.trace, message });
    await sink.flush();
    const [row] = server.tables.get("default.modelmesh")!;
    const portable = message.replace("\ud83d,", "\ufffd,");
    assertEquals([row!.message, JSON.parse(String(row!.record)).message], [portable, portable]);
  });

  it("inserts at its interval what has arrived, together", async () => {
    const { server, sink, clock, ids } = setUp({ interval: 5_000, settings: { async_insert_deduplicate: true } });
    await using _ = server;
    for (const id of ["1", "2"]) sink.emit(eventRecord(id));
    await clock.advance(4_999);
    assertEquals(server.calls.length, 0);
    await clock.advance(1);
    await until(() => ids().length === 2 && clock.pending === 0);
    assertEquals(server.calls.map((parameters) => parameters.get("async_insert_deduplicate")), ["1"]);
  });

  it("creates the tables that do not exist, one for each type of record, also after one was dropped", async () => {
    const { server, sink } = setUp({ table: "mesh_{type}", create_table: true, ttl: 90 * 86_400_000 });
    await using _ = server;
    await emitEach(sink);
    await sink.flush();
    const names = ["event", "routing", "log", "trace", "stats"].map((type) => `default.mesh_${type}`);
    assertEquals([...server.definitions.keys()], names);
    assertMatch(server.definitions.get(names[0]!)!, /TTL toDateTime\(timestamp\) \+ INTERVAL 7776000 SECOND$/);
    server.tables.delete(names[0]!);
    sink.emit(eventRecord("2"));
    await sink.flush();
    assertEquals([server.tables.get(names[0]!)!.map(({ id }) => id), sink.lost], [["2"], 0]);
  });

  for (const hasLateExceptions of [false, true]) {
    const how = hasLateExceptions ? "in the body of a status 200" : "by its status";
    it(`loses the records that the server rejects, reported ${how}, and no others`, async () => {
      const { server, sink, ids, warnings } = setUp({}, {
        hasLateExceptions,
        rejects: ({ message }) => String(message).includes("poison"),
      });
      await using _ = server;
      const trace: TraceEntry = { ...oneOfEach.trace, message: "poison, secret-text (SECRET_NAME)" };
      for (let number = 0; number < 100; number++) {
        if (number === 17 || number === 80) sink.trace(trace);
        sink.emit(eventRecord(String(number)));
      }
      await sink.flush();
      assertEquals(ids().map(Number), [...Array(100).keys()]);
      assertEquals(sink.lost, 2);
      assertEquals(warnings.length, 1);
      assertMatch(
        warnings[0]!,
        /not accepted by ClickHouse \(status \d+, code 27, CANNOT_PARSE_INPUT_ASSERTION_FAILED\)/,
      );
      assert(!warnings[0]!.toLowerCase().includes("secret"));
    });
  }

  it("calls a server that rejects every record a bounded number of times", async () => {
    const { server, sink, clock } = setUp({}, { rejects: () => true });
    await using _ = server;
    for (let number = 0; number < 2_000; number++) sink.emit(eventRecord(String(number)));
    const flushed = sink.flush();
    await until(async () => {
      await clock.advance(0); // between slices of a batch
      return sink.lost === 2_000;
    });
    await flushed;
    assert(server.calls.length < 300, String(server.calls.length));
  });

  const passing: readonly [what: string, fault: () => Response][] = [
    ["is overloaded", () => new Response("", { status: 503 })],
    ["is out of memory", () => new Response("", { status: 500, headers: { "x-clickhouse-exception-code": "241" } })],
    ["does not have the table yet", () => new Response("Code: 60. DB::Exception: no table", { status: 404 })],
    ["fails after the head", () => new Response("\nCode: 210. DB::NetException: broken (NETWORK_ERROR) (version 25)")],
    ["is behind a gateway that wants a login", () => new Response(null, { status: 302, headers: { location: "/" } })],
  ];
  for (const [what, fault] of passing) {
    it(`keeps the records while the server ${what}, and reports it once`, async () => {
      const { server, sink, clock, ids, warnings, behaviour } = setUp({}, { fault });
      await using _ = server;
      sink.emit(eventRecord("1"));
      await clock.advance(5_000);
      for (const waitMs of [1_000, 2_000]) {
        await until(() => clock.timers.at(-1) === waitMs, `a wait of ${waitMs} ms`);
        await clock.advance(waitMs);
      }
      await until(() => clock.timers.at(-1) === 4_000);
      sink.emit(eventRecord("2"));
      behaviour.fault = undefined;
      await clock.advance(4_000);
      await until(() => ids().length === 1);
      await sink.flush();
      assertEquals([ids(), sink.lost, warnings.length], [["1", "2"], 0, 1]);
    });
  }

  it("keeps the records while its password is refused, and shows it nowhere", async () => {
    const { server, sink, clock, warnings } = setUp({ password: "a-wrong-password" });
    await using _ = server;
    sink.emit(eventRecord("1"));
    const flushed = sink.flush();
    await until(() => warnings.length === 1);
    assertEquals(sink.lost, 0);
    await clock.advance(4_000);
    await flushed;
    assertMatch(warnings[0]!, /status 403, code 516, AUTHENTICATION_FAILED/);
    assertEquals([sink.lost, clock.pending, warnings[0]!.includes("a-wrong-password")], [1, 0, false]);
  });

  it("never makes a record wait for a server that hangs: it keeps the latest ones, and counts the others", async () => {
    const release = Promise.withResolvers<Response>();
    const { server, sink, clock, ids, behaviour } = setUp({ max_buffer: 65_536 }, { fault: () => release.promise });
    await using _ = server;
    for (let number = 0; number < 1_000; number++) sink.emit(eventRecord(String(number)));
    await until(() => server.calls.length === 1);
    const { lost = 0 } = sink;
    assert(lost > 500 && lost < 1_000, String(lost));
    const flushed = sink.flush();
    await clock.advance(4_000);
    await flushed;
    assertEquals([sink.lost, clock.pending], [1_000, 0], "a flush ends after 4 s");
    release.resolve(new Response());
    behaviour.fault = undefined;
    sink.emit(eventRecord("last"));
    await sink.flush();
    assertEquals(ids(), ["last"]);
  });

  it("refuses settings that it cannot use, without showing them", () => {
    const invalid: readonly [settings: Record<string, unknown>, path: string][] = [
      [{ url: "clickhouse.example.com/secret-path" }, "observability.url"],
      [{ url: "https://user:secret-path@clickhouse.example.com" }, "observability.url"],
      [{ database: "a`; DROP" }, "observability.database"],
      [{ table: "a.b" }, "observability.table"],
      [{ table: "a_{pool}" }, "observability.table"],
      [{ password: "secret-path\n" }, "observability.password"],
      [{ settings: { query: "secret-path" } }, "observability.settings"],
      [{ settings: { max_threads: [1] } }, "observability.settings"],
    ];
    for (const [settings, path] of invalid) {
      const create = () => clickHouseObservability.create({ url: "https://a.example", ...settings }, denoRuntime());
      const error = assertThrows(create, ConfigError);
      assertEquals(error.problems.map((problem) => problem.path), [path]);
      assert(!error.message.includes("secret-path"));
    }
  });
});
