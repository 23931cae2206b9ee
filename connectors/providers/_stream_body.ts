/**
 * Bodies of responses to streaming requests. Some servers send a complete response instead, or either with the media type
 * of the other; they differ in their first character.
 * @module
 */
import type { CompletionChunk } from "../../src/contracts/provider.ts";
import type { BodyReader, UpstreamResponse } from "../../src/contracts/runtime.ts";
import { createStreamReader, readToEnd } from "./_http.ts";

/** A comment of the provider. */
export const ping: CompletionChunk = {
  value: { id: "", object: "chat.completion.chunk", created: 0, model: "", choices: [] },
  isPing: true,
};

const decoder = /* @__PURE__ */ new TextDecoder();

/** Events to read, or the text of a complete response. */
type StreamBody =
  | { readonly events: BodyReader; readonly text?: undefined }
  | { readonly events?: undefined; readonly text: string };

/**
 * Opens the body of a response to a streaming request.
 *
 * @throws {UpstreamError} `invalid_response` if there is no body, or if a complete response is too large.
 */
export async function openStreamBody(response: UpstreamResponse): Promise<StreamBody> {
  const reader = createStreamReader(response);
  const read: Uint8Array[] = [];
  let first: number | undefined;
  while (first === undefined) {
    const { done, value } = await reader.read();
    if (done) break;
    read.push(value);
    first = value.find((byte) => !isBlank(byte));
  }
  const replay = new Replay(read, reader);
  const isComplete = first === undefined ? hasOtherType(response) : startsComplete(first);
  return isComplete ? { text: decoder.decode(await readToEnd(replay)) } : { events: replay };
}

/** White space, or a byte order mark. */
function isBlank(byte: number): boolean {
  return byte <= 0x20 || byte === 0xef || byte === 0xbb || byte === 0xbf;
}

/** Whether a body starts like JSON or a page. */
function startsComplete(byte: number): boolean {
  return '{["<'.includes(String.fromCharCode(byte));
}

function hasOtherType({ headers }: UpstreamResponse): boolean {
  return /json|html/.test(headers.get("content-type") ?? "");
}

/** A body that is read again from its beginning. */
class Replay implements BodyReader {
  readonly #read: Uint8Array[];
  readonly #rest: BodyReader;

  /**
   * @param read What was read.
   * @param rest What was not.
   */
  constructor(read: Uint8Array[], rest: BodyReader) {
    this.#read = read;
    this.#rest = rest;
  }

  read(): ReturnType<BodyReader["read"]> {
    const value = this.#read.shift();
    return value === undefined ? this.#rest.read() : Promise.resolve({ done: false, value });
  }

  lend(): void {
    this.#rest.lend?.();
  }

  cancel(): Promise<void> {
    return this.#rest.cancel();
  }
}
