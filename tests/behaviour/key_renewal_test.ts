/** Keys that are replaced in the secret store reach the providers of a running mesh. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { type MeshEvent, ModelMesh, type RoutingRecord, type SecretStore, type TraceEntry } from "../../mod.ts";
import { getEngine } from "../../src/engine/get_engine.ts";
import { type FakeClock, fakeClock, settle } from "../../src/runtime/test.ts";
import { readApiKey } from "../support/_canaries.ts";
import { chat } from "../../src/pipeline/operations/chat.ts";
import { ok, startUpstream, status, type Upstream } from "../support/upstream.ts";

const request = { model: "chat", messages: [{ role: "user" as const, content: "Hi" }] };

/** A mesh of two providers, `a` before `b`, whose keys are in a store that a test changes. */
interface Site extends AsyncDisposable {
  readonly mesh: ModelMesh;
  readonly clock: FakeClock;
  readonly a: Upstream;
  readonly b: Upstream;
  readonly secrets: Map<string, string>;
  /** Names looked up, in order. */
  readonly asked: string[];
  readonly reported: (MeshEvent | RoutingRecord | TraceEntry)[];
  ask(): Promise<unknown>;
}

async function startSite(
  resolution: object = {},
  get?: SecretStore["get"],
  pool: object = {},
  keysOfB = "KEY_B",
): Promise<Site> {
  const [a, b] = [await startUpstream(ok()), await startUpstream(ok())];
  const secrets = new Map([["KEY_A", "key-of-a-1"], ["KEY_B", "key-of-b-1"], ["KEY_C", "key-of-c-1"]]);
  const asked: string[] = [];
  const reported: Site["reported"] = [];
  const clock = fakeClock({ skipSleeps: true });
  const mesh = new ModelMesh({ clock, env: {}, on: (record) => reported.push(record) });
  mesh.addSink({ emit: () => {}, trace: (entry) => reported.push(entry), flush: () => Promise.resolve() });
  const store: SecretStore = { get: get ?? ((name) => Promise.resolve(secrets.get(name))) };
  mesh.registerConnector("test.store.v1", {
    id: "test.store.v1",
    kind: "secretStore",
    create: () => ({ get: (name: string) => (asked.push(name), store.get(name)) }),
  });
  const provider = (url: string, name: string) => ({
    connector: "openai.compatible.v1",
    base_url: url,
    api_key: name.split(" ").map((one) => `\${secrets:${one}}`),
  });
  await mesh.initialize({
    secrets: { store: "test.store.v1", resolution: resolution as Record<string, never> },
    providers: { a: provider(a.url, "KEY_A"), b: provider(b.url, keysOfB) },
    models: {
      one: { provider: "a", capabilities: ["chat-completion"] },
      two: { provider: "b", capabilities: ["chat-completion"] },
    },
    pools: {
      chat: {
        models: ["one", "two"],
        strategy: "priority",
        model_priority: ["one", "two"],
        retry: { max_attempts: 0 },
        ...pool,
      },
    },
  });
  return {
    mesh,
    clock,
    a,
    b,
    secrets,
    asked,
    reported,
    ask: () =>
      getEngine(mesh).perform({
        id: "r",
        operation: chat,
        delivery: "sync",
        model: "chat",
        body: request,
        timeoutMs: 60_000,
      }),
    async [Symbol.asyncDispose]() {
      await mesh.close();
      await a.close();
      await b.close();
    },
  };
}

describe("A provider that takes over from another", () => {
  it("is asked with the key that is in the store by then", async () => {
    await using site = await startSite();
    await site.ask();
    site.secrets.set("KEY_B", "key-of-b-2");
    site.a.follow(status(500));
    await site.ask();
    assertEquals(site.b.requests.map(readApiKey), ["key-of-b-2"]);
    assertEquals(site.asked, ["KEY_A", "KEY_B", "KEY_B"]);
  });

  it("is asked with each of its keys as they are by then", async () => {
    await using site = await startSite({}, undefined, {}, "KEY_B KEY_C");
    site.secrets.set("KEY_B", "key-of-b-2");
    site.secrets.set("KEY_C", "key-of-c-2");
    site.a.follow(status(500));
    await site.ask();
    await site.ask();
    assertEquals(site.b.requests.map(readApiKey), ["key-of-b-2", "key-of-c-2"]);
  });

  it("has its new key redacted like the first", async () => {
    await using site = await startSite();
    site.secrets.set("KEY_B", "key-of-b-after-a-change");
    site.a.follow(status(500));
    site.b.follow((request) => status(400, { error: { message: `Wrong: ${readApiKey(request)}` } }));
    const error = await site.ask().catch((error) => error);
    assertEquals(site.b.requests.map(readApiKey), ["key-of-b-after-a-change"]);
    assert(!JSON.stringify([error, String(error), site.reported]).includes("after-a-change"));
  });

  it("keeps its key where secrets are not reloaded", async () => {
    await using site = await startSite({ reload_on_rotation: false });
    site.secrets.set("KEY_B", "key-of-b-2");
    site.a.follow(status(500));
    await site.ask();
    assertEquals(site.b.requests.map(readApiKey), ["key-of-b-1"]);
    assertEquals(site.asked, ["KEY_A", "KEY_B"]);
  });

  it("has it looked up once for all who come at once, and no more often than once a second", async () => {
    await using site = await startSite({}, undefined, { deactivation: { retry_limit: 1_000 } });
    site.a.follow(status(500));
    await Promise.all(Array.from({ length: 20 }, () => site.ask()));
    assertEquals(site.asked, ["KEY_A", "KEY_B", "KEY_B"]);
    await site.clock.advance(999);
    await site.ask();
    assertEquals(site.asked.length, 3);
    await site.clock.advance(1);
    await site.ask();
    assertEquals(site.asked.length, 4);
  });

  it("keeps the key it has when the new one is missing, broken or not to be had, and a warning says so", async () => {
    const wrong: Record<string, (site: Site) => void> = {
      'the secret "KEY_B"': ({ secrets }) => secrets.delete("KEY_B"),
      "api_key": ({ secrets }) => secrets.set("KEY_B", "key\nwith-a-break"),
      "failed to look up": ({ secrets }) => secrets.get = () => fail(),
    };
    for (const [expected, change] of Object.entries(wrong)) {
      await using site = await startSite();
      change(site);
      site.a.follow(status(500));
      await site.ask();
      assertEquals(site.b.requests.map(readApiKey), ["key-of-b-1"], expected);
      const warning = site.reported.find((one): one is TraceEntry =>
        one.type === "trace" && one.component === "secrets"
      );
      assertStringIncludes(warning?.message ?? "nothing", 'The API keys of "b" are kept');
      assertStringIncludes(warning!.message, expected);
      assert(!JSON.stringify(site.reported).includes("with-a-break"));
    }
  });

  it("waits 2 s at the most for a store that does not answer, and has the key once it does", async () => {
    let answer = (_: string) => {};
    let number = 1;
    await using site = await startSite({}, (name) => {
      if (number > 0) return Promise.resolve(`${name}-${number}`);
      return new Promise((resolve) => answer = resolve);
    });
    number = 0;
    site.a.follow(status(500));
    const asked = site.ask();
    while (site.asked.length < 3) await settle();
    await settle();
    assertEquals(site.b.calls, 0);
    await site.clock.advance(2_000);
    await asked;
    assertEquals(site.b.requests.map(readApiKey), ["KEY_B-1"]);
    answer("KEY_B-2");
    await settle();
    number = 2;
    await site.ask();
    assertEquals(readApiKey(site.b.requests.at(-1)!), "KEY_B-2");
  });
});

describe("A provider that is back after a standby", () => {
  it("has the key of the store once what is kept of it is too old", async () => {
    await using site = await startSite({ cache_ttl: "90s" });
    site.secrets.set("KEY_A", "key-of-a-2");
    site.a.follow((request) => readApiKey(request) === "key-of-a-2" ? ok() : status(401));
    for (let count = 0; count < 3; count++) await site.ask();
    assertEquals(new Set(site.a.requests.map(readApiKey)), new Set(["key-of-a-1"]));
    await site.clock.advance(60_000); // the cooldown: what is kept is 60 s old
    await site.ask();
    assertEquals(readApiKey(site.a.requests.at(-1)!), "key-of-a-1");
    await site.clock.advance(120_000); // twice as long after a failed trial
    await site.ask();
    assertEquals(readApiKey(site.a.requests.at(-1)!), "key-of-a-2");
    const served = site.a.calls;
    await site.ask();
    assertEquals(site.a.calls, served + 1, "it serves again");
  });

  it("has it at once where nothing is kept", async () => {
    await using site = await startSite({ cache_enabled: false });
    site.secrets.set("KEY_A", "key-of-a-2");
    site.a.follow((request) => readApiKey(request) === "key-of-a-2" ? ok() : status(401));
    for (let count = 0; count < 3; count++) await site.ask();
    await site.clock.advance(60_000);
    await site.ask();
    assertEquals(readApiKey(site.a.requests.at(-1)!), "key-of-a-2");
  });
});

function fail(): never {
  throw new Error("hush");
}
