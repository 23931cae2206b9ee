/** `discovery.sync`: what becomes of models that a provider lists for the first time, or does not list any more. */
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ConnectorError, type Discovery, ModelMesh, type ModelMesh as Mesh } from "../../mod.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { getEngine } from "../../src/engine/get_engine.ts";
import { type Behaviour, html200, json, respond, startUpstream, status, type Upstream } from "../support/upstream.ts";

/** A vendor whose list changes. */
interface Vendor extends AsyncDisposable {
  readonly mesh: Mesh;
  readonly clock: ReturnType<typeof fakeClock>;
  readonly upstream: Upstream;
  /** Traces and lines of the log about the registry. */
  readonly said: string[];
  /** What it lists from now on. */
  list(models: readonly string[] | Behaviour): void;
}

interface VendorOptions {
  readonly sync?: Readonly<Record<string, unknown>>;
  readonly provider?: Readonly<Record<string, unknown>>;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly connect?: (mesh: Mesh) => void;
  /** What it lists at the start. */
  readonly listed?: readonly string[];
}

const listOf = (ids: readonly string[]) => json({ data: ids.map((id) => ({ id })) });

async function vendor(
  { sync = {}, provider = {}, config = {}, connect, listed: atStart = ["one", "two"] }: VendorOptions = {},
): Promise<Vendor> {
  let listed: Behaviour = listOf(atStart);
  const upstream = await startUpstream(({ path }) => path === "/v1/models" ? listed : respond());
  const clock = fakeClock();
  const mesh = new ModelMesh({ clock, random: () => 0.5 });
  const said: string[] = [];
  mesh.addSink({
    emit: () => {},
    trace: (entry) => void (entry.component === "registry" && said.push(`trace ${entry.severity} ${entry.message}`)),
    log: (record) => void ("component" in record && said.push(`log ${record.level} ${record.model}`)),
    flush: () => Promise.resolve(),
  });
  connect?.(mesh);
  await mesh.initialize({
    providers: {
      v: { connector: "openai.compatible.v1", base_url: upstream.url, api_key: "key-0123456789", ...provider },
    },
    pools: { chat: { capability: "chat-completion" } },
    discovery: { sync: { interval: "1h", ...sync } },
    ...config,
  });
  return {
    mesh,
    clock,
    upstream,
    said,
    list: (models) => void (listed = Array.isArray(models) ? listOf(models) : models as Behaviour),
    async [Symbol.asyncDispose]() {
      await mesh.close();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

const hour = 3_600_000;

/** Models of the pool, with their status. */
function members({ mesh }: Vendor): string[] {
  return mesh.poolStatus().chat!.models.map(({ name, status }) => `${name.replace(/^.*\./, "")} ${status}`);
}

describe("A registry sync", () => {
  it("registers what is new: by name, and in pools", async () => {
    await using v = await vendor();
    assertEquals(members(v), ["one active", "two active"]);
    v.list(["one", "two", "three"]);
    await v.clock.advance(hour - 1);
    assertEquals(members(v), ["one active", "two active"]);
    await v.clock.advance(1);
    await v.mesh.sync();
    assertEquals(members(v), ["one active", "two active", "three active"]);
    assertEquals(v.mesh.listModels().map(({ provider }) => provider), ["v", "v", "v"]);
    const [status] = v.mesh.getSyncStatus();
    assertEquals([status!.provider, status!.listed, status!.added, status!.deprecated], ["v", 3, [], []]);
    assertEquals(v.said.length, 1);
    assertMatch(v.said[0]!, /^trace info The provider "v" has a new model "three": it is registered as/);
  });

  it("says what it did, also without an interval", async () => {
    await using v = await vendor({ config: { discovery: {} } });
    v.list(["two", "three"]);
    const [status] = await v.mesh.sync();
    assertEquals([status!.listed, status!.added, status!.deprecated], [2, ["three"], ["one"]]);
    assertEquals(status!.at, v.clock.now());
    assertEquals(v.mesh.getSyncStatus(), [status!]);
  });

  it("asks a model that it registered", async () => {
    await using v = await vendor();
    v.list(["one", "two", "three"]);
    await v.mesh.sync();
    const { name } = v.mesh.listModels()[2]!;
    assertEquals(
      (await v.mesh.explain({ model: name, messages: [{ role: "user", content: "hi" }] })).order.map(({ model }) =>
        model
      ),
      [
        name,
      ],
    );
  });

  for (const sync of [{ on_new_model: "notify" }, { auto_register: false }]) {
    it(`only notices what is new, once, with ${JSON.stringify(sync)}`, async () => {
      await using v = await vendor({ sync });
      v.list(["one", "two", "three", "three"]);
      for (let count = 0; count < 3; count++) await v.mesh.sync();
      assertEquals(members(v), ["one active", "two active"]);
      assertEquals(v.said, ["log info three", 'trace info The provider "v" has a new model "three"']);
    });
  }

  it("ignores what is new or gone when it is configured so", async () => {
    await using v = await vendor({ sync: { on_new_model: "ignore", on_deprecated_model: "ignore" } });
    v.list(["two", "three"]);
    const [status] = await v.mesh.sync();
    assertEquals([status!.added, status!.deprecated], [["three"], ["one"]]);
    assertEquals([members(v), v.said], [["one active", "two active"], []]);
  });

  it("notices once what a list had and has no more", async () => {
    await using v = await vendor();
    v.list(["two"]);
    for (let count = 0; count < 3; count++) await v.mesh.sync();
    assertEquals(members(v), ["one active", "two active"]);
    assertEquals(v.said, ["log warning one", 'trace warning The provider "v" does not list the model "one" any more']);
  });

  it("deactivates what a list had, until it has it again", async () => {
    await using v = await vendor({ sync: { on_deprecated_model: "deactivate" } });
    v.list(["two"]);
    await v.mesh.sync();
    assertEquals(members(v), ["one standby", "two active"]);
    assertEquals(v.mesh.poolStatus().chat!.models[0]!.reason, "model_not_found");
    await v.mesh.sync();
    assertEquals(members(v), ["one standby", "two active"]);
    v.list(["one", "two"]);
    await v.mesh.sync();
    assertEquals(members(v), ["one active", "two active"]);
  });

  it("activates what an earlier process has deactivated, with the first list that has it", async () => {
    await using before = await vendor({ sync: { on_deprecated_model: "deactivate" } });
    before.list(["two"]);
    await before.mesh.sync();
    const state = before.mesh.exportState();
    await using v = await vendor({ sync: { on_deprecated_model: "deactivate" }, listed: ["two"] });
    v.mesh.importState(state);
    assertEquals(members(v), ["two active"]);
    v.list(["one", "two"]);
    await v.mesh.sync();
    assertEquals(members(v), ["two active", "one active"]);
  });

  it("leaves alone what is configured and was never listed", async () => {
    const own = { "mine": { provider: "v", capabilities: ["chat-completion"] } };
    await using v = await vendor({
      sync: { on_deprecated_model: "deactivate" },
      provider: { discovery: { enumerate_models: true } },
      config: { models: own },
    });
    for (let count = 0; count < 2; count++) await v.mesh.sync();
    assertEquals(members(v), ["mine active", "one active", "two active"]);
  });

  for (
    const [what, behaviour, problem] of [
      ["fails", status(500), /500/],
      ["is empty", listOf([]), /^listed no model$/],
      ["is a web page", html200(), /./],
      ["is no list", json({ models: "none" }), /no data/],
    ] as const
  ) {
    it(`changes nothing by a list that ${what}`, async () => {
      await using v = await vendor({ sync: { on_deprecated_model: "deactivate" } });
      v.list(behaviour as Behaviour);
      const [status] = await v.mesh.sync();
      assertEquals([status!.added, status!.deprecated, status!.listed], [[], [], undefined]);
      assertMatch(status!.problem!, problem);
      assertEquals(members(v), ["one active", "two active"]);
      v.list(["two"]);
      await v.mesh.sync();
      assertEquals(members(v), ["one standby", "two active"], "the list before is what counts");
    });
  }

  it("asks at the provider's own interval, the others at that of all, and none when it is off", async () => {
    await using own = await vendor({ provider: { catalogue: { refresh_interval: "1m" } } });
    const { calls } = own.upstream;
    await own.clock.advance(60_000);
    await own.mesh.sync();
    assertEquals(own.upstream.calls - calls, 2);
    await using off = await vendor({ sync: { enabled: false } });
    const before = off.upstream.calls;
    await off.clock.advance(2 * hour);
    assertEquals(off.upstream.calls, before);
  });

  it("asks only the providers it is configured to", async () => {
    await using other = await startUpstream(({ path }) => path === "/v1/models" ? listOf(["x"]) : respond());
    await using v = await vendor({
      sync: { providers: ["v"] },
      config: {
        providers: {
          w: { connector: "openai.compatible.v1", base_url: other.url },
          v: { connector: "openai.compatible.v1", base_url: other.url },
        },
      },
    });
    assertEquals((await v.mesh.sync()).map(({ provider }) => provider), ["v"]);
  });

  it("is another connector where one is named; one that throws changes nothing, one that cannot is refused", async () => {
    const plug = (discovery: Discovery) => (mesh: Mesh) =>
      mesh.registerConnector("acme.sync.v1", { id: "acme.sync.v1", kind: "discovery", create: () => discovery });
    const sync = { connector: "acme.sync.v1" };
    const status = { provider: "v", at: 1, added: [], deprecated: [] };
    const asked: string[] = [];
    await using v = await vendor({
      sync,
      connect: plug({
        sync: (host) => Promise.resolve(asked.push(...host.providers)).then(() => [status]),
        getSyncStatus: () => [status],
      }),
    });
    assertEquals([await v.mesh.sync(), v.mesh.getSyncStatus(), asked], [[status], [status], ["v"]]);
    const thrower = plug({ sync: () => Promise.reject(new Error("no")), getSyncStatus: () => [] });
    await using bad = await vendor({ sync, connect: thrower });
    assertEquals(await bad.mesh.sync(), []);
    assertEquals(bad.said, ["trace error The registry sync failed"]);
    const none = new ModelMesh({ clock: fakeClock() });
    plug({})(none);
    await assertRejects(
      () =>
        none.initialize({
          providers: { v: { connector: "openai.compatible.v1", base_url: v.upstream.url } },
          discovery: { sync: { ...sync, interval: "1h" } },
        }),
      ConnectorError,
      'The discovery connector "acme.sync.v1" has no sync()',
    );
    await none.close();
  });

  it("goes on with what it knows when a provider is added", async () => {
    await using v = await vendor({ sync: { on_deprecated_model: "deactivate" } });
    await v.mesh.sync();
    await v.mesh.addProvider({ id: "w", connector: "openai.compatible.v1", base_url: v.upstream.url });
    v.list(["two"]);
    await v.mesh.sync();
    const one = getEngine(v.mesh).listModels().filter(({ name }) => name.endsWith("one"));
    assertEquals(one.map(({ status }) => status), ["standby", "standby"]);
  });
});

describe("A health report", () => {
  it("has each provider that was probed", async () => {
    await using v = await vendor({ config: { discovery: { health: { interval: "1m", failure_threshold: 2 } } } });
    assertEquals(v.mesh.getHealthReport(), []);
    const well = await v.mesh.probe("v");
    assertEquals(v.mesh.getHealthReport(), [well]);
    assertEquals([well.status, well.failures, well.failure], ["healthy", 0, undefined]);
    v.list(status(500));
    await v.mesh.probe("v");
    const [ill] = v.mesh.getHealthReport();
    assertEquals([ill!.status, ill!.failures, ill!.failure], ["healthy", 1, "server"]);
    await assertRejects(() => v.mesh.probe("w"), Error, 'No provider is named "w"');
  });
});
