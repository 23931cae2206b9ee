/** Records in Google Drive, against a simulator that verifies assertions and tokens. */
import { assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { driveStorage } from "../../../connectors/storage/drive.ts";
import type { Clock } from "../../../src/contracts/runtime.ts";
import type { Storage } from "../../../src/contracts/storage.ts";
import { ConfigError, ConnectorError } from "../../../src/errors.ts";
import { denoRuntime } from "../../../src/runtime/deno.ts";
import { fakeClock, testRuntime } from "../../../src/runtime/test.ts";
import { storageConformance } from "../../contracts/storage.ts";
import { type DriveServer, startDrive } from "../../support/drive_server.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
let prefixes = 0;

function storageOn(
  server: DriveServer,
  settings: Record<string, unknown> = {},
  clock: Clock = fakeClock({ skipSleeps: true }),
): Storage {
  return driveStorage.create({ endpoint: server.url, credentials: server.credentials, ...settings }, {
    ...denoRuntime(),
    clock,
  });
}

describe("the storage google.drive.v1", () => {
  let server: DriveServer;
  beforeAll(async () => {
    server = await startDrive();
  });
  afterAll(async () => await server[Symbol.asyncDispose]());
  const make = (clock: Clock) => storageOn(server, { prefix: `test-${prefixes++}` }, clock);
  for (const { name, run } of storageConformance(make)) it(name, run);
});

describe("who asks Google Drive", () => {
  it("may be a service account, its key as a string, too; a user's refresh token; a token", async () => {
    await using server = await startDrive();
    const ways = [
      { credentials: server.credentials },
      { credentials: JSON.stringify(server.credentials), folder: "folder-1" },
      { credentials: undefined, ...server.person },
    ];
    for (const way of ways) {
      const storage = storageOn(server, way);
      await storage.save("state", bytes("{}"));
      assertEquals(await storage.load("state"), bytes("{}"));
    }
    assertEquals(server.tokens, 3);
    assertEquals(server.files.map(({ name, parents }) => `${parents[0]} ${name}`), [
      "appDataFolder modelmesh.state",
      "folder-1 modelmesh.state",
    ]);
  });

  it("gets a new token a minute before the old one ends, once for all who wait", async () => {
    await using server = await startDrive();
    const clock = fakeClock({ skipSleeps: true });
    const storage = storageOn(server, {}, clock);
    await Promise.all([storage.load("a"), storage.load("b"), storage.load("c")]);
    await clock.advance(3_539_000);
    await storage.load("a");
    assertEquals(server.tokens, 1);
    await clock.advance(1000);
    await storage.load("a");
    assertEquals(server.tokens, 2);
  });

  it("gets an error that says what to do when refused, and nothing of the credentials", async () => {
    await using server = await startDrive();
    const other = await startDrive();
    await other[Symbol.asyncDispose]();
    const foreign = { ...server.credentials, private_key: other.credentials.private_key! };
    const cases: readonly (readonly [settings: object, words: RegExp])[] = [
      [{ credentials: foreign }, /did not receive an access token \(status 400\)\. Check storage\.credentials/],
      [{ credentials: undefined, ...server.person, client_secret: "wrong-secret" }, /did not receive an access token/],
      [{ credentials: undefined, access_token: "token-0123456789" }, /401, authError\)\. Check the credentials/],
      [{ folder: "nobodys" }, /404, notFound\)\. Check the credentials, storage\.folder/],
    ];
    for (const [settings, words] of cases) {
      const error = await assertRejects(
        () => storageOn(server, { ...settings }).save("state", bytes("")),
        ConnectorError,
      );
      assertMatch(error.message, words);
      assertEquals([error.problem, /PRIVATE|wrong-secret|token-0|gservice/.test(error.message)], ["forbidden", false]);
    }
  });

  it("gets an error when there is no room, or Drive is busy", async () => {
    await using server = await startDrive();
    const storage = storageOn(server);
    for (
      const [status, reason, problem] of [[403, "storageQuotaExceeded", "full"], [429, "rateLimitExceeded", undefined]]
    ) {
      server.refusal = { status: Number(status), reason: String(reason) };
      const error = await assertRejects(() => storage.load("state"), ConnectorError, String(reason));
      assertEquals(error.problem, problem as "full" | undefined);
    }
  });
});

describe("a record of Google Drive", () => {
  it("that two processes made at once is one again after the next save", async () => {
    await using server = await startDrive();
    const [one, other] = [storageOn(server), storageOn(server)];
    await Promise.all([one.save("state", bytes("1")), other.save("state", bytes("2"))]);
    assertEquals(server.files.length, 1);
    await one.save("state", bytes("3"));
    assertEquals([await other.load("state"), server.files.length], [bytes("3"), 1]);
  });

  it("is no other file of its folder", async () => {
    await using server = await startDrive();
    const storage = storageOn(server);
    const others = { parents: ["appDataFolder"], createdTime: 1, modifiedTime: "", bytes: bytes("x") };
    server.files.push({ ...others, id: "1", name: "holiday.jpg" }, { ...others, id: "2", name: "modelmesh.%zz" });
    await storage.save("state", bytes("{}"));
    assertEquals(await storage.list(), ["state"]);
  });
});

describe("the settings of google.drive.v1", () => {
  it("are refused by name when they do not fit", async () => {
    const wrong: readonly (readonly [settings: Record<string, unknown>, path: string])[] = [
      [{}, "storage.credentials"],
      [{ credentials: "no JSON" }, "storage.credentials"],
      [{ credentials: { client_email: "a" } }, 'storage.credentials: has no "private_key"'],
      [{ credentials: { client_email: "a", private_key: "b" } }, "not PKCS#8 in PEM"],
      [{ access_token: "a", folder: "it's mine" }, "storage.folder"],
      [{ access_token: "a", prefix: "a'b" }, "storage.prefix"],
      [{ access_token: 7 }, "storage.access_token"],
    ];
    for (const [settings, path] of wrong) {
      assertThrows(() => driveStorage.create(settings, testRuntime()), ConfigError, path);
    }
    const noKey = { client_email: "a", private_key: "-----BEGIN PRIVATE KEY-----\nYQ==\n-----END PRIVATE KEY-----" };
    const unusable = driveStorage.create({ credentials: noKey }, testRuntime());
    await assertRejects(() => unusable.load("state"), ConfigError, "its private_key is not an RSA key");
  });
});
