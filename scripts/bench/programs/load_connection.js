/**
 * A client connection: a raw keep-alive socket with one request at a time.
 * @module
 */
import { Buffer } from "node:buffer";
import { connect } from "node:net";
import { connect as connectSecurely } from "node:tls";

/** Wall-clock time with sub-millisecond resolution, ms, comparable between processes of one machine. */
export const now = () => performance.timeOrigin + performance.now();

const headEnd = Buffer.from("\r\n\r\n");
const lastChunk = Buffer.from("\r\n0\r\n\r\n");
const token = Buffer.from('"content":"token');
const looseToken = Buffer.from('"content": "token');
const idMark = Buffer.from("chatcmpl-");
const eventMark = Buffer.from("data: ");

/** Serializes an HTTP/1.1 request. */
export function requestBytes({ path, headers, body }) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const head = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${lines}content-length: ${Buffer.byteLength(body)}\r\n\r\n`;
  return Buffer.from(head + body);
}

/** Time that the request spent in the mock, ms: the number in the last id before a position. */
function tookBefore(bytes, at) {
  const id = bytes.lastIndexOf(idMark, at);
  return id < 0 ? 0 : (parseInt(bytes.latin1Slice(id + 9, id + 21), 10) || 0) / 1000;
}

/** A connection, opened by the first request and reopened after a close. */
export class Connection {
  #socket;
  #options;
  #reading;

  /** @param {{ port: number, secure?: boolean }} options The server. */
  constructor(options) {
    this.#options = options;
  }

  /**
   * Sends a request.
   *
   * @param {Buffer} bytes The result of {@linkcode requestBytes}.
   * @param {{ first?: (waitMs: number) => void, done: (answer: object) => void }} hear Callbacks: `first` receives the
   *   time to first token; `done` receives `ok`, the latency `ms` and the number of `events`. Times exclude the mock's
   *   own.
   */
  send(bytes, hear) {
    this.#reading = { hear, from: now(), left: -1, status: "", events: 0, took: 0, hasToken: false, tail: "" };
    this.#open().write(bytes);
  }

  /** Disconnects without waiting for the response. */
  leave() {
    this.#reading = undefined;
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #open() {
    if (this.#socket !== undefined) return this.#socket;
    const { port, secure } = this.#options;
    const where = { port, host: "127.0.0.1" };
    const socket = secure ? connectSecurely({ ...where, rejectUnauthorized: false }) : connect(where);
    socket.setNoDelay(true);
    const lose = () => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      this.#end(false);
    };
    socket.on("data", (data) => this.#reading !== undefined && this.#take(data));
    socket.on("error", lose);
    socket.on("close", lose);
    return this.#socket = socket;
  }

  #take(data) {
    const reading = this.#reading;
    let body = data;
    if (reading.status === "") {
      const whole = reading.head === undefined ? data : Buffer.concat([reading.head, data]);
      const at = whole.indexOf(headEnd);
      if (at < 0) return void (reading.head = whole);
      const head = whole.latin1Slice(0, at).toLowerCase();
      reading.status = head.slice(9, 12);
      const length = head.indexOf("\r\ncontent-length:");
      if (length >= 0) reading.left = parseInt(head.slice(length + 17), 10);
      body = whole.subarray(at + 4);
    }
    if (reading.left >= 0) this.#takeWhole(reading, body);
    else this.#takeChunks(reading, body);
  }

  #takeWhole(reading, body) {
    if (reading.took === 0) reading.took = tookBefore(body, body.length);
    reading.left -= body.length;
    if (reading.left <= 0) this.#end(reading.status === "200");
  }

  #takeChunks(reading, body) {
    if (!reading.hasToken) {
      const at = Math.max(body.indexOf(token), body.indexOf(looseToken));
      if (at >= 0) {
        reading.hasToken = true;
        reading.took = tookBefore(body, at);
        reading.hear.first?.(now() - reading.from - reading.took);
      }
    }
    for (let at = body.indexOf(eventMark); at >= 0; at = body.indexOf(eventMark, at + 6)) reading.events++;
    const end = reading.tail + body.latin1Slice(Math.max(0, body.length - 7));
    reading.tail = end.slice(-7);
    if (reading.tail === lastChunk.latin1Slice()) this.#end(reading.status === "200");
  }

  #end(ok) {
    const reading = this.#reading;
    if (reading === undefined) return;
    this.#reading = undefined;
    const { hear, from, took, events } = reading;
    hear.done({ ok, ms: now() - from - took, events });
  }
}
