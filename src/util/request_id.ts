/**
 * What a request has in its headers: its id, its session, its trace context, which is the span of a caller, and those
 * of the calls for its request (W3C Trace Context), and whether it asks for a WebSocket.
 * @module
 */
import type { TraceContext } from "../contracts/observability.ts";
import type { RequestBody } from "../contracts/openai.ts";

/** Returns the caller's `x-request-id` if it is 1 to 128 visible ASCII characters, else a new id. */
export function requestIdFrom(requested: string | null | undefined): string {
  return requested !== null && requested !== undefined && /^[\x21-\x7e]{1,128}$/.test(requested) ? requested : newId();
}

/** Returns a new UUID, version 4 (RFC 9562). */
export function newId(): string {
  if ("randomUUID" in crypto) return crypto.randomUUID();
  // `randomUUID` is missing in insecure contexts, but the URL of a blob ends in a UUID
  const address = URL.createObjectURL(new Blob());
  URL.revokeObjectURL(address);
  return address.slice(-36);
}

/** The members of a `traceparent`. */
interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  /** Flags, two hexadecimal digits. */
  readonly flags: string;
  /** Whether the caller records its span. */
  readonly isSampled: boolean;
}

/** Version, trace id, span id, flags, and what later versions add. Version ff and ids of only zeros are invalid. */
const validTrace = /^(?!ff)([0-9a-f]{2})-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Maximum length of a `traceparent`, characters. */
const maxParentLength = 256;

/** Maximum length of a `tracestate`, characters; a longer one is dropped, as the specification allows. */
const maxStateLength = 2048;

/**
 * Parses a `traceparent`.
 *
 * @param text The value of the header.
 * @returns Undefined if it is invalid.
 */
export function parseTraceparent(text: string): TraceParent | undefined {
  if (text.length > maxParentLength) return undefined;
  const [, version, traceId, spanId, flags, later] = validTrace.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (version === "00" && later !== undefined) return undefined;
  return { traceId, spanId, flags, isSampled: (parseInt(flags, 16) & 1) === 1 };
}

/** Reads the caller's trace context. Invalid headers are ignored. */
export function readTraceContext(headers: { get(name: string): string | null }): TraceContext | undefined {
  const traceparent = headers.get("traceparent");
  if (traceparent === null || parseTraceparent(traceparent) === undefined) return undefined;
  const tracestate = headers.get("tracestate") ?? "";
  const isValid = tracestate !== "" && tracestate.length <= maxStateLength && /^[\t\x20-\x7e]+$/.test(tracestate);
  return isValid ? { traceparent, tracestate } : { traceparent };
}

/**
 * Returns the context of a new span: in the trace of its parent, and sampled like it, or in a new trace.
 *
 * @param parent The context above it, if any.
 */
export function newSpan(parent?: TraceContext): TraceContext {
  const { traceId, flags } = parseTraceparent(parent?.traceparent ?? "") ?? { traceId: randomHex(32), flags: "01" };
  return { traceparent: `00-${traceId}-${randomHex(16)}-${flags}`, tracestate: parent?.tracestate };
}

/**
 * Returns a random id.
 *
 * @param digits Number of hexadecimal digits, at most 32.
 */
export function randomHex(digits: number): string {
  return newId().replaceAll("-", "").slice(0, digits);
}

/**
 * Returns the session of a request, the first present of: the header `x-mesh-session`, `mesh.session`, the library's
 * `sessionId`, `prompt_cache_key`, `safety_identifier`, `user`.
 *
 * @param sessionId The library's option.
 */
export function findSession(
  header: string | null | undefined,
  body: RequestBody,
  sessionId?: string,
): string | undefined {
  const { mesh, prompt_cache_key, safety_identifier, user } = body;
  const own = (mesh as { session?: unknown } | null | undefined)?.session;
  return readName(header) ?? readName(own) ?? readName(sessionId) ?? readName(prompt_cache_key) ??
    readName(safety_identifier) ?? readName(user);
}

function readName(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Whether a request asks for a WebSocket (RFC 6455, section 4.1). */
export function isSocketRequest({ method, headers }: {
  readonly method: string;
  readonly headers: Pick<Headers, "get">;
}): boolean {
  return method === "GET" && /^\s*websocket\s*$/i.test(headers.get("upgrade") ?? "");
}
