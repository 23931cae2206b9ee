/** Teams, tags and end users over the life of a proxy: reloads, restarts, and clients made at runtime. */
import { assertEquals, assertMatch } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { serverConnectors } from "../../connectors/server.ts";
import { validate } from "../../src/config/build/validate.ts";
import { startProxy } from "../../src/proxy/serve.ts";
import { serverRuntime } from "../../src/runtime/server.ts";
import { serverShell } from "../../src/runtime/server_shell.ts";
import { fakeClock, testRuntime } from "../../src/runtime/test.ts";
import { clientsConfig, startClientsProxy, tempFolder } from "../support/_runtime_clients.ts";
import { goodBody } from "../support/_surface.ts";
import { ok, startUpstream, type Upstream } from "../support/upstream.ts";
import { catchProblems, known } from "../config/_known.ts";

type Sections = Readonly<Record<string, unknown>>;

let upstream: Upstream;
const token = "token-of-the-app-0123456789";

/** A configuration of a client in the team `red`. Every request costs a dollar. */
function teamConfig(sections: Sections, storage?: Sections): Record<string, unknown> {
  return {
    ...clientsConfig(upstream, storage),
    teams: { red: {} },
    proxy: { auth: { tokens: [{ token, name: "app", team: "red" }] } },
    ...sections,
  };
}

/** Starts a proxy on a clock of its own, whose configuration can be reloaded. */
async function startReloadable(config: Sections) {
  const clock = fakeClock({ now: Date.UTC(2026, 0, 1, 18), skipSleeps: true });
  const files = { "mesh.json": JSON.stringify(config) };
  const runtime = testRuntime({ send: serverRuntime().send, clock, env: {}, files });
  const parts = { connectors: serverConnectors, runtime, shell: serverShell() };
  const proxy = await startProxy(parts, { config: "mesh.json", port: 0 });
  return {
    files: runtime.files,
    reload: async (next: Sections) => {
      runtime.files.contents.set("mesh.json", JSON.stringify(next));
      assertEquals(await proxy.reload(), []);
    },
    ask: async () => {
      const response = await fetch(`${proxy.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${token}`, "x-mesh-tags": "beta" },
        body: JSON.stringify({ ...goodBody, user: "eve" }),
      });
      const { error } = await response.json();
      return error?.message ?? response.status;
    },
    [Symbol.asyncDispose]: () => proxy.stop(),
  };
}

const daily = (daily_limit: number) => ({ budget: { daily_limit } });

/** Sections in which one kind of scope has limits. */
const scopes: readonly (readonly [name: string, limited: (limits: Sections) => Sections])[] = [
  ['team "red"', (red) => ({ teams: { red } })],
  ['tag "beta"', (beta) => ({ tags: { beta } })],
  ["end user", (users) => ({ users })],
];

describe("Limits over the life of a proxy", () => {
  beforeAll(async () => void (upstream = await startUpstream(ok({ usage: { total_tokens: 30 } }))));
  afterAll(() => upstream[Symbol.asyncDispose]());

  for (const [name, limited] of scopes) {
    it(`of the ${name} count on after a reload, under other limits as well`, async () => {
      await using proxy = await startReloadable(teamConfig(limited({ ...daily(3), rpm: 50, tpm: 500 })));
      assertEquals([await proxy.ask(), await proxy.ask()], [200, 200]);
      await proxy.reload(teamConfig({ ...limited({ ...daily(3), rpm: 50 }), aliases: { other: "chat" } }));
      assertEquals([await proxy.ask(), await proxy.ask()], [200, `The budget of the ${name} is spent`]);
      await proxy.reload(teamConfig(limited({ ...daily(9), rpm: 5 })));
      assertEquals(await proxy.ask(), 200); // the fifth: one was denied for money, after it had been counted
      assertMatch(await proxy.ask(), /is at its limit of requests a minute/);
    });

    it(`of the ${name} count on after a restart`, async () => {
      await using folder = await tempFolder();
      const config = teamConfig(limited(daily(2)), { path: `${folder.path}/state.json` });
      for (const expected of [[200], [200, `The budget of the ${name} is spent`]]) {
        await using proxy = await startClientsProxy(config);
        const answers: unknown[] = [];
        for (const _ of expected) {
          const response = await fetch(`${proxy.url}/v1/chat/completions`, {
            method: "POST",
            headers: { "content-type": "application/json", authorization: `Bearer ${token}`, "x-mesh-tags": "beta" },
            body: JSON.stringify({ ...goodBody, user: "eve" }),
          });
          const { error } = await response.json();
          answers.push(error?.message ?? response.status);
        }
        assertEquals(answers, expected);
      }
      assertEquals((await folder.texts()).join().includes("eve"), false, "no names of end users are stored");
    });
  }

  it("of a team count for clients made at runtime, which it has to exist for", async () => {
    await using folder = await tempFolder();
    const admin = {
      proxy: { auth: { tokens: [{ token, name: "app", team: "red" }], admin_tokens: ["t-admin-0123456789"] } },
    };
    const config = teamConfig({ teams: { red: { ...daily(2), pools: ["chat"] } }, ...admin }, {
      path: `${folder.path}/s.json`,
    });
    await using proxy = await startClientsProxy(config);
    const refused = await proxy.ask<{ error: { message: string; param: string } }>("POST ", { name: "x", team: "rad" });
    assertEquals([refused.status, refused.body.error.param], [400, "team"]);
    assertMatch(refused.body.error.message, /no team "rad".*"red"/);
    const limits = { team: "red", tags: ["beta"], tpm: 90_000, concurrent: 3 };
    const { status, body } = await proxy.ask("POST ", { name: "bot", ...limits });
    const { id, token: own = "", team, tags, tpm, concurrent } = body;
    assertEquals([status, { team, tags, tpm, concurrent }], [201, limits]);
    assertEquals([await proxy.chat(own), await proxy.chat(token), await proxy.chat(own)], [200, 200, 429]);
    const removed = await proxy.ask(`PATCH /${id}`, { team: null, tpm: null });
    assertEquals([removed.body.team, removed.body.tpm, removed.body.concurrent], [undefined, undefined, 3]);
    assertEquals([await proxy.chat(own), await proxy.chat(token)], [200, 429]);
    assertEquals((await proxy.ask(`PATCH /${id}`, { team: "red" })).status, 200);
    await proxy.running.stop();
    await using next = await startClientsProxy({
      ...config,
      teams: { blue: {} },
      proxy: { auth: { admin_tokens: ["t-admin-0123456789"] } },
    });
    const response = await fetch(`${next.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${own}` },
      body: JSON.stringify(goodBody),
    });
    assertEquals(response.status, 404, "a team that is no longer configured lifts no limits");
    assertMatch((await response.json()).error.message, /team "red"/);
  });
});

describe("A configuration of teams", () => {
  const problemsOf = (sections: Sections) =>
    catchProblems(() =>
      validate({
        providers: { "acme.llm.v1": { api_key: "key-0123456789" } },
        pools: { chat: { capability: "chat-completion" }, other: { capability: "chat-completion" } },
        ...sections,
      }, { knownConnectors: known })
    );

  it("is refused where a client names no team, a team is within another, or a pool does not exist", () => {
    const tokens = [{ token, name: "app", team: "rad" }];
    assertEquals(problemsOf({ teams: { red: { pools: ["chat"] } }, proxy: { auth: { tokens } } }), [
      'proxy.auth.tokens[0].team: no team "rad", did you mean "red"? (allowed: "red")',
    ]);
    assertEquals(
      problemsOf({ teams: { red: { team: "blue" }, blue: { team: "red" } } }).map((text) => text.split(":")[0]),
      [
        "teams.red.team",
        "teams.blue.team",
      ],
    );
    assertEquals(problemsOf({ teams: { red: { pools: ["chap"] } } }).map((text) => text.split(":")[0]), [
      "teams.red.pools[0]",
    ]);
  });
});
