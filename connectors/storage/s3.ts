/**
 * Records as objects in S3, or in a compatible service.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { Lock, LockOptions, Storage, StorageStat } from "../../src/contracts/storage.ts";
import { ConnectorError } from "../../src/errors.ts";
import { withAuthorities } from "../_authorities.ts";
import { getPrefix, textSetting } from "./_attributes.ts";
import { keyOfName, nameOfKey } from "./_keys.ts";
import { acquireLock, isHeld, isHeldByOther, type LockRecord } from "./_lock.ts";
import { KeyedQueue } from "./_queue.ts";
import type { RemoteRuntime } from "./_remote.ts";
import { Bucket, type BucketOptions } from "./_s3.ts";
import { readBucketOptions } from "./_s3_options.ts";
import { s3Declaration } from "./declarations.ts";

const { id, attributes } = s3Declaration;

/** Metadata header with the time of the last save. */
const savedAt = "x-amz-meta-saved-at";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Statuses of a failed condition: the object was changed, or is being written. */
const conditionFailed = [412, 409, 404];

/** Options of an {@linkcode S3Storage}. */
export interface S3Options extends BucketOptions {
  /** Prefix of the object keys. */
  readonly prefix: string;
}

/** The object of a lock. */
interface LockObject {
  readonly record: unknown;
  /** ETag of the object; undefined if it does not exist. */
  readonly etag: string | null | undefined;
}

/**
 * Records as objects. Locks are objects with conditional writes (`If-None-Match`, `If-Match`), of which only one
 * succeeds. A service that ignores conditions is detected when the first lock is acquired.
 */
export class S3Storage implements Storage {
  readonly #clock: RemoteRuntime["clock"];
  readonly #bucket: Bucket;
  readonly #prefix: string;
  readonly #name: string;
  readonly #queue = new KeyedQueue();
  #honorsConditions = false;

  /**
   * Creates a storage; sends no request yet.
   *
   * @param runtime Clock and HTTP.
   * @param options Address, credentials and prefix.
   */
  constructor(runtime: RemoteRuntime, options: S3Options) {
    this.#clock = runtime.clock;
    this.#bucket = new Bucket(id, runtime, options);
    this.#prefix = options.prefix;
    this.#name = options.bucket;
  }

  async load(key: string): Promise<Uint8Array | undefined> {
    const { status, headers, bytes } = await this.#bucket.call({
      method: "GET",
      name: this.#toObjectName(key),
      accepts: [404],
    });
    if (status !== 404) return bytes;
    if (headers.get("x-amz-error-code") === "NoSuchBucket" || decoder.decode(bytes).includes("NoSuchBucket")) {
      throw this.#noBucket();
    }
    return undefined;
  }

  save(key: string, data: Uint8Array): Promise<void> {
    const body = data.slice();
    return this.#queue.run(key, async () => {
      const headers = { "content-type": "application/octet-stream", [savedAt]: String(this.#clock.now()) };
      await this.#bucket.call({ method: "PUT", name: this.#toObjectName(key), headers, body });
    });
  }

  async list(prefix = ""): Promise<readonly string[]> {
    const keys: string[] = [];
    for (let page: string | undefined = ""; page !== undefined;) {
      const query = {
        "list-type": "2",
        prefix: this.#prefix + objectName(prefix),
        ...(page === "" ? {} : { "continuation-token": page }),
      };
      const { bytes } = await this.#bucket.call({ method: "GET", query });
      const xml = decoder.decode(bytes);
      for (const [, text = ""] of xml.matchAll(/<Key>([^<]*)<\/Key>/g)) {
        const key = keyOfObject(unquote(text).slice(this.#prefix.length));
        if (key?.startsWith(prefix)) keys.push(key);
      }
      const next = /<NextContinuationToken>([^<]+)<\/NextContinuationToken>/.exec(xml)?.[1];
      page = next === undefined ? undefined : unquote(next);
    }
    return keys.sort();
  }

  delete(key: string): Promise<boolean> {
    return this.#queue.run(key, async () => {
      if (!await this.exists(key)) return false;
      await this.#bucket.call({ method: "DELETE", name: this.#toObjectName(key) });
      return true;
    });
  }

  async stat(key: string): Promise<StorageStat | undefined> {
    const { status, headers } = await this.#bucket.call({
      method: "HEAD",
      name: this.#toObjectName(key),
      accepts: [404],
    });
    if (status === 404) return undefined;
    const saved = headers.get(savedAt) ?? Date.parse(headers.get("last-modified") ?? "");
    return { size: Number(headers.get("content-length")), modifiedAt: Number(saved) || 0 };
  }

  async exists(key: string): Promise<boolean> {
    return await this.stat(key) !== undefined;
  }

  acquire(key: string, options: LockOptions): Promise<Lock> {
    return acquireLock({ connector: id, clock: this.#clock, key, options }, async (wanted) => {
      const { record, etag } = await this.#lock(key);
      if (isHeldByOther(record, wanted.owner, this.#clock.now())) return false;
      if (!await this.#writeLock(key, wanted, etag)) return false;
      if (!this.#honorsConditions && await this.#writeLock(key, wanted, undefined)) throw this.#noConditions();
      this.#honorsConditions = true;
      return true;
    });
  }

  async release({ key, owner }: Lock): Promise<void> {
    const { record, etag } = await this.#lock(key);
    if (Object(record).owner === owner) await this.#writeLock(key, { owner: "", expiresAt: 0 }, etag);
  }

  async isLocked(key: string): Promise<boolean> {
    return isHeld((await this.#lock(key)).record, this.#clock.now());
  }

  async #lock(key: string): Promise<LockObject> {
    const name = this.#lockName(key);
    const { status, headers, bytes } = await this.#bucket.call({ method: "GET", name, accepts: [404] });
    if (status === 404) return { record: undefined, etag: undefined };
    try {
      return { record: JSON.parse(decoder.decode(bytes)), etag: headers.get("etag") };
    } catch {
      return { record: undefined, etag: headers.get("etag") }; // a lock that cannot be parsed does not block
    }
  }

  /** Writes a lock conditionally; false if the object was changed meanwhile. */
  async #writeLock(key: string, record: LockRecord, etag: LockObject["etag"]): Promise<boolean> {
    const headers: Record<string, string> = etag === undefined ? { "if-none-match": "*" } : { "if-match": etag ?? "" };
    const body = encoder.encode(JSON.stringify(record));
    const name = this.#lockName(key);
    const { status } = await this.#bucket.call({ method: "PUT", name, headers, body, accepts: conditionFailed });
    return status === 200;
  }

  #toObjectName(key: string): string {
    return this.#prefix + (objectName(key) || "=");
  }

  #lockName(key: string): string {
    return `${this.#prefix}locks/${objectName(key) || "="}`;
  }

  #noBucket(): ConnectorError {
    const message = `"${id}" cannot be used: there is no bucket "${this.#name}". Create it, or use another one`;
    return new ConnectorError(message, undefined, "forbidden");
  }

  #noConditions(): ConnectorError {
    return new ConnectorError(
      `"${id}" cannot lock: this service ignores "If-None-Match", so that two processes could both have a lock. Use ` +
        "another storage for several processes, or set storage.locking.enabled to false for a single one",
      undefined,
      "forbidden",
    );
  }
}

/** Uses `=` in place of `%`, which URLs would have to encode again. */
function objectName(key: string): string {
  return nameOfKey(key).replaceAll("%", "=");
}

function keyOfObject(name: string): string | undefined {
  if (name.includes("/")) return undefined;
  return name === "=" ? "" : keyOfName(name.replaceAll("=", "%"));
}

/** Unescapes XML text. */
function unquote(text: string): string {
  const marks: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };
  return text.replace(/&(lt|gt|quot|apos|amp);/g, (_, mark: string) => marks[mark]!);
}

/**
 * Storage in S3; its declaration documents the settings.
 */
export const s3Storage: Connector<"storage"> = {
  ...s3Declaration,
  create: (settings, runtime) => {
    const prefix = textSetting({ prefix: getPrefix(settings) }, "prefix") ?? attributes.prefix.default;
    const options = { ...readBucketOptions(settings, runtime), prefix };
    return new S3Storage(withAuthorities(runtime, settings, "storage"), options);
  },
};
