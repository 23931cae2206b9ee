/** Records in S3, against a simulator that checks signatures. */
import { assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { s3Storage } from "../../../connectors/storage/s3.ts";
import type { Clock } from "../../../src/contracts/runtime.ts";
import { ConfigError, ConnectorError } from "../../../src/errors.ts";
import { denoRuntime } from "../../../src/runtime/deno.ts";
import { fakeClock, testRuntime } from "../../../src/runtime/test.ts";
import { storageConformance } from "../../contracts/storage.ts";
import { s3Key, s3Place, type S3Server, startS3 } from "../../support/s3_server.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
let prefixes = 0;

function storageOn(
  url: string,
  settings: Record<string, unknown> = {},
  clock: Clock = fakeClock({ skipSleeps: true }),
) {
  const runtime = { ...denoRuntime(), clock, env: () => undefined };
  return s3Storage.create({
    ...s3Place,
    endpoint: url,
    access_key_id: s3Key.accessKeyId,
    secret_access_key: s3Key.secretAccessKey,
    ...settings,
  }, runtime);
}

describe("the storage aws.s3.v1", () => {
  let server: S3Server;
  beforeAll(() => {
    server = startS3();
  });
  afterAll(async () => await server[Symbol.asyncDispose]());
  const make = (clock: Clock) => storageOn(server.url, { prefix: `<&> ${prefixes++}/` }, clock);
  for (const { name, run } of storageConformance(make)) it(name, run);

  it("has its records under the prefix, and its locks in a folder there", async () => {
    const storage = storageOn(server.url, { prefix: "mine/" });
    await storage.save("state", bytes("{}"));
    await storage.save("logs/2026-01-01", bytes(""));
    await storage.acquire("state", { owner: "a", ttlMs: 1 });
    assertEquals([...server.objects.keys()].filter((name) => name.startsWith("mine/")).sort(), [
      "mine/locks/state",
      "mine/logs=2F2026-01-01",
      "mine/state",
    ]);
  });

  it("says what to do about keys, bucket and region, and quotes no key", async () => {
    const cases: readonly (readonly [settings: Record<string, string>, words: RegExp])[] = [
      [{ secret_access_key: "wrong/of+the=test0123456789" }, /403, SignatureDoesNotMatch\)\. Check the keys/],
      [{ access_key_id: "AKIDWRONG" }, /403, InvalidAccessKeyId\)\. Check the keys/],
      [{ bucket: "nobodys" }, /bucket "nobodys"/],
      [{ region: "us-west-2" }, /Set storage\.region to "eu-central-1"/],
    ];
    for (const [settings, words] of cases) {
      const storage = storageOn(server.url, settings);
      for (const use of [() => storage.load("state"), () => storage.save("state", bytes(""))]) {
        const error = await assertRejects(use, ConnectorError, '"aws.s3.v1"');
        assertMatch(error.message, words);
        assertEquals([error.problem, /AKID|of\+the/.test(error.message)], ["forbidden", false]);
      }
    }
  });

  it("finds out a service that overlooks conditions, before anybody relies on a lock", async () => {
    await using careless = startS3({ ignoresConditions: true });
    const storage = storageOn(careless.url);
    const asked = storage.acquire("state", { owner: "a", ttlMs: 1000 });
    const error = await assertRejects(() => asked, ConnectorError, 'ignores "If-None-Match"');
    assertEquals(error.problem, "forbidden");
  });

  it("that is away says so, without the address's path", async () => {
    const gone = startS3();
    await gone[Symbol.asyncDispose]();
    const error = await assertRejects(
      () => storageOn(gone.url).load("state"),
      ConnectorError,
      "cannot reach 127.0.0.1",
    );
    assertEquals(error.message.includes("state"), false);
  });
});

describe("the settings of aws.s3.v1", () => {
  it("are those of the environment unless given", async () => {
    await using server = startS3();
    const env: Record<string, string> = {
      AWS_ACCESS_KEY_ID: s3Key.accessKeyId,
      AWS_SECRET_ACCESS_KEY: s3Key.secretAccessKey,
      AWS_REGION: s3Place.region,
      AWS_ENDPOINT_URL_S3: server.url,
    };
    const storage = s3Storage.create({ bucket: s3Place.bucket }, { ...denoRuntime(), env: (name) => env[name] });
    await storage.save("state", bytes("{}"));
    assertEquals(await storage.load("state"), bytes("{}"));
    assertEquals([...server.objects.keys()], ["modelmesh/state"]);
  });

  it("are refused by name when they do not fit", () => {
    const whole = { ...s3Place, access_key_id: "a", secret_access_key: "b" };
    const wrong: readonly (readonly [settings: Record<string, unknown>, path: string])[] = [
      [{ ...whole, bucket: undefined }, "storage.bucket"],
      [{ ...whole, bucket: 7 }, "storage.bucket"],
      [{ ...whole, access_key_id: undefined }, "storage.access_key_id"],
      [{ ...whole, endpoint: "minio:9000" }, "storage.endpoint"],
      [{ ...whole, path_style: "yes" }, "storage.path_style"],
    ];
    for (const [settings, path] of wrong) {
      assertThrows(() => s3Storage.create(settings, testRuntime()), ConfigError, path);
    }
  });

  it("put the bucket into the host's name where the service has no address of its own", async () => {
    const runtime = testRuntime({ send: () => Promise.reject(new Error("seen")) });
    const storage = s3Storage.create({ ...s3Place, access_key_id: "a", secret_access_key: "b" }, runtime);
    await assertRejects(() => storage.load("state"), Error, "seen");
    assertEquals(runtime.requests[0]?.url, "https://state-bucket.s3.eu-central-1.amazonaws.com/modelmesh/state");
  });
});
