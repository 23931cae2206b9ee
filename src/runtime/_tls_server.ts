/**
 * HTTPS servers over `node:https`, and validation of certificates and keys: runtimes accept some invalid ones, and then
 * fail with every client.
 * @module
 */
import type { RequestListener, ServerOptions } from "node:http";
import type { Server } from "node:https";
import type { TlsKeyPair } from "../contracts/shell.ts";
import { MeshError } from "../errors.ts";
import { builtin } from "./_node_builtin.ts";

/** Timeout of the TLS handshake, ms. */
const handshakeTimeoutMs = 15_000;

/** A server whose certificate can be renewed. */
export interface TlsServer {
  readonly server: Server;
  /** Sets the certificate for new connections. Throws like {@linkcode tlsServer}, and keeps the previous one. */
  readonly renewTls: (pair: TlsKeyPair) => void;
}

/**
 * Creates a server that does not listen yet.
 *
 * @throws {MeshError} `invalid_certificate` or `invalid_key`.
 */
export function tlsServer(options: ServerOptions, pair: TlsKeyPair, onRequest: RequestListener): TlsServer {
  const { createServer } = builtin("node:https");
  checkKeyPair(pair);
  const tls = { ...pair, handshakeTimeout: handshakeTimeoutMs, allowHalfOpen: true };
  const server = createServer({ ...options, ...tls }, onRequest);
  return {
    server,
    renewTls(next) {
      checkKeyPair(next);
      server.setSecureContext({ ...next });
    },
  };
}

/**
 * Checks a certificate and its key.
 *
 * @throws {MeshError} `invalid_certificate` or `invalid_key`.
 */
export function checkKeyPair({ cert, key }: TlsKeyPair): void {
  const [own] = parseCertificates(cert);
  const privateKey = parsePrivateKey(key);
  if (!own!.checkPrivateKey(privateKey)) {
    failCheck("invalid_key", "is not the key of the certificate (of its file's first)");
  }
  const now = Date.now();
  if (Date.parse(own!.validTo) <= now) {
    failCheck("invalid_certificate", `has expired: it was valid until ${own!.validTo}`);
  }
  if (Date.parse(own!.validFrom) > now) {
    failCheck(
      "invalid_certificate",
      `is not valid yet, but from ${own!.validFrom} on: check the clock of this machine`,
    );
  }
  try {
    builtin("node:tls").createSecureContext({ cert, key });
  } catch (cause) {
    failCheck(
      "invalid_certificate",
      "cannot be served: its key is too weak, or of a kind that this runtime lacks",
      cause,
    );
  }
}

function parseCertificates(text: string) {
  const { X509Certificate } = builtin("node:crypto");
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) failCheck("invalid_certificate", "has no certificate: PEM is expected");
  return blocks.map((block, index) => {
    try {
      return new X509Certificate(block);
    } catch (cause) {
      failCheck("invalid_certificate", `is damaged: certificate ${index + 1} in it cannot be read`, cause);
    }
  });
}

function parsePrivateKey(text: string) {
  try {
    return builtin("node:crypto").createPrivateKey(text);
  } catch (cause) {
    failCheck("invalid_key", "has no private key that can be read: PEM without a passphrase is expected", cause);
  }
}

function failCheck(code: "invalid_certificate" | "invalid_key", problem: string, cause?: unknown): never {
  const part = code === "invalid_key" ? "key" : "certificate";
  throw new MeshError(`The ${part} ${problem}`, { code, cause });
}
