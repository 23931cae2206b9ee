/** The processes that share a storage: who is listed, with which sums, for how long, and to whom. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { fakeClock } from "../../src/runtime/test.ts";
import { maxRecordBytes, readProcessRecord } from "../../src/proxy/processes/process_record.ts";
import { adminToken, clientsConfig, tempFolder } from "../support/_runtime_clients.ts";
import { until } from "../support/patience.ts";
import { startTestProxy, type TestProxy } from "../support/proxy.ts";
import { ok, startUpstream } from "../support/upstream.ts";

const teamToken = "t-team-0123456789";

interface Listed {
  readonly id: string;
  readonly address?: string;
  readonly started_at: string;
  readonly in_flight: number;
  readonly requests_per_minute: number;
  readonly requests: number;
  readonly failed: number;
  readonly cost_usd: number;
}

interface Answer {
  readonly current: string;
  readonly data: readonly Listed[];
  readonly error: { readonly code: string };
}

type Clocked = TestProxy & { readonly clock: ReturnType<typeof fakeClock> };

async function ask({ url }: TestProxy, token = adminToken): Promise<{ status: number; body: Answer }> {
  const response = await fetch(`${url}/mesh/processes`, { headers: { authorization: `Bearer ${token}` } });
  return { status: response.status, body: await response.json() };
}

async function chat(proxy: TestProxy): Promise<number> {
  const response = await proxy.chat({}, {
    headers: { "content-type": "application/json", authorization: `Bearer ${adminToken}` },
  });
  await response.body?.cancel();
  return response.status;
}

/** Proxies on one folder, in which each request costs a dollar. */
async function stage(
  test: (proxies: readonly Clocked[], records: () => Promise<string[]>) => Promise<void>,
  storage: Record<string, unknown> = { sync_policy: "periodic", sync_interval: "1h" },
): Promise<void> {
  await using upstream = await startUpstream(ok());
  await using folder = await tempFolder();
  const config = clientsConfig(upstream, { path: `${folder.path}/state.json`, ...storage });
  config.proxy = { ...config.proxy as object, address: "10.0.0.7:8080" };
  const start = async (): Promise<Clocked> => {
    const clock = fakeClock({ skipSleeps: true });
    return Object.assign(await startTestProxy({ upstreams: {}, config, clock }), { clock });
  };
  await using first = await start();
  await using second = await start();
  const records = async () => {
    const names = (await Array.fromAsync(Deno.readDir(folder.path))).map(({ name }) => name);
    const own = names.filter((name) => name.startsWith("state.json.process.") && !name.endsWith(".tmp"));
    return await Promise.all(own.map((name) => Deno.readTextFile(`${folder.path}/${name}`)));
  };
  await test([first, second], records);
}

describe("Processes that share a storage", () => {
  it("list each other with their own sums; the one that answers says which it is", async () => {
    await stage(async ([first, second]) => {
      await chat(first!);
      await chat(first!);
      await chat(second!);
      await until(async () => (await ask(first!)).body.data.length === 2, "the record of the second process");
      const isCounted = async (proxy: Clocked, count: number) => {
        const { current, data } = (await ask(proxy)).body;
        return data.find(({ id }) => id === current)?.requests === count;
      };
      await until(() => isCounted(second!, 1), "its request has ended");
      await until(() => isCounted(first!, 2), "those of the first have ended");
      for (const proxy of [first!, second!]) await proxy.clock.advance(10_000);
      await until(async () => (await ask(first!)).body.data.some(({ requests }) => requests === 1), "its next record");
      const { status, body: { current, data } } = await ask(first!);
      assertEquals(status, 200);
      assertEquals(data.length, 2);
      const own = data.find(({ id }) => id === current)!;
      assertEquals([own.requests, own.failed, own.cost_usd, own.in_flight], [2, 0, 2, 0]);
      assertEquals(own.address, "10.0.0.7:8080");
      const rate = own.requests_per_minute; // two requests in ten seconds, and what the clock skipped
      assert(rate > 10 && rate <= 12, String(rate));
      const other = await ask(second!);
      assert(other.body.current !== current);
      assertEquals(other.body.data.map(({ id }) => id).sort(), data.map(({ id }) => id).sort());
      const events = await fetch(`${second!.url}/mesh/events`, { headers: { authorization: `Bearer ${adminToken}` } });
      await events.body?.cancel();
      assertEquals(events.headers.get("x-mesh-process"), other.body.current);
    });
  });

  it("leave the list when they end, and half a minute after they were killed", async () => {
    await stage(async ([first, second], records) => {
      await chat(first!);
      await chat(second!);
      await until(async () => (await ask(first!)).body.data.length === 2, "a second record");
      await first!.clock.advance(29_000);
      assertEquals((await ask(first!)).body.data.length, 2);
      await first!.clock.advance(2_000);
      assertEquals((await ask(first!)).body.data.length, 1, "the second one, whose clock stands still");
      assertEquals((await records()).length, 2);
      await first!.clock.advance(300_000);
      await ask(first!);
      assertEquals((await records()).length, 1, "the record of a killed process stays for ever");
      await first!.mesh.close();
      assertEquals(await records(), []);
    });
  });

  it("are for administrators, and have neither names of machines nor tokens in their records", async () => {
    await stage(async ([first], records) => {
      assertEquals(await ask(first!, teamToken).then(({ status, body }) => [status, body.error.code]), [
        403,
        "not_an_administrator",
      ]);
      await until(async () => (await records()).length === 1, "a record");
      const [text = ""] = await records();
      assertMatch(text, /"id":"[0-9a-f-]{36}"/);
      assert(!text.includes(Deno.hostname()), text);
      assert(!text.includes("t-"), text);
    });
  });

  it("are neither listed nor recorded while the storage is one process's own", async () => {
    await stage(async ([first], records) => {
      assertEquals((await ask(first!)).body.error.code, "no_storage");
      await first!.clock.advance(60_000);
      assertEquals(await records(), []);
    }, {});
  });
});

describe("The record of a process", () => {
  const whole = {
    id: "a",
    version: "1",
    started_at: "2026-01-01T00:00:00.000Z",
    seen_at: "2026-01-01T00:00:00.000Z",
    in_flight: 0,
    requests_per_minute: 0,
    requests: 0,
    failed: 0,
    tokens_in: 0,
    tokens_out: 0,
    cost_usd: 0,
  };
  const read = (text: string) => readProcessRecord(new TextEncoder().encode(text));

  it("is read as far as it is known", () => {
    assertEquals(read(JSON.stringify({ ...whole, later: 1, address: "a:1" })), { ...whole, address: "a:1" });
  });

  it("is left out if it is anything else", () => {
    const broken = { ...whole, seen_at: "yesterday" };
    const large = { ...whole, address: "a".repeat(maxRecordBytes) };
    for (const value of [{}, [], null, { ...whole, requests: "1" }, broken, large]) {
      assertEquals(read(JSON.stringify(value)), undefined);
    }
    assertEquals(read("{"), undefined);
  });
});
