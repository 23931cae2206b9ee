/** Clients of a team, tags and end users: one request counts against the limits of all of them, or of none. */
import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { RoutingRecord } from "../../mod.ts";
import { behind } from "../support/_failover.ts";
import { tally } from "../support/_tuned.ts";
import { startTestProxy, type TestProxy } from "../support/proxy.ts";
import { Gate, ok, respond, type Script, startUpstream, stream } from "../support/upstream.ts";
import { fakeClock } from "../../src/runtime/test.ts";

const tokens = {
  ann: "token-of-ann-0123456789",
  bob: "token-of-bob-0123456789",
  admin: "token-of-the-admin-0123456789",
};
type Name = keyof typeof tokens;

/** One dollar a request. */
const dollar = { provider: "a", capabilities: ["chat-completion"], pricing: { input: 0, output: 0, per_request: 1 } };

interface Options {
  readonly behaviour?: Script;
  /** Further sections. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly provider?: Readonly<Record<string, unknown>>;
  readonly ann?: object;
  readonly bob?: object;
}

/** A proxy whose clients `ann` and `bob` are in the team `red`. */
async function startTeam({ behaviour = respond(), config = {}, provider = {}, ann = {}, bob = {} }: Options) {
  const upstream = await startUpstream(behaviour);
  const clock = fakeClock({ now: Date.UTC(2026, 0, 1, 18), skipSleeps: true });
  const proxy = await startTestProxy({
    upstreams: { a: upstream.url },
    clock,
    provider,
    config: {
      models: { a: dollar },
      pools: { chat: { models: ["a"] }, other: { models: ["a"] } },
      teams: { red: {} },
      proxy: {
        auth: {
          tokens: [
            { token: tokens.ann, name: "ann", team: "red", ...ann },
            { token: tokens.bob, name: "bob", team: "red", ...bob },
          ],
          admin_tokens: [tokens.admin],
        },
      },
      ...config,
    },
  });
  const headers = (as: Name) => ({ authorization: `Bearer ${tokens[as]}`, "content-type": "application/json" });
  return {
    proxy,
    clock,
    upstream,
    headers,
    ask: (as: Name, body: object = {}, more: Readonly<Record<string, string>> = {}) =>
      proxy.chat(body as Record<string, unknown>, { headers: { ...headers(as), ...more } }),
    send: (as: Name, path: string, body: object) =>
      fetch(`${proxy.url}${path}`, { method: "POST", headers: headers(as), body: JSON.stringify(body) }),
    get: async (path: string) => await (await fetch(`${proxy.url}${path}`, { headers: headers("admin") })).json(),
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}
type Team = Awaited<ReturnType<typeof startTeam>>;

async function readError(response: Response | Promise<Response>): Promise<readonly [code: string, message: string]> {
  const { error } = await (await response).json();
  return (error ?? undefined) === undefined ? ["", ""] : [error.code, error.message];
}

async function readCodes(responses: readonly Promise<Response>[]): Promise<Record<string, number>> {
  return tally((await Promise.all(responses.map(readError))).map(([code]) => code));
}

/** The budgets of a proxy: what is spent and reserved, by scope. */
async function readBudgets({ get }: Team): Promise<Record<string, readonly [spent: number, reserved: number]>> {
  const { budgets } = await get("/mesh/status");
  return Object.fromEntries(
    budgets.map(({ scope, id, spent_usd, reserved_usd }: Record<string, unknown>) => [
      scope === "user" ? "user" : `${scope} ${id}`.trim(),
      [spent_usd, reserved_usd],
    ]),
  );
}

function findRouting({ records }: TestProxy): RoutingRecord {
  return records.findLast((record) => record.type === "routing") as RoutingRecord;
}

const daily = (daily_limit: number) => ({ budget: { daily_limit } });

describe("30 requests at once under the budgets of client, team, tag, end user, pool, provider and all", () => {
  const levels = ["client ann", "team red", "tag beta", "user", "pool chat", "provider a", "all"];
  for (const tightest of levels) {
    it(`of which that of the ${tightest} allows 5: 5 are sent, and those that are denied leave nothing reserved`, async () => {
      const limit = (level: string) => daily(level === tightest ? 5 : 50);
      const gate = new Gate();
      await using team = await startTeam({
        behaviour: behind(gate, ok()),
        ann: limit("client ann"),
        provider: limit("provider a"),
        config: {
          pools: { chat: { models: ["a"], ...limit("pool chat") } },
          teams: { red: limit("team red") },
          tags: { beta: limit("tag beta") },
          users: limit("user"),
          ...limit("all"),
        },
      });
      const asked = Array.from(
        { length: 30 },
        () => team.ask("ann", { user: "eve" }, { "x-mesh-tags": "beta" }),
      );
      await team.upstream.received(5);
      const reserved = await readBudgets(team);
      gate.openAll();
      assertEquals(await readCodes(asked), { "": 5, budget_exceeded: 25 });
      assertEquals(reserved, Object.fromEntries(levels.map((level) => [level, [0, 5]])));
      assertEquals(await readBudgets(team), Object.fromEntries(levels.map((level) => [level, [5, 0]])));
      assertEquals(team.upstream.calls, 5);
    });
  }
});

describe("A limit of a team", () => {
  it("of requests a minute holds for its clients together, and is not counted by a request that a client's own denies", async () => {
    await using team = await startTeam({ ann: { rpm: 2 }, config: { teams: { red: { rpm: 3 } } } });
    const codes = await readCodes(Array.from({ length: 10 }, () => team.ask("ann")));
    assertEquals(codes, { "": 2, rate_limit_exceeded: 8 });
    assertEquals(await readCodes(Array.from({ length: 5 }, () => team.ask("bob"))), { "": 1, rate_limit_exceeded: 4 });
    const [, message] = await readError(team.ask("bob"));
    assertEquals(message, 'The team "red" is at its limit of requests a minute (rpm)');
    await team.clock.advance(61_000);
    assertEquals(await readCodes([team.ask("ann"), team.ask("bob"), team.ask("bob"), team.ask("bob")]), {
      "": 3,
      rate_limit_exceeded: 1,
    });
  });

  it("of money that is spent names the team, not what others have spent", async () => {
    await using team = await startTeam({ ann: daily(50), config: { teams: { red: daily(2) } } });
    await readCodes([team.ask("ann"), team.ask("bob")]);
    const denied = await team.ask("ann");
    assertEquals([denied.status, denied.headers.get("retry-after")], [429, "21600"]);
    assertEquals(await readError(denied), ["budget_exceeded", 'The budget of the team "red" is spent']);
    const events = team.proxy.records.flatMap((record) => "metadata" in record ? [record.metadata] : []);
    assertEquals(
      events.map(({ scope, id, step }) => [scope, id, step]),
      [0.5, 0.8, 1].map((step) => ["team", "red", step]),
    );
  });

  it("of requests at once counts them until the end of their responses, streams as well", async () => {
    const gates = [new Gate(), new Gate()];
    await using team = await startTeam({
      behaviour: [...gates.map((gate) => stream({ gate })), stream()],
      config: { teams: { red: { concurrent: 2 } } },
    });
    for (const gate of gates) gate.open(2); // the first content
    const streams = await Promise.all([team.ask("ann", { stream: true }), team.ask("bob", { stream: true })]);
    assertEquals(streams.map(({ status }) => status), [200, 200]);
    const denied = await team.ask("bob", { stream: true });
    assertEquals([denied.status, denied.headers.get("retry-after")], [429, "1"]);
    assertEquals(await readError(denied), [
      "rate_limit_exceeded",
      'The team "red" is at its limit of requests at once (concurrent)',
    ]);
    assertEquals((await team.get("/mesh/teams")).data, [{
      name: "red",
      limits: { concurrent: 2 },
      budgets: [],
      in_flight: 2,
      clients: 2,
    }]);
    for (const gate of gates) gate.openAll();
    for (const response of streams) await response.text();
    assertEquals((await team.get("/mesh/teams")).data[0].in_flight, 0);
    await (await team.ask("ann", { stream: true })).text();
  });

  it("of tokens a minute reserves an estimate, and counts what was used", async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 };
    await using team = await startTeam({ behaviour: ok({ usage }), config: { teams: { red: { tpm: 1_000 } } } });
    const large = { max_tokens: 900 };
    assertEquals(await readCodes([team.ask("ann", large), team.ask("bob", large)]), { "": 1, rate_limit_exceeded: 1 });
    assertEquals(await readCodes([team.ask("bob", large)]), { "": 1 }); // 30 of the first 900 are left
    const [code, message] = await readError(team.ask("bob", { max_tokens: 990 }));
    assertEquals([code, message], ["rate_limit_exceeded", 'The team "red" is at its limit of tokens a minute (tpm)']);
    await team.clock.advance(61_000);
    assertEquals(await readCodes([team.ask("bob", { max_tokens: 990 })]), { "": 1 });
  });

  it("of pools leaves a client those of its own that its team may use", async () => {
    await using team = await startTeam({
      ann: { pools: ["chat", "other"] },
      config: { teams: { red: { pools: ["other"] } } },
    });
    for (const name of ["ann", "bob"] as const) {
      assertEquals(await readCodes([team.ask(name, { model: "other" })]), { "": 1 });
      const denied = await team.ask(name);
      assertEquals(denied.status, 404);
      assertMatch((await readError(denied))[1], /it has "other"$/);
    }
  });
});

describe("The tags of a request", () => {
  const config = { tags: { beta: { rpm: 1 } } };

  it("are those of its header, its body and its client, and stand in its record", async () => {
    await using team = await startTeam({ ann: { tags: ["paid"] }, config });
    const metadata = { tags: "night, beta" };
    await (await team.ask("ann", { mesh: { tags: ["x"] }, metadata, user: "eve" }, { "x-mesh-tags": "y,paid" })).text();
    const { client, team: name, tags, user } = findRouting(team.proxy);
    assertEquals([client, name, tags, user], ["ann", "red", ["paid", "y", "x", "night", "beta"], "eve"]);
    assertEquals(team.upstream.requests[0]!.json().metadata, metadata);
    const metrics = await (await fetch(`${team.proxy.url}/metrics`, { headers: team.headers("admin") })).text();
    assertMatch(metrics, /^modelmesh_requests_total\{pool="chat",.*client="ann",team="red",status="200"\} 1$/m);
    assertEquals(await readError(team.ask("bob", { metadata: { tags: ["beta"] } })), [
      "rate_limit_exceeded",
      'The tag "beta" is at its limit of requests a minute (rpm)',
    ]);
    assertEquals(await readCodes([team.ask("bob", { metadata: { tags: ["gamma"] } })]), { "": 1 });
  });

  it("that are malformed are refused where they are meant for the gateway alone", async () => {
    await using team = await startTeam({ config });
    for (const header of ["", "a,,b", "x".repeat(65), Array(17).fill("a").join()]) {
      const response = await team.ask("ann", {}, { "x-mesh-tags": header });
      assertEquals([response.status, (await readError(response))[0]], [400, "invalid_value"], header);
    }
    for (const tags of ["x".repeat(99), [1, "ok"], { a: 1 }, 5, null, Array(99).fill("a")]) {
      assertEquals(await readCodes([team.ask("ann", { metadata: { tags } })]), { "": 1 });
    }
  });
});

describe("An end user", () => {
  const config = { users: { rpm: 1 } };
  const messages = [{ role: "user", content: "Hi" }];
  const bodies: readonly (readonly [path: string, body: object])[] = [
    ["/v1/chat/completions", { model: "chat", messages, user: "eve" }],
    ["/v1/chat/completions", { model: "chat", messages, safety_identifier: "eve" }],
    ["/v1/chat/completions", { model: "chat", messages, mesh: { user: "eve" }, user: "someone" }],
    ["/v1/responses", { model: "chat", input: "Hi", user: "eve" }],
    ["/v1/responses", { model: "chat", input: "Hi", safety_identifier: "eve" }],
    ["/v1/messages", { model: "chat", messages, max_tokens: 9, metadata: { user_id: "eve" } }],
    ["/v1beta/models/chat:generateContent", {
      contents: [{ role: "user", parts: [{ text: "Hi" }] }],
      labels: { user: "eve" },
    }],
  ];
  for (const [path, body] of bodies) {
    it(`has limits of its own, named in ${path} by ${Object.keys(body).at(-1)}`, async () => {
      await using team = await startTeam({ config });
      assertEquals(await readCodes([team.send("ann", path, body)]), { "": 1 });
      assertEquals(findRouting(team.proxy).user, "eve");
      const denied = await team.send("ann", path, body);
      assertEquals(denied.status, 429);
      assertMatch(await denied.text(), /The end user is at its limit of requests a minute \(rpm\)/);
      // another one of the client, and that of another client
      assertEquals(await readCodes([team.ask("ann", { user: "adam" }), team.send("bob", path, body)]), { "": 2 });
    });
  }

  it("whose budget is spent is reported by a hash", async () => {
    await using team = await startTeam({ config: { users: daily(1) } });
    assertEquals(await readCodes([team.ask("ann", { user: "eve@example.com" })]), { "": 1 });
    assertEquals(await readError(team.ask("ann", { user: "eve@example.com" })), [
      "budget_exceeded",
      "The budget of the end user is spent",
    ]);
    const event = team.proxy.records.findLast((record) => record.type === "event");
    assertMatch(JSON.stringify(event), /"scope":"user","id":"[0-9a-f]{32}"/);
    assertEquals(JSON.stringify(await team.get("/mesh/status")).includes("eve"), false);
  });
});
