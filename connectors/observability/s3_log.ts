/**
 * Writes records as compressed JSON lines to objects in S3, or in a compatible service.
 * @module
 */
import type { Connector, MeshParts } from "../../src/contracts/connector.ts";
import type { Observability } from "../../src/contracts/observability.ts";
import type { Clock, Runtime } from "../../src/contracts/runtime.ts";
import { concat } from "../../src/util/bytes.ts";
import { newId } from "../../src/util/request_id.ts";
import { stripTrailing } from "../../src/util/strip_trailing.ts";
import { withAuthorities } from "../_authorities.ts";
import { textSetting } from "../storage/_attributes.ts";
import { Bucket } from "../storage/_s3.ts";
import { readBucketOptions } from "../storage/_s3_options.ts";
import { type Attempt, BatchDelivery, createRecordSink } from "./_batch_delivery.ts";
import { compressLines } from "./_compress_lines.ts";
import { s3LogDeclaration } from "./declarations.ts";
import { toPortableJson } from "./_portable_json.ts";

const { id, attributes } = s3LogDeclaration;

/** The section of the configuration, for error messages. */
const section = "observability";

/** Timeout of an upload, ms. */
const uploadTimeoutMs = 60_000;

/** Writes one object per hour; its declaration documents the attributes. */
export const s3LogObservability: Connector<"observability"> = /* @__PURE__ */ Object.assign(
  { create: createS3LogSink },
  s3LogDeclaration,
);

function createS3LogSink(
  settings: Readonly<Record<string, unknown>>,
  runtime: Runtime,
  mesh?: MeshParts,
): Observability {
  const prefix = textSetting(settings, "prefix", section) ?? attributes.prefix.default;
  const { max_size = attributes.max_size.default, interval = attributes.interval.default } = settings;
  const { max_buffer = attributes.max_buffer.default } = settings;
  const options = readBucketOptions(settings, runtime, section);
  const bucket = new Bucket(id, withAuthorities(runtime, settings, section), options);
  const objects = new LogObjects(bucket, { prefix, maxBytes: max_size as number, clock: runtime.clock });
  const delivery = new BatchDelivery<HourLine>(runtime, {
    intervalMs: interval as number,
    maxBytes: max_buffer as number,
    batchBytes: max_size as number,
    measure: ({ line }) => line.length,
    deliver: (lines, attempt) => objects.append(lines, attempt),
    warn: mesh?.warn,
  });
  const put = (record: unknown) => {
    const hour = Math.floor(runtime.clock.now() / hourMs);
    delivery.add({ hour, line: `${toPortableJson(record)}\n` });
  };
  return createRecordSink(delivery, put);
}

const hourMs = 3_600_000;

/** A record as a line, and the hour in which it arrived, hours since the Unix epoch. */
interface HourLine {
  readonly hour: number;
  readonly line: string;
}

/** The object that lines are appended to. */
interface LogObject {
  readonly key: string;
  readonly hour: number;
  /** Size of its lines, bytes. */
  readonly size: number;
  /** Its content: members of gzip, one for each upload, which together are one file of gzip. */
  readonly content: Uint8Array;
}

/**
 * The objects `<prefix>YYYY/MM/DD/HH/<id of this sink>-<number>.jsonl.gz`. S3 cannot append to an object, so that each
 * upload replaces the object of the hour by a longer one.
 */
class LogObjects {
  readonly #bucket: Bucket;
  readonly #clock: Clock;
  readonly #prefix: string;
  readonly #maxBytes: number;
  readonly #writer = newId();
  #count = 0;
  #object: LogObject | undefined;

  /**
   * @param bucket The bucket.
   * @param options Prefix of keys, the size of the lines of an object, bytes, and the clock.
   */
  constructor(bucket: Bucket, { prefix, maxBytes, clock }: {
    readonly prefix: string;
    readonly maxBytes: number;
    readonly clock: Clock;
  }) {
    this.#bucket = bucket;
    this.#clock = clock;
    this.#prefix = prefix === "/" ? "" : `${stripTrailing(prefix, "/")}/`;
    this.#maxBytes = maxBytes;
  }

  /** Appends lines to the objects of their hours. Returns the number of lines that were lost. */
  async append(lines: readonly HourLine[], attempt: Attempt): Promise<number> {
    let lost = 0;
    for (let start = 0, end; start < lines.length; start = end) {
      const { hour } = lines[start]!;
      end = lines.findIndex((line, index) => index > start && line.hour !== hour);
      if (end < 0) end = lines.length;
      try {
        await this.#appendLines(lines.slice(start, end).map(({ line }) => line), hour, attempt);
      } catch {
        lost += end - start;
      }
    }
    return lost;
  }

  async #appendLines(lines: readonly string[], hour: number, attempt: Attempt): Promise<void> {
    const { bytes, size } = await compressLines(lines, this.#clock);
    const object = this.#findObject(hour, size);
    const content = concat([object.content, bytes]);
    await attempt(async (signal) => {
      const headers = { "content-type": "application/gzip" };
      const timeoutMs = uploadTimeoutMs;
      await this.#bucket.call({ method: "PUT", name: object.key, headers, body: content, timeoutMs, signal });
    });
    this.#object = { ...object, size: object.size + size, content };
  }

  /** The current object, or a new one if that is of another hour or has no space for this many bytes. */
  #findObject(hour: number, size: number): LogObject {
    const current = this.#object;
    if (current !== undefined && current.hour === hour && current.size + size <= this.#maxBytes) return current;
    this.#object = undefined;
    const [date, time] = new Date(hour * hourMs).toISOString().split("T") as [string, string];
    const folder = `${date.replaceAll("-", "/")}/${time.slice(0, 2)}`;
    const key = `${this.#prefix}${folder}/${this.#writer}-${++this.#count}.jsonl.gz`;
    return { key, hour, size: 0, content: new Uint8Array() };
  }
}
