import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { connect } from "node:net";
import type { RequestHandler, RunningServer, TlsKeyPair } from "../../src/contracts/shell.ts";
import { MeshError } from "../../src/errors.ts";
import { listen } from "../../proxy.ts";
import { happens, patienceMs, until } from "../support/patience.ts";
import { keyPair, names, tlsClient, tlsText } from "../support/_tls.ts";

const pair = keyPair("server.pem", "server.key");
const other = keyPair("other.pem", "other.key");

function serveTls(handler: RequestHandler, tls: TlsKeyPair = pair): Promise<RunningServer> {
  return listen(handler, { port: 0, tls });
}

const damaged = `${pair.cert}-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n`;
const unusable: readonly [what: string, pair: TlsKeyPair, code: string, message: string][] = [
  ["an empty certificate", { ...pair, cert: "" }, "invalid_certificate", "has no certificate"],
  ["a certificate that is none", { ...pair, cert: "rubbish" }, "invalid_certificate", "has no certificate"],
  ["a key in place of a certificate", { ...pair, cert: pair.key }, "invalid_certificate", "has no certificate"],
  ["half a certificate", { ...pair, cert: pair.cert.slice(0, 200) }, "invalid_certificate", "has no certificate"],
  ["a damaged one in the chain", { ...pair, cert: damaged }, "invalid_certificate", "certificate 2 in it"],
  ["an expired one", keyPair("expired.pem", "other.key"), "invalid_certificate", "valid until Jan  1 00:00:00 2021"],
  ["one of the future", keyPair("future.pem", "other.key"), "invalid_certificate", "not valid yet"],
  ["an empty key", { ...pair, key: "" }, "invalid_key", "no private key"],
  ["a key that is none", { ...pair, key: "rubbish" }, "invalid_key", "no private key"],
  ["a key behind a passphrase", keyPair("other.pem", "locked.key"), "invalid_key", "without a passphrase"],
  ["the key of another certificate", { ...pair, key: other.key }, "invalid_key", "is not the key of the certificate"],
];

const ok: RequestHandler = () => Promise.resolve(new Response("ok"));

describe("A server with a certificate", () => {
  it("answers over TLS, through Node's server", async () => {
    const server = await serveTls(ok);
    const client = await tlsClient(server.port);
    assertEquals([client.name, await client.get(), server.listener], [names["server.pem"], 200, "node"]);
    client.socket.destroy();
    await server.stop(0);
  });

  it("takes another one while it runs: connections and streams that are open go on", async () => {
    let finish = () => {};
    const server = await serveTls((request) => {
      if (!request.url.endsWith("/stream")) return ok(request);
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          controller.enqueue(new TextEncoder().encode("data: 1\n\n"));
          finish = () => {
            controller.enqueue(new TextEncoder().encode("data: last\n\n"));
            controller.close();
          };
        },
      });
      return Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } }));
    });
    const [streaming, kept] = await Promise.all([tlsClient(server.port), tlsClient(server.port)]);
    assertEquals(await Promise.all([streaming.get("/stream"), kept.get()]), [200, 200]);
    server.renewTls!(other);
    const renewed = await tlsClient(server.port);
    assertEquals([renewed.name, await renewed.get(), await kept.get()], [names["other.pem"], 200, 200]);
    finish();
    await until(() => streaming.text.includes("data: last"));
    for (const { socket } of [streaming, kept, renewed]) socket.destroy();
    await server.stop(0);
  });

  for (const [what, tls, code, message] of unusable) {
    it(`does not start with ${what}, and keeps the old one when it comes later`, async () => {
      const error = await assertRejects(() => serveTls(ok, tls), MeshError);
      assertEquals(error.code, code);
      assertStringIncludes(error.message, message);
      const server = await serveTls(ok);
      assertThrows(() => server.renewTls!(tls), MeshError, message);
      const client = await tlsClient(server.port);
      assertEquals([client.name, await client.get()], [names["server.pem"], 200]);
      client.socket.destroy();
      await server.stop(0);
    });
  }

  it("starts with a chain, and with text around it", async () => {
    const server = await serveTls(ok, { ...pair, cert: `subject: x\n${pair.cert}\nissuer\n${tlsText("ca.pem")}` });
    const client = await tlsClient(server.port);
    assertEquals([client.name, await client.get()], [names["server.pem"], 200]);
    client.socket.destroy();
    await server.stop(0);
  });

  it("closes idle connections when it stops, and those that never began to encrypt; open answers finish", async () => {
    let [finish, arrive] = [() => {}, () => {}];
    const arrived = new Promise<void>((resolve) => arrive = resolve);
    const { port, stop } = await serveTls(() => {
      arrive();
      return new Promise((resolve) => finish = () => resolve(new Response("late")));
    });
    const silent = connect({ port, host: "127.0.0.1" });
    silent.on("error", () => {}).resume();
    const silentClosed = new Promise<void>((resolve) => silent.on("close", () => resolve()));
    const [idle, busy] = await Promise.all([tlsClient(port), tlsClient(port)]);
    const answered = busy.get();
    await arrived;
    const stopped = stop(10 * patienceMs);
    await happens("the idle connection closes", idle.closed);
    await happens("the silent connection closes", silentClosed);
    finish();
    assertEquals(await answered, 200);
    await happens("it stops with its last answer", stopped);
  });

  it("goes on when a client speaks no TLS", async () => {
    const server = await serveTls(ok);
    const plain = connect({ port: server.port, host: "127.0.0.1" });
    plain.on("error", () => {}).resume();
    const closed = new Promise<void>((resolve) => plain.on("close", () => resolve()));
    plain.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    await happens("it is turned away", closed);
    const client = await tlsClient(server.port);
    assertEquals(await client.get(), 200);
    client.socket.destroy();
    await server.stop(0);
  });
});
