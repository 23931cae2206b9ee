/**
 * Behaviors of a scripted provider, independent of the dialect.
 * @module
 */
import type { Exchange } from "./_raw_http.ts";

/** How a server responds to a request. */
export interface Behaviour {
  /** Responds to the request. */
  play(exchange: Exchange): Promise<void>;
}

/** Controls when the events of a stream are sent: each event waits until the test opens the gate. */
export class Gate {
  #asked = 0;
  #allowed = 0;
  readonly #passing: { number: number; resolve: () => void }[] = [];
  readonly #reached: { number: number; resolve: () => void }[] = [];

  /** Releases events, one by default. */
  open(count = 1): void {
    this.#allowed += count;
    release(this.#passing, this.#allowed);
  }

  /** Releases all events from now on. */
  openAll(): void {
    this.open(Infinity);
  }

  /** Resolves when the n-th event (starting at 1) waits, so that the earlier ones have been written. */
  reached(number: number): Promise<void> {
    return new Promise((resolve) => {
      this.#reached.push({ number, resolve });
      release(this.#reached, this.#asked);
    });
  }

  /** Waits until released. */
  pass(): Promise<void> {
    const number = ++this.#asked;
    release(this.#reached, this.#asked);
    return new Promise((resolve) => {
      this.#passing.push({ number, resolve });
      release(this.#passing, this.#allowed);
    });
  }
}

function release(waiting: { number: number; resolve: () => void }[], upTo: number): void {
  for (const entry of waiting.splice(0)) {
    if (entry.number <= upTo) entry.resolve();
    else waiting.push(entry);
  }
}

/** Header names and values; a list if names repeat. */
export type ResponseHeaders = Readonly<Record<string, string>> | readonly (readonly [string, string])[];

/** Returns the status line and headers of a response, as bytes on the wire. */
export function formatHead(status: number, headers: ResponseHeaders = {}): string {
  const entries = Array.isArray(headers) ? headers : Object.entries(headers);
  const lines = entries.map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Scripted\r\n${lines.join("")}\r\n`;
}

/** Writes these bytes only, then closes the connection (or leaves it open). */
export function raw(data: string | Uint8Array, ending: Ending = "close"): Behaviour {
  return {
    async play(exchange) {
      await exchange.write(data);
      finish(exchange, ending);
    },
  };
}

/** How a response ends: normally, with the connection left open; with FIN; with RST; or not at all. */
export type Ending = "end" | "close" | "reset" | "hang";

/** Ends a connection. */
export function finish(exchange: Exchange, ending: Ending): void {
  if (ending === "close") exchange.close();
  if (ending === "reset") exchange.reset();
}

/** Options of {@linkcode status}. */
export interface StatusOptions {
  /** Response headers. */
  readonly headers?: ResponseHeaders;
  /** Body as text. */
  readonly text?: string;
  /** Body as JSON. */
  readonly json?: unknown;
  /** Error of the body `{error: {message, type, param, code}}`; missing members are filled in. */
  readonly error?: Readonly<Record<string, unknown>>;
}

/** A response with a status; from 400 on, with an error in OpenAI's shape by default. */
export function status(code: number, options: StatusOptions = {}): Behaviour {
  const { headers = {}, text, json: value, error = code >= 400 ? {} : undefined } = options;
  if (text !== undefined) return completeResponse(code, text, "text/plain", headers);
  if (value !== undefined) return completeResponse(code, JSON.stringify(value), "application/json", headers);
  if (error !== undefined) {
    return completeResponse(code, JSON.stringify(errorBody(code, error)), "application/json", headers);
  }
  return completeResponse(code, "", undefined, headers);
}

/** An error body in OpenAI's shape. */
export function errorBody(code: number, error: Readonly<Record<string, unknown>> = {}): unknown {
  return { error: { message: `Scripted ${code}`, type: "scripted_error", param: null, code: null, ...error } };
}

/** A 200 response with a JSON body. */
export function json(value: unknown, headers: ResponseHeaders = {}): Behaviour {
  return completeResponse(200, JSON.stringify(value), "application/json", headers);
}

/** A response with `content-length`. */
export function completeResponse(
  code: number,
  body: string | Uint8Array,
  contentType?: string,
  headers: ResponseHeaders = {},
): Behaviour {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const value = Array.isArray(headers) ? headers : Object.entries(headers);
  const reported = new Set(value.map(([name]) => name.toLowerCase()));
  const added: [string, string][] = [];
  if (contentType !== undefined && !reported.has("content-type")) added.push(["content-type", contentType]);
  const hasNoBody = code < 200 || code === 204 || code === 304;
  if (!hasNoBody && !reported.has("content-length")) added.push(["content-length", String(bytes.length)]);
  const head = new TextEncoder().encode(formatHead(code, [...added, ...value]));
  const all = new Uint8Array(head.length + bytes.length);
  all.set(head);
  all.set(bytes, head.length);
  return raw(all, "end");
}

/** Never responds. */
export function hang(): Behaviour {
  return { play: () => Promise.resolve() };
}

/** Sends headers, then nothing. */
export function hangAfterHeaders(contentType = "application/json"): Behaviour {
  return raw(formatHead(200, { "content-type": contentType, "transfer-encoding": "chunked" }), "hang");
}

/** A stream whose events a test sends. */
export interface HeldStream extends Behaviour {
  /** Writes text to the latest response. */
  send(text: string): Promise<void>;
}

/** Sends the head of a stream, then what a test sends. */
export function holdOpen(): HeldStream {
  let write: (text: string) => Promise<void>;
  return {
    async play(exchange) {
      write = (text) => exchange.write(`${text.length.toString(16)}\r\n${text}\r\n`);
      await exchange.write(formatHead(200, { "content-type": "text/event-stream", "transfer-encoding": "chunked" }));
    },
    send: (text) => write(text),
  };
}

/**
 * Truncates another behaviour.
 *
 * @param at Number of bytes sent, including headers; `headers` sends the headers only.
 * @param ending How the connection ends. @default {"reset"}
 */
export function cutAt(behaviour: Behaviour, at: number | "headers", ending: "close" | "reset" = "reset"): Behaviour {
  return {
    async play(exchange) {
      let left = at;
      let isOver = false;
      const write = async (data: string | Uint8Array) => {
        if (isOver) return;
        const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
        if (left === "headers") left = new TextDecoder("latin1").decode(bytes).indexOf("\r\n\r\n") + 4;
        isOver = bytes.length >= left;
        const part = bytes.subarray(0, left);
        left -= part.length;
        if (part.length > 0) await exchange.write(part);
        if (isOver) finish(exchange, ending);
      };
      await behaviour.play({ ...exchange, write });
    },
  };
}

/** Resets (or closes) the connection before any byte of a response. */
export function reset(ending: "close" | "reset" = "reset"): Behaviour {
  return raw("", ending);
}

/** An HTML page with status 200. */
export function html200(): Behaviour {
  return completeResponse(200, "<!doctype html><html><body>Sign in</body></html>", "text/html; charset=utf-8");
}

/** Truncated JSON with a matching `content-length`. */
export function truncatedJson(): Behaviour {
  return completeResponse(
    200,
    '{"id":"chatcmpl-1","object":"chat.completion","choices":[{"index":0,"mess',
    "application/json",
  );
}

/** A 200 response with an empty body. */
export function emptyBody(): Behaviour {
  return completeResponse(200, "", "application/json");
}

/** An error with status 200. */
export function errorIn200(error: Readonly<Record<string, unknown>> = {}): Behaviour {
  return json(errorBody(200, error));
}
