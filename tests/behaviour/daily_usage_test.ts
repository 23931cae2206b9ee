/** Usage per day: what `/mesh/usage` and `modelmesh usage` show of it. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readFile, writeFile } from "node:fs/promises";
import { fakeClock } from "../../src/runtime/test.ts";
import { runCommand } from "../support/_cli.ts";
import { adminToken, clientsConfig, tempFolder } from "../support/_runtime_clients.ts";
import { until } from "../support/patience.ts";
import { startTestProxy, type TestProxy } from "../support/proxy.ts";
import { ok, type Script, startUpstream, status } from "../support/upstream.ts";

const dayMs = 86_400_000;
const teamToken = "t-team-0123456789";

interface Row {
  readonly day?: string;
  readonly client?: string | null;
  readonly pool?: string;
  readonly model?: string | null;
  readonly tag?: string | null;
  readonly requests: number;
  readonly tokens_in: number;
  readonly tokens_out: number;
  readonly cost_usd: number;
}

interface Answer {
  readonly from: string;
  readonly to: string;
  readonly by: readonly string[];
  readonly data: readonly Row[];
  readonly error: { readonly code: string; readonly param: string | null; readonly message: string };
}

interface Scene {
  readonly proxies: readonly (TestProxy & { readonly clock: ReturnType<typeof fakeClock> })[];
  readonly path: string;
}

/** Proxies on one storage; the first day is 2026-01-01. Every request costs a dollar, 10 tokens in and 5 out. */
async function stage(
  test: (scene: Scene) => Promise<void>,
  { count = 1, script = ok(), teams }: { count?: number; script?: Script; teams?: Record<string, unknown> } = {},
): Promise<void> {
  await using upstream = await startUpstream(script);
  await using folder = await tempFolder();
  const path = `${folder.path}/state.json`;
  const config = clientsConfig(upstream, { path });
  if (teams !== undefined) {
    const tokens = [adminToken, { token: teamToken, name: "team", team: Object.keys(teams)[0] }];
    Object.assign(config, { teams, proxy: { auth: { tokens, admin_tokens: [adminToken] } } });
  }
  const proxies: Scene["proxies"][number][] = [];
  try {
    while (proxies.length < count) {
      const clock = fakeClock({ skipSleeps: true });
      proxies.push(Object.assign(await startTestProxy({ upstreams: {}, config, clock }), { clock }));
    }
    await test({ proxies, path });
  } finally {
    for (const proxy of proxies) await proxy[Symbol.asyncDispose]();
  }
}

async function chat({ url }: { readonly url: string }, token: string, more: object = {}): Promise<number> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ model: "chat", messages: [{ role: "user", content: "Hi" }], ...more }),
  });
  await response.body?.cancel();
  return response.status;
}

async function ask({ url }: { readonly url: string }, query: string, token = adminToken): Promise<Answer> {
  const response = await fetch(`${url}/mesh/usage?${query}`, { headers: { authorization: `Bearer ${token}` } });
  return await response.json();
}

const once = { requests: 1, tokens_in: 10, tokens_out: 5, cost_usd: 1 };
const twice = { requests: 2, tokens_in: 20, tokens_out: 10, cost_usd: 2 };
const day = "2026-01-01";

describe("/mesh/usage", () => {
  it("sums requests by day and client, of all clients, also those without a name", async () => {
    await stage(async ({ proxies: [proxy] }) => {
      for (const token of [adminToken, teamToken, teamToken]) assertEquals(await chat(proxy!, token), 200);
      const { from, to, by, data } = await ask(proxy!, "");
      assertEquals([from, to, by], ["2025-10-04", day, ["day", "client"]]);
      assertEquals(data, [{ day, client: "team", ...twice }, { day, client: null, ...once }]);
    });
  });

  it("groups by any dimensions, in their order; a request counts for each of its tags", async () => {
    await stage(async ({ proxies: [proxy] }) => {
      await chat(proxy!, teamToken, { mesh: { tags: { team: "search" } } });
      await chat(proxy!, teamToken, { mesh: { tags: ["beta", "team=search"] }, model: "a" });
      await chat(proxy!, adminToken);
      const by = async (names: string) => (await ask(proxy!, `by=${names}`)).data;
      assertEquals(await by("tag"), [
        { tag: "beta", ...once },
        { tag: "team=search", ...twice },
        { tag: null, ...once },
      ]);
      assertEquals(await by("pool,model"), [
        { pool: "a", model: "a", ...once },
        { pool: "chat", model: "a", ...twice },
      ]);
      assertEquals(await by("client,pool"), [
        { client: "team", pool: "a", ...once },
        { client: "team", pool: "chat", ...once },
        { client: null, pool: "chat", ...once },
      ]);
    });
  });

  it("sums by team, and reads records from before there were teams", async () => {
    await stage(async ({ proxies: [proxy], path }) => {
      const before = { rows: [["team", null, "chat", "a", [], 1, 10, 5, 1_000_000_000]] };
      await writeFile(`${path}.usage.${day}`, JSON.stringify(before));
      await chat(proxy!, teamToken);
      await chat(proxy!, adminToken);
      const expected = [{ team: "web", ...once }, { team: null, ...twice }];
      assertEquals((await ask(proxy!, "by=team")).data, expected);
      assertEquals((await ask(proxy!, "by=team")).data, expected, "as read from the storage");
    }, { teams: { web: {} } });
  });

  it("agrees with the records, over failures", async () => {
    await stage(async ({ proxies: [proxy] }) => {
      for (const _ of [1, 2, 3]) await chat(proxy!, teamToken);
      const { data: [row] } = await ask(proxy!, "by=client");
      const status = await fetch(`${proxy!.url}/mesh/status`, { headers: { authorization: `Bearer ${adminToken}` } });
      const { clients: [client] } = await status.json();
      assertEquals([row!.requests, row!.tokens_in, row!.cost_usd], [
        client.requests,
        client.tokens_in,
        client.cost_usd,
      ]);
      assertEquals([row!.requests, row!.cost_usd], [3, 1]);
    }, { script: [status(500), ok(), status(500)] });
  });

  it("covers all proxies of the storage, with requests begun at once", async () => {
    await stage(async ({ proxies }) => {
      await Promise.all(proxies.flatMap((proxy) => Array.from({ length: 10 }, () => chat(proxy, adminToken))));
      await until(async () => {
        for (const { clock } of proxies) await clock.advance(5_000);
        return (await ask(proxies[0]!, "by=pool")).data[0]?.requests === 20;
      }, "both proxies have added their requests");
      assertEquals((await ask(proxies[1]!, "by=pool")).data, [
        { pool: "chat", requests: 20, tokens_in: 200, tokens_out: 100, cost_usd: 20 },
      ]);
    }, { count: 2 });
  });

  it("begins where it is asked to, and is kept for 90 days", async () => {
    await stage(async ({ proxies: [proxy] }) => {
      const days = async (query: string) => (await ask(proxy!, `by=day&${query}`)).data.map((row) => row.day);
      await chat(proxy!, adminToken);
      proxy!.clock.jumpWallTime(7 * dayMs);
      await chat(proxy!, adminToken);
      assertEquals(await days("since=7d"), [day, "2026-01-08"]);
      assertEquals(await days("since=6d"), ["2026-01-08"]);
      assertEquals(await days("since=2026-01-02"), ["2026-01-08"]);
      assertEquals(await days("from=2026-01-01&to=2026-01-07"), [day]);
      assertEquals((await ask(proxy!, "since=5w30d300d")).error.param, "since");
      assertEquals((await ask(proxy!, "since=300d")).from, "2025-10-11");
      proxy!.clock.jumpWallTime(83 * dayMs);
      await chat(proxy!, adminToken);
      assertEquals(await days(""), ["2026-01-08", "2026-04-01"]);
    });
  });

  it("shows a client its own usage alone", async () => {
    await stage(async ({ proxies: [proxy] }) => {
      const made = await fetch(`${proxy!.url}/mesh/clients`, {
        method: "POST",
        headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
        body: JSON.stringify({ name: "app", pools: ["chat"] }),
      });
      const { token } = await made.json();
      for (const one of [adminToken, teamToken, token]) assertEquals(await chat(proxy!, one), 200);
      assertEquals((await ask(proxy!, "by=client", token)).data, [{ client: "app", ...once }]);
      assertEquals((await ask(proxy!, "by=client")).data.map(({ client }) => client), ["app", "team", null]);
    });
  });

  it("continues what earlier versions have counted of clients", async () => {
    await stage(async ({ proxies: [proxy], path }) => {
      await writeFile(`${path}.client_usage.2025-12-31`, JSON.stringify({ client_old: { chat: [2, 20, 10, 2e9] } }));
      assertEquals((await ask(proxy!, "by=day,pool")).data, [{ day: "2025-12-31", pool: "chat", ...twice }]);
    });
  });

  it("is CSV on request", async () => {
    await stage(async ({ proxies: [proxy] }) => {
      await chat(proxy!, teamToken, { mesh: { tags: ['a "b", c'] } });
      const response = await fetch(`${proxy!.url}/mesh/usage?by=tag,client&format=csv`, {
        headers: { authorization: `Bearer ${adminToken}` },
      });
      assertEquals(response.headers.get("content-type"), "text/csv; charset=utf-8");
      const heads = "tag,client,requests,tokens_in,tokens_out,cost_usd\r\n";
      assertEquals(await response.text(), `${heads}"a ""b"", c",team,1,10,5,1\r\n`);
    });
  });

  it("has no secrets in tags", async () => {
    await stage(async ({ proxies: [proxy], path }) => {
      await chat(proxy!, teamToken, { mesh: { tags: { key: teamToken } } });
      const { data: [row] } = await ask(proxy!, "by=tag");
      assertMatch(row!.tag!, /^key=(?!t-team)/);
      assertEquals((await readFile(`${path}.usage.${day}`, "utf8")).includes(teamToken), false);
    });
  });

  it("rejects parameters that are wrong, and says which", async () => {
    await stage(async ({ proxies: [proxy] }) => {
      for (
        const [query, param, part] of [
          ["by=day,modle", "by", 'did you mean "model"?'],
          ["by=day,day", "by", "twice"],
          ["by=", "by", "day, client, team, pool, model, tag"],
          ["since=yesterday", "since", "7d"],
          ["since=7d&from=2026-01-01", "since", '"from"'],
          ["since=2026-01-02", "since", '"to"'],
          ["from=2026-02-30", "from", "2027-01-31"],
          ["format=xml", "format", "csv"],
          ["group=day", "group", "unknown"],
        ] as const
      ) {
        const { error } = await ask(proxy!, query);
        assertEquals([error.code, error.param], ["invalid_value", param], query);
        assertStringIncludes(error.message, part);
      }
    });
  });

  it("requires a storage", async () => {
    await using upstream = await startUpstream(ok());
    await using proxy = await startTestProxy({ upstreams: {}, config: clientsConfig(upstream, undefined) });
    const { error } = await ask(proxy, "");
    assertEquals(error.code, "no_storage");
    assertStringIncludes(error.message, "`storage`");
  });
});

describe("modelmesh usage", () => {
  const run = (proxy: TestProxy, ...args: string[]) =>
    runCommand(["usage", ...args, "--url", proxy.url, "--token", adminToken]);

  it("prints a table, CSV or the response", async () => {
    await stage(async ({ proxies: [proxy] }) => {
      for (const token of [adminToken, teamToken]) await chat(proxy!, token);
      const { code, out } = await run(proxy!, "--by", "client,model", "--since", "7d");
      assertEquals([code, out.trimEnd().split("\n").map((line) => line.split(/\s{2,}/))], [0, [
        ["CLIENT", "MODEL", "REQUESTS", "TOKENS IN", "TOKENS OUT", "COST"],
        ["team", "a", "1", "10", "5", "$1.00"],
        ["-", "a", "1", "10", "5", "$1.00"],
      ]]);
      const csv = await run(proxy!, "--by=pool", "--csv");
      assertEquals(csv.out, "pool,requests,tokens_in,tokens_out,cost_usd\r\nchat,2,20,10,2\r\n");
      const json = await run(proxy!, "--by=day", "--json");
      assertEquals(JSON.parse(json.out).data, [{ day, ...twice }]);
      const none = await run(proxy!, "--from", "2025-12-01", "--to", "2025-12-02");
      assertEquals([none.code, none.out, none.err], [0, "", "No requests in that period\n"]);
    });
  });

  it("names a mistake before it asks a proxy", async () => {
    for (
      const [args, part] of [
        [["--by", "day,modle"], '"modle"'],
        [["--csv", "--json"], "--csv"],
        [["--since", "7d", "--from", "2026-01-01"], "--since"],
      ] as const
    ) {
      const { code, err, out } = await runCommand(["usage", ...args, "--url", "http://127.0.0.1:9"]);
      assertEquals(code, 2, out);
      assertStringIncludes(err + out, part);
    }
  });
});
