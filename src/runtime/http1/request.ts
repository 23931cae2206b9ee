/**
 * Resolves URLs to targets, and encodes requests (RFC 9112, sections 2 and 3).
 * @module
 */
import type { Authorities, UpstreamRequest } from "../../contracts/runtime.ts";
import { userAgent } from "../_user_agent.ts";
import { isIncoming } from "../../util/bytes.ts";

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
  /** The head of the last request. Requests with the same headers, which are immutable, have the same one. */
  last?: { readonly method: string; readonly headers: UpstreamRequest["headers"]; readonly head: string };
}

/** Maximum number of cached targets. Requests to a provider repeat few URLs. */
const maxTargets = 256;

const token = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/;
const latinValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Fields that only the encoder sets. */
const own = new Set(["content-length", "connection"]);

/** Resolves URLs to targets. */
export class Targets {
  readonly #targets = new Map<string, Target>();
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
    const existing = this.#targets.get(key);
    if (existing !== undefined) return existing;
    const parsed = new URL(url);
    const direct = directTo(parsed, authorities);
    const proxy = this.#via(parsed);
    const target = proxy === undefined ? direct : throughProxy(direct, parsed, proxy);
    if (this.#targets.size < maxTargets) this.#targets.set(key, target);
    return target;
  }
}

function directTo(url: URL, authorities: Authorities | undefined): Target {
  const { protocol, hostname, port, host, origin, pathname, search, username, password } = url;
  const isSecure = protocol === "https:";
  if (!isSecure && protocol !== "http:") throw new TypeError("Only http and https are supported");
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
 * Returns the head of a request: its lines, without the length of the body and the empty line.
 *
 * @throws {TypeError} For an invalid method, header name or header value, which would corrupt the head.
 */
export function requestHead({ method = "POST", headers }: UpstreamRequest, target: Target): string {
  const { last } = target;
  if (last !== undefined && last.headers === headers && last.method === method) return last.head;
  const head = writeHead(method, headers, target);
  target.last = { method, headers, head };
  return head;
}

function writeHead(method: string, headers: UpstreamRequest["headers"], target: Target): string {
  if (!isToken(method)) throw new TypeError("Invalid method");
  let head = `${method} ${target.path} HTTP/1.1\r\n`;
  let hasHost = false;
  let hasEncoding = false;
  let hasAgent = false;
  const all = target.headers === undefined ? headers : { ...headers, ...target.headers };
  for (const name in all) {
    const value = all[name];
    const key = name.toLowerCase();
    if (value === undefined || own.has(key)) continue;
    hasHost ||= key === "host";
    hasEncoding ||= key === "accept-encoding";
    hasAgent ||= key === "user-agent";
    if (!isToken(name) || key === "transfer-encoding") throw new TypeError("Invalid header name");
    if (!latinValue.test(value)) throw new TypeError("Invalid header value");
    head += `${name}: ${value}\r\n`;
  }
  if (!hasHost) head += `host: ${target.host}\r\n`;
  if (!hasAgent) head += `user-agent: ${userAgent}\r\n`;
  return hasEncoding ? head : `${head}accept-encoding: identity\r\n`;
}

/**
 * Encodes a request, without a body that is streamed.
 *
 * @param output Encodes it.
 * @returns Chunks in the order of sending. The first one includes the body unless that is large or in several chunks.
 */
export function encodeRequest(
  head: string,
  { method = "POST", body }: UpstreamRequest,
  output: OutputBuffer,
): readonly Uint8Array[] {
  if (typeof body === "string" || body instanceof Uint8Array) return output.message(head, body);
  if (body === undefined) return [output.head(head, method === "GET" ? "" : "content-length: 0\r\n")];
  if (isIncoming(body)) return [output.head(head, "transfer-encoding: chunked\r\n")];
  const size = body.reduce((sum, { length }) => sum + length, 0);
  return [output.head(head, `content-length: ${size}\r\n`), ...body];
}

/** Maximum number of remembered tokens. */
const maxTokens = 256;
const tokens = new Set<string>();

/** Whether a text is a token. Names of headers recur, so that few have to be validated. */
function isToken(text: string): boolean {
  if (tokens.has(text)) return true;
  if (!token.test(text)) return false;
  if (tokens.size < maxTokens && text.length <= 64) tokens.add(text);
  return true;
}

/** Bodies up to this size, bytes, are sent with their head. */
const maxJoinedBytes = 64 * 1024;

/** Size, initial and maximum, bytes. Idle connections keep their buffers, so a larger message has one of its own. */
const firstBytes = 1024;
const maxKeptBytes = 16 * 1024;

/** Room for the length and the end of a head. */
const lengthBytes = 40;

const encoder = new TextEncoder();

/** The end of a chunked body. */
export const lastChunk: Uint8Array = encoder.encode("0\r\n\r\n");

/** A buffer for output. */
export class OutputBuffer {
  #bytes: Uint8Array = new Uint8Array(0);

  /**
   * Encodes a head that is sent without a body.
   *
   * @param head Its lines; ISO-8859-1, without the empty line.
   * @param more Further lines.
   */
  head(head: string, more: string): Uint8Array {
    const bytes = this.#room(head.length + more.length + 2);
    const end = putLatin(`${more}\r\n`, bytes, putLatin(head, bytes, 0));
    return bytes.subarray(0, end);
  }

  /**
   * Encodes a head, the length of a body, and the body unless that is large.
   *
   * @param head Its lines; ISO-8859-1, without the empty line.
   * @returns What to send, in order.
   */
  message(head: string, body: Uint8Array | string): readonly Uint8Array[] {
    if (body.length > maxJoinedBytes) {
      const data = typeof body === "string" ? encoder.encode(body) : body;
      return [this.head(head, `content-length: ${data.length}\r\n`), data];
    }
    const at = head.length + lengthBytes;
    let bytes = this.#room(at + body.length);
    let length = put(body, bytes, at);
    if (length === undefined) { // characters of several bytes
      bytes = this.#room(at + body.length * 3);
      length = put(body, bytes, at)!;
    }
    const lines = `content-length: ${length}\r\n\r\n`;
    const from = at - lines.length - head.length;
    putLatin(lines, bytes, putLatin(head, bytes, from));
    return [bytes.subarray(from, at + length)];
  }

  /** Encodes a chunk of a chunked body; undefined without data, since an empty chunk would end the body. */
  chunk(data: Uint8Array): Uint8Array | undefined {
    if (data.length === 0) return undefined;
    const size = `${data.length.toString(16)}\r\n`;
    const end = size.length + data.length;
    const bytes = this.#room(end + 2);
    putLatin(size, bytes, 0);
    bytes.set(data, size.length);
    return bytes.subarray(0, putLatin("\r\n", bytes, end));
  }

  #room(size: number): Uint8Array {
    if (this.#bytes.length >= size) return this.#bytes;
    const bytes = new Uint8Array(Math.max(firstBytes, 2 ** Math.ceil(Math.log2(size))));
    return size > maxKeptBytes ? bytes : this.#bytes = bytes;
  }
}

/** Returns the number of bytes; undefined if there is too little room. */
function put(data: Uint8Array | string, into: Uint8Array, at: number): number | undefined {
  if (typeof data === "string") {
    const { read, written } = encoder.encodeInto(data, into.subarray(at));
    return read === data.length ? written : undefined;
  }
  into.set(data, at);
  return data.length;
}

/** Encodes ISO-8859-1, which is nearly always ASCII. Returns the offset of its end. */
function putLatin(text: string, into: Uint8Array, at: number): number {
  if (text.length > 64 && encoder.encodeInto(text, into.subarray(at, at + text.length)).read === text.length) {
    return at + text.length;
  }
  for (let index = 0; index < text.length; index++) into[at + index] = text.charCodeAt(index);
  return at + text.length;
}
