/** A Redis that requires TLS and a certificate of the client: alone, as a cluster, and as a sentinel names it. */
import { assertEquals, assertMatch } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { writeFileSync } from "node:fs";
import { openStorage, redisStorage } from "../../mod.ts";
import { makeFolder, type TestFolder } from "../support/_library.ts";
import { until } from "../support/patience.ts";
import { portForRestarts } from "../support/ports.ts";
import { hasRedis, TestRedis } from "../support/redis.ts";
import { tlsFile, tlsText } from "../support/_tls.ts";

const expiresAt = Date.now() + 1e7;
const own = { cert: tlsFile("other.pem"), key: tlsFile("other.key") };

let folder: TestFolder;
let redis: TestRedis;
let port: number;

/** Options of a server with TLS. Clients have a certificate that it knows. */
const withTls = (tlsPort: number) => {
  const clients = `${folder.path}/clients.pem`;
  writeFileSync(clients, tlsText("ca.pem") + tlsText("other.pem"));
  const files = ["--tls-cert-file", tlsFile("server.pem"), "--tls-key-file", tlsFile("server.key")];
  return ["--tls-port", String(tlsPort), "--tls-ca-cert-file", clients, ...files, "--tls-auth-clients", "yes"];
};

(hasRedis ? describe : describe.skip)("A Redis with TLS", () => {
  beforeAll(async () => {
    folder = await makeFolder();
    port = await portForRestarts();
    redis = await TestRedis.start(withTls(port));
  });
  afterAll(async () => {
    await redis[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  it("is reached with authorities of its own, and certificates as files or as PEM", async () => {
    const pem = { ca: tlsText("ca.pem"), cert: tlsText("other.pem"), key: tlsText("other.key") };
    for (
      const [address, tls] of [
        [{ url: `rediss://127.0.0.1:${port}` }, { ca: tlsFile("ca.pem"), ...own }],
        [{ host: "localhost", port }, { ...pem, servername: "provider.test" }],
      ] as const
    ) {
      const storage = redisStorage({ ...address, tls });
      assertEquals(await storage.shared!.add([{ key: "sum", by: 0, expiresAt }]), [0]);
      await storage.close!();
    }
  });

  const refused: Readonly<Record<string, readonly [tls: Readonly<Record<string, string>>, named: RegExp]>> = {
    "authorities that are others": [{ ca: tlsFile("other_ca.pem"), ...own }, /its certificate is not accepted/],
    "another server name": [
      { ca: tlsFile("ca.pem"), ...own, servername: "other.test" },
      /its certificate is not accepted/,
    ],
    "a file that is missing": [
      { ca: "/nowhere/ca.pem" },
      /storage\.tls\.ca: the file "\/nowhere\/ca.pem" cannot be read/,
    ],
    "a file without PEM": [
      { ca: tlsFile("README.md") },
      /storage\.tls\.ca: the file ".*README.md" holds nothing in PEM/,
    ],
  };
  for (const [cause, [tls, named]] of Object.entries(refused)) {
    it(`is not reached with ${cause}, which is named`, async () => {
      const storage = redisStorage({ host: "localhost", port, tls });
      const error = await storage.load("record").then(() => undefined, (error) => error);
      await storage.close!();
      assertMatch(String(error?.message), named);
    });
  }

  it("is reached as a cluster, and by the address that a sentinel names", async () => {
    const [tlsPort, bus] = [await portForRestarts(), await portForRestarts()];
    const options = [
      "--dir",
      folder.path,
      "--cluster-enabled",
      "yes",
      "--cluster-port",
      String(bus),
      "--tls-cluster",
      "yes",
    ];
    await using node = await TestRedis.start([...withTls(tlsPort), ...options]);
    await node.command("CLUSTER ADDSLOTSRANGE 0 16383");
    await until(async () => (await node.command("CLUSTER INFO")).includes("cluster_state:ok"));
    writeFileSync(`${folder.path}/sentinel.conf`, `sentinel monitor state 127.0.0.1 ${port} 1\n`);
    await using sentinel = await TestRedis.start([`${folder.path}/sentinel.conf`, "--sentinel"]);
    const tls = { ca: tlsFile("ca.pem"), ...own };
    for (
      const servers of [
        { cluster: [`rediss://127.0.0.1:${tlsPort}`] },
        { cluster: [`127.0.0.1:${tlsPort}`], read_from: "replica" },
        { sentinel: { master: "state", nodes: [sentinel.url] } },
      ]
    ) {
      const storage = await openStorage({ connector: "redis.redis.v1", ...servers, tls });
      assertEquals(await storage.shared!.add([{ key: "sum", by: 0, expiresAt }]), [0]);
      assertEquals(await storage.exists("record"), false);
      await storage.close!();
    }
  });
});
