/** A mesh whose sinks are stores of logs: every section, secrets, close, and losses as traces and metrics. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { gunzipSync } from "node:zlib";
import { createHandler } from "../../proxy.ts";
import { clickHouseUser, startClickHouse } from "../support/clickhouse_server.ts";
import { s3Key, s3Place, startS3 } from "../support/s3_server.ts";
import { recorder, sinkStage } from "../support/sinks.ts";
import { ok } from "../support/upstream.ts";

const refused = "http://127.77.0.1:8081";

describe("A mesh with a log sink", () => {
  it("inserts the records of every section into ClickHouse, without its password, and delivers them when it closes", async () => {
    await using server = startClickHouse();
    const config = { ...clickHouseUser, table: "mesh_{type}", create_table: true };
    const sink = { connector: "mesh.clickhouse.v1", url: server.url, config };
    const sections = { routing: sink, logging: { ...sink, level: "full" }, statistics: sink };
    {
      await using stage = await sinkStage(ok(), {
        ...sections,
        tracing: { ...sink, min_severity: "debug" },
      });
      await stage.ask({ messages: [{ role: "user", content: `my word is ${clickHouseUser.password}` }] });
    }
    const types = [...server.tables].filter(([, rows]) => rows.length > 0).map(([table]) => table.split("_").at(-1));
    assertEquals(types.sort(), ["log", "routing", "stats", "trace"]);
    const [row] = server.tables.get("default.mesh_log")!;
    const { request } = JSON.parse(String(row!.record));
    assertStringIncludes(request, "my word is [redacted]");
    assert(!JSON.stringify([...server.tables]).includes(clickHouseUser.password));
  });

  it("writes the records of every section to one object in S3 when it closes", async () => {
    await using server = startS3();
    const credentials = { access_key_id: s3Key.accessKeyId, secret_access_key: s3Key.secretAccessKey };
    const sink = { connector: "mesh.s3-log.v1", config: { ...s3Place, endpoint: server.url, credentials } };
    const sections = { routing: sink, logging: sink, statistics: sink, tracing: { ...sink, min_severity: "debug" } };
    {
      await using stage = await sinkStage(ok(), sections);
      await stage.ask();
    }
    const { bytes } = [...server.objects.values()][0]!;
    const lines = new TextDecoder().decode(gunzipSync(bytes)).trimEnd().split("\n");
    const types = new Set(lines.map((line) => JSON.parse(line).type));
    assertEquals([server.objects.size, [...types].sort()], [1, ["log", "routing", "stats", "trace"]]);
  });

  it("reports what a store that cannot be reached has lost, as a trace and as a metric", async () => {
    const watcher = recorder();
    const sink = { connector: "mesh.clickhouse.v1", url: refused, config: { max_buffer: "64KiB" } };
    const observability = { logging: { ...sink, level: "full" }, tracing: { connector: "test.recorder.v1" } };
    await using stage = await sinkStage(ok(), observability, { "test.recorder.v1": watcher });
    const messages = [{ role: "user" as const, content: "a".repeat(30_000) }];
    for (let number = 0; number < 5; number++) await stage.ask({ messages });
    const traces = watcher.taken.map(({ record }) => record).filter(({ sink }) => sink === "mesh.clickhouse.v1");
    assertStringIncludes(traces[0]?.message ?? "no trace", 'The sink "mesh.clickhouse.v1" lost');
    const metrics = await (await createHandler(stage.mesh)(new Request("http://127.0.0.1/metrics"))).text();
    const lost = /modelmesh_records_lost_total\{sink="mesh\.clickhouse\.v1"\} (\d+)/.exec(metrics)?.[1];
    assert(Number(lost) >= 3, metrics.slice(0, 200));
    const closed = stage.mesh.close();
    await stage.clock.advance(5_000);
    await closed;
  });
});
