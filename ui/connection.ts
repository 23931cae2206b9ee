/**
 * The proxy as the page reaches it: its own origin, with the token of this tab.
 * @module
 */
import { Coverage } from "./coverage.ts";
import type { MeshRecord, MeshStatus } from "./records.ts";

/** Where this tab keeps its token. */
const tokenKey = "modelmesh-token";

/** The stream has a comment every 15 s: after a longer silence the connection is lost. */
const silenceMs = 40_000;

/** The proxy keeps so many records: of more than these since the last one that was read, some are missing. */
const keptRecords = 1_000;

/** The proxy asks for a token, or rejects the one it got. */
export class TokenError extends Error {
  override readonly name = "TokenError";
}

/** What the body of an error says. */
interface Fault {
  readonly message: string;
  readonly code?: string | undefined;
  readonly param?: string | undefined;
}

/** The proxy returned an error. */
export class ResponseError extends Error {
  override readonly name = "ResponseError";
  /** HTTP status. */
  readonly status: number;
  /** Code of the error, if it had one. */
  readonly code: string | undefined;
  /** The field of the body that it is about, if it is about one. */
  readonly param: string | undefined;

  constructor(status: number, { message, code, param }: Fault) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = param;
  }
}

/** There was no response. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";

  constructor(cause: unknown) {
    super("The proxy does not respond", { cause });
  }
}

/** What {@linkcode Connection.follow} calls. */
interface Follower {
  /** The stream is open, of a process with this id if several share the storage. */
  readonly onOpen: (process: string) => void;
  /** Records have arrived. */
  readonly onRecords: (records: readonly MeshRecord[]) => void;
}

/** Requests to the proxy. */
export class Connection {
  /** The time whose records have been read. */
  readonly coverage: Coverage = new Coverage();
  /** Paths are below where the page is, so that a prefix of a reverse proxy is kept. */
  readonly #base = location.pathname.replace(/\/ui\/?$/, "");
  #token = sessionStorage.getItem(tokenKey) ?? "";
  #lastId = 0;
  #startedAt = NaN;
  /** How far the proxy's clock is ahead of this one, ms. */
  #aheadMs = 0;

  /** What clients use as their base URL. */
  get apiUrl(): string {
    return `${location.origin}${this.#base}/v1`;
  }

  /** Whether a token was entered. */
  get hasToken(): boolean {
    return this.#token !== "";
  }

  /** The proxy's time, ms since 1970. */
  get now(): number {
    return Date.now() + this.#aheadMs;
  }

  /** Keeps a token until the tab is closed. */
  setToken(token: string): void {
    this.#token = token;
    if (token === "") sessionStorage.removeItem(tokenKey);
    else sessionStorage.setItem(tokenKey, token);
  }

  /**
   * Sends a request.
   *
   * @throws {TokenError} For status 401.
   * @throws {ResponseError} For any other status outside 200 to 299.
   * @throws {UnreachableError} When no response arrives.
   */
  async request(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (this.#token !== "") headers.set("authorization", `Bearer ${this.#token}`);
    const response = await fetch(this.#base + path, { ...init, headers, cache: "no-store" }).catch((cause) => {
      throw init.signal?.aborted ? cause : new UnreachableError(cause);
    });
    if (response.ok) return response;
    const fault = await readFault(response);
    throw response.status === 401 ? new TokenError(fault.message) : new ResponseError(response.status, fault);
  }

  /** Sends JSON. */
  post(path: string, body: unknown, init: RequestInit = {}): Promise<Response> {
    const headers = { "content-type": "application/json", ...init.headers };
    return this.request(path, { method: "POST", ...init, headers, body: JSON.stringify(body) });
  }

  /**
   * Whether the proxy requires a token, of which the page has none. The public health check says so, by leaving its
   * version out; a request without the token would be logged as rejected.
   */
  async lacksToken(): Promise<boolean> {
    if (this.hasToken) return false;
    const response = await fetch(`${this.#base}/health`, { cache: "no-store" }).catch((cause) => {
      throw new UnreachableError(cause);
    });
    const health = await response.json().catch(() => ({}));
    return health.status !== undefined && health.version === undefined;
  }

  /** States, budgets and clients. */
  async status(): Promise<MeshStatus> {
    const response = await this.request("/mesh/status");
    const sentAt = Date.parse(response.headers.get("date") ?? "");
    if (Math.abs(sentAt - Date.now()) > 3000) this.#aheadMs = sentAt + 500 - Date.now();
    const status: MeshStatus = await response.json();
    const startedAt = this.now - status.uptime_seconds * 1000;
    if (Math.abs(startedAt - this.#startedAt) > 4000) this.#lastId = 0; // another process numbers its records from 1 again
    this.#startedAt = startedAt;
    return status;
  }

  /** Reads records until the stream ends: first those that the proxy has kept, then each as it arrives. */
  async follow({ onOpen, onRecords }: Follower): Promise<void> {
    const end = new AbortController();
    let silence = setTimeout(() => end.abort(), silenceMs);
    try {
      const headers = { "last-event-id": String(this.#lastId) };
      const response = await this.request("/mesh/events", { headers, signal: end.signal });
      onOpen(response.headers.get("x-mesh-process") ?? "");
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
      const backlog: Backlog = { after: this.#lastId };
      let text = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(silence);
        silence = setTimeout(() => end.abort(), silenceMs);
        const events = (text + value).split("\n\n");
        text = events.pop()!;
        onRecords(events.flatMap((event) => this.#recordIn(event, backlog)));
      }
    } finally {
      clearTimeout(silence);
      end.abort();
      this.coverage.end(this.now);
    }
  }

  /** The first comment of a stream follows the records that the proxy had kept. */
  #recordIn(event: string, backlog: Backlog): MeshRecord[] {
    const match = /^id: (\d+)\ndata: (.*)$/s.exec(event);
    if (match !== null) {
      this.#lastId = Number(match[1]);
      const record: MeshRecord = JSON.parse(match[2]!);
      backlog.oldest ??= Date.parse(record.timestamp);
      return [record];
    }
    if (!backlog.isRead) this.#cover(backlog);
    backlog.isRead = true;
    return [];
  }

  #cover({ after, oldest }: Backlog): void {
    if (oldest !== undefined && this.#lastId - after > keptRecords) this.coverage.begin(oldest);
    else if (after > 0) this.coverage.resume();
    else this.coverage.begin(this.#startedAt);
  }
}

/** Records that the proxy had kept before the stream was opened. */
interface Backlog {
  /** The id after which they begin. */
  readonly after: number;
  /** When the first of them was written, ms since 1970. */
  oldest?: number;
  isRead?: boolean;
}

async function readFault(response: Response): Promise<Fault> {
  const text = await response.text().catch(() => "");
  const read = (value: unknown) => typeof value === "string" ? value : undefined;
  try {
    const { message, code, param } = JSON.parse(text).error;
    return { message: String(message), code: read(code), param: read(param) };
  } catch {
    return { message: text.slice(0, 300) || `The proxy returned status ${response.status}` };
  }
}
