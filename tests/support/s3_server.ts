/**
 * A server with the behaviour of S3: verifies signatures (AWS Signature Version 4) with an independent implementation,
 * honors conditional requests, paginates lists, and returns errors in XML.
 * @module
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";

/** Its access key. */
export const s3Key = { accessKeyId: "AKIDEXAMPLE0123456789", secretAccessKey: "secret/of+the=test0123456789" } as const;

/** Options of the server. */
export interface S3ServerOptions {
  /** Page size of lists. @default 3 */
  readonly pageSize?: number;
  /** Whether it ignores conditional requests, as some services do. */
  readonly ignoresConditions?: boolean;
  /** Answers in place of the server; undefined lets it answer. Called after the signature has been verified. */
  fault?: (() => Response | Promise<Response> | undefined) | undefined;
}

/** A running server. */
export interface S3Server extends AsyncDisposable {
  /** Its URL. */
  readonly url: string;
  /** `<method> <path>` of every call. */
  readonly calls: string[];
  /** Objects by `<bucket>/<name>`. */
  readonly objects: Map<string, { bytes: Uint8Array; meta: Record<string, string>; etag: string; at: Date }>;
}

const bucket = "state-bucket";
const region = "eu-central-1";

/** Settings of a storage for it. */
export const s3Place: { readonly bucket: string; readonly region: string } = { bucket, region };

class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Record<string, string>;

  constructor(status: number, code: string, headers: Record<string, string> = {}) {
    super(code);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

const sha256 = (data: Uint8Array | string) => createHash("sha256").update(data).digest("hex");
const hmac = (key: Uint8Array | string, data: string) => createHmac("sha256", key).update(data).digest();
const encode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (match) => `%${match.charCodeAt(0).toString(16).toUpperCase()}`);

/** Starts a server. */
export function startS3(options: S3ServerOptions = {}): S3Server {
  const objects: S3Server["objects"] = new Map();
  const calls: string[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    const body = await request.bytes();
    const url = new URL(request.url);
    calls.push(`${request.method} ${url.pathname}${url.search}`);
    try {
      checkSignature(request, url, body);
      const fault = options.fault?.();
      if (fault !== undefined) return await fault;
      return answer({ request, url, body, objects, options });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const xml =
        `<?xml version="1.0"?><Error><Code>${error.code}</Code><Message>${s3Key.accessKeyId}</Message></Error>`;
      const text = request.method === "HEAD" ? null : xml;
      return new Response(text, { status: error.status, headers: error.headers });
    }
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    calls,
    objects,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/**
 * Verifies a signature as in docs.aws.amazon.com, "Create a signed AWS API request", with S3's single encoding of the
 * path.
 */
function checkSignature({ method, headers }: Request, url: URL, body: Uint8Array): void {
  const pattern = /^AWS4-HMAC-SHA256 Credential=([^,]+), ?SignedHeaders=([^,]+), ?Signature=([\da-f]{64})$/;
  const [, credential = "", signedNames = "", signature = ""] = pattern.exec(headers.get("authorization") ?? "") ?? [];
  const [keyId, day = "", inRegion = "", service, end] = credential.split("/");
  if (keyId !== s3Key.accessKeyId) throw new Refusal(403, "InvalidAccessKeyId");
  if (service !== "s3" || end !== "aws4_request") throw new Refusal(400, "AuthorizationHeaderMalformed");
  if (inRegion !== region) {
    throw new Refusal(400, "AuthorizationHeaderMalformed", { "x-amz-bucket-region": region });
  }
  const hash = headers.get("x-amz-content-sha256");
  if (hash !== sha256(body)) throw new Refusal(400, "XAmzContentSHA256Mismatch");
  const names = signedNames.split(";");
  const needed = ["host", ...[...headers.keys()].filter((name) => name.startsWith("x-amz-"))];
  if (needed.some((name) => !names.includes(name))) throw new Refusal(403, "AccessDenied");
  const query = [...url.searchParams].map(([name, value]) => `${encode(name)}=${encode(value)}`).sort().join("&");
  const path = decodeURIComponent(url.pathname).split("/").map(encode).join("/");
  const lines = names.map((name) => `${name}:${name === "host" ? url.host : headers.get(name)?.trim()}\n`).join("");
  const canonical = [method, path, query, lines, signedNames, hash].join("\n");
  const date = headers.get("x-amz-date") ?? "";
  if (!/^\d{8}T\d{6}Z$/.test(date) || !date.startsWith(day)) throw new Refusal(403, "AccessDenied");
  const toSign = ["AWS4-HMAC-SHA256", date, `${day}/${region}/s3/aws4_request`, sha256(canonical)].join("\n");
  const key = [region, "s3", "aws4_request"].reduce(hmac, hmac(`AWS4${s3Key.secretAccessKey}`, day) as Uint8Array);
  const expected = hmac(key, toSign);
  if (!timingSafeEqual(expected, Uint8Array.from(signature.match(/../g) ?? [], (pair) => parseInt(pair, 16)))) {
    throw new Refusal(403, "SignatureDoesNotMatch");
  }
}

interface Call {
  readonly request: Request;
  readonly url: URL;
  readonly body: Uint8Array;
  readonly objects: S3Server["objects"];
  readonly options: S3ServerOptions;
}

function answer(call: Call): Response {
  const { request: { method }, url, objects } = call;
  const [, inBucket, ...names] = decodeURIComponent(url.pathname).split("/");
  if (inBucket !== bucket) throw new Refusal(404, "NoSuchBucket");
  const name = names.join("/");
  if (name === "") return list(call);
  if (new TextEncoder().encode(name).length > 1024) throw new Refusal(400, "KeyTooLongError");
  if (method === "PUT") return put(call, name);
  if (method === "DELETE") {
    objects.delete(name);
    return new Response(null, { status: 204 });
  }
  const found = objects.get(name);
  if (found === undefined) throw new Refusal(404, "NoSuchKey");
  const headers = {
    ...found.meta,
    etag: found.etag,
    "content-length": String(found.bytes.length),
    "last-modified": found.at.toUTCString(),
  };
  return new Response(method === "HEAD" ? null : found.bytes as BodyInit, { headers });
}

function put({ request: { headers }, body, objects, options }: Call, name: string): Response {
  const found = objects.get(name);
  const [fresh, same] = [headers.get("if-none-match"), headers.get("if-match")];
  if (!options.ignoresConditions) {
    if (fresh !== null && fresh !== "*") throw new Refusal(501, "NotImplemented");
    if (fresh === "*" && found !== undefined) throw new Refusal(412, "PreconditionFailed");
    if (same !== null && found === undefined) throw new Refusal(404, "NoSuchKey");
    if (same !== null && same !== found?.etag) throw new Refusal(412, "PreconditionFailed");
  }
  const meta = Object.fromEntries([...headers].filter(([header]) => header.startsWith("x-amz-meta-")));
  const etag = `"${createHash("md5").update(body).digest("hex")}"`;
  objects.set(name, { bytes: body, meta, etag, at: new Date() });
  return new Response(null, { headers: { etag } });
}

function list({ url: { searchParams }, objects, options: { pageSize = 3 } }: Call): Response {
  if (searchParams.get("list-type") !== "2") throw new Refusal(501, "NotImplemented");
  const after = atob(searchParams.get("continuation-token") ?? "");
  const names = [...objects.keys()].filter((name) => name.startsWith(searchParams.get("prefix") ?? "") && name > after);
  const page = names.sort().slice(0, pageSize);
  const escape = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const contents = page.map((name) => `<Contents><Key>${escape(name)}</Key><Size>0</Size></Contents>`).join("");
  const isCut = names.length > pageSize;
  const next = isCut ? `<NextContinuationToken>${btoa(page.at(-1)!)}</NextContinuationToken>` : "";
  return new Response(
    `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><IsTruncated>${isCut}</IsTruncated>${contents}${next}</ListBucketResult>`,
  );
}
