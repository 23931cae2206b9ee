/**
 * A response whose head has been received.
 * @module
 */
import type { BodyReader, UpstreamResponse } from "../../contracts/runtime.ts";
import { NetworkError } from "../../errors.ts";
import { concat } from "../../util/bytes.ts";
import { toReadableStream } from "../_readable_stream.ts";
import type { Body } from "./body.ts";
import type { Fields, ResponseHead } from "./response_head.ts";

/** Content codings that are decoded when a server uses them unrequested; others are passed on unchanged. */
const compressions: ReadonlyMap<string, string> = new Map([
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ["deflate", "deflate"],
  ["br", "brotli"],
]);

/** Creates a decompressor for a format. */
export type CreateDecompressor = (format: string) => ReadableWritablePair<Uint8Array, Uint8Array>;

const createNative: CreateDecompressor = (format) =>
  new DecompressionStream(format as CompressionFormat) as ReadableWritablePair<Uint8Array, Uint8Array>;

/** Reads the body on demand only. */
export class Http1Response implements UpstreamResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly #body: Body;
  readonly #compression: string | undefined;
  readonly #decompressor: CreateDecompressor;
  #stream: ReadableStream<Uint8Array> | undefined;

  constructor({ status, fields }: ResponseHead, body: Body, { isAsIs, decompressor }: {
    /** Whether the caller accepts compressed bodies. */
    readonly isAsIs: boolean;
    readonly decompressor?: CreateDecompressor | undefined;
  }) {
    this.#decompressor = decompressor ?? createNative;
    this.#body = body;
    this.status = status;
    const coding = isAsIs ? null : fields.get("content-encoding");
    this.#compression = coding === null ? undefined : compressions.get(coding.toLowerCase());
    this.headers = this.#compression === undefined ? fields : withoutCompression(fields);
  }

  /** Created on demand, since most responses are read at once. */
  get body(): ReadableStream<Uint8Array> {
    return this.#stream ??= toReadableStream(this.reader());
  }

  reader(): BodyReader {
    return this.#compression === undefined
      ? this.#body
      : decompressed(this.#body, this.#decompressor(this.#compression));
  }

  receivedText(): string | undefined {
    return this.#stream === undefined && this.#compression === undefined ? this.#body.receivedText() : undefined;
  }

  bytes(): Uint8Array | Promise<Uint8Array> {
    if (this.#stream === undefined && this.#compression === undefined) {
      return this.#body.received() ?? this.#body.readAll();
    }
    return readChunks(this.#stream?.getReader() ?? this.reader());
  }
}

/** The fields of a response whose body is decompressed. */
function withoutCompression(fields: Fields): Http1Response["headers"] {
  return { get: (name) => /^content-(encoding|length)$/i.test(name) ? null : fields.get(name) };
}

async function readChunks(reader: Pick<BodyReader, "read">): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return concat(chunks);
    chunks.push(value);
  }
}

function decompressed(source: BodyReader, format: ReturnType<CreateDecompressor>): BodyReader {
  let broken: { readonly error: unknown } | undefined;
  const watched: BodyReader = {
    read: () =>
      source.read().catch((error) => {
        broken = { error };
        throw error;
      }),
    cancel: () => source.cancel(),
  };
  const reader = toReadableStream(watched).pipeThrough(format).getReader();
  return {
    async read() {
      try {
        return await reader.read();
      } catch {
        if (broken !== undefined) throw broken.error; // the source's error, or the signal's reason
        await source.cancel();
        throw new NetworkError("The provider's response cannot be decompressed", { neverSent: false });
      }
    },
    cancel: (reason) => reader.cancel(reason),
  };
}
