/**
 * The proxy as the page reaches it: its own origin, with the token of this tab.
 * @module
 */
import type { MeshRecord, MeshStatus } from "./records.ts";

/** Where this tab keeps its token. */
const tokenKey = "modelmesh-token";

/** The stream has a comment every 15 s: after a longer silence the connection is gone. */
const silenceMs = 40_000;

/** The proxy asks for a token, or refuses the one it got. */
export class TokenError extends Error {
  override readonly name = "TokenError";
}

/** What the proxy answered in place of what was asked for. */
export class AnswerError extends Error {
  override readonly name = "AnswerError";

  constructor(readonly status: number, message: string) {
    super(message);
  }
}

/** Requests to the proxy. */
export class Connection {
  /** Paths are below where the page is, so that a prefix of a reverse proxy is kept. */
  readonly #base = location.pathname.replace(/\/ui\/?$/, "");
  #token = sessionStorage.getItem(tokenKey) ?? "";
  #lastId = 0;
  #startedAt = NaN;
  /** What the proxy's clock is ahead of this one, ms. */
  #aheadMs = 0;

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
   * @throws {TokenError} 401.
   * @throws {AnswerError} Any other status that is no success.
   */
  async request(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (this.#token !== "") headers.set("authorization", `Bearer ${this.#token}`);
    const response = await fetch(this.#base + path, { ...init, headers, cache: "no-store" });
    if (response.ok) return response;
    const message = await messageOf(response);
    throw response.status === 401 ? new TokenError(message) : new AnswerError(response.status, message);
  }

  /** Sends JSON. */
  post(path: string, body: unknown, init: RequestInit = {}): Promise<Response> {
    const headers = { "content-type": "application/json", ...init.headers };
    return this.request(path, { ...init, method: "POST", headers, body: JSON.stringify(body) });
  }

  /** States, budgets and clients. */
  async status(): Promise<MeshStatus> {
    const response = await this.request("/mesh/status");
    const sentAt = Date.parse(response.headers.get("date") ?? "");
    if (Math.abs(sentAt - Date.now()) > 3000) this.#aheadMs = sentAt + 500 - Date.now();
    const status: MeshStatus = await response.json();
    const startedAt = this.now - status.uptime_seconds * 1000;
    if (Math.abs(startedAt - this.#startedAt) > 4000) this.#lastId = 0; // another process: its records begin anew
    this.#startedAt = startedAt;
    return status;
  }

  /**
   * Reads records until the stream ends: first those that the proxy has kept, then each as it comes.
   *
   * @param onOpen Called once it is open.
   * @param onRecords Called with what has arrived.
   */
  async follow(onOpen: () => void, onRecords: (records: readonly MeshRecord[]) => void): Promise<void> {
    const end = new AbortController();
    let silence = setTimeout(() => end.abort(), silenceMs);
    try {
      const headers = { "last-event-id": String(this.#lastId) };
      const response = await this.request("/mesh/events", { headers, signal: end.signal });
      onOpen();
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(silence);
        silence = setTimeout(() => end.abort(), silenceMs);
        const events = (text + value).split("\n\n");
        text = events.pop()!;
        onRecords(events.flatMap((event) => this.#recordIn(event)));
      }
    } finally {
      clearTimeout(silence);
      end.abort();
    }
  }

  #recordIn(event: string): MeshRecord[] {
    const match = /^id: (\d+)\ndata: (.*)$/s.exec(event);
    if (match === null) return []; // a comment
    this.#lastId = Number(match[1]);
    return [JSON.parse(match[2]!)];
  }
}

async function messageOf(response: Response): Promise<string> {
  const text = await response.text().catch(() => "");
  try {
    return JSON.parse(text).error.message;
  } catch {
    return text.slice(0, 300) || `The proxy answered ${response.status}`;
  }
}
