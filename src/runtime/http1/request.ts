/**
 * A request as it goes over the connection (RFC 9112, sections 2 and 3).
 * @module
 */
import type { Authorities, UpstreamRequest } from "../../contracts/runtime.ts";
import { isIncoming } from "../../util/chunks.ts";

/** A proxy on the way to a server. */
export interface OutboundProxy {
  readonly protocol: "http:" | "https:";
  readonly hostname: string;
  readonly port: number;
  /** What it is sent along with requests: who asks, where it wants to know. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Where a request goes. */
export interface Target {
  /** Key of the connections that may serve it. */
  readonly origin: string;
  readonly isSecure: boolean;
  /** A name or an address, without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** Value of the header `host`. */
  readonly host: string;
  /** Path and query. */
  readonly path: string;
  /** Trusted beside the runtime's own. */
  readonly authorities: Authorities | undefined;
  /** What a connection with TLS goes through; one without goes to the proxy itself, which is asked for the whole URL. */
  readonly proxy?: OutboundProxy | undefined;
  /** For a proxy that is asked for the whole URL. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A provider is asked at few URLs again and again. */
const maxTargets = 256;

const encoder = new TextEncoder();
const token = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;
const plainValue = /^[\t\x20-\x7e]*$/;
const latinValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Bodies up to this size are copied behind the head, so that both go in one write. */
const maxJoined = 64 * 1024;

/** Fields that are made here. */
const own = new Set(["content-length", "connection"]);

/** Finds where URLs lead. */
export class Targets {
  readonly #known = new Map<string, Target>();
  readonly #via: (url: URL) => OutboundProxy | undefined;

  /** @param via The proxy on the way to a URL. */
  constructor(via: (url: URL) => OutboundProxy | undefined = () => undefined) {
    this.#via = via;
  }

  /**
   * Where a URL leads.
   *
   * @param authorities Trusted beside the runtime's own.
   * @throws {TypeError} For a malformed URL, other schemes than http and https, and credentials in it.
   */
  of(url: string, authorities?: Authorities): Target {
    const key = authorities === undefined ? url : `${authorities.key} ${url}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const parsed = new URL(url);
    const direct = directTo(parsed, authorities);
    const proxy = this.#via(parsed);
    const target = proxy === undefined ? direct : throughProxy(direct, parsed, proxy);
    if (this.#known.size < maxTargets) this.#known.set(key, target);
    return target;
  }
}

function directTo(url: URL, authorities: Authorities | undefined): Target {
  const { protocol, hostname, port, host, origin, pathname, search, username, password } = url;
  const isSecure = protocol === "https:";
  if (!isSecure && protocol !== "http:") throw new TypeError("Only http and https are spoken");
  if (username !== "" || password !== "") throw new TypeError("A URL with credentials");
  return {
    origin: authorities === undefined ? origin : `${authorities.key} ${origin}`,
    isSecure,
    hostname: hostname.startsWith("[") ? hostname.slice(1, -1) : hostname,
    port: port === "" ? isSecure ? 443 : 80 : Number(port),
    host,
    path: pathname + search,
    authorities,
  };
}

/** With TLS a proxy makes a connection and sees no more of it; without, it is asked in place of the server. */
function throughProxy(direct: Target, { origin, protocol }: URL, proxy: OutboundProxy): Target {
  const { protocol: own, hostname, port, headers } = proxy;
  const by = `${own}//${hostname}:${port}`;
  if (protocol === "https:") return { ...direct, origin: `${direct.origin} by ${by}`, proxy };
  return { ...direct, origin: by, isSecure: own === "https:", hostname, port, path: origin + direct.path, headers };
}

/**
 * Writes a request down, all but a body that is still to come.
 *
 * @returns What is sent, in order: head and body at once unless the body is large.
 * @throws {TypeError} For a method, a header name or a value that would break the head.
 */
export function encodeRequest({ method = "POST", headers, body }: UpstreamRequest, target: Target): Uint8Array[] {
  if (!token.test(method)) throw new TypeError("A method that is none");
  const isStreamed = isIncoming(body);
  const chunks = body === undefined || isStreamed ? [] : chunksOf(body);
  const size = chunks.reduce((sum, { length }) => sum + length, 0);
  let isPlain = true;
  let head = `${method} ${target.path} HTTP/1.1\r\n`;
  if (headers.host === undefined) head += `host: ${target.host}\r\n`;
  const all = target.headers === undefined ? headers : { ...headers, ...target.headers };
  for (const name in all) {
    const value = all[name];
    if (value === undefined || own.has(name)) continue;
    if (!token.test(name) || name.toLowerCase() === "transfer-encoding") throw new TypeError("A header that is none");
    if (!plainValue.test(value)) {
      if (!latinValue.test(value)) throw new TypeError("A header value that is none");
      isPlain = false;
    }
    head += `${name}: ${value}\r\n`;
  }
  if (headers["accept-encoding"] === undefined) head += "accept-encoding: identity\r\n";
  if (isStreamed) head += "transfer-encoding: chunked\r\n";
  else if (body !== undefined || method !== "GET") head += `content-length: ${size}\r\n`;
  const start = isPlain ? encoder.encode(`${head}\r\n`) : latin1(`${head}\r\n`);
  if (chunks.length === 0) return [start];
  if (chunks.length > 1 || size > maxJoined) return [start, ...chunks];
  const joined = new Uint8Array(start.length + size);
  joined.set(start);
  joined.set(chunks[0]!, start.length);
  return [joined];
}

/** The end of a body that came in chunks. */
export const lastChunk: Uint8Array = encoder.encode("0\r\n\r\n");

/** A chunk of a body (RFC 9112, section 7.1); undefined for one without bytes, which would be the end. */
export function chunkOf(bytes: Uint8Array): Uint8Array | undefined {
  if (bytes.length === 0) return undefined;
  const head = encoder.encode(`${bytes.length.toString(16)}\r\n`);
  const chunk = new Uint8Array(head.length + bytes.length + 2);
  chunk.set(head);
  chunk.set(bytes, head.length);
  chunk.set([13, 10], head.length + bytes.length);
  return chunk;
}

function chunksOf(
  body: Exclude<UpstreamRequest["body"], undefined | AsyncIterable<Uint8Array>>,
): readonly Uint8Array[] {
  if (typeof body === "string") return [encoder.encode(body)];
  return body instanceof Uint8Array ? [body] : body;
}

function latin1(text: string): Uint8Array {
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}
