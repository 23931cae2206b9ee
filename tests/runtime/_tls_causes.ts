/**
 * Why a TLS connection to a provider fails, which every upstream client distinguishes.
 * @module
 */
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { createServer as createPlain } from "node:http";
import { type AddressInfo, createServer as createSilent, type Server } from "node:net";
import { createServer } from "node:tls";
import type { Runtime } from "../../src/contracts/runtime.ts";
import { NetworkError } from "../../src/errors.ts";
import { keyPair, tlsText } from "../support/_tls.ts";

/** A server, the certificate that its client trusts if any, and what the error says. */
interface Cause {
  readonly what: string;
  readonly server: () => Server;
  readonly trusts?: string;
  readonly message: RegExp;
}

function secure(cert: string, key: string): Server {
  const server = createServer(keyPair(cert, key), (socket) => socket.on("error", () => {}).end());
  return server.on("tlsClientError", () => {});
}

/** Answers whatever comes with these bytes. */
function answering(bytes: Uint8Array | undefined): Server {
  return createSilent((socket) => {
    socket.on("error", () => {}).once("data", () => bytes === undefined ? socket.destroy() : socket.end(bytes));
  });
}

const untrusted = /certificate is not trusted.+ NODE_EXTRA_CA_CERTS .+ providers\.<id>\.execution\.ca/;

const causes: readonly Cause[] = [
  { what: "an unknown authority", server: () => secure("server.pem", "server.key"), message: untrusted },
  { what: "a certificate of its own", server: () => secure("other.pem", "other.key"), message: untrusted },
  { what: "no authority", server: () => secure("misnamed.pem", "other.key"), message: untrusted },
  {
    what: "another name",
    server: () => secure("misnamed.pem", "other.key"),
    trusts: "misnamed.pem",
    message: /certificate is for another host name$/,
  },
  {
    what: "an expired certificate",
    server: () => secure("expired.pem", "other.key"),
    message: /certificate has expired$/,
  },
  {
    what: "a certificate of the future",
    server: () => secure("future.pem", "other.key"),
    message: /certificate is not valid yet; this machine's clock may be wrong$/,
  },
  {
    what: "no TLS",
    server: () => createPlain((_, response) => response.end("ok")),
    message: /the port does not support TLS\. Its URL may have to begin with http:\/\/$/,
  },
  { what: "no answer", server: () => answering(undefined), message: /the TLS handshake failed$/ },
];

async function withServer(server: Server, use: (port: number) => Promise<void>): Promise<void> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await use((server.address() as AddressInfo).port);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

/**
 * Describes the causes for an upstream client.
 *
 * @param name Whose it is.
 * @param isOwn Whether its connections are our own: `fetch` keeps a client open for each authority, and does not say
 *   what is not HTTP.
 */
export function describeTlsCauses(name: string, send: Runtime["send"], isOwn = true): void {
  const fail = (port: number, scheme: string, trusts?: string) => {
    const authorities = trusts === undefined ? undefined : { key: `of ${trusts}`, certificates: [tlsText(trusts)] };
    const url = `${scheme}://localhost:${port}/v1`;
    return assertRejects(() => send({ url, headers: { authorization: "key" }, body: "{}", authorities }), NetworkError);
  };

  describe(name, () => {
    for (const { what, server, trusts, message } of causes) {
      if (trusts !== undefined && !isOwn) continue;
      it(`explains a TLS handshake that fails at a server with ${what}`, async () => {
        await withServer(server(), async (port) => {
          const error = await fail(port, "https", trusts);
          assertMatch(error.message, message);
          assertEquals(error.neverSent, true);
        });
      });
    }

    if (!isOwn) return;
    it("explains plain HTTP at a port with TLS", async () => {
      const alert = new Uint8Array([0x15, 3, 3, 0, 2, 2, 0x32]);
      await withServer(answering(alert), async (port) => {
        const error = await fail(port, "http");
        assertMatch(error.message, /supports TLS only\. Its URL has to begin with https:\/\/$/);
      });
    });
  });
}
