/** The permissions of docs/permissions.md suffice for storages on servers, and what lacks one names it. */
import { assertEquals, assertNotMatch, assertStringIncludes } from "@std/assert";
import { it } from "@std/testing/bdd";
import { commands, findAddition, stagePermissions, useProxy, withFlags } from "../support/_permissions.ts";
import { happens } from "../support/patience.ts";
import { hasPostgres, TestPostgres } from "../support/postgres.ts";
import { hasRedis, TestRedis } from "../support/redis.ts";

const configured = [...commands.values()][3]!;

/** A storage, and what the page says of its host. */
interface Row {
  readonly section: string;
  readonly storage: Record<string, unknown>;
  readonly host: string;
  readonly port: number;
}

async function check({ section, storage, host, port }: Row): Promise<void> {
  const flags = findAddition(section).replace(host, `127.0.0.1:${port}`);
  await using stage = await stagePermissions({ storage });
  const command = withFlags(configured, flags);
  await using child = stage.start(command);
  await useProxy(await child.url(), "assistant");
  child.kill("SIGTERM");
  assertEquals(await happens("it ends", child.code), 0, child.err);
  assertNotMatch(child.err, /is ignored|NotCapable/);
  for (const name of ["127.0.0.1", "localhost"]) {
    await using other = await stagePermissions({
      storage: { ...storage, url: String(storage.url).replace("127.0.0.1", name) },
    });
    const without = flags.split(" ").slice(1).join(" ");
    await using denied = other.start(without === "" ? configured : withFlags(configured, without));
    assertEquals(await happens("it ends", denied.code), 1, denied.err);
    assertStringIncludes(denied.err, `this process is not permitted to: add --allow-net=${name}:${port}`);
  }
}

(hasRedis ? it : it.skip)("The permissions of the page suffice for Redis, and are named without it", async () => {
  await using server = await TestRedis.start();
  const storage = { connector: "redis.redis.v1", url: `redis://127.0.0.1:${server.port}` };
  await check({ section: "storage: { connector: redis", storage, host: "redis.internal:6379", port: server.port });
});

(hasPostgres ? it : it.skip)(
  "The permissions of the page suffice for PostgreSQL, and are named without it",
  async () => {
    await using server = await TestPostgres.start();
    const storage = { connector: "mesh.postgres.v1", url: server.url };
    await check({
      section: "storage: { connector: mesh.postgres",
      storage,
      host: "postgres.internal:5432",
      port: server.port,
    });
  },
);
