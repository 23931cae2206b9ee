/**
 * Certificates, and clients over TLS that decide on every byte; for Deno and Node.
 * @module
 */
import { readFileSync } from "node:fs";
import { connect, type TLSSocket } from "node:tls";
import { fileURLToPath } from "node:url";
import type { TlsKeyPair } from "../../src/contracts/shell.ts";

const folder = new URL("../fixtures/tls/", import.meta.url);

/** The path of a file of `tests/fixtures/tls`. */
export function tlsFile(name: string): string {
  return fileURLToPath(new URL(name, folder));
}

/** A file of `tests/fixtures/tls`. */
export function tlsText(name: string): string {
  return readFileSync(tlsFile(name), "utf8");
}

/** A certificate and key of `tests/fixtures/tls`. */
export function keyPair(cert: string, key: string): TlsKeyPair {
  return { cert: tlsText(cert), key: tlsText(key) };
}

/** What a server of each fixture calls itself. */
export const names = { "server.pem": "provider.test", "other.pem": "other.test" } as const;

/** A connection over TLS that looks at no certificate: which one it was, a test asks itself. */
export interface TlsClient {
  readonly socket: TLSSocket;
  /** The name in the server's certificate. */
  readonly name: string;
  /** Resolves when the connection has closed. */
  readonly closed: Promise<void>;
  /** What the server has sent so far. */
  readonly text: string;
  /** Sends a GET, and resolves with the status of its answer. */
  get(path?: string): Promise<number>;
}

/** Connects, and resolves once both sides agree on encryption. */
export async function tlsClient(port: number): Promise<TlsClient> {
  const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false });
  let text = "";
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.once("secureConnect", () => resolve());
  });
  socket.on("error", () => {}); // how it ends is looked at by `closed`
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
        closed.then(() => reject(new Error(`The connection closed: ${JSON.stringify(text)}`)));
      });
      socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`);
      return headEnded;
    },
  };
}
