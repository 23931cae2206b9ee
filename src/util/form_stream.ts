/**
 * Reads and writes forms with files (multipart/form-data, RFC 7578) as streams. At most one chunk of a file is in
 * memory.
 * @module
 */
import { concat } from "./bytes.ts";
import { createFinder, maxHeadBytes, maxParts, parsePartHead, type PartHead } from "./multipart.ts";

const encoder = /* @__PURE__ */ new TextEncoder();
const decoder = /* @__PURE__ */ new TextDecoder();

/** A part of a form, streamed. */
export interface IncomingPart extends PartHead {
  /** Content. Read it to its end before requesting the next part. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

/** A malformed form: a wrong boundary, a part without a name, or no end. */
export class FormError extends Error {
  override name = "FormError";
}

/**
 * Reads a form part by part. Requesting the next part skips the remainder of the current one.
 *
 * @param source The request body.
 * @throws {FormError} When the form is malformed; also from the parts' content.
 */
export async function* readFormStream(
  source: AsyncIterable<Uint8Array>,
  boundary: string,
): AsyncGenerator<IncomingPart> {
  const input = new Input(source);
  try {
    // unless there is a preamble, no line break precedes the first boundary
    input.unread(encoder.encode("\r\n"));
    const delimiter = encoder.encode(`\r\n--${boundary}`);
    for await (const _preamble of input.until(delimiter));
    for (let parts = 0; await input.text(2) !== "--"; parts++) {
      if (parts === maxParts) throw new FormError("too many parts");
      const part = parsePartHead(decoder.decode(await input.head()));
      if (part === undefined) throw new FormError("a part without a name");
      const bytes = input.until(delimiter);
      yield { ...part, bytes };
      for await (const _skipped of bytes);
    }
    await input.skip();
  } finally {
    await input.close();
  }
}

/**
 * Writes a form with one file.
 *
 * @param file Field name, file name, type and content.
 * @param fields Fields before the file, and fields known only after it.
 * @param boundary The boundary, which must not occur in the file.
 */
export async function* writeFormStream(
  file: IncomingPart,
  fields: { readonly before: FieldList; readonly after: () => FieldList | Promise<FieldList> },
  boundary: string,
): AsyncGenerator<Uint8Array> {
  const head = (name: string) => `--${boundary}\r\ncontent-disposition: form-data; name="${isQuotableName(name)}"`;
  const formatFields = (all: FieldList) => all.map(([name, value]) => `${head(name)}\r\n\r\n${value}\r\n`).join("");
  const type = file.type.replace(/[\r\n]/g, "");
  const opening = `${head(file.name)}; filename="${
    isQuotableName(file.filename ?? "file")
  }"\r\ncontent-type: ${type}\r\n\r\n`;
  yield encoder.encode(formatFields(fields.before) + opening);
  yield* file.bytes;
  yield encoder.encode(`\r\n${formatFields(await fields.after())}--${boundary}--\r\n`);
}

type FieldList = readonly (readonly [name: string, value: string])[];

function isQuotableName(name: string): string {
  return name.replace(/"/g, "%22").replace(/\r/g, "%0D").replace(/\n/g, "%0A");
}

/** Received bytes that have not been consumed, and their source. */
class Input {
  readonly #source: AsyncIterator<Uint8Array>;
  #bytes: Uint8Array = new Uint8Array();

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  unread(bytes: Uint8Array): void {
    this.#bytes = concat([bytes, this.#bytes]);
  }

  /** Reads a number of bytes as text. */
  async text(length: number): Promise<string> {
    while (this.#bytes.length < length) await this.#more();
    const text = decoder.decode(this.#bytes.subarray(0, length));
    this.#bytes = this.#bytes.subarray(length);
    return text;
  }

  /** Reads the header of a part; the line break before it has been read. */
  async head(): Promise<Uint8Array> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of this.until(encoder.encode("\r\n\r\n"))) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > maxHeadBytes) throw new FormError("a part without a head");
    }
    return concat(chunks);
  }

  /** Reads up to a delimiter, which is consumed. */
  async *until(delimiter: Uint8Array): AsyncGenerator<Uint8Array> {
    const find = createFinder(delimiter);
    for (;;) {
      const at = find(this.#bytes, 0);
      const safe = at >= 0 ? at : this.#bytes.length - delimiter.length + 1;
      const chunk = this.#bytes.subarray(0, Math.max(0, safe));
      this.#bytes = this.#bytes.subarray(at >= 0 ? at + delimiter.length : chunk.length);
      if (chunk.length > 0) yield chunk;
      if (at >= 0) return;
      await this.#more();
    }
  }

  /** Reads to the end, since an unread body blocks its connection. */
  async skip(): Promise<void> {
    while (!(await this.#source.next()).done);
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }

  async #more(): Promise<void> {
    const { done, value } = await this.#source.next();
    if (done) throw new FormError("cut short");
    this.#bytes = this.#bytes.length === 0 ? value : concat([this.#bytes, value]);
  }
}
