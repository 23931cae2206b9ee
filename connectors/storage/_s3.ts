/**
 * What S3 and what behaves like it understand: signed calls on the objects of one bucket.
 * @module
 */
import { ConnectorError } from "../../src/errors.ts";
import { callRemote, type RemoteAnswer, type RemoteRuntime } from "./_remote.ts";

/** Where objects are, and who asks for them. */
export interface BucketOptions {
  /** The bucket's name. */
  readonly bucket: string;
  /** Its region. */
  readonly region: string;
  /** The service's address, without a bucket. */
  readonly endpoint: string;
  /** Whether the bucket stands in the path, and not in the host's name. */
  readonly isPathStyle: boolean;
  /** The key's id. */
  readonly accessKeyId: string;
  /** The key. */
  readonly secretAccessKey: string;
  /** Of a key for a time. */
  readonly sessionToken?: string | undefined;
}

/** One call. */
export interface BucketCall {
  readonly method: "GET" | "PUT" | "HEAD" | "DELETE";
  /** The object's name; the bucket itself without one. */
  readonly name?: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Statuses that are answers, beside 200 and 204. */
  readonly accepts?: readonly number[];
}

/** The one class that is used of `aws4fetch`. */
interface Signers {
  readonly AwsV4Signer: new (options: Record<string, unknown>) => { sign(): Promise<{ url: URL; headers: Headers }> };
}

/** Loads what signs. */
export type LoadSigner = () => Promise<Signers>;

// deno-lint-ignore no-import-prefix -- see CONTRIBUTING: there is no npm package in the import map
const loadAws4fetch: LoadSigner = () => import("npm:aws4fetch@1.0.20").catch(rethrow) as unknown as Promise<Signers>;

/** Bundlers let a package that is missing pass where the failure is caught. */
function rethrow(error: unknown): never {
  throw error;
}

/**
 * Loads what signs.
 *
 * @param id The connector's, for errors.
 * @param load Loads it, for tests.
 * @throws {ConnectorError} When it is not installed.
 */
export async function loadSigners(id: string, load: LoadSigner = loadAws4fetch): Promise<Signers> {
  try {
    return await load();
  } catch (cause) {
    const hint =
      'the package "aws4fetch", which signs its calls, is not installed: add it with "npm install aws4fetch"';
    throw new ConnectorError(`"${id}" cannot be used: ${hint}`, cause);
  }
}

/** The objects of a bucket. */
export class Bucket {
  readonly #id: string;
  readonly #runtime: RemoteRuntime;
  readonly #options: BucketOptions;
  readonly #load: LoadSigner;

  /**
   * @param id The connector's, for errors.
   * @param runtime Clock and HTTP.
   * @param options Where, and who.
   * @param load Loads what signs.
   */
  constructor(id: string, runtime: RemoteRuntime, options: BucketOptions, load: LoadSigner = loadAws4fetch) {
    this.#id = id;
    this.#runtime = runtime;
    this.#options = options;
    this.#load = load;
  }

  /**
   * Makes a call.
   *
   * @throws {ConnectorError} When it is refused, or there is no answer.
   */
  async call({ method, name = "", query = {}, headers = {}, body, accepts = [] }: BucketCall): Promise<RemoteAnswer> {
    const url = this.#urlOf(name);
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
    const signed = await this.#sign(method, url, {
      ...headers,
      "x-amz-content-sha256": await sha256Of(body ?? new Uint8Array()),
    });
    const answer = await callRemote(this.#id, this.#runtime, { method, url: url.href, headers: signed, body });
    if (answer.status === 200 || answer.status === 204 || accepts.includes(answer.status)) return answer;
    throw this.#refusal(method, answer);
  }

  #urlOf(name: string): URL {
    const { endpoint, bucket, isPathStyle } = this.#options;
    const url = new URL(endpoint);
    const folder = url.pathname.replace(/\/$/, "");
    if (!isPathStyle) url.hostname = `${bucket}.${url.hostname}`;
    url.pathname = [folder, ...(isPathStyle ? [bucket] : []), ...(name === "" ? [] : [name])].join("/") || "/";
    return url;
  }

  async #sign(method: string, url: URL, headers: Record<string, string>): Promise<Record<string, string>> {
    const { region, accessKeyId, secretAccessKey, sessionToken } = this.#options;
    const datetime = new Date(this.#runtime.clock.now()).toISOString().replace(/[:-]|\.\d{3}/g, "");
    const { AwsV4Signer } = await loadSigners(this.#id, this.#load);
    const signer = new AwsV4Signer({
      ...{ method, url: url.href, headers, service: "s3", region, datetime },
      ...{ accessKeyId, secretAccessKey, sessionToken },
    });
    const signed = await signer.sign();
    return Object.fromEntries([...signed.headers].map(([name, value]) => [name.toLowerCase(), value]));
  }

  /** The service's own text may quote the key's id: its code alone is passed on. */
  #refusal(method: string, { status, headers, bytes }: RemoteAnswer): ConnectorError {
    const { bucket, region } = this.#options;
    const code = /<Code>([A-Za-z]{1,60})<\/Code>/.exec(new TextDecoder().decode(bytes))?.[1];
    const reported = code === undefined ? `status ${status}` : `status ${status}, ${code}`;
    const elsewhere = headers.get("x-amz-bucket-region");
    const advice = status === 403
      ? "Check the keys, and that they may get, put, list and delete objects of this bucket"
      : status === 404
      ? "Check the bucket's name and the endpoint"
      : elsewhere !== null && elsewhere !== region
      ? `Set storage.region to "${elsewhere}"`
      : "Try again later";
    const isForGood = status === 403 || status === 404 || elsewhere !== null;
    return new ConnectorError(
      `"${this.#id}" was refused by the bucket "${bucket}" (${method}: ${reported}). ${advice}`,
      undefined,
      isForGood ? "forbidden" : undefined,
    );
  }
}

async function sha256Of(bytes: Uint8Array): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes as BufferSource));
  return [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
