/** Attributes that pass through the configuration: what each connector declares, and what is refused. */
import { assert, assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { loadedConnectors } from "../support/connectors.ts";
import { s3Storage } from "../../connectors/storage/s3.ts";
import { redis } from "../../connectors/storage/redis.ts";
import { serverConnectors } from "../../connectors/server.ts";
import { ConfigError, type Connector, MeshConfig, ModelMesh } from "../../mod.ts";
import { validate } from "../../src/config/build/validate.ts";
import { groupConnectors } from "../../src/config/settings/known.ts";
import { denoRuntime } from "../../src/runtime/deno.ts";
import { testRuntime } from "../../src/runtime/test.ts";
import { s3Key, s3Place, startS3 } from "../support/s3_server.ts";

const kinds: readonly Connector["kind"][] = ["provider", "secretStore", "storage", "observability"];
const declaring = loadedConnectors.filter(({ kind }) => kinds.includes(kind));

function listProblems(document: object): string[] {
  const { problems } = assertThrows(() => MeshConfig.parse(document), ConfigError);
  return problems.map(({ path, message }) => `${path}: ${message}`);
}

describe("Every connector that takes attributes", () => {
  for (const connector of declaring) {
    it(`declares those it reads: ${connector.kind} ${connector.id}`, () => {
      const read = new Set<string>();
      const watched: Record<string, unknown> = new Proxy({}, {
        get: (_, name) => void (typeof name === "string" && read.add(name)),
      });
      const isProvider = connector.kind === "provider";
      const settings = isProvider ? { id: "a", baseUrl: undefined, config: watched } : watched;
      try {
        connector.create(settings, { ...denoRuntime(), env: () => undefined });
      } catch (error) {
        if (!ConfigError.isInstance(error)) throw error; // it lacks what has to be given
      }
      if (connector.kind === "observability") read.delete("write"); // a function, which only a program can give
      assert(connector.attributes !== undefined, "it declares nothing");
      for (const name of read) assert(Object.hasOwn(connector.attributes, name), `it does not declare "${name}"`);
    });
  }
});

describe("An attribute", () => {
  it("that its connector does not read is refused, with the nearest one", () => {
    const document = {
      secrets: { store: "mesh.dotenv.v1", pathh: "keys.env" },
      providers: {
        "cloudflare.workers-ai.v1": { config: { accountId: "a" } },
        "mistral.api.v1": { config: { organization: "o" } },
      },
      storage: { connector: "aws.s3.v1", bukcet: "b", access_key: "k" },
      observability: { routing: { config: { fromat: "json" } } },
    };
    assertEquals(listProblems(document).map((line) => line.replace(/ \(allowed.*/, "")), [
      'providers.cloudflare.workers-ai.v1.config.accountId: unknown key: "cloudflare.workers-ai.v1" has no such ' +
      'attribute, did you mean "account_id"?',
      'providers.mistral.api.v1.config.organization: unknown key: "mistral.api.v1" has no such attribute; none are known',
      'secrets.pathh: unknown key: "mesh.dotenv.v1" has no such attribute, did you mean "path"?',
      'storage.bukcet: unknown key: "aws.s3.v1" has no such attribute, did you mean "bucket"?',
      'storage.access_key: unknown key: "aws.s3.v1" has no such attribute, did you mean "access_key_id"?',
      'observability.routing.config.fromat: unknown key: "mesh.console.v1" has no such attribute, did you mean "format"?',
    ]);
  });

  it("of another kind than declared is refused", () => {
    const storage = { connector: "redis.redis.v1", port: "6379", db: 1.5, credentials: 7, host: " ", prefix: null };
    assertEquals(listProblems({ storage, observability: { routing: { config: { format: "yaml" } } } }), [
      'storage.port: expected an integer, found "6379"',
      "storage.db: expected an integer, found 1.5",
      "storage.credentials: expected an object or a string, found 7",
      'storage.host: expected a string, found " "',
      'observability.routing.config.format: expected one of "json", "text", found "yaml"',
    ]);
    assertEquals(listProblems({ storage: { connector: "redis.redis.v1", url: "$REDIS_URL", port: "%PORT%" } }), [
      'storage.url: is the name of a variable, which is not read here: write "${secrets:REDIS_URL}"',
      'storage.port: is the name of a variable, which is not read here: write "${secrets:PORT}"',
    ]);
    MeshConfig.parse({ storage: { connector: "redis.redis.v1", password: "${secrets:REDIS}", prefix: "a" } });
    const reference = { storage: { connector: "redis.redis.v1", port: "${secrets:PORT}" } };
    const { deferred } = validate(reference, { knownConnectors: groupConnectors(serverConnectors), detected: [] });
    const resolve = (port: string) => deferred!.resolve({ values: new Map([["PORT", port]]), failOnMissing: true });
    assertEquals(resolve("6380").storage?.config.port, 6380);
    const { problems } = assertThrows(() => resolve("x"), ConfigError);
    assertEquals(problems, [{
      path: "storage.port",
      message: "expected an integer, found another value in ${secrets:PORT}",
    }]);
  });

  it("of the specification that this connector does not read is a warning", () => {
    const { warnings } = MeshConfig.parse({
      secrets: { path: "keys.env", region: "eu" },
      storage: { bucket: "b", path: "state.json" },
      observability: { routing: { path: "events.jsonl" } },
    });
    assertEquals(warnings.map(({ path, message }) => `${path}: ${message}`), [
      'secrets.path: has no effect: "mesh.env.v1" does not read it',
      'secrets.region: has no effect: "mesh.env.v1" does not read it',
      'storage.bucket: has no effect: "mesh.local-file.v1" does not read it',
      'observability.routing.path: has no effect: "mesh.console.v1" does not read it',
    ]);
  });

  it("goes to a connector of the program's own as it is, unless that declares which it reads", async () => {
    const given: unknown[] = [];
    const storeOf = (attributes: Connector["attributes"]): Connector<"secretStore"> => ({
      id: "acme.vault.v1",
      kind: "secretStore",
      ...(attributes === undefined ? {} : { attributes }),
      create(settings) {
        given.push({ ...settings });
        return { get: () => Promise.resolve("key-0123456789") };
      },
    });
    const config = { secrets: { store: "acme.vault.v1", shelf: 3 }, providers: {} };
    const open = new ModelMesh();
    open.registerConnector("acme.vault.v1", storeOf(undefined));
    await open.initialize(config);
    assertEquals(given, [{ shelf: 3 }]);
    await open.close();
    const strict = new ModelMesh();
    strict.registerConnector("acme.vault.v1", storeOf({ shelf: { type: "text", about: "Which shelf." } }));
    const error = await strict.initialize(config).catch((reason) => reason);
    assertEquals(error.problems, [{ path: "secrets.shelf", message: "expected a string, found 3" }]);
    await strict.close();
  });
});

describe("The specification's attributes of a storage", () => {
  it("mean at S3: `key` what objects' keys begin with, `credentials` the keys of the account", async () => {
    await using server = startS3();
    const runtime = { ...denoRuntime(), env: () => undefined };
    const keys = { access_key_id: s3Key.accessKeyId, secret_access_key: s3Key.secretAccessKey };
    for (const credentials of [keys, JSON.stringify(keys)]) {
      server.objects.clear();
      const settings = { ...s3Place, endpoint: server.url, key: "team/", credentials };
      await s3Storage.create(settings, runtime).save("state", new TextEncoder().encode("{}"));
      assertEquals([...server.objects.keys()], ["team/state"]);
    }
  });

  it("are refused where they say two things", () => {
    const cases: readonly (readonly [connector: Connector<"storage">, settings: object, problem: string])[] = [
      [s3Storage, { bucket: "b", prefix: "a/", key: "b/" }, 'storage.key: differs from "prefix", which means the same'],
      [
        s3Storage,
        { bucket: "b", credentials: { access_key_id: "a" }, access_key_id: "b" },
        'storage.credentials: "access_key_id" is also set outside of it: remove one of the two',
      ],
      [redis, { credentials: { user: "a" } }, "storage.credentials: accepts only username, password"],
      [
        redis,
        { credentials: "not JSON" },
        "storage.credentials: expected an object of username, password, or its JSON",
      ],
      [redis, { key: "a/b" }, 'storage.prefix: expected 1 to 64 letters, digits, ".", ":", "_" or "-"'],
    ];
    for (const [connector, settings, problem] of cases) {
      const error = assertThrows(() => connector.create({ ...settings }, testRuntime({ env: {} })), ConfigError);
      assertEquals(error.problems.map(({ path, message }) => `${path}: ${message}`), [problem]);
    }
  });
});
