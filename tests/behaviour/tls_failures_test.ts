/**
 * A provider whose TLS connection fails: operators read why, and what to do; clients read its host and the kind of the
 * failure.
 */
import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { createServer as createPlain } from "node:http";
import { type AddressInfo, createServer as createSocketServer, type Server } from "node:net";
import { createServer } from "node:tls";
import type { RoutingRecord, TraceEntry } from "../../mod.ts";
import { startTestProxy } from "../support/proxy.ts";
import { keyPair } from "../support/_tls.ts";

/** Starts a server of a test. */
async function listen(server: Server): Promise<AsyncDisposable & { readonly port: number }> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function secure(cert: string, key: string): Server {
  const server = createServer(keyPair(cert, key), (socket) => socket.on("error", () => {}).end());
  return server.on("tlsClientError", () => {});
}

/** A server that answers whatever comes with a text. */
function answering(text: string): Server {
  return createSocketServer((socket) => {
    socket.on("error", () => {}).once("data", () => socket.end(text));
  });
}

const nginx = "<center>The plain HTTP request was sent to HTTPS port</center>";

const causes: readonly [what: string, server: () => Server, scheme: string, kind: string, why: RegExp][] = [
  [
    "a certificate that is not trusted",
    () => secure("server.pem", "server.key"),
    "https",
    "network",
    /not trusted.+NODE_EXTRA_CA_CERTS.+execution\.ca/,
  ],
  ["an expired certificate", () => secure("expired.pem", "other.key"), "https", "network", /has expired/],
  ["a port without TLS", () => createPlain((_, response) => response.end()), "https", "network", /support TLS.+http:/],
  ["a port with TLS alone, by its alert", () => answering("\x15\x03\x03\0\x02\x02\x32"), "http", "network", /https:/],
  [
    "a port with TLS alone, by its words",
    () => answering(`HTTP/1.1 400 Bad Request\r\ncontent-length: ${nginx.length}\r\n\r\n${nginx}`),
    "http",
    "misconfigured",
    /TLS only.+https:/,
  ],
];

describe("A TLS connection to a provider", () => {
  for (const [what, server, scheme, kind, why] of causes) {
    for (const stream of [false, true]) {
      it(`fails at ${what}: log and record say why, the ${stream ? "stream" : "response"} host and kind`, async () => {
        await using provider = await listen(server());
        const host = `localhost:${provider.port}`;
        await using proxy = await startTestProxy({
          upstreams: { a: `${scheme}://${host}/v1` },
          pool: { retry: { max_attempts: 0 } },
        });
        const warnings: TraceEntry[] = [];
        proxy.mesh.addSink({
          name: "warnings",
          trace: (record: TraceEntry) => {
            if (record.component === "provider") warnings.push(record);
          },
        } as never);
        const response = await proxy.chat({ stream });
        const { error } = await response.json();
        assertEquals([response.status, warnings.length], [502, 1]);
        assertEquals(error.message.includes(`a (${kind}, ${host})`), true, error.message);
        assertMatch(warnings[0]!.message, why);
        assertEquals([warnings[0]!.host, warnings[0]!.kind], [host, kind]);
        const record = proxy.records.find((record): record is RoutingRecord => record.type === "routing")!;
        assertMatch(record.fallback_chain[0]!.error!, why);
      });
    }
  }
});
