/** Clients that administrators make while the proxy runs: `/mesh/clients`. */
import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { fakeClock } from "../../../src/runtime/test.ts";
import { until } from "../../support/patience.ts";
import { startTestProxy } from "../../support/proxy.ts";
import {
  type ClientResponse,
  clientsConfig,
  type ClientsProxy,
  clientsProxy,
  startClientsProxy,
  tempFolder,
} from "../../support/_runtime_clients.ts";
import { ok, startUpstream } from "../../support/upstream.ts";

const dayMs = 86_400_000;

interface List {
  readonly object: string;
  readonly data: readonly ClientResponse[];
}

interface Usage {
  readonly data: readonly Readonly<Record<string, unknown>>[];
}

/** Runs a test with one proxy on real time. */
async function withProxy(test: (proxy: ClientsProxy, folder: { texts(): Promise<string[]> }) => Promise<void>) {
  await using upstream = await startUpstream(ok());
  await using folder = await tempFolder();
  await using proxy = await startClientsProxy(clientsConfig(upstream, { path: `${folder.path}/state.json` }));
  await test(proxy, folder);
}

/** Runs a test with proxies on time of their own, on one file. */
async function withClocks(
  count: number,
  test: (proxies: (ClientsProxy & { clock: ReturnType<typeof fakeClock> })[]) => Promise<void>,
) {
  await using upstream = await startUpstream(ok());
  await using folder = await tempFolder();
  const config = clientsConfig(upstream, { path: `${folder.path}/state.json` });
  const started = [];
  try {
    while (started.length < count) {
      started.push(await startTestProxy({ upstreams: {}, config, clock: fakeClock({ skipSleeps: true }) }));
    }
    await test(started.map(({ url, clock }) => ({ ...clientsProxy(url), clock })));
  } finally {
    for (const proxy of started) await proxy[Symbol.asyncDispose]();
  }
}

async function made(proxy: ClientsProxy, facts: Record<string, unknown> = {}): Promise<Required<ClientResponse>> {
  const { status, body } = await proxy.ask("POST ", { name: "app", ...facts });
  assertEquals(status, 201, JSON.stringify(body));
  return body as Required<ClientResponse>;
}

describe("A client made at runtime", () => {
  it("may have limits of other windows, which hold after a change, a restart and a time", async () => {
    await using upstream = await startUpstream(ok());
    await using folder = await tempFolder();
    const config = clientsConfig(upstream, { path: `${folder.path}/state.json` });
    const clock = fakeClock({ now: Date.UTC(2026, 0, 1, 18), skipSleeps: true });
    const week = { limit: 2, window: "1w", timezone: "Europe/Berlin" };
    let token = "";
    {
      await using started = await startTestProxy({ upstreams: {}, config, clock });
      const proxy = clientsProxy(started.url);
      const client = await made(proxy, { budget: [week, { limit: 9, window: "rolling 24h" }] });
      ({ token } = client);
      assertEquals([await proxy.chat(token), await proxy.chat(token), await proxy.chat(token)], [200, 200, 429]);
      const wrong = await proxy.ask(`PATCH /${client.id}`, { budget: [{ ...week, timezone: "Mars" }] });
      assertMatch(JSON.stringify(wrong), /"status":400.*budget\[0\]\.timezone: expected an IANA time zone/);
      const changed = await proxy.ask(`PATCH /${client.id}`, { budget: [{ ...week, limit: 3 }] });
      assertEquals(changed.body.budget, [{ ...week, limit: 3 }]);
      assertEquals([await proxy.chat(token), await proxy.chat(token)], [200, 429]);
    }
    await using started = await startTestProxy({ upstreams: {}, config, clock });
    const proxy = clientsProxy(started.url);
    assertEquals(await proxy.chat(token), 429);
    clock.suspend(3 * 86_400_000 + 5 * 3_600_000 - 1); // Monday in Berlin; time alone, without what happens each second
    assertEquals(await proxy.chat(token), 429);
    await clock.advance(1);
    assertEquals(await proxy.chat(token), 200);
  });

  it("has a token that is shown once and opens the proxy at once; the storage has its hash alone", async () => {
    await withProxy(async (proxy, folder) => {
      const facts = { name: "app", pools: ["chat"], budget: { daily_limit: 5 }, rpm: 60 };
      const { token, ...client } = await made(proxy, { ...facts, expires_at: "2999-01-01" });
      assertMatch(token, /^mm_[\w-]{43}$/);
      const { id, created_at, ...others } = client;
      assertEquals(others, { ...facts, expires_at: "2999-01-01T00:00:00.000Z" });
      assertMatch(id, /^client_[\w-]{16}$/);
      assertMatch(String(created_at), /^\d{4}-.*Z$/);
      assertEquals(await proxy.chat(token), 200);
      const { body } = await proxy.ask<List>("GET ");
      assertEquals(body, { object: "list", data: [client] });
      const texts = (await folder.texts()).join();
      assertStringIncludes(texts, id);
      assertFalse(texts.includes(token.slice(3)));
    });
  });

  it("is bound to its pools, its rate and its budget, and administrates nothing, limited or not", async () => {
    await withProxy(async (proxy) => {
      const bound = await made(proxy, { pools: ["chat"] });
      const answers = ["chat", "a", "chat-completion"].map((model) => proxy.chat(bound.token, model));
      assertEquals(await Promise.all(answers), [200, 200, 404], "its pool, its model, another pool");
      const slow = await made(proxy, { name: "slow", rpm: 1 });
      assertEquals([await proxy.chat(slow.token), await proxy.chat(slow.token)], [200, 429]);
      const poor = await made(proxy, { name: "poor", budget: { monthly_limit: 1 } });
      assertEquals([await proxy.chat(poor.token), await proxy.chat(poor.token)], [200, 429]);
      const free = await made(proxy, { name: "free" });
      for (const { token } of [bound, free]) {
        const { status } = await proxy.ask("GET ", undefined, { authorization: `Bearer ${token}` });
        assertEquals(status, 403);
      }
    });
  });

  it("changes at once: limits that are given, and null for those that end; what it spent still counts", async () => {
    await withProxy(async (proxy) => {
      const { id, token } = await made(proxy, { budget: { daily_limit: 1 }, rpm: 3 });
      assertEquals([await proxy.chat(token), await proxy.chat(token)], [200, 429]);
      const raised = await proxy.ask(`PATCH /${id}`, { budget: { daily_limit: 2 } });
      assertEquals([raised.status, raised.body.budget, raised.body.rpm], [200, { daily_limit: 2 }, 3]);
      assertEquals([await proxy.chat(token), await proxy.chat(token)], [200, 429]);
      const freed = await proxy.ask(`PATCH /${id}`, { budget: null, rpm: null });
      assertEquals([freed.body.budget, freed.body.rpm, freed.body.token], [undefined, undefined, undefined]);
      assertEquals([await proxy.chat(token), await proxy.chat(token)], [200, 200]);
      await proxy.ask(`PATCH /${id}`, { budget: { daily_limit: 2 } });
      assertEquals(await proxy.chat(token), 429, "what it spent under the earlier limits");
    });
  });

  it("gets another token, which ends the one before", async () => {
    await withProxy(async (proxy) => {
      const { id, token, ...facts } = await made(proxy);
      const { status, body: { token: next = "", ...shown } } = await proxy.ask(`POST /${id}/rotate`);
      assertEquals([status, shown], [200, { id, ...facts }]);
      assertEquals([await proxy.chat(token), await proxy.chat(next)], [401, 200]);
    });
  });

  it("is refused once it is deleted; its name is free again, and what it used stays", async () => {
    await withProxy(async (proxy) => {
      const { id, token } = await made(proxy);
      assertEquals(await proxy.chat(token), 200);
      const { status, body } = await proxy.ask<unknown>(`DELETE /${id}`);
      assertEquals([status, body], [200, { id, name: "app", deleted: true }]);
      assertEquals(await proxy.chat(token), 401);
      assertEquals((await proxy.ask(`DELETE /${id}`)).status, 404);
      assertEquals((await proxy.ask<Usage>(`GET /${id}/usage`)).body.data.map(({ requests }) => requests), [1]);
      await made(proxy);
    });
  });

  it("is refused from its expiry on, by every proxy", async () => {
    await withClocks(2, async ([one, other]) => {
      const { token } = await made(one!, { expires_at: new Date(one!.clock.now() + 60_000).toISOString() });
      await until(async () => (await other!.clock.advance(400), await other!.chat(token) === 200));
      await one!.clock.advance(50_000);
      assertEquals(await one!.chat(token), 200);
      await one!.clock.advance(10_000);
      await other!.clock.advance(60_000);
      assertEquals([await one!.chat(token), await other!.chat(token)], [401, 401]);
    });
  });

  it("is known to another proxy of the storage within a second, and revoked there within a second", async () => {
    await withClocks(2, async ([one, other]) => {
      assertEquals(await other!.chat("mm_unknown"), 401);
      const { id, token } = await made(one!);
      await other!.clock.advance(999);
      await until(async () => await other!.chat(token) === 200, "the other proxy knows the client");
      const { body: { token: next = "" } } = await one!.ask(`POST /${id}/rotate`);
      await other!.clock.advance(999);
      await until(async () => await other!.chat(token) === 401, "the other proxy refuses the token before");
      assertEquals(await other!.chat(next), 200);
      await one!.ask(`DELETE /${id}`);
      await other!.clock.advance(999);
      await until(async () => await other!.chat(next) === 401, "the other proxy refuses a client that was deleted");
    });
  });

  it("outlives the proxy, and a reload: so does its rate", async () => {
    await using upstream = await startUpstream(ok());
    await using folder = await tempFolder();
    const config = clientsConfig(upstream, { path: `${folder.path}/state.json` });
    let token = "";
    {
      await using proxy = await startClientsProxy(config);
      ({ token } = await made(proxy, { rpm: 1 }));
    }
    await using again = await startClientsProxy(config);
    assertEquals([await again.chat(token), await again.chat(token)], [200, 429]);
  });

  it("has guards beside those of pools, and is shut out while one of them is not configured", async () => {
    await using upstream = await startUpstream(ok());
    await using folder = await tempFolder();
    const config = clientsConfig(upstream, { path: `${folder.path}/state.json` });
    const guards = { personal: { connector: "mesh.guard.pii.v1", action: "block" } };
    const ask = async ({ url }: ClientsProxy, token: string, content: string) => {
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
        body: JSON.stringify({ model: "chat", messages: [{ role: "user", content }] }),
      });
      const { error } = await response.json();
      return error === undefined ? response.status : `${error.code}: ${error.message}`;
    };
    const mail = "Write to ada@example.com";
    let token = "";
    {
      await using proxy = await startClientsProxy({ ...config, guards });
      const { status, body } = await proxy.ask<{ error: { param: string; message: string } }>("POST ", {
        name: "app",
        guards: ["persnal"],
      });
      assertEquals([status, body.error.param], [400, "guards[0]"]);
      assertStringIncludes(body.error.message, 'did you mean "personal"?');
      const client = await made(proxy, { guards: ["personal"] });
      token = client.token;
      assertEquals(client.guards, ["personal"]);
      assertEquals(await ask(proxy, token, "Hi"), 200);
      assertStringIncludes(String(await ask(proxy, token, mail)), "content_blocked");
      await proxy.ask(`PATCH /${client.id}`, { guards: null });
      assertEquals(await ask(proxy, token, mail), 200);
      await proxy.ask(`PATCH /${client.id}`, { guards: ["personal"] });
      assertStringIncludes(String(await ask(proxy, token, mail)), "content_blocked");
    }
    await using without = await startClientsProxy(config);
    const message = 'model_not_found: The guard "personal" of the client is not configured';
    assertEquals(await ask(without, token, "Hi"), message);
  });

  it("shares a name with no other client: limits are counted by name", async () => {
    await withProxy(async (proxy) => {
      await made(proxy);
      for (const name of ["app", "team"]) {
        const { status, body } = await proxy.ask<{ error: { code: string; param: string } }>("POST ", { name });
        assertEquals([status, body.error.code, body.error.param], [400, "invalid_value", "name"]);
      }
    });
  });

  it("works beside requests without a token where none is required; a token that was revoked does not", async () => {
    await using upstream = await startUpstream(ok());
    await using folder = await tempFolder();
    const { proxy: _, ...config } = clientsConfig(upstream, { path: `${folder.path}/state.json` });
    await using open = await startClientsProxy(config);
    const { id, token } = await made(open, { rpm: 1 });
    assertEquals([await open.chat("any"), await open.chat(token), await open.chat(token)], [200, 200, 429]);
    await open.ask(`DELETE /${id}`);
    assertEquals([await open.chat(token), await open.chat("any")], [401, 200]);
  });
});

describe("Administrators at once", () => {
  it("lose nothing: what both make and change is there, at two proxies of a storage", async () => {
    await using upstream = await startUpstream(ok());
    await using folder = await tempFolder();
    const config = clientsConfig(upstream, { path: `${folder.path}/state.json` });
    await using one = await startClientsProxy(config);
    await using other = await startClientsProxy(config);
    const names = Array.from({ length: 6 }, (_, index) => `app ${index}`);
    const clients = await Promise.all(names.map((name, index) => made(index % 2 === 0 ? one : other, { name })));
    await Promise.all(clients.flatMap(({ id }) => [
      one.ask(`PATCH /${id}`, { rpm: 7 }),
      other.ask(`PATCH /${id}`, { budget: { daily_limit: 3 } }),
    ]));
    for (const proxy of [one, other]) {
      const { data } = (await proxy.ask<List>("GET ")).body;
      assertEquals(data.map(({ name }) => name).sort(), names.toSorted());
      assert(data.every(({ rpm, budget }) => rpm === 7 && (budget as { daily_limit: number }).daily_limit === 3));
    }
  });

  it("cannot both take a name", async () => {
    await withProxy(async (proxy) => {
      const answers = await Promise.all([1, 2, 3].map(() => proxy.ask("POST ", { name: "app" })));
      assertEquals(answers.map(({ status }) => status).sort(), [201, 400, 400]);
    });
  });
});

describe("What a client used", () => {
  it("is counted per day and pool over all proxies of the storage, as JSON and as CSV", async () => {
    await withClocks(2, async (proxies) => {
      const [one, other] = proxies;
      // both, since a lock lasts by the clock of the proxy that waits for it
      const advance = (ms: number) => Promise.all(proxies.map(({ clock }) => clock.advance(ms)));
      const { id, token } = await made(one!);
      await until(async () => (await advance(400), await other!.chat(token) === 200));
      assertEquals(await one!.chat(token), 200);
      assertEquals(await one!.chat(token, "a"), 200);
      await until(async () => {
        await advance(5_000);
        return (await one!.ask<Usage>(`GET /${id}/usage`)).body.data.some(({ requests }) => requests === 2);
      }, "the other proxy has added its request");
      const { body } = await one!.ask<Usage>(`GET /${id}/usage?from=2026-01-01&to=2026-01-01`);
      const day = "2026-01-01";
      const tokens = { tokens_in: 10, tokens_out: 5 };
      const twice = { tokens_in: 20, tokens_out: 10 };
      assertEquals(body.data, [
        { day, pool: "chat", requests: 2, ...twice, cost_usd: 2 },
        { day, pool: "a", requests: 1, ...tokens, cost_usd: 1 },
      ]);
      const csv = await one!.ask<string>(`GET /${id}/usage`, undefined, { accept: "text/csv" });
      assertEquals(csv.headers.get("content-type"), "text/csv; charset=utf-8");
      const heads = "day,pool,requests,tokens_in,tokens_out,cost_usd\r\n";
      assertEquals(csv.body, `${heads}${day},chat,2,20,10,2\r\n${day},a,1,10,5,1\r\n`);
      assertEquals((await one!.ask<string>(`GET /${id}/usage?format=csv&to=2025-12-31`)).body, heads);
    });
  });

  it("is kept for 90 days", async () => {
    await withClocks(1, async ([proxy]) => {
      const { id, token } = await made(proxy!);
      const days = async () => (await proxy!.ask<Usage>(`GET /${id}/usage`)).body.data.map(({ day }) => day);
      await proxy!.chat(token);
      assertEquals(await days(), ["2026-01-01"]);
      proxy!.clock.jumpWallTime(89 * dayMs);
      await proxy!.chat(token);
      assertEquals(await days(), ["2026-01-01", "2026-03-31"]);
      proxy!.clock.jumpWallTime(dayMs);
      await proxy!.chat(token);
      assertEquals(await days(), ["2026-03-31", "2026-04-01"]);
    });
  });
});

describe("/mesh/clients", () => {
  it("is a 400 that asks for a storage where there is none", async () => {
    await using upstream = await startUpstream(ok());
    await using proxy = await startClientsProxy(clientsConfig(upstream, undefined));
    for (const call of ["GET ", "POST ", "PATCH /x", "DELETE /x", "POST /x/rotate", "GET /x/usage"]) {
      const { status, body } = await proxy.ask<{ error: { code: string; message: string } }>(call);
      assertEquals([status, body.error.code], [400, "no_storage"], call);
      assertStringIncludes(body.error.message, "storage");
    }
  });

  it("is for administrators, never by pages of another origin", async () => {
    await withProxy(async (proxy) => {
      const as = (headers: Record<string, string>) =>
        proxy.ask<{ error: { code: string } }>("GET ", undefined, headers);
      const answers = [
        await as({ authorization: "Bearer t-team-0123456789" }),
        await as({ authorization: "Bearer wrong" }),
        await as({ origin: "http://other.example" }),
      ];
      assertEquals(answers.map(({ status, body }) => [status, body.error.code]), [
        [403, "not_an_administrator"],
        [401, "invalid_api_key"],
        [403, "origin_not_allowed"],
      ]);
    });
  });

  it("names what is wrong with a request", async () => {
    const cases: [call: string, body: unknown, status: number, code: string, param: string | null][] = [
      ["POST ", "{", 400, "invalid_json", null],
      ["POST ", [], 400, "invalid_value", null],
      ["POST ", {}, 400, "missing_required_parameter", "name"],
      ["POST ", { name: 7 }, 400, "invalid_value", "name"],
      ["POST ", { name: null }, 400, "invalid_value", "name"],
      ["POST ", { name: " x" }, 400, "invalid_value", "name"],
      ["POST ", { name: "a\nb" }, 400, "invalid_value", "name"],
      ["POST ", { name: "x".repeat(129) }, 400, "invalid_value", "name"],
      ["POST ", { name: "x", rmp: 1 }, 400, "invalid_value", "rmp"],
      ["POST ", { name: "x", token: "mine" }, 400, "invalid_value", "token"],
      ["POST ", { name: "x", rpm: 0 }, 400, "invalid_value", "rpm"],
      ["POST ", { name: "x", rpm: 1.5 }, 400, "invalid_value", "rpm"],
      ["POST ", { name: "x", pools: [] }, 400, "invalid_value", "pools"],
      ["POST ", { name: "x", pools: "chat" }, 400, "invalid_value", "pools"],
      ["POST ", { name: "x", pools: ["chta"] }, 400, "invalid_value", "pools[0]"],
      ["POST ", { name: "x", budget: { daily: 1 } }, 400, "invalid_value", "budget.daily"],
      ["POST ", { name: "x", budget: { daily_limit: -1 } }, 400, "invalid_value", "budget.daily_limit"],
      ["POST ", { name: "x", expires_at: "soon" }, 400, "invalid_value", "expires_at"],
      ["POST ", { name: "x", expires_at: "2020-01-01" }, 400, "invalid_value", "expires_at"],
      ["PATCH /ID", { name: "other" }, 400, "invalid_value", "name"],
      ["PATCH /ID", { id: "x" }, 400, "invalid_value", "id"],
      ["PATCH /ID", "7", 400, "invalid_value", null],
      ["PATCH /client_unknown", {}, 404, "client_not_found", null],
      ["POST /client_unknown/rotate", undefined, 404, "client_not_found", null],
      ["DELETE /constructor", undefined, 404, "client_not_found", null],
      ["GET /client_unknown/usage", undefined, 404, "client_not_found", null],
      ["GET /ID/usage?from=yesterday", undefined, 400, "invalid_value", "from"],
      ["GET /ID/usage?to=2026-02-30", undefined, 400, "invalid_value", "to"],
      ["GET /ID/usage?from=2026-02-02&to=2026-02-01", undefined, 400, "invalid_value", "from"],
      ["GET /ID/usage?format=xml", undefined, 400, "invalid_value", "format"],
      ["GET /ID", undefined, 405, "method_not_allowed", null],
      ["PUT ", {}, 405, "method_not_allowed", null],
      ["POST /ID/other", undefined, 404, "unknown_url", null],
      ["POST /ID/rotate/more", undefined, 404, "unknown_url", null],
    ];
    await withProxy(async (proxy) => {
      const { id } = await made(proxy);
      for (const [call, body, status, code, param] of cases) {
        const answer = await proxy.ask<{ error: { code: string; param: string | null } }>(call.replace("ID", id), body);
        const { error } = answer.body;
        assertEquals(
          [answer.status, error.code, error.param],
          [status, code, param],
          `${call} ${JSON.stringify(body)}`,
        );
      }
      assertEquals((await proxy.ask<List>("GET ")).body.data.length, 1);
    });
  });
});
