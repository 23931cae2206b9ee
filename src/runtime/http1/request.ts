/**
 * Resolves URLs to targets, and encodes requests (RFC 9112, sections 2 and 3).
 * @module
 */
import type { Authorities, UpstreamRequest } from "../../contracts/runtime.ts";
import { isIncoming } from "../../util/chunks.ts";

/** An outbound proxy. */
export interface OutboundProxy {
  readonly protocol: "http:" | "https:";
  readonly hostname: string;
  readonly port: number;
  /** Header fields for the proxy, such as `proxy-authorization`. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The target of a request. */
export interface Target {
  /** Key of the connections in the pool that can be reused. */
  readonly origin: string;
  readonly isSecure: boolean;
  /** Host name or IP address, without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** Value of the `host` header. */
  readonly host: string;
  /** Path and query; the whole URL for a request to a proxy. */
  readonly path: string;
  /** Trusted in addition to the runtime's own. */
  readonly authorities: Authorities | undefined;
  /** Proxy that tunnels a TLS connection. Without TLS, the proxy itself is the target, and receives the whole URL. */
  readonly proxy?: OutboundProxy | undefined;
  /** Header fields for a proxy that receives the whole URL. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Maximum number of cached targets. Requests to a provider repeat few URLs. */
const maxTargets = 256;

const encoder = new TextEncoder();
const token = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;
const plainValue = /^[\t\x20-\x7e]*$/;
const latinValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Bodies up to this size, bytes, are appended to the head, so that one write sends both. */
const maxJoined = 64 * 1024;

/** Fields that only the encoder sets. */
const own = new Set(["content-length", "connection"]);

/** Resolves URLs to targets. */
export class Targets {
  readonly #known = new Map<string, Target>();
  readonly #via: (url: URL) => OutboundProxy | undefined;

  /** @param via Returns the outbound proxy for a URL. */
  constructor(via: (url: URL) => OutboundProxy | undefined = () => undefined) {
    this.#via = via;
  }

  /**
   * Resolves a URL to a target.
   *
   * @param authorities Trusted in addition to the runtime's own.
   * @throws {TypeError} For an invalid URL, a scheme other than http and https, or credentials in the URL.
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

/** With TLS, the proxy tunnels the connection unread; without, it receives the request instead of the server. */
function throughProxy(direct: Target, { origin, protocol }: URL, proxy: OutboundProxy): Target {
  const { protocol: own, hostname, port, headers } = proxy;
  const by = `${own}//${hostname}:${port}`;
  if (protocol === "https:") return { ...direct, origin: `${direct.origin} by ${by}`, proxy };
  return { ...direct, origin: by, isSecure: own === "https:", hostname, port, path: origin + direct.path, headers };
}

/**
 * Encodes a request, without a body that is streamed.
 *
 * @returns Chunks in the order of sending. The first one includes the body unless that is large or in several chunks.
 * @throws {TypeError} For an invalid method, header name or header value, which would corrupt the head.
 */
export function encodeRequest({ method = "POST", headers, body }: UpstreamRequest, target: Target): Uint8Array[] {
  if (!token.test(method)) throw new TypeError("Invalid method");
  const isStreamed = isIncoming(body);
  const chunks = body === undefined || isStreamed ? [] : chunksOf(body);
  const size = chunks.reduce((sum, { length }) => sum + length, 0);
  let isPlain = true;
  let head = `${method} ${target.path} HTTP/1.1\r\n`;
  let hasHost = false;
  let hasEncoding = false;
  const all = target.headers === undefined ? headers : { ...headers, ...target.headers };
  for (const name in all) {
    const value = all[name];
    const key = name.toLowerCase();
    if (value === undefined || own.has(key)) continue;
    hasHost ||= key === "host";
    hasEncoding ||= key === "accept-encoding";
    if (!token.test(name) || key === "transfer-encoding") throw new TypeError("Invalid header name");
    if (!plainValue.test(value)) {
      if (!latinValue.test(value)) throw new TypeError("Invalid header value");
      isPlain = false;
    }
    head += `${name}: ${value}\r\n`;
  }
  if (!hasHost) head += `host: ${target.host}\r\n`;
  if (!hasEncoding) head += "accept-encoding: identity\r\n";
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

/** The end of a chunked body. */
export const lastChunk: Uint8Array = encoder.encode("0\r\n\r\n");

/** Encodes a chunk of a body (RFC 9112, section 7.1); undefined without bytes, since an empty chunk ends the body. */
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
