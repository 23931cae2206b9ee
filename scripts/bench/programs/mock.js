/**
 * Mock upstream: OpenAI's chat completions on raw sockets, on Node, or on Deno if Node is not installed. It searches
 * requests only for their end, `stream` and `include_usage`, so that it is never the bottleneck of a measurement.
 *
 * Argument: JSON with `port`; for TLS also `securePort`, and the paths `key` and `cert`. `GET /mock/set?{json}` changes
 * its {@linkcode mode}, `GET /mock/seen` returns the recorded requests. Exits at the end of standard input.
 * @module
 */
import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import process from "node:process";
import { createServer as createSecureServer } from "node:tls";
import { idOf, stream, wholeAnswer, wholeStream } from "./mock_answers.js";

/**
 * Behaviour: `delayMs` is the delay of complete responses, `paceMs` that of each event (0 sends all at once), and
 * `firstMs` that of the first event, unless 0.
 */
const mode = { bytes: 1024, delayMs: 0, events: 50, paceMs: 0, firstMs: 0 };
const seen = { requests: 0, lastBody: "", left: [] };
let whole = wholeAnswer(mode.bytes);
let streams = { plain: wholeStream(mode.events, false), withUsage: wholeStream(mode.events, true) };

const now = () => performance.timeOrigin + performance.now();
const headEnd = Buffer.from("\r\n\r\n");

/** Length of the first request in a buffer, bytes; -1 while its head, or the end of a chunked body, is missing. */
function requestLength(buffer) {
  const end = buffer.indexOf(headEnd);
  if (end < 0) return -1;
  const head = buffer.latin1Slice(0, end).toLowerCase();
  const at = head.indexOf("\r\ncontent-length:");
  if (at >= 0) return end + 4 + parseInt(head.slice(at + 17), 10);
  if (!head.includes("\r\ntransfer-encoding: chunked")) return end + 4;
  const last = buffer.indexOf("\r\n0\r\n\r\n", end);
  return last < 0 ? -1 : last + 7;
}

function serve(socket) {
  let rest;
  let leave = () => {};
  const closed = () => {
    leave();
    leave = () => {};
  };
  socket.setNoDelay(true);
  socket.on("error", closed);
  socket.on("end", closed);
  socket.on("close", closed);
  socket.on("data", (data) => {
    rest = rest === undefined ? data : Buffer.concat([rest, data]);
    for (let length = requestLength(rest); length >= 0 && length <= rest.length;) {
      const request = rest.subarray(0, length);
      rest = length === rest.length ? undefined : rest.subarray(length);
      leave = answer(socket, request, () => leave = () => {}) ?? leave;
      if (rest === undefined) break;
      length = requestLength(rest);
    }
  });
}

/** Sends the response. Returns a callback for a client that disconnects before its end. */
function answer(socket, request, end) {
  if (request.latin1Slice(0, 10) === "GET /mock/") return control(socket, request.latin1Slice(10));
  seen.requests++;
  const isStream = request.includes('"stream":true') || request.includes('"stream": true');
  if (seen.requests % 64 === 1) seen.lastBody = request.latin1Slice(request.indexOf(headEnd) + 4);
  if (!isStream && mode.delayMs === 0) return void socket.write(whole.bytes);
  const asksUsage = isStream && /"include_usage": ?true/.test(request.latin1Slice());
  if (isStream && mode.paceMs === 0) return void socket.write(asksUsage ? streams.withUsage : streams.plain);
  return isStream ? paced(socket, asksUsage, end) : delayed(socket, end);
}

function delayed(socket, end) {
  const from = now();
  const timer = setTimeout(() => {
    const bytes = Buffer.from(whole.bytes);
    bytes.latin1Write(idOf((now() - from) * 1000), whole.idAt);
    end();
    socket.write(bytes);
  }, mode.delayMs);
  return () => {
    seen.left.push(now());
    clearTimeout(timer);
  };
}

function paced(socket, asksUsage, end) {
  const from = now();
  const { events } = mode;
  let sent = 0;
  let timer;
  const next = () => {
    if (sent === 0) socket.write(stream.first((now() - from) * 1000));
    else if (sent < events) socket.write(stream.token);
    if (++sent <= events) return;
    clearInterval(timer);
    end();
    socket.write(asksUsage ? stream.tailWithUsage : stream.tail);
  };
  const begin = () => {
    timer = setInterval(next, mode.paceMs);
    next();
  };
  if (mode.firstMs > 0) timer = setTimeout(begin, mode.firstMs);
  else timer = setInterval(next, mode.paceMs);
  socket.write(stream.head);
  return () => {
    seen.left.push(now());
    clearInterval(timer);
  };
}

function control(socket, path) {
  const [command, query = ""] = path.slice(0, path.indexOf(" ")).split("?");
  if (command === "set") {
    Object.assign(mode, JSON.parse(decodeURIComponent(query)));
    whole = wholeAnswer(mode.bytes);
    streams = { plain: wholeStream(mode.events, false), withUsage: wholeStream(mode.events, true) };
    Object.assign(seen, { requests: 0, lastBody: "", left: [] });
  }
  const body = JSON.stringify({ ...seen, mode });
  socket.write(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
}

const { port, securePort, key, cert } = JSON.parse(process.argv[2]);
const backlog = 8192;
createServer(serve).listen({ port, host: "127.0.0.1", backlog });
if (securePort !== undefined) {
  createSecureServer({ key: readFileSync(key), cert: readFileSync(cert) }, serve)
    .listen({ port: securePort, host: "127.0.0.1", backlog });
}
process.stdin.on("end", () => process.exit(0));
process.stdin.resume();
