import { assert, assertEquals, assertNotEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { create, type DescribedProvider, MeshError, ModelMesh, type StandbyReason } from "../../mod.ts";
import { clientOver, environment, fakeClock, makeFolder, messages } from "../support/_library.ts";
import { testConfig } from "../support/proxy.ts";
import { refusingUrl, respond, startUpstream, status } from "../support/upstream.ts";

const capability = "generation.text-generation.chat-completion";
const strict = { deactivation: { retry_limit: 1 }, retry: { max_attempts: 0 } };

describe("client.describe()", () => {
  it("shows what was detected, as a plain object", () => {
    const env = { GROQ_API_KEY: "key-0123", HF_TOKEN: "hf-0123" };
    const client = create("chat-completion", { env, models: ["groq.openai/gpt-oss-20b"], strategy: "round-robin" });
    const expected = {
      capability: "chat-completion",
      pools: [{
        name: "chat-completion",
        capability,
        strategy: "mesh.round-robin.v1",
        models: [{ name: "groq.openai/gpt-oss-20b", provider: "groq.api.v1", status: "active" }],
      }],
      providers: [
        { id: "groq.api.v1", status: "active", source: "GROQ_API_KEY" },
        { id: "huggingface.inference.v1", status: "active", source: "HF_TOKEN" },
      ],
    };
    const description = client.describe();
    assertEquals(JSON.parse(JSON.stringify(description)), expected);
    assertEquals(Object.keys(description), ["capability", "pools", "providers"]);
  });

  it("shows what was configured", async () => {
    const url = await refusingUrl();
    const pools = { other: { capability: "chat-completion", providers: ["beta"] } };
    const client = create({ config: { ...testConfig({ upstreams: { alpha: url, beta: url } }), pools } });
    const description = client.describe();
    assertEquals({ ...description }, {
      capability: null,
      pools: [{
        name: "other",
        capability,
        strategy: "mesh.stick-until-failure.v1",
        models: [{ name: "beta", provider: "beta", status: "active" }],
      }],
      providers: [
        { id: "alpha", status: "active", source: "config" },
        { id: "beta", status: "active", source: "config" },
      ],
    });
  });

  it("prints a readable tree", async () => {
    await using bad = await startUpstream(status(401));
    await using good = await startUpstream(respond());
    await using one = clientOver({ upstreams: { alpha: bad.url, beta: good.url }, pool: strict });
    await one.client.chat.completions.create({ messages });
    const lines = `${one.client.describe()}`.split("\n");
    assertEquals(lines.filter((line) => !line.startsWith(" ")), ["providers", "pools"]);
    const indexOf = (...texts: string[]) => {
      const at = lines.findIndex((line) => texts.every((text) => line.includes(text)));
      assertNotEquals(at, -1, `${texts} in ${lines.join("\n")}`);
      return at;
    };
    const pool = indexOf("  chat", capability, "mesh.priority-selection.v1");
    assert(indexOf("  alpha", "standby", "config") < lines.indexOf("pools"));
    assertEquals(indexOf("    alpha", "standby", "retry_limit"), pool + 1);
    assertEquals(indexOf("    beta", "active"), pool + 2);
  });

  it("of a client whose configuration is a file says to await ready(), until then", async () => {
    await using folder = await makeFolder();
    const config = testConfig({ upstreams: { alpha: await refusingUrl() } });
    const client = create({ config: await folder.write("mesh.json", JSON.stringify(config)) });
    const error = assertThrows(() => client.describe(), MeshError);
    assertStringIncludes(error.message, "ready()");
    await client.ready();
    assertEquals(client.describe().pools.map(({ name }) => name), ["chat"]);
  });

  it("shows no key", () => {
    const client = create("chat-completion", { env: environment({ openai: "http://127.0.0.1:1/v1" }) });
    for (const text of [JSON.stringify(client.describe()), `${client.describe()}`]) {
      assert(!text.includes("0123456789"));
    }
  });

  it("shows which model serves: none at first, then the one that served last", async () => {
    await using flaky = await startUpstream([respond(), status(401)]);
    await using good = await startUpstream(respond());
    await using one = clientOver({
      upstreams: { alpha: flaky.url, beta: good.url },
      pool: { strategy: "stick-until-failure" },
    });
    const current = () => one.client.describe().pools[0]!.models.map((model) => model.current);
    assertEquals(current(), [undefined, undefined]);
    await one.client.chat.completions.create({ messages });
    assertEquals(current(), [true, undefined]);
    await one.client.chat.completions.create({ messages });
    assertEquals(current(), [undefined, true]);
  });
});

describe("States, as a program sees them", () => {
  const reasons:
    readonly (readonly [what: string, reason: StandbyReason, retryAt: string, answer: Parameters<typeof status>])[] = [
      ["fails", "retry_limit", "2026-01-01T00:01:00.000Z", [500]],
      ["is rate-limited", "rate_limited", "2026-01-01T00:00:30.000Z", [429, { headers: { "retry-after": "30" } }]],
      ["has no quota left", "quota_exhausted", "2026-01-02T00:00:00.000Z", [429, {
        error: { code: "insufficient_quota" },
      }]],
      ["is gone", "model_not_found", "2026-01-01T00:01:00.000Z", [404, { error: { code: "model_not_found" } }]],
    ];
  for (const [what, reason, retryAt, [code, options]] of reasons) {
    it(`a model that ${what} is in standby for ${reason}, everywhere it is shown`, async () => {
      await using upstream = await startUpstream(status(code, options));
      await using one = clientOver({ upstreams: { alpha: upstream.url }, pool: strict });
      const { client } = one;
      await client.chat.completions.create({ messages }).catch(() => {});
      assertEquals(client.mesh.poolStatus(), {
        chat: {
          capability,
          strategy: "mesh.priority-selection.v1",
          status: "unavailable",
          active: 0,
          standby: 1,
          total: 1,
          models: [{
            name: "alpha",
            provider: "alpha",
            status: "standby",
            reason,
            since: "2026-01-01T00:00:00.000Z",
            retryAt,
          }],
        },
      });
      assertEquals(client.mesh.listModels(), [
        { name: "alpha", provider: "alpha", capabilities: [capability], status: "standby" },
      ]);
      assertEquals(client.mesh.activeProviders(), []);
      const { pools, providers } = client.describe();
      assertEquals(pools[0]?.models.map((model) => [model.status, model.reason]), [["standby", reason]]);
      const [{ last_error: error, ...provider }] = providers as [DescribedProvider];
      assertEquals(provider, { id: "alpha", status: "standby", source: "config" });
      assertEquals(typeof error?.kind, "string");
      const [listed] = (await client.models.list()).data;
      assertEquals(listed?.mesh.type === "pool" && [listed.mesh.active, listed.mesh.standby], [0, 1]);
      await one.clock.advance(24 * 60 * 60 * 1000);
      assertEquals([client.mesh.poolStatus().chat?.status, client.mesh.activeProviders()], ["ok", ["alpha"]]);
      assertEquals(client.describe().providers[0]?.status, "active");
    });
  }

  it("a refused key puts no model into standby at its first failure, and a standby is timed by the wall clock as it is now", async () => {
    await using upstream = await startUpstream(status(401));
    const clock = fakeClock({ skipSleeps: true });
    await using one = clientOver({
      upstreams: { alpha: upstream.url },
      pool: { deactivation: { retry_limit: 2 } },
      clock,
    });
    const call = () => one.client.chat.completions.create({ messages }).catch(() => {});
    await call();
    assertEquals(one.client.mesh.poolStatus().chat?.status, "ok");
    await call();
    clock.jumpWallTime(3_600_000);
    await clock.advance(20_000);
    const [model] = one.client.mesh.poolStatus().chat!.models;
    assertEquals([model?.since, model?.retryAt], ["2026-01-01T01:00:00.000Z", "2026-01-01T01:01:00.000Z"]);
  });
});

describe("ModelMesh", () => {
  const config = {
    providers: {
      a: { connector: "openai.compatible.v1", base_url: "http://127.0.0.1:1/v1" },
      b: { connector: "openai.compatible.v1", base_url: "http://127.0.0.1:1/v1" },
      off: { connector: "openai.compatible.v1", base_url: "http://127.0.0.1:1/v1", enabled: false },
    },
    models: {
      one: { provider: "a", capabilities: ["chat-completion", "translation"] },
      two: { provider: "b", capabilities: ["text-embeddings"] },
      three: { provider: "off" },
    },
    pools: {
      translation: {},
      mixed: { models: ["one", "two"] },
      speech: { capability: "text-to-speech" },
    },
  };

  it("lists pools, models and active providers", async () => {
    const mesh = new ModelMesh();
    await mesh.initialize(config);
    assertEquals(mesh.listPools(), [
      { name: "translation", capability: "transformation.translation" },
      { name: "mixed", capability: null },
      { name: "speech", capability: "generation.audio.text-to-speech" },
    ]);
    assertEquals(mesh.listModels(), [
      { name: "one", provider: "a", capabilities: [capability, "transformation.translation"], status: "active" },
      { name: "two", provider: "b", capabilities: ["representation.embeddings.text-embeddings"], status: "active" },
    ]);
    assertEquals(mesh.activeProviders(), ["a", "b"]);
    const { translation, mixed, speech } = mesh.poolStatus();
    assertEquals([translation?.total, mixed?.total, speech?.total], [1, 2, 0]);
    assertEquals([translation?.status, mixed?.status, speech?.status], ["ok", "ok", "unavailable"]);
    await mesh.close();
  });

  it("says what is missing before it has a configuration", () => {
    const mesh = new ModelMesh();
    for (
      const ask of [
        () => mesh.poolStatus(),
        () => mesh.listPools(),
        () => mesh.listModels(),
        () => mesh.activeProviders(),
      ]
    ) {
      assertThrows(ask, MeshError, "initialize()");
    }
  });

  it("notifies a listener of the program of everything, and a listener that throws costs nothing", async () => {
    await using bad = await startUpstream(status(401));
    await using good = await startUpstream(respond());
    const reported: string[] = [];
    await using one = clientOver({
      upstreams: { alpha: bad.url, beta: good.url },
      pool: strict,
      options: {
        on(record) {
          reported.push(
            record.type === "event" ? `${record.event} ${record.model} ${record.reason}` : `routed ${record.model}`,
          );
          throw new Error("a bad listener");
        },
      },
    });
    await one.client.chat.completions.create({ messages });
    await one.clock.advance(60_000);
    assertEquals(reported, [
      "deactivation alpha retry_limit",
      "outage undefined retry_limit",
      "rotation beta auth",
      "routed beta",
      "recovery alpha retry_limit",
      "outage undefined retry_limit",
    ]);
  });
});
