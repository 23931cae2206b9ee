/** mesh.storage.v1: the request log in the storage of the mesh. */
import { assertEquals, assertThrows } from "@std/assert";
import { storageObservability } from "../../../connectors/observability/storage.ts";
import { ConfigError, create, memoryStorage, MeshConfig, openStorage, type Storage } from "../../../mod.ts";
import type { RequestLogRecord } from "../../../src/contracts/events.ts";
import { type FakeClock, fakeClock, testRuntime } from "../../../src/runtime/test.ts";
import { makeFolder, messages } from "../../support/_library.ts";
import { testConfig } from "../../support/proxy.ts";
import { recorder, retryingClock, sinkStage } from "../../support/sinks.ts";
import { ok, startUpstream } from "../../support/upstream.ts";

const noon = Date.UTC(2026, 8, 1, 12);

function line(id: string | number, timestamp = "2026-09-01T12:00:00.000Z"): RequestLogRecord {
  return { type: "log", timestamp, level: "info", request_id: String(id) } as unknown as RequestLogRecord;
}

function sinkOn(storage: Storage, settings: object = {}, clock: FakeClock = fakeClock({ now: noon })) {
  const mesh = { storage: () => storage };
  return storageObservability.create({ ...settings }, testRuntime({ clock }), mesh);
}

async function linesIn(storage: Storage, key: string): Promise<RequestLogRecord[]> {
  return JSON.parse(new TextDecoder().decode(await storage.load(key)));
}

async function idsIn(storage: Storage, key: string): Promise<string[]> {
  return (await linesIn(storage, key)).map(({ request_id }) => request_id);
}

Deno.test("the storage sink keeps the requests of a client in the record of their day, encoded like the state", async () => {
  await using folder = await makeFolder();
  await using upstream = await startUpstream(ok({ text: "Hello" }));
  const env = { MESH_STORAGE_KEY: "c3RvcmFnZS1rZXktb2YtdGhpcy10ZXN0LTEyMzQ1Ng==" };
  const storage = { path: `${folder.path}/state.json`, persistence: { format: "yaml", encryption: true } };
  const observability = { logging: { connector: "mesh.storage.v1", level: "full" } };
  const config = testConfig({ upstreams: { a: upstream.url }, config: { storage, observability } });
  for (let start = 0; start < 2; start++) {
    await using client = create({ config, env, clock: fakeClock({ now: noon }) });
    await client.chat.completions.create({ messages });
    await client.chat.completions.create({ messages });
  }
  const lines = await linesIn(await openStorage(storage, { env }), "logs/2026-09-01");
  assertEquals(lines.map(({ model, status, type }) => [model, status, type]), Array(4).fill(["a", 200, "log"]));
  assertEquals(lines.map(({ response }) => /Hello/.test(response!)), Array(4).fill(true));
  const names = (await folder.list()).filter((name) => name.startsWith("state.json.logs"));
  assertEquals([names.length, /Hello/.test(await Deno.readTextFile(`${folder.path}/${names[0]}`))], [1, false]);
});

Deno.test("the storage sink writes once in 5 s, and at once when it is flushed", async () => {
  const clock = fakeClock({ now: noon });
  const storage = memoryStorage();
  const save = storage.save.bind(storage);
  let saves = 0;
  storage.save = (key, data) => (saves++, save(key, data));
  const sink = sinkOn(storage, {}, clock);
  for (let number = 0; number < 100; number++) sink.log!(line(number));
  await clock.advance(4_900);
  assertEquals(saves, 0);
  await clock.advance(200);
  assertEquals([saves, (await idsIn(storage, "logs/2026-09-01")).length], [1, 100]);
  for (let number = 0; number < 2_500; number++) sink.log!(line(number));
  await sink.flush();
  assertEquals([saves, sink.lost], [4, 0]);
  assertEquals((await idsIn(storage, "logs/2026-09-01")).slice(100), Array.from({ length: 2_500 }, (_, n) => `${n}`));
});

Deno.test("the storage sink goes on in a further record of the day once one has its size, and removes old days", async () => {
  const storage = memoryStorage();
  const days = ["2026-08-24", "2026-08-24-2", "2026-08-25", "2026-08-31"];
  for (const day of days) await storage.save(`logs/${day}`, new TextEncoder().encode("[]"));
  await storage.save("state", new TextEncoder().encode("{}"));
  const padded = (id: string) => ({ ...line(id), error: "x".repeat(600) });
  for (const ids of [["a", "b"], ["c"], ["d", "e"], ["f"]]) {
    const sink = sinkOn(storage, { max_size: 1024, retention: 7 * 86_400_000 }); // of a process each
    for (const id of ids) sink.log!(padded(id));
    await sink.flush();
  }
  const keys = ["logs/2026-09-01", "logs/2026-09-01-2", "logs/2026-09-01-3"];
  assertEquals(await Promise.all(keys.map((key) => idsIn(storage, key))), [["a", "b"], ["c", "d", "e"], ["f"]]);
  assertEquals(await storage.list(), ["logs/2026-08-25", "logs/2026-08-31", ...keys, "state"]);
});

Deno.test("the storage sinks of several processes lose no line of each other", async () => {
  const storage = memoryStorage();
  const clock = fakeClock({ now: noon, skipSleeps: true });
  const sinks = Array.from({ length: 4 }, () => sinkOn(storage, {}, clock));
  await Promise.all(sinks.map(async (sink, process) => {
    for (let number = 0; number < 20; number++) {
      sink.log!(line(`${process}.${number}`));
      if (number % 5 === 4) await sink.flush();
    }
  }));
  const ids = await idsIn(storage, "logs/2026-09-01");
  assertEquals([new Set(ids).size, ids.length, sinks.map(({ lost }) => lost)], [80, 80, [0, 0, 0, 0]]);
});

Deno.test("the storage sink leaves what is not a list of lines as it is, and goes on beside it", async () => {
  const storage = memoryStorage();
  await storage.save("logs/2026-09-01", new TextEncoder().encode('{"mine":1}'));
  const sink = sinkOn(storage);
  sink.log!(line("a"));
  await sink.flush();
  assertEquals(await idsIn(storage, "logs/2026-09-01-2"), ["a"]);
  assertEquals(new TextDecoder().decode(await storage.load("logs/2026-09-01")), '{"mine":1}');
});

Deno.test("the storage sink of a storage that fails counts what is lost, which other sinks get to know", async () => {
  const failing = memoryStorage();
  failing.save = () => Promise.reject(new Error("full"));
  const sink = storageObservability.create({}, testRuntime({ clock: retryingClock() }), { storage: () => failing });
  const other = recorder();
  const sections = { logging: { connector: "test.sink.v1" }, tracing: { connector: "test.other.v1" } };
  await using stage = await sinkStage(ok(), sections, { "test.sink.v1": sink, "test.other.v1": other });
  await stage.ask();
  await stage.ask();
  await stage.engine.hub.flush();
  assertEquals(sink.lost, 2);
  const traces = other.taken.filter(({ kind, record }) => kind === "trace" && record.component === "observability");
  assertEquals(traces.map(({ record }) => record.message), ['The sink "test.sink.v1" lost 2 records']);
});

Deno.test("the storage sink needs a section storage, and stands in observability.logging alone", () => {
  const connector = "mesh.storage.v1";
  const { problems } = assertThrows(
    () => MeshConfig.parse({ observability: { logging: { connector }, tracing: { connector } } }),
    ConfigError,
  );
  assertEquals(problems.map(({ path, message }) => [path, message]), [
    ["observability.logging.connector", '"mesh.storage.v1" writes to the storage: add a section "storage"'],
    ["observability.tracing.connector", '"mesh.storage.v1" has no effect here: it supports "observability.logging"'],
  ]);
});
