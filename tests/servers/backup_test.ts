/** The commands of docs/upgrading.md: a proxy on a restored copy knows what the copied one knew, which goes on serving. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { serve } from "../../proxy.ts";
import { makeFolder } from "../support/_library.ts";
import { checkout } from "../support/_page_code.ts";
import { clientsConfig, clientsProxy } from "../support/_runtime_clients.ts";
import { until } from "../support/patience.ts";
import { portForRestarts } from "../support/ports.ts";
import { hasPostgres, TestPostgres } from "../support/postgres.ts";
import { hasRedis, TestRedis } from "../support/redis.ts";
import { ok, startUpstream } from "../support/upstream.ts";

const page = await Deno.readTextFile(join(checkout, "docs/upgrading.md"));

/** The commands under a heading of the page, in order. */
function listCommands(heading: string): string[] {
  const [, section = ""] = page.split(new RegExp(`^### ${heading}$`, "m"));
  const blocks = [...section.split(/^##/m)[0]!.matchAll(/```sh\n(.*?)```/gs)].map(([, text]) => text!);
  assertEquals(blocks.length, 2, `docs/upgrading.md: ${heading} has a block that copies, and one that restores`);
  return blocks;
}

/** Runs commands of the page in a folder. */
function run(commands: string, cwd: string, env: Readonly<Record<string, string>>): void {
  execFileSync("sh", ["-ec", commands], { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "ignore", "pipe"] });
}

const admin = { authorization: "Bearer t-admin-0123456789" };

/** What was spent of the budgets of a proxy, USD. */
async function readSpent(url: string): Promise<readonly number[]> {
  const { budgets } = await (await fetch(`${url}/mesh/status`, { headers: admin })).json();
  return budgets.map(({ spent_usd }: { spent_usd: number }) => spent_usd);
}

type Section = Readonly<Record<string, unknown>>;

/**
 * Lets a proxy work on a storage, copies that while it runs, and starts another proxy on the restored copy.
 *
 * @param copy Runs the commands of the page, and returns the storage that is the copy.
 */
async function copyAndRestore(storage: Section, copy: () => Section | Promise<Section>): Promise<void> {
  await using upstream = await startUpstream(ok());
  const start = (storage: Section) =>
    serve({ config: { ...clientsConfig(upstream, storage), budget: { daily_limit: 3 } }, port: 0 });
  const running = await start(storage);
  const proxy = clientsProxy(running.url);
  try {
    const { body: { token = "" } } = await proxy.ask("POST ", { name: "app", rpm: 60 });
    assertEquals(await proxy.chat(token), 200);
    const restored = await start(await copy());
    try {
      assertEquals(await readSpent(restored.url), [1]);
      const other = clientsProxy(restored.url);
      assertEquals(await Promise.all([token, "mm_unknown-0123456789"].map((one) => other.chat(one))), [200, 401]);
      assertEquals(await Promise.all([proxy.chat(token), proxy.chat(token)]), [200, 200]);
      assertEquals(await proxy.chat(token), 429, "the budget of the copied proxy is its own");
    } finally {
      await restored.stop();
    }
  } finally {
    await running.stop();
  }
}

describe("a backup, by the commands of the page", () => {
  it("of files", async () => {
    await using folder = await makeFolder();
    const [save = "", restore = ""] = listCommands("Files");
    const env = { STATE_PATH: join(folder.path, "state", "state.json") };
    const storage = { path: env.STATE_PATH, sync_policy: "immediate" };
    await copyAndRestore(storage, async () => {
      await until(
        async () => (await Deno.readTextFile(env.STATE_PATH)).includes('"spent":1000000000'),
        "it is written",
      );
      run(save, folder.path, env);
      run(restore, folder.path, env);
      return { ...storage, path: join(folder.path, "restored/state.json") };
    });
  });

  (hasRedis ? it : it.skip)("of a Redis", async () => {
    await using redis = await TestRedis.start();
    await using folder = await makeFolder();
    const [save = "", restore = ""] = listCommands("Redis");
    const port = String(await portForRestarts());
    const storage = { connector: "redis.redis.v1", url: redis.url };
    try {
      await copyAndRestore(storage, () => {
        run(save, folder.path, { REDIS_URL: redis.url });
        run(restore.replaceAll("6400", port), folder.path, {});
        return { ...storage, url: `redis://127.0.0.1:${port}` };
      });
      const info = String(execFileSync("redis-cli", ["-p", port, "info", "persistence"]));
      assertEquals(/aof_enabled:(\d)/.exec(info)?.[1], "1");
    } finally {
      run(`redis-cli -p ${port} shutdown nosave || true`, folder.path, {});
    }
  });

  (hasPostgres ? it : it.skip)("of a PostgreSQL", async () => {
    await using postgres = await TestPostgres.start();
    await using folder = await makeFolder();
    const [save = "", restore = ""] = listCommands("PostgreSQL");
    await copyAndRestore(postgres.storage, async () => {
      const unsettled = "SELECT count(*) FROM modelmesh.leases WHERE amount > 0";
      await until(() => postgres.sql(unsettled) === "0", "the call is settled: what is reserved ends with its process");
      postgres.sql("CREATE DATABASE restored");
      const RESTORED_URL = postgres.url.replace(/postgres$/, "restored");
      run(save, folder.path, { DATABASE_URL: postgres.url });
      run(restore, folder.path, { RESTORED_URL });
      return { ...postgres.storage, url: RESTORED_URL };
    });
  });
});
