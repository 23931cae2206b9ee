/**
 * Client for S3 and compatible services: signed requests for the objects of one bucket.
 * @module
 */
import { ConnectorError } from "../../src/errors.ts";
import { IssuerError } from "../../src/util/call_issuer.ts";
import { type AwsKeys, hashHex, signRequest } from "../_aws_signature.ts";
import { type AwsKeySource, callWithKeys, expiredCodes } from "../clouds/aws.ts";
import { callRemote, type RemoteResponse, type RemoteRuntime } from "./_remote.ts";

/** Options of a bucket: address and credentials. */
export interface BucketOptions {
  readonly keys: AwsKeySource;
  /** The section of the configuration, for error messages. */
  readonly section: string;
  readonly bucket: string;
  readonly region: string;
  /** Base URL of the service, without the bucket. */
  readonly endpoint: string;
  /** Whether the bucket is part of the path rather than of the host name. */
  readonly isPathStyle: boolean;
}

/** The objects of a bucket. */
export class Bucket {
  readonly #id: string;
  readonly #runtime: RemoteRuntime;
  readonly #options: BucketOptions;

  /**
   * @param id The connector id, for error messages.
   * @param runtime Clock and HTTP.
   * @param options Address and credentials.
   */
  constructor(id: string, runtime: RemoteRuntime, options: BucketOptions) {
    this.#id = id;
    this.#runtime = runtime;
    this.#options = options;
  }

  /**
   * Sends a request.
   *
   * @throws {ConnectorError} If it is rejected, or the connection fails.
   */
  async call(call: {
    readonly method: "GET" | "PUT" | "HEAD" | "DELETE";
    /** Name of the object; the bucket itself when omitted. */
    readonly name?: string;
    readonly query?: Readonly<Record<string, string>>;
    /** Headers; names in lower case. */
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: Uint8Array;
    /** Timeout of the complete response, ms. */
    readonly timeoutMs?: number;
    /** Aborts the request. */
    readonly signal?: AbortSignal;
    /** Accepted statuses in addition to 200 and 204. */
    readonly accepts?: readonly number[];
  }): Promise<RemoteResponse> {
    const { method, name = "", query = {}, headers = {}, body, accepts = [], timeoutMs, signal } = call;
    const url = this.#toUrl(name);
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
    const hash = await hashHex(body ?? "");
    const unsigned = { method, url: url.href, headers: { ...headers, "x-amz-content-sha256": hash } };
    const { region, keys: source } = this.#options;
    const perform = async (keys: AwsKeys) => {
      const facts = { keys, region, service: "s3", now: this.#runtime.clock.now(), signsPathAsSent: true };
      const signed = { ...unsigned, headers: await signRequest(unsigned, facts) };
      return await callRemote(this.#id, this.#runtime, { ...signed, body, timeoutMs, signal });
    };
    const isExpired = (response: RemoteResponse) => expiredCodes.test(findCode(response) ?? "");
    const response = await callWithKeys(source, perform, { isExpired, wait: { signal } })
      .catch((error) => this.#failWithoutKeys(error));
    if (response.status === 200 || response.status === 204 || accepts.includes(response.status)) return response;
    throw this.#refusal(method, response);
  }

  #toUrl(name: string): URL {
    const { endpoint, bucket, isPathStyle } = this.#options;
    const url = new URL(endpoint);
    const folder = url.pathname.replace(/\/$/, "");
    if (!isPathStyle) url.hostname = `${bucket}.${url.hostname}`;
    url.pathname = [folder, ...(isPathStyle ? [bucket] : []), ...(name === "" ? [] : [name])].join("/") || "/";
    return url;
  }

  #failWithoutKeys(error: unknown): never {
    if (!(error instanceof IssuerError)) throw error;
    const message = `"${this.#id}" has no credentials for the bucket "${this.#options.bucket}": ${error.message}`;
    throw new ConnectorError(message, error, error.kind === "auth" ? "forbidden" : undefined);
  }

  /** Only the error code is exposed, since the service's message may quote the access key id. */
  #refusal(method: string, response: RemoteResponse): ConnectorError {
    const { status, headers } = response;
    const { bucket, region, section } = this.#options;
    const code = findCode(response);
    const detail = code === undefined ? `status ${status}` : `status ${status}, ${code}`;
    const elsewhere = headers.get("x-amz-bucket-region");
    const advice = status === 403
      ? "Check the keys and their permissions for the objects of this bucket"
      : status === 404
      ? "Check the bucket's name and the endpoint"
      : elsewhere !== null && elsewhere !== region
      ? `Set ${section}.region to "${elsewhere}"`
      : "Try again later";
    const isForGood = status === 403 || status === 404 || elsewhere !== null;
    return new ConnectorError(
      `"${this.#id}" was denied access to the bucket "${bucket}" (${method}: ${detail}). ${advice}`,
      undefined,
      isForGood ? "forbidden" : undefined,
    );
  }
}

function findCode({ status, bytes }: RemoteResponse): string | undefined {
  if (status < 400) return undefined;
  return /<Code>([A-Za-z]{1,60})<\/Code>/.exec(new TextDecoder().decode(bytes))?.[1];
}
