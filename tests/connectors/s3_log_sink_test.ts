/** mesh.s3-log.v1: one object per process and hour, retried, bounded, and counted where it is lost. */
import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { gunzipSync } from "node:zlib";
import { s3LogObservability } from "../../connectors/observability/s3_log.ts";
import type { Authorities } from "../../src/contracts/runtime.ts";
import { ConfigError } from "../../src/errors.ts";
import { denoRuntime } from "../../src/runtime/deno.ts";
import { fakeClock, testRuntime } from "../../src/runtime/test.ts";
import { emitEach, eventRecord, oneOfEach, timedClock } from "../support/_sink_records.ts";
import { until } from "../support/patience.ts";
import { s3Key, s3Place, type S3Server, type S3ServerOptions, startS3 } from "../support/s3_server.ts";

const hourMs = 3_600_000;
const credentials = { access_key_id: s3Key.accessKeyId, secret_access_key: s3Key.secretAccessKey };

/** A sink that writes to a server, on a stopped clock. */
function setUp(settings: Readonly<Record<string, unknown>> = {}, options: S3ServerOptions = {}) {
  const server = startS3(options);
  const clock = timedClock(Date.UTC(2026, 8, 1, 12));
  const warnings: string[] = [];
  const runtime = { ...denoRuntime(), clock, random: () => 1, env: () => undefined };
  const all = { ...s3Place, endpoint: server.url, ...credentials, ...settings };
  const mesh = { storage: () => undefined, warn: (message: string) => void warnings.push(message) };
  return { server, clock, warnings, options, sink: s3LogObservability.create(all, runtime, mesh) };
}

/** The ids of the events in the objects, by key without the id of the process. */
function readObjects({ objects }: S3Server): Record<string, readonly string[]> {
  return Object.fromEntries(
    [...objects].map(([key, { bytes }]) => {
      const lines = new TextDecoder().decode(gunzipSync(bytes)).trimEnd().split("\n");
      return [key.replace(/[\da-f]{8}-[\da-f-]{27}/, "ID"), lines.map((line) => JSON.parse(line).id)];
    }),
  );
}

describe("The log sink in S3", () => {
  it("writes records of all sections as JSON lines, in gzip, under a key that names no machine", async () => {
    const { server, sink } = setUp({ prefix: "logs/mesh/" });
    await using _ = server;
    await emitEach(sink);
    assertEquals(server.calls, [], "an interval of statistics does not end the object");
    await sink.flush();
    const [key, { bytes }] = [...server.objects][0]!;
    assertMatch(key, /^logs\/mesh\/2026\/09\/01\/12\/[\da-f]{8}-[\da-f-]{27}-1\.jsonl\.gz$/);
    const lines = new TextDecoder().decode(gunzipSync(bytes)).trimEnd().split("\n").map((line) => JSON.parse(line));
    const { event, routing, log, trace, stats } = oneOfEach;
    assertEquals(lines, [event, routing, log, trace, stats]);
    assertEquals(sink.lost, 0);
  });

  it("replaces the object of the hour at each interval, and starts another with the next hour", async () => {
    const { server, sink, clock } = setUp({ interval: 10_000 });
    await using _ = server;
    for (const id of ["1", "2"]) {
      sink.emit(eventRecord(id));
      await clock.advance(10_000);
      await until(() => server.calls.length === Number(id) && clock.pending === 0);
    }
    assertEquals(readObjects(server), { "modelmesh-logs/2026/09/01/12/ID-1.jsonl.gz": ["1", "2"] });
    sink.emit(eventRecord("3"));
    clock.stop(hourMs);
    sink.emit(eventRecord("4"));
    await sink.flush();
    assertEquals(readObjects(server), {
      "modelmesh-logs/2026/09/01/12/ID-1.jsonl.gz": ["1", "2", "3"],
      "modelmesh-logs/2026/09/01/13/ID-2.jsonl.gz": ["4"],
    });
  });

  it("starts another object before one exceeds max_size, and uploads it without waiting for the interval", async () => {
    const line = JSON.stringify(eventRecord("1")).length + 1;
    const { server, sink } = setUp({ max_size: line * 8 });
    await using _ = server;
    for (let number = 1; number <= 9; number++) sink.emit(eventRecord(String(number)));
    await until(() => server.objects.size === 1, "the first object is full");
    await sink.flush();
    const [first, second] = Object.values(readObjects(server));
    assertEquals([...first!, ...second!].map(Number), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    assert(first!.length < 9);
  });

  it("compresses a large batch in slices, between which the process does other work", async () => {
    const { server, sink, clock } = setUp();
    await using _ = server;
    const text = "word ".repeat(2_000);
    for (let number = 0; number < 100; number++) sink.emit({ ...eventRecord(String(number)), metadata: { text } });
    const flushed = sink.flush();
    await until(async () => {
      await clock.advance(0);
      return server.objects.size === 1;
    });
    await flushed;
    assertEquals(Object.values(readObjects(server))[0]!.length, 100);
    assert(clock.timers.filter((ms) => ms === 0).length >= 10, "a megabyte has more than ten slices");
  });

  it("retries a bucket that cannot be used with growing waits, loses nothing, and reports why once, without keys", async () => {
    const { server, sink, clock, warnings, options } = setUp();
    await using _ = server;
    options.fault = () => new Response(`<Error><Code>AccessDenied</Code>${s3Key.accessKeyId}</Error>`, { status: 403 });
    sink.emit(eventRecord("1"));
    await clock.advance(300_000);
    for (const waitMs of [1_000, 2_000, 4_000]) {
      await until(() => clock.timers.at(-1) === waitMs, `a wait of ${waitMs} ms`);
      await clock.advance(waitMs);
    }
    sink.emit(eventRecord("2"));
    await until(() => clock.timers.at(-1) === 8_000);
    assertEquals(server.calls.length, 4);
    options.fault = undefined;
    await sink.flush();
    assertEquals(Object.values(readObjects(server)), [["1", "2"]]);
    assertEquals([sink.lost, warnings.length], [0, 1]);
    assertMatch(warnings[0]!, /"mesh\.s3-log\.v1" was denied access .*403, AccessDenied/);
    assert(!warnings[0]!.includes(s3Key.accessKeyId));
  });

  it("keeps the latest records within max_buffer while a server hangs, and counts the others", async () => {
    const { server, sink, clock, options } = setUp({ max_buffer: 65_536 });
    await using _ = server;
    let answer = (_: Response) => {};
    options.fault = () => new Promise<Response>((resolve) => answer = resolve);
    const line = JSON.stringify(eventRecord("0000")).length + 1;
    const total = 2_000;
    for (let number = 0; number < total; number++) sink.emit(eventRecord(String(number).padStart(4, "0")));
    await until(() => server.calls.length === 1);
    const kept = Math.floor(65_536 / line);
    assertEquals(sink.lost, total - kept);
    options.fault = undefined;
    answer(new Response(null, { status: 503 }));
    await until(() => clock.timers.at(-1) === 1_000, "it waits before it retries");
    await sink.flush();
    const ids = Object.values(readObjects(server)).flat();
    assertEquals([ids.length, ids.at(-1), sink.lost], [kept, "1999", total - kept]);
  });

  it("gives a flush 4 s, then stops its upload, and counts what it could not deliver", async () => {
    const { server, sink, clock, options } = setUp();
    await using _ = server;
    const release = Promise.withResolvers<Response>();
    options.fault = () => release.promise;
    for (const id of ["1", "2", "3"]) sink.emit(eventRecord(id));
    const flushed = sink.flush();
    await until(() => server.calls.length === 1);
    await clock.advance(4_000);
    await flushed;
    assertEquals([sink.lost, clock.pending], [3, 0]);
    release.resolve(new Response());
    options.fault = undefined;
    sink.emit(eventRecord("4"));
    await sink.flush();
    assertEquals(Object.values(readObjects(server)).flat(), ["4"]);
  });

  it("trusts the certificate authorities of `ca`, and reports a file that cannot be read", async () => {
    const server = startS3();
    await using _ = server;
    const authorities: Authorities = { key: "mine", certificates: [] };
    const used: unknown[] = [];
    const { send } = denoRuntime();
    const warnings: string[] = [];
    const runtime = {
      ...testRuntime({ clock: fakeClock() }),
      random: () => 1,
      send: (request: Parameters<typeof send>[0]) => {
        used.push(request.authorities);
        return send({ ...request, authorities: undefined });
      },
      readAuthorities: (path: string) =>
        path === "ca.pem" ? Promise.resolve(authorities) : Promise.reject(new Error("there is no such file")),
    };
    const create = (ca: string) => {
      const mesh = { storage: () => undefined, warn: (message: string) => void warnings.push(message) };
      return s3LogObservability.create({ ...s3Place, endpoint: server.url, ...credentials, ca }, runtime, mesh);
    };
    const sink = create("ca.pem");
    sink.emit(eventRecord("1"));
    await sink.flush();
    assertEquals([used, server.objects.size], [[authorities], 1]);
    const failing = create("missing.pem");
    failing.emit(eventRecord("2"));
    const flushed = failing.flush();
    await until(() => warnings.length === 1);
    await runtime.clock.advance(4_000);
    await flushed;
    assertEquals([failing.lost, warnings], [1, ["observability.ca cannot be used: there is no such file"]]);
  });

  it("refuses settings that it cannot use, with the path of each, and without showing them", () => {
    const invalid: readonly [settings: Record<string, unknown>, path: string][] = [
      [{ bucket: undefined }, "observability.bucket"],
      [{ endpoint: "s3.example.com/secret-path" }, "observability.endpoint"],
      [{ secret_access_key: undefined }, "observability.secret_access_key"],
      [{ credentials: "secret-path" }, "observability.credentials"],
      [{ prefix: 7 }, "observability.prefix"],
    ];
    for (const [settings, path] of invalid) {
      const create = () =>
        s3LogObservability.create({ ...s3Place, ...credentials, ...settings }, {
          ...denoRuntime(),
          env: () => undefined,
        });
      const error = assertThrows(create, ConfigError);
      assertEquals(error.problems.map((problem) => problem.path), [path]);
      assert(!error.message.includes("secret-path"));
    }
  });
});
