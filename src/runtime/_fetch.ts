/**
 * The upstream client over `fetch`, for every runtime that has nothing better.
 * @module
 */
import type { Authorities, BodyReader, UpstreamRequest, UpstreamResponse } from "../contracts/runtime.ts";
import { NetworkError } from "../errors.ts";
import { streamOf } from "./_stream_of.ts";

/** The meaning of a runtime's error: our words for it, and whether the request can have been read. */
export interface NetworkFault {
  /** Quotes nothing of the request. */
  readonly message: string;
  readonly neverSent: boolean;
}

/** A `fetch` that may trust further authorities. */
type Fetcher = (url: string, init: RequestInit, authorities?: Authorities) => Promise<Response>;

/** Classifies an error of `fetch` by the runtime's own text; undefined when the text is unknown. */
type FaultClassifier = (text: string) => NetworkFault | undefined;

const unanswered: NetworkFault = {
  message: "The connection to the provider broke before its answer began",
  neverSent: false,
};
const cutShort: NetworkFault = {
  message: "The connection to the provider broke in the middle of its answer",
  neverSent: false,
};
const decoded = new Set(["gzip", "br"]);

/**
 * An upstream client over `fetch`.
 *
 * @param classify For this runtime's error texts.
 * @param bodyOf Converts a body to the form in which it is sent.
 * @param open Opens a response's body for reading.
 */
export function fetchSender(
  classify: FaultClassifier,
  fetcher: Fetcher = fetch,
  bodyOf: (body: NonNullable<UpstreamRequest["body"]>) => BodyInit | Promise<BodyInit> = (body) =>
    (Array.isArray(body) ? new Blob(body) : body) as BodyInit,
  open: (body: ReadableStream<Uint8Array>) => BodyReader = (body) => body.getReader(),
): (request: UpstreamRequest) => Promise<UpstreamResponse> {
  return async (request) => {
    const { url, method = "POST", headers, body, signal, onBytes, authorities } = request;
    if (signal?.aborted) throw signal.reason;
    let response: Response;
    try {
      const made = body === undefined ? undefined : bodyOf(body);
      const sent = made instanceof Promise ? await made : made;
      // a followed redirect would take the key along, wherever it leads
      response = await fetcher(url, {
        method,
        headers,
        body: sent,
        signal: signal?.native ?? signal as AbortSignal,
        redirect: "manual",
        ...(sent instanceof ReadableStream ? { duplex: "half" } : {}),
      }, authorities);
    } catch (error) {
      throw translate(error, signal, classify, unanswered);
    }
    onBytes?.();
    return answerOf(response, request, { classify, open });
  };
}

/** How a response is read. */
interface Reading {
  readonly classify: FaultClassifier;
  readonly open: (body: ReadableStream<Uint8Array>) => BodyReader;
}

function answerOf(response: Response, request: UpstreamRequest, { classify, open }: Reading): UpstreamResponse {
  let stream: ReadableStream<Uint8Array> | null | undefined;
  return {
    // the browser hides from a page which redirect it was
    status: response.type === "opaqueredirect" ? 302 : response.status,
    headers: plainHeaders(response.headers, request.headers),
    // made when it is asked for: a stream costs more than the whole body read at once
    get body() {
      return stream ??= response.body && streamOf(this.reader()!);
    },
    reader: () => response.body && guarded(open(response.body), request, classify),
    async bytes() {
      try {
        return new Uint8Array(await response.arrayBuffer());
      } catch (error) {
        throw translate(error, request.signal, classify, cutShort);
      }
    },
  };
}

/** A reader with errors in our words. */
function guarded(reader: BodyReader, { signal, onBytes }: UpstreamRequest, classify: FaultClassifier): BodyReader {
  return {
    async read() {
      try {
        const result = await reader.read();
        if (!result.done) onBytes?.();
        return result;
      } catch (error) {
        throw translate(error, signal, (text) => inBody(classify(text)), cutShort);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  };
}

function translate(
  error: unknown,
  signal: UpstreamRequest["signal"],
  classify: FaultClassifier,
  otherwise: NetworkFault,
): unknown {
  if (signal?.aborted) return signal.reason;
  const { message, neverSent } = classify(textOf(error)) ?? otherwise;
  return new NetworkError(message, { neverSent }); // without a cause: the runtime's text quotes URLs and headers
}

/** A server that answers has read the request. */
function inBody(fault: NetworkFault | undefined): NetworkFault | undefined {
  return fault && { message: fault.message, neverSent: false };
}

function textOf(error: unknown): string {
  return error instanceof Error ? `${error.message}\n${textOf(error.cause)}` : "";
}

/** The runtime has undone the compression already: what says otherwise is left out. */
function plainHeaders(headers: Headers, requested: Readonly<Record<string, string>>): Headers {
  if ("accept-encoding" in requested || !decoded.has(headers.get("content-encoding") ?? "")) return headers;
  const plain = new Headers(headers);
  plain.delete("content-encoding");
  plain.delete("content-length");
  return plain;
}
