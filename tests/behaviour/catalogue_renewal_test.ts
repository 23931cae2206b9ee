/** `discovery.catalogue`: the models of a signed document take the place of the built-in ones. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ModelMesh } from "../../mod.ts";
import { getEngine } from "../../src/engine/get_engine.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { builtInContents, type Contents, createSigner } from "../support/_catalogue_documents.ts";
import { tempFolder } from "../support/_runtime_clients.ts";
import { until } from "../support/patience.ts";
import { type Behaviour, json, respond, startUpstream, status, type Upstream } from "../support/upstream.ts";

const id = "xai.grok.v1";
const dayMs = 86_400_000;
const signer = await createSigner();

/** A document with the built-in models of one vendor, changed. */
function contents(date: string, change: (models: Record<string, unknown>[]) => Record<string, unknown>[]): Contents {
  const built = builtInContents(date, id);
  return { ...built, providers: { [id]: change(built.providers[id]!) } };
}

const added = {
  id: "grok-9",
  capabilities: ["chat-completion"],
  default_for: ["chat-completion"],
  pricing: [{ input: 7, output: 9 }],
  source: "example.com",
  as_of: "2027-01-01",
};

/** With a new model, a new price, and without a model. */
const renewed = (date: string) =>
  contents(date, (models) => [
    ...models.filter((model) => model.id !== "grok-4.3").map((model) =>
      model.id === "grok-4.7" ? { ...model, pricing: [{ input: 1, output: 1 }] } : model
    ),
    added,
  ]);

interface Scene extends AsyncDisposable {
  readonly mesh: ModelMesh;
  readonly clock: ReturnType<typeof fakeClock>;
  readonly said: string[];
  /** Lets time pass, and waits until the document has been asked for a number of times and handled. */
  pass(ms: number, fetches: number): Promise<void>;
  price(model: string): unknown;
  statusOf(model: string): string | undefined;
  members(): string[];
}

interface Source extends AsyncDisposable {
  readonly upstream: Upstream;
  /** Number of times that the document was asked for. */
  fetches(): number;
  serve(document: string | Behaviour): void;
}

/** A vendor, which also serves documents. */
async function startSource(document: string | Behaviour = status(404)): Promise<Source> {
  const toBehaviour = (one: string | Behaviour) => typeof one === "string" ? json(JSON.parse(one)) : one;
  let served = toBehaviour(document);
  const isDocument = ({ path }: { readonly path: string }) => path === "/v1/catalogue.json";
  const upstream = await startUpstream((request) => isDocument(request) ? served : respond());
  return {
    upstream,
    fetches: () => upstream.requests.filter(isDocument).length,
    serve: (next) => void (served = toBehaviour(next)),
    [Symbol.asyncDispose]: () => upstream.close(),
  };
}

async function open(source: Source, sections: Record<string, unknown> = {}): Promise<Scene> {
  const clock = fakeClock();
  const mesh = new ModelMesh({ clock });
  const said: string[] = [];
  mesh.addSink({
    emit: () => {},
    trace: (entry) => void (entry.component === "registry" && said.push(`${entry.severity} ${entry.message}`)),
    log: () => {},
    flush: () => Promise.resolve(),
  });
  const url = `${source.upstream.url}/catalogue.json`;
  await mesh.initialize({
    providers: { [id]: { base_url: source.upstream.url, api_key: "key-0123456789" } },
    pools: { chat: { capability: "chat-completion" } },
    discovery: { catalogue: { url, public_key: signer.publicKey } },
    ...sections,
  });
  const { registry } = getEngine(mesh);
  return {
    mesh,
    clock,
    said,
    async pass(ms, fetches) {
      const before = said.length;
      await clock.advance(ms);
      await until(() => source.fetches() === fetches && (said.length > before || fetches === 0));
    },
    price: (model) => registry.model(`xai.${model}`)?.info.pricing?.[0],
    statusOf: (model) => mesh.listModels().find(({ name }) => name === `xai.${model}`)?.status,
    members: () => mesh.poolStatus().chat!.models.map(({ name }) => name),
    [Symbol.asyncDispose]: () => mesh.close(),
  };
}

describe("discovery.catalogue", () => {
  it("fetches nothing without the section", async () => {
    await using source = await startSource(await signer.sign(renewed("2027-01-01")));
    await using scene = await open(source, { discovery: {} });
    await scene.clock.advance(10 * dayMs);
    assertEquals([source.fetches(), scene.said, scene.statusOf("grok-9")], [0, [], undefined]);
  });

  it("registers new models, takes prices over, and puts withdrawn models in standby", async () => {
    await using source = await startSource(await signer.sign(renewed("2027-01-01")));
    await using scene = await open(source);
    assertEquals(scene.price("grok-4.7"), { input: 2, output: 6, cached_input: 0.5 });
    await scene.pass(1, 1);
    assertEquals(scene.said, [
      "info The catalogue of 2027-01-01 is in use (models new: 1, changed: 1, withdrawn: 1)",
    ]);
    assertEquals([scene.price("grok-4.7"), scene.price("grok-9")], [{ input: 1, output: 1 }, { input: 7, output: 9 }]);
    assert(scene.members().includes("xai.grok-9"));
    assertEquals(["grok-9", "grok-4.7", "grok-4.3"].map(scene.statusOf), ["active", "active", "standby"]);
  });

  it("fills pools that name a model which only the document has, at its renewal and at later starts", async () => {
    await using folder = await tempFolder();
    await using source = await startSource(await signer.sign(renewed("2027-01-01")));
    const sections = {
      pools: { chat: { capability: "chat-completion" }, next: { models: ["grok-9"] } },
      storage: { connector: "mesh.local-file.v1", path: `${folder.path}/state.json` },
    };
    const members = ({ mesh }: Scene) => mesh.poolStatus().next!.models.map(({ name }) => name);
    {
      await using scene = await open(source, sections);
      assertEquals(members(scene), []);
      await scene.pass(1, 1);
      assertEquals(members(scene), ["xai.grok-9"]);
    }
    await using scene = await open(source, sections);
    assertEquals(members(scene), ["xai.grok-9"]);
  });

  it("asks again after the interval, and restores what returns", async () => {
    await using source = await startSource(await signer.sign(renewed("2027-01-01")));
    await using scene = await open(source);
    await scene.pass(1, 1);
    source.serve(await signer.sign(contents("2027-01-02", (models) => models)));
    await scene.clock.advance(dayMs - 10);
    assertEquals(source.fetches(), 1);
    await scene.pass(10, 2);
    assertEquals(scene.price("grok-4.7"), { input: 2, output: 6, cached_input: 0.5 });
    assertEquals(["grok-9", "grok-4.3"].map(scene.statusOf), ["standby", "active"]);
  });

  it("keeps the models in use when a document is refused, says why once, and tries again within the hour", async () => {
    await using source = await startSource(await signer.sign(renewed("2027-01-05")));
    await using scene = await open(source);
    await scene.pass(1, 1);
    const other = await createSigner();
    const invalid = contents("2027-01-06", (models) => [{ ...models[0], pricing: [{ per_parsec: 1 }] }]);
    const refused: readonly (readonly [document: string | Behaviour, reason: string])[] = [
      [await other.sign(renewed("2027-01-06")), "signature: does not match the payload and the public key"],
      [await signer.sign(renewed("2027-01-04")), "date: 2027-01-04 is before 2027-01-05, the date of the one in use"],
      [await signer.sign(renewed("2020-01-01")), "date: 2020-01-01 is before 2027-01-05, the date of the one in use"],
      [await signer.sign(invalid), `providers.${id}[0].pricing[0].per_parsec: unknown key`],
      [status(503), "the server answered 503"],
    ];
    let fetches = 1;
    let wait = dayMs;
    for (const [document, reason] of refused) {
      source.serve(document);
      await scene.pass(wait, ++fetches);
      wait = 3_600_000;
      assertStringIncludes(scene.said.at(-1)!, reason);
      assertStringIncludes(scene.said.at(-1)!, "warning The catalogue http://127.0.0.1:");
      assertEquals([scene.price("grok-4.7"), scene.statusOf("grok-9")], [{ input: 1, output: 1 }, "active"]);
    }
    const lines = scene.said.length;
    await scene.clock.advance(wait);
    await until(() => source.fetches() === fetches + 1);
    assertEquals(scene.said.length, lines);
  });

  it("is refused when it is older than the built-in catalogue", async () => {
    await using source = await startSource(await signer.sign(renewed("2026-01-01")));
    await using scene = await open(source);
    await scene.pass(1, 1);
    assertStringIncludes(scene.said[0]!, "date: 2026-01-01 is before 2026-");
    assertEquals(scene.statusOf("grok-9"), undefined);
  });

  it("is kept in the storage, and used from the start", async () => {
    await using folder = await tempFolder();
    await using source = await startSource(await signer.sign(renewed("2027-01-01")));
    const path = `${folder.path}/state.json`;
    const storage = { connector: "mesh.local-file.v1", path, sync_policy: "immediate" };
    const url = `${source.upstream.url}/catalogue.json`;
    const sections = (refresh: string, public_key = signer.publicKey) => ({
      storage,
      discovery: { catalogue: { url, public_key, refresh } },
    });
    {
      await using scene = await open(source, sections("1h"));
      await scene.pass(1, 1);
      await until(() => getEngine(scene.mesh).storage!.exists("catalogue"));
    }
    {
      await using scene = await open(source, sections("1h"));
      assertEquals([scene.price("grok-4.7"), scene.price("grok-9")], [{ input: 1, output: 1 }, {
        input: 7,
        output: 9,
      }]);
      assertEquals(scene.statusOf("grok-4.3"), undefined);
      assert(scene.members().includes("xai.grok-9"));
      await scene.clock.advance(60_000);
      assertEquals([source.fetches(), scene.said], [1, []]);
    }
    {
      const { publicKey } = await createSigner();
      await using scene = await open(source, sections("1h", publicKey));
      assertStringIncludes(
        scene.said[0]!,
        "warning The catalogue in the storage is not used: signature: does not match",
      );
      assertEquals([scene.price("grok-9"), scene.statusOf("grok-4.3")], [undefined, "active"]);
    }
  });
});
