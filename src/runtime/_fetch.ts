/**
 * The upstream client over `fetch`, for runtimes without a better one.
 * @module
 */
import type { Authorities, BodyReader, UpstreamRequest, UpstreamResponse } from "../contracts/runtime.ts";
import { NetworkError } from "../errors.ts";
import { createOverload, isResourceLack } from "../util/resource_lack.ts";
import { toReadableStream } from "./_readable_stream.ts";

/** A classified runtime error: our message, and whether the request may have been read. */
export interface NetworkFault {
  /** Contains no part of the request. */
  readonly message: string;
  readonly neverSent: boolean;
}

/** Classifies an error of `fetch` by the runtime's message; undefined if the message is unknown. */
type FaultClassifier = (text: string) => NetworkFault | undefined;

const withoutResponse: NetworkFault = {
  message: "The connection to the provider broke before its response began",
  neverSent: false,
};
const cutShort: NetworkFault = {
  message: "The connection to the provider broke in the middle of its response",
  neverSent: false,
};
const decoded = new Set(["gzip", "br"]);

/**
 * Creates an upstream client over `fetch`.
 *
 * @param classify Classifies errors of this runtime.
 */
export function fetchSender(
  classify: FaultClassifier,
  {
    fetcher = fetch,
    bodyOf = (body) => (Array.isArray(body) ? new Blob(body) : body) as BodyInit,
    open = (body) => body.getReader(),
    readHeaders = (headers) => headers,
  }: {
    readonly fetcher?: (url: string, init: RequestInit, authorities?: Authorities) => Promise<Response>;
    /** Converts a body to the form in which it is sent. */
    readonly bodyOf?: (body: NonNullable<UpstreamRequest["body"]>) => BodyInit | Promise<BodyInit>;
    /** Opens the body of a response for reading. */
    readonly open?: (body: ReadableStream<Uint8Array>) => BodyReader;
    /** Reads the headers of a response, which may be looked up often. */
    readonly readHeaders?: (headers: Headers) => UpstreamResponse["headers"];
  } = {},
): (request: UpstreamRequest) => Promise<UpstreamResponse> {
  return async (request) => {
    const { url, method = "POST", headers, body, signal, onBytes, authorities } = request;
    if (signal?.aborted) throw signal.reason;
    let response: Response;
    try {
      const converted = body === undefined ? undefined : bodyOf(body);
      const sent = converted instanceof Promise ? await converted : converted;
      // a followed redirect would forward the API key
      response = await fetcher(url, {
        method,
        headers,
        body: sent,
        signal: signal?.native ?? signal as AbortSignal,
        redirect: "manual",
        ...(sent instanceof ReadableStream ? { duplex: "half" } : {}),
      }, authorities);
    } catch (error) {
      throw translate(error, signal, { classify, otherwise: withoutResponse });
    }
    onBytes?.();
    return new FetchedResponse(response, request, { classify, open, readHeaders });
  };
}

/** How a runtime reads a response. */
interface ReadingParts {
  readonly classify: FaultClassifier;
  readonly open: (body: ReadableStream<Uint8Array>) => BodyReader;
  readonly readHeaders: (headers: Headers) => UpstreamResponse["headers"];
}

class FetchedResponse implements UpstreamResponse {
  readonly status: number;
  readonly headers: UpstreamResponse["headers"];
  readonly #response: Response;
  readonly #request: UpstreamRequest;
  readonly #parts: ReadingParts;
  #stream: ReadableStream<Uint8Array> | null | undefined;

  constructor(response: Response, request: UpstreamRequest, parts: ReadingParts) {
    this.status = response.type === "opaqueredirect" ? 302 : response.status; // browsers hide redirects from pages
    this.headers = parts.readHeaders(plainHeaders(response.headers, request.headers));
    this.#response = response;
    this.#request = request;
    this.#parts = parts;
  }

  /** Created on demand, since a stream costs more than reading the whole body. */
  get body(): ReadableStream<Uint8Array> | null {
    return this.#stream ??= this.#response.body && toReadableStream(this.reader()!);
  }

  reader(): BodyReader | null {
    const { body } = this.#response;
    return body && guarded(this.#parts.open(body), this.#request, this.#parts.classify);
  }

  async bytes(): Promise<Uint8Array> {
    try {
      return new Uint8Array(await this.#response.arrayBuffer());
    } catch (error) {
      throw translate(error, this.#request.signal, { classify: this.#parts.classify, otherwise: cutShort });
    }
  }
}

/** A reader with classified errors. */
function guarded(reader: BodyReader, { signal, onBytes }: UpstreamRequest, classify: FaultClassifier): BodyReader {
  return {
    lend: () => reader.lend?.(),
    async read() {
      try {
        const result = await reader.read();
        if (!result.done) onBytes?.();
        return result;
      } catch (error) {
        throw translate(error, signal, { classify: (text) => inBody(classify(text)), otherwise: cutShort });
      }
    },
    cancel: (reason) => reader.cancel(reason),
  };
}

function translate(
  error: unknown,
  signal: UpstreamRequest["signal"],
  { classify, otherwise }: { readonly classify: FaultClassifier; readonly otherwise: NetworkFault },
): unknown {
  if (signal?.aborted) return signal.reason;
  if (isResourceLack(error)) return createOverload();
  const { message, neverSent } = classify(describeFetchError(error)) ?? otherwise;
  return new NetworkError(message, { neverSent }); // without a cause: the runtime's message quotes URLs and headers
}

/** A server that responds has read the request. */
function inBody(fault: NetworkFault | undefined): NetworkFault | undefined {
  return fault && { message: fault.message, neverSent: false };
}

function describeFetchError(error: unknown): string {
  return error instanceof Error ? `${error.message}\n${describeFetchError(error.cause)}` : "";
}

/** The runtime has decompressed the body, so headers about compression are removed. */
function plainHeaders(headers: Headers, requested: Readonly<Record<string, string>>): Headers {
  if ("accept-encoding" in requested || !decoded.has(headers.get("content-encoding") ?? "")) return headers;
  const plain = new Headers(headers);
  plain.delete("content-encoding");
  plain.delete("content-length");
  return plain;
}
