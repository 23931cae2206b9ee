/**
 * Certificates, and TLS clients with control of every byte; for Deno and Node.
 * @module
 */
import { readFileSync } from "node:fs";
import { connect, type TLSSocket } from "node:tls";
import { fileURLToPath } from "node:url";
import type { TlsKeyPair } from "../../src/contracts/shell.ts";

const folder = new URL("../fixtures/tls/", import.meta.url);

/** Returns the path of a file in `tests/fixtures/tls`. */
export function tlsFile(name: string): string {
  return fileURLToPath(new URL(name, folder));
}

/** Returns a file in `tests/fixtures/tls`. */
export function tlsText(name: string): string {
  return readFileSync(tlsFile(name), "utf8");
}

/** Returns a certificate and key in `tests/fixtures/tls`. */
export function keyPair(cert: string, key: string): TlsKeyPair {
  return { cert: tlsText(cert), key: tlsText(key) };
}

/** Host names of the fixtures' certificates. */
export const names = { "server.pem": "provider.test", "other.pem": "other.test" } as const;

/** A TLS connection that does not verify the certificate; tests check its name. */
export interface TlsClient {
  readonly socket: TLSSocket;
  /** Host name in the server's certificate. */
  readonly name: string;
  /** Resolves when the connection has closed. */
  readonly closed: Promise<void>;
  /** Data received so far. */
  readonly text: string;
  /** Sends a GET, and resolves with the status of the response. */
  get(path?: string): Promise<number>;
}

/** Connects, and resolves after the TLS handshake. */
export async function tlsClient(port: number): Promise<TlsClient> {
  const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false });
  let text = "";
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.once("secureConnect", () => resolve());
  });
  socket.on("error", () => {}); // `closed` reports the end
  socket.setEncoding("utf8").on("data", (data: string) => text += data);
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  return {
    socket,
    name: socket.getPeerCertificate().subject.CN as string,
    closed,
    get text() {
      return text;
    },
    get(path = "/") {
      const from = text.length;
      const headEnded = new Promise<number>((resolve, reject) => {
        const look = () => {
          if (text.indexOf("\r\n\r\n", from) >= 0) resolve(Number(text.slice(from).split(" ")[1]));
        };
        socket.on("data", look);
        closed.then(() => reject(new Error(`The connection closed: ${JSON.stringify(text)}`)), reject);
      });
      socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`);
      return headEnded;
    },
  };
}
