/**
 * Meshes with many models: lists, states, routing, synchronization; and what the proxy and sinks do with many records.
 * @module
 */
import { createHandler } from "../../proxy.ts";
import { ModelMesh } from "../../mod.ts";
import { DeliveryQueue } from "../../connectors/observability/_delivery_queue.ts";
import { getEngine } from "../../src/engine/get_engine.ts";
import { Membership } from "../../src/observe/_stats_counters.ts";
import { redactAll, Redactor } from "../../src/observe/redact.ts";
import { registrySync } from "../../connectors/discovery/registry_sync.ts";
import { defaultSync } from "../../src/config/settings/defaults.ts";
import type { RegistrySync } from "../../src/contracts/discovery.ts";
import { fakeClock, testRuntime } from "../../src/runtime/test.ts";
import { Conversations } from "../../src/state/model/conversations.ts";
import { readBreaker } from "../../src/state/persistence/snapshot.ts";
import { readSnapshot } from "../../src/state/persistence/snapshot_codec.ts";
import { customProvider } from "../support/_custom_provider.ts";
import { type GrowthCase, prepared, times } from "./_case.ts";

const ids = (size: number) => times(size, (at) => `model-${at}`);

/** A mesh with so many models, that a provider lists. */
async function createMesh(size: number, discovery = {}) {
  const mesh = new ModelMesh({ clock: fakeClock(), random: () => 0.5 });
  const models = ids(size).map((id) => ({ id, capabilities: ["chat-completion"] }));
  const instance = customProvider({ listModels: () => Promise.resolve(models) });
  await mesh.initialize({
    providers: { custom: { instance, discovery: { enumerate_models: true } } },
    pools: { chat: { capability: "chat-completion" } },
    discovery,
  });
  return { mesh, engine: getEngine(mesh), handler: createHandler(mesh), models };
}

type Meshes = Awaited<ReturnType<typeof createMesh>>;

/** Work on a mesh with many models, which is made once for each size. */
const withModels = (covers: readonly string[], what: string, work: (mesh: Meshes) => unknown): GrowthCase =>
  prepared({ covers, what, size: sizeOfMesh, input: meshes, work: async (mesh) => work(await mesh) });

const sizeOfMesh = 1_500;
const known = new Map<number, Promise<Meshes>>();
const meshes = (size: number) => {
  if (!known.has(size)) known.set(size, createMesh(size));
  return known.get(size)!;
};

const get = (path: string) => async ({ handler }: Meshes) => {
  const response = await handler(new Request(`http://localhost${path}`));
  return (await response.text()).length;
};
const chat = (model: string, more = {}) => async ({ handler }: Meshes) => {
  const body = JSON.stringify({ model, messages: [{ role: "user", content: "Hi" }], ...more });
  const response = await handler(
    new Request("http://localhost/v1/chat/completions", {
      method: "POST",
      body,
      headers: { "content-type": "application/json" },
    }),
  );
  return (await response.text()).length;
};

/** Lists that the proxy answers, and what they cover. */
const lists: Readonly<Record<string, readonly string[]>> = {
  "/v1/models": [
    "src/proxy/listed_models.ts#listFor",
    "src/proxy/models_routes.ts#answerModelList",
    "src/registry/status.ts#listModels",
  ],
  "/v1/models/model-1": [],
  "/v1beta/models": [],
  "/mesh/status": [
    "src/proxy/mesh_routes.ts#status",
    "src/registry/status.ts#toPoolStatus",
    "src/engine/assembly.ts#listMeshMembers",
  ],
  "/metrics": [],
  "/health": [],
};

/** Rows of meshes. */
export const meshCases: readonly GrowthCase[] = [
  ...Object.entries(lists).map(([path, covers]) => withModels([`list ${path}`, ...covers], "models", get(path))),
  withModels(["src/client/describe.ts#describe"], "models", ({ mesh }) => [
    mesh.listModels(),
    mesh.listPools(),
    mesh.poolStatus(),
    mesh.activeProviders(),
    mesh.stats().length,
  ]),
  withModels(["route"], "a request", chat("chat")),
  withModels(["route"], "a model by name", chat("model-1")),
  withModels(["route"], "an unknown model", chat("modle-1")),
  withModels(["route"], "constraints", chat("chat", { mesh: { order: ids(60), ignore: ["model-1"] } })),
  withModels(
    ["route"],
    "explain",
    ({ mesh }) => mesh.explain({ model: "chat", messages: [{ role: "user", content: "Hi" }] }),
  ),
  withModels(["route"], "a request for each of many models", async (mesh) => {
    const count = mesh.models.length / 30;
    for (let at = 0; at < count; at++) await chat(`model-${at}`)(mesh);
  }),
  prepared({
    covers: ["state"],
    what: "models that leave the provider's list, and come back",
    size: 300,
    input: (size) => createMesh(size, { sync: { on_deprecated_model: "deactivate" } }),
    work: async (made) => {
      const { mesh, models } = await made;
      const all = models.splice(1);
      await mesh.sync();
      models.push(...all);
      await mesh.sync();
    },
  }),
  withModels(["connectors/discovery/registry_sync.ts"], "a synchronization", ({ mesh }) => mesh.sync()),
  prepared({
    covers: ["connectors/discovery/registry_sync.ts"],
    what: "new models, each of them twice",
    size: 3_000,
    input: (size) => ids(size).flatMap((id) => [{ id }, { id }]),
    work: (models) => {
      const host = {
        providers: ["one"],
        modelsOf: () => new Set<string>(),
        listedAtStart: () => undefined,
        listModels: () => Promise.resolve(models),
        register: () => Promise.resolve(),
        deactivate: () => {},
        restore: () => {},
        notify: () => {},
      };
      return (registrySync.create(defaultSync.actions, testRuntime()) as RegistrySync).sync(host);
    },
  }),
  {
    covers: ["src/state/model/conversations.ts#Conversations"],
    what: "conversations, each with two turns",
    size: 2_000,
    work: (size) => {
      const conversations = new Conversations(fakeClock());
      for (let at = 0; at < size; at++) {
        const served = { model: "model-1", keyIndex: undefined, ttlMs: 60_000, isServed: true };
        conversations.set(`${at}`, served);
        conversations.set(`${at}`, { ...served, model: "model-2" });
      }
    },
  },
  withModels(["state"], "the exported state", ({ mesh }) => mesh.exportState()),
  prepared({
    covers: ["src/observe/redact.ts#Redactor", "src/observe/redact.ts#redactAll"],
    what: "texts and secrets",
    size: 1_000,
    input: (size) =>
      [times(size, (at) => `secret-${at}-0123456789`), "sk-".repeat(size), `Bearer${" ".repeat(size)}"`] as const,
    work([secrets, ...texts]) {
      const redactor = new Redactor();
      for (const secret of secrets) redactor.add(secret);
      const one = new Redactor();
      one.add("secret-0123456789");
      redactAll({ texts, list: times(secrets.length, () => "a") }, (text) => one.redact(text));
      return redactor.redact("a");
    },
  }),
  prepared({
    covers: ["connectors/observability/_delivery_queue.ts#DeliveryQueue"],
    what: "items of a full queue",
    size: 5_000,
    input: (size) => size,
    work: async (size) => {
      const queue = new DeliveryQueue<number>({ capacity: size, batch: 1, deliver: () => Promise.resolve() });
      for (let item = 0; item < 2 * size; item++) queue.add(item);
      await queue.idle();
    },
  }),
  prepared({
    covers: ["src/observe/_stats_counters.ts#Membership"],
    what: "members that enter and leave standby",
    size: 2_000,
    input: ids,
    work(models) {
      const membership = new Membership();
      const owners = models.map((model) => ({ pool: "chat", model, provider: "one" }));
      for (const owner of owners) membership.add(owner, 0);
      for (const owner of owners) membership.enterStandby(owner, 1);
      for (const owner of owners) membership.affectedBy(owner);
      for (const owner of owners) membership.leaveStandby(owner, 2);
    },
  }),
  prepared({
    covers: ["src/state/persistence/snapshot_codec.ts#readSnapshot", "src/state/persistence/snapshot.ts#readBreaker"],
    what: "breakers",
    size: 2_000,
    input: (size) => {
      const breaker = { pool: "chat", provider: "one", standby: { reason: "manual", since: 0, until: null } };
      const lists = ["failures", "usage", "spending", "keys", "api_keys", "output", "latency"];
      const breakers = times(size, (at) => ({ ...breaker, model: `m${at}` }));
      return { version: 1, saved_at: 0, breakers, ...Object.fromEntries(lists.map((name) => [name, []])) };
    },
    work: (snapshot) => {
      const now = { wallTimeMs: 0, monotonicMs: 0 };
      return [readSnapshot(snapshot), snapshot.breakers.map((breaker) => readBreaker(breaker as never, 0, now))];
    },
  }),
];
