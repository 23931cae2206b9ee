/**
 * AWS Signature Version 4, which authenticates requests to AWS and to compatible services.
 *
 * Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html, read 2026-11-22.
 * @module
 */

/** AWS credentials. */
export interface AwsKeys {
  /** Access key id. */
  readonly accessKeyId: string;
  /** Secret access key. */
  readonly secretAccessKey: string;
  /** Session token of temporary credentials. */
  readonly sessionToken?: string | undefined;
}

/** A request to sign. */
export interface UnsignedCall {
  /** HTTP method. */
  readonly method: string;
  /** Absolute URL; path and query are percent-encoded. */
  readonly url: string;
  /** Headers; all of them are signed. Names in lower case; `host` is added. */
  readonly headers: Readonly<Record<string, string>>;
  /** The complete request body. */
  readonly body?: string | Uint8Array | undefined;
}

/** Parameters of a signature. */
interface SigningFacts {
  /** The credentials to sign with. */
  readonly keys: AwsKeys;
  /** AWS region, such as `eu-central-1`. */
  readonly region: string;
  /** Service name in the credential scope, such as `s3`. */
  readonly service: string;
  /** Wall-clock time, ms since the Unix epoch. */
  readonly now: number;
  /** Whether the path is signed as sent. True for S3; other services sign the path encoded once more. */
  readonly signsPathAsSent?: boolean;
}

const algorithm = "AWS4-HMAC-SHA256";
const encoder = /* @__PURE__ */ new TextEncoder();

/**
 * Signs a request.
 *
 * @param call The request; not modified.
 * @param facts Credentials, scope and time.
 * @returns The headers, including the signature.
 *
 * @example
 * ```ts
 * const call = { method: "GET", url: "https://example.amazonaws.com/", headers: {} };
 * const keys = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "the-secret-key" };
 * const headers = await signRequest(call, { keys, region: "us-east-1", service: "service", now: Date.now() });
 * ```
 */
export async function signRequest(call: UnsignedCall, facts: SigningFacts): Promise<Record<string, string>> {
  const { keys, region, service } = facts;
  const url = new URL(call.url);
  const time = new Date(facts.now).toISOString().replace(/[:-]|\.\d{3}/g, "");
  const scope = `${time.slice(0, 8)}/${region}/${service}/aws4_request`;
  const headers: Record<string, string> = {
    ...call.headers,
    "x-amz-date": time,
    ...(keys.sessionToken === undefined ? {} : { "x-amz-security-token": keys.sessionToken }),
  };
  const names = [...Object.keys(headers), "host"].sort();
  const valueOf = (name: string) => name === "host" ? url.host : headers[name]!;
  const canonical = [
    call.method,
    canonicalPath(url, facts),
    canonicalQuery(url),
    ...names.map((name) => `${name}:${valueOf(name).trim().replace(/\s+/g, " ")}`),
    "",
    names.join(";"),
    headers["x-amz-content-sha256"] ?? await hashHex(call.body ?? ""),
  ].join("\n");
  const text = [algorithm, time, scope, await hashHex(canonical)].join("\n");
  const signature = hex(await hmac(await deriveSigningKey(keys.secretAccessKey, scope), text));
  const credential = `Credential=${keys.accessKeyId}/${scope}`;
  return {
    ...headers,
    authorization: `${algorithm} ${credential}, SignedHeaders=${names.join(";")}, Signature=${signature}`,
  };
}

/**
 * SHA-256 in hexadecimal.
 *
 * @param data Bytes, or a string encoded as UTF-8.
 */
export async function hashHex(data: string | Uint8Array): Promise<string> {
  const bytes = typeof data === "string" ? encoder.encode(data) : data;
  return hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes as BufferSource)));
}

/** Derives the signing key of a date, region and service from the secret access key. */
async function deriveSigningKey(secret: string, scope: string): Promise<Uint8Array> {
  let key = encoder.encode(`AWS4${secret}`);
  for (const part of scope.split("/")) key = await hmac(key, part);
  return key;
}

async function hmac(key: Uint8Array, text: string): Promise<Uint8Array<ArrayBuffer>> {
  const signingKey = await crypto.subtle.importKey(
    "raw",
    key as BufferSource,
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign"],
  );
  return new Uint8Array(await crypto.subtle.sign("HMAC", signingKey, encoder.encode(text)));
}

function canonicalPath({ pathname }: URL, { signsPathAsSent = false }: SigningFacts): string {
  const sent = pathname.split("/").map((part) => encodeStrictly(decodePath(part)));
  return (signsPathAsSent ? sent : sent.map(encodeStrictly)).join("/");
}

function canonicalQuery({ searchParams }: URL): string {
  const pairs = [...searchParams].map(([name, value]) => [encodeStrictly(name), encodeStrictly(value)] as const);
  pairs.sort(([first, oneValue], [other, otherValue]) => order(first, other) || order(oneValue, otherValue));
  return pairs.map((pair) => pair.join("=")).join("&");
}

function order(first: string, second: string): number {
  return first < second ? -1 : first > second ? 1 : 0;
}

/** Text that is not valid percent-encoding is returned unchanged. */
function decodePath(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Percent-encodes all but the unreserved characters of RFC 3986. */
function encodeStrictly(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function hex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
