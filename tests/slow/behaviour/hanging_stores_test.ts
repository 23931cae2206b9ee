/** Secret stores and storages that never respond: the mesh goes on without them, and names them. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  ConnectorError,
  memoryStorage,
  type MeshOptions,
  ModelMesh,
  openStorage,
  type SecretStore,
  stateIn,
  type Storage,
} from "../../../mod.ts";
import { type FakeClock, fakeClock } from "../../../src/runtime/test.ts";
import { until } from "../../support/patience.ts";
import { testConfig } from "../../support/proxy.ts";

const never = () => new Promise<never>(() => {});
const nowhere = "http://127.0.0.1:9/v1";
const plain = testConfig({ upstreams: { a: nowhere } });

/** Lets time pass until the work has ended; what it has failed with. */
async function advanceUntil(work: Promise<unknown>, clock: FakeClock): Promise<unknown> {
  let end: { readonly error: unknown } | undefined;
  work.then(() => end = { error: undefined }, (error) => end = { error });
  await until(async () => {
    await clock.advance(1_000);
    return end !== undefined;
  }, "it ends");
  return end!.error;
}

/** What it has failed with, which has to be an error of ours. */
async function advanceUntilFailure(work: Promise<unknown>, clock: FakeClock): Promise<string> {
  const error = await advanceUntil(work, clock);
  assert(ConnectorError.isInstance(error), `it failed with ${error}`);
  return error.message;
}

interface Stage {
  readonly mesh: ModelMesh;
  readonly clock: FakeClock;
  readonly traces: string[];
}

function stage(options: MeshOptions = {}): Stage {
  const clock = fakeClock();
  const mesh = new ModelMesh({ clock, env: {}, ...options });
  const traces: string[] = [];
  const trace = ({ message }: { readonly message: string }) => void traces.push(message);
  mesh.addSink({ emit: () => {}, trace, flush: () => Promise.resolve() });
  return { mesh, clock, traces };
}

describe("A secret store that hangs", () => {
  const document = (secrets: Record<string, unknown>) => ({
    ...testConfig({ upstreams: { a: nowhere }, provider: { api_key: "${secrets:KEY_OF_A}" } }),
    secrets,
  });
  const withOwn = (store: SecretStore) => {
    const made = stage();
    made.mesh.registerConnector("own.store.v1", { id: "own.store.v1", kind: "secretStore", create: () => store });
    return made;
  };

  it("fails the start after its timeout, which names store and secret, and the next start asks it again", async () => {
    const store: SecretStore = { get: never };
    const { mesh, clock } = withOwn(store);
    const start = mesh.initialize(document({ store: "own.store.v1" }));
    assertEquals(
      await advanceUntilFailure(start, clock),
      'The secret store "own.store.v1" cannot look up the secret "KEY_OF_A": it did not respond within 30 s',
    );
    store.get = () => Promise.resolve("key-of-a-0123456789");
    await mesh.initialize(document({ store: "own.store.v1" }));
    await mesh.close();
  });

  it("fails the start that needs its key for the storage", async () => {
    const { mesh, clock } = withOwn({ get: never });
    const secrets = { store: "own.store.v1" };
    const start = mesh.initialize({ ...plain, secrets, storage: { persistence: { encryption: true } } });
    assertMatch(await advanceUntilFailure(start, clock), /"own.store.v1" cannot look up the secret "MESH_STORAGE_KEY"/);
    await mesh.close();
  });

  const clouds: Readonly<Record<string, [env: Record<string, string>, attributes?: Record<string, string>]>> = {
    "aws.secrets-manager.v1": [{ AWS_ACCESS_KEY_ID: "AKIA", AWS_SECRET_ACCESS_KEY: "s", AWS_REGION: "eu-central-1" }],
    "google.secret-manager.v1": [{ GOOGLE_CLOUD_PROJECT: "p" }],
    "microsoft.key-vault.v1": [
      { AZURE_TENANT_ID: "t", AZURE_CLIENT_ID: "c", AZURE_CLIENT_SECRET: "s" },
      { url: "https://v.vault.azure.net" },
    ],
    "1password.connect.v1": [{ OP_CONNECT_HOST: "https://op.example", OP_CONNECT_TOKEN: "t" }, { vault: "Keys" }],
  };
  for (const [store, [env, attributes]] of Object.entries(clouds)) {
    it(`is left and named, even if the connection cannot be ended: ${store}`, async () => {
      const { mesh, clock } = stage({ env, fetch: never });
      const start = mesh.initialize(document({ store, ...attributes }));
      assertMatch(await advanceUntilFailure(start, clock), new RegExp(store.replaceAll(".", "\\.")));
      await mesh.close();
    });
  }
});

/** A storage of which some operations never respond. */
function hanging(...operations: readonly (keyof Storage)[]): Storage & { hangs: Set<keyof Storage> } {
  const hangs = new Set<keyof Storage>(operations);
  const storage = Object.assign(memoryStorage(), { hangs, close: () => Promise.resolve() });
  return new Proxy(storage, {
    get: (target, name) => {
      if (hangs.has(name as keyof Storage)) return never;
      const value = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

describe("A storage that hangs", () => {
  const withStorage = (storage: Storage) => {
    const made = stage();
    made.mesh.registerConnector("own.storage.v1", {
      id: "own.storage.v1",
      kind: "storage",
      create: () => storage,
    });
    return made;
  };
  const policies: Readonly<Record<string, Record<string, unknown>>> = {
    "sync-on-boundary": {},
    "periodic, with locks": { sync_policy: "periodic", locking: { timeout: "10s" } },
    "immediate, with locks": { sync_policy: "immediate", locking: { timeout: "10s" } },
  };
  const document = (policy: string) => ({ ...plain, storage: { connector: "own.storage.v1", ...policies[policy] } });

  for (const policy of Object.keys(policies)) {
    it(`fails the start that cannot read it, which names it: ${policy}`, async () => {
      const { mesh, clock } = withStorage(hanging("load"));
      assertEquals(
        await advanceUntilFailure(mesh.initialize(document(policy)), clock),
        'The storage "own.storage.v1" cannot load "state": it did not respond within 20 s',
      );
      await mesh.close();
    });

    const stalls: readonly (keyof Storage)[] = policy.includes("locks") ? ["save", "acquire", "release"] : ["save"];
    for (const operation of stalls) {
      it(`stops no start by its ${operation}, and is named: ${policy}`, async () => {
        const storage = hanging(operation);
        const { mesh, clock, traces } = withStorage(storage);
        assertEquals(await advanceUntil(mesh.initialize(document(policy)), clock), undefined);
        assertMatch(traces.join("\n"), /The storage "own.storage.v1" cannot (un)?(lock|save)/);
        storage.hangs.clear();
        await clock.advance(90_000);
        assertEquals(await storage.exists("state"), true); // it was tried again
        await mesh.close();
      });
    }

    for (const operation of ["load", ...stalls] as const) {
      it(`stops no end by its ${operation}, which rejects with its name: ${policy}`, async () => {
        const storage = hanging();
        const { mesh, clock } = withStorage(storage);
        await mesh.initialize(document(policy));
        storage.hangs.add(operation);
        assertMatch(await advanceUntilFailure(mesh.close(), clock), /^The storage "own\.storage\.v1" (cannot|did not)/);
        assertEquals(clock.pending, 0);
      });
    }

    it(`stops no end by its close: ${policy}`, async () => {
      const storage = hanging();
      const { mesh, clock } = withStorage(storage);
      await mesh.initialize(document(policy));
      storage.hangs.add("close");
      assertEquals(
        await advanceUntilFailure(mesh.close(), clock),
        'The storage "own.storage.v1" cannot close: it did not respond within 5 s',
      );
    });
  }

  it("of a program is left at the start and at the end, too", async () => {
    const storage = hanging("load");
    const { mesh, clock } = stage({ storage: stateIn(storage) });
    assertMatch(
      await advanceUntilFailure(mesh.initialize(plain), clock),
      /^The storage of stateIn\(\) cannot load "state"/,
    );
    storage.hangs.clear();
    await mesh.initialize(plain);
    storage.hangs.add("save");
    mesh.deactivate("a");
    assertMatch(await advanceUntilFailure(mesh.close(), clock), /^The storage of stateIn\(\)/);
  });

  it("that holds the configuration fails all that read or save it", async () => {
    const { mesh, clock } = stage();
    await mesh.initialize(plain);
    assertMatch(
      await advanceUntilFailure(mesh.saveConfig(hanging("save")), clock),
      /save the configuration: .* within 25 s/,
    );
    await mesh.close();
    const made = ModelMesh.fromStorage(hanging("load"), { clock, env: {} });
    assertMatch(await advanceUntilFailure(made, clock), /read the configuration: .* within 25 s/);
  });

  const remotes: Readonly<Record<string, Record<string, string>>> = {
    "aws.s3.v1": { bucket: "b", access_key_id: "a", secret_access_key: "s" },
    "google.drive.v1": { access_token: "t" },
  };
  for (const [connector, attributes] of Object.entries(remotes)) {
    it(`is left and named, even if the connection cannot be ended: ${connector}`, async () => {
      const { mesh, clock } = stage({ fetch: never });
      const named = new RegExp(connector.replaceAll(".", "\\."));
      const start = mesh.initialize({ ...plain, storage: { connector, ...attributes } });
      assertMatch(await advanceUntilFailure(start, clock), named);
      await mesh.close();
      const storage = await openStorage({ connector, ...attributes }, { clock, env: {}, fetch: never });
      const calls = [
        () => storage.acquire("state", { owner: "one", ttlMs: 1_000, timeoutMs: 0 }),
        () => storage.list(),
        () => storage.save("a", new TextEncoder().encode("{}")),
        () => storage.isLocked("a"),
      ];
      for (const call of calls) assertMatch(await advanceUntilFailure(call(), clock), named);
    });
  }

  it("while it shares counts stops neither start nor end", async () => {
    const shared = { add: never, reserve: never, publish: never, subscribe: never };
    const storage = Object.assign(memoryStorage(), { shared });
    const { mesh, clock, traces } = stage({ storage: stateIn(storage) });
    assertEquals(await advanceUntil(mesh.initialize(plain), clock), undefined);
    assertMatch(traces.join("\n"), /The shared storage is unavailable/);
    assertEquals(await advanceUntil(mesh.close(), clock), undefined);
  });
});
