/**
 * An issuer of JWTs on loopback: its configuration, its public keys, and tokens signed with Web Crypto.
 * @module
 */
import { Buffer } from "node:buffer";
import { type Behaviour, json, startUpstream, type Upstream } from "./upstream.ts";

type Parts = Readonly<Record<string, unknown>>;

const parameters = { name: "ECDSA", namedCurve: "P-256" } as const;

/** A key pair, and its public part as in a JWKS. */
export interface SigningPair {
  readonly pair: CryptoKeyPair;
  readonly jwk: Parts & { readonly kid: string };
}

/** Creates a pair for ES256. */
export async function createPair(kid: string): Promise<SigningPair> {
  const pair = await crypto.subtle.generateKey(parameters, true, ["sign", "verify"]);
  const jwk = await crypto.subtle.exportKey("jwk", pair.publicKey);
  return { pair, jwk: { ...jwk, kid, alg: "ES256", use: "sig" } };
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** Joins the parts of a token with any signature. */
export async function joinToken(
  header: Parts,
  claims: Parts,
  sign: (text: string) => Promise<ArrayBuffer | Uint8Array>,
): Promise<string> {
  const text = `${encode(header)}.${encode(claims)}`;
  return `${text}.${Buffer.from(await sign(text) as Uint8Array).toString("base64url")}`;
}

/** Signs a token with ES256. */
export function signToken({ pair, jwk: { kid } }: SigningPair, claims: Parts, header: Parts = {}): Promise<string> {
  const sign = (text: string) =>
    crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, pair.privateKey, new TextEncoder().encode(text));
  return joinToken({ alg: "ES256", kid, ...header }, claims, sign);
}

/** A running issuer. */
export interface Issuer extends AsyncDisposable {
  /** The value of `iss`. */
  readonly url: string;
  readonly server: Upstream;
  /** Its first key. */
  readonly key: SigningPair;
  /** Number of requests for keys. */
  readonly fetches: number;
  /** Changes what it answers to requests for keys. */
  respond(behaviour: Behaviour | readonly SigningPair[]): void;
  /** Signs a token for the audience `mesh`, valid for an hour from 2026-01-01 on. Undefined removes a claim. */
  token(claims?: Parts, key?: SigningPair): Promise<string>;
}

/** The time at which the fake clock starts, s. */
export const startS: number = Date.UTC(2026, 0, 1) / 1000;

/** Starts an issuer with one key. */
export async function startIssuer(): Promise<Issuer> {
  const key = await createPair("one");
  let keys: Behaviour = json({ keys: [key.jwk] });
  const server = await startUpstream(({ path }) =>
    path === "/keys" ? keys : json({ issuer: url, jwks_uri: `${url}/keys` })
  );
  const url = `http://127.0.0.1:${server.port}`;
  return {
    url,
    server,
    key,
    get fetches() {
      return server.requests.filter(({ path }) => path === "/keys").length;
    },
    respond(behaviour) {
      keys = Array.isArray(behaviour) ? json({ keys: behaviour.map(({ jwk }) => jwk) }) : behaviour as Behaviour;
    },
    token: (claims = {}, signer = key) =>
      signToken(signer, { iss: url, aud: "mesh", sub: "someone", exp: startS + 3600, ...claims }),
    [Symbol.asyncDispose]: () => server.close(),
  };
}
