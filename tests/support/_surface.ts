/**
 * Tests of the proxy's HTTP surface: raw requests, and the format of error responses.
 * @module
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { Buffer } from "node:buffer";
import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { patienceMs, until } from "./patience.ts";
import { startTestProxy, type TestProxy, type TestProxyOptions } from "./proxy.ts";
import { assertMatchesSchema } from "./schema.ts";
import { respond, startUpstream, type Upstream } from "./upstream.ts";

/** HTTP servers of a proxy on this runtime. */
export const listeners: readonly NonNullable<TestProxyOptions["listener"]>[] = "Deno" in globalThis
  ? ["deno", "node"]
  : ["node"];

/** A request body that every pool serves. */
export const goodBody: Readonly<Record<string, unknown>> = {
  model: "chat",
  messages: [{ role: "user", content: "Hi" }],
};

/** A response received over a raw socket. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/**
 * Sends bytes and reads one response: by its length, else until the server closes the connection.
 *
 * @param url URL of the server; only its port is used.
 * @param text The request. Use `connection: close` if the response has no length.
 */
export function sendRaw(url: string, text: string): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1" });
    const decoder = new TextDecoder();
    let answer = "";
    socket.on("data", (data: Uint8Array) => {
      answer += decoder.decode(data, { stream: true });
      if (isComplete(answer)) socket.destroy();
    });
    const tooLate = () => socket.destroy(new Error(`No answer within ${patienceMs} ms, but ${JSON.stringify(answer)}`));
    socket.setTimeout(patienceMs, tooLate);
    socket.on("error", reject);
    socket.on("close", () => resolve(parse(answer)));
    socket.write(text);
  });
}

/**
 * Sends bytes, and returns what is received until the response is complete or the connection closes.
 *
 * @param text The request, one byte per character, as is the response.
 */
export function sendBytes(port: number, text: string, { isTls = false }: { isTls?: boolean } = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const where = { port, host: "127.0.0.1" };
    const socket = isTls ? connectTls({ ...where, rejectUnauthorized: false }) : connect(where);
    let answer = "";
    socket.on("data", (data: Uint8Array) => {
      answer += Buffer.from(data).toString("latin1");
      if (isComplete(answer)) socket.destroy();
    });
    const about = () => `${JSON.stringify(text.slice(0, 80))}, but ${JSON.stringify(answer.slice(0, 80))}`;
    socket.setTimeout(patienceMs, () => reject(new Error(`No answer within ${patienceMs} ms to ${about()}`)));
    socket.on("error", () => {}); // a server that rejects a request may reset the connection
    socket.on("close", () => resolve(answer));
    socket.write(Buffer.from(text, "latin1"));
  });
}

/**
 * Sends a GET with this target and these headers, exactly as written.
 *
 * @param url URL of the server.
 * @param target The request target.
 * @param headers Header lines; `Host` is added unless present.
 */
export function getRaw(url: string, target: string, headers: readonly string[] = []): Promise<RawResponse> {
  const hasHost = headers.some((line) => line.toLowerCase().startsWith("host:"));
  const lines = [...hasHost ? [] : [`Host: ${new URL(url).host}`], ...headers, "Connection: close"];
  return sendRaw(url, `GET ${target} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
}

function isComplete(answer: string): boolean {
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(answer)?.[1];
  const end = answer.indexOf("\r\n\r\n");
  return length !== undefined && end >= 0 && new TextEncoder().encode(answer.slice(end + 4)).length >= Number(length);
}

function parse(answer: string): RawResponse {
  const end = answer.indexOf("\r\n\r\n");
  const [first = "", ...lines] = answer.slice(0, end).split("\r\n");
  const headers = new Headers(lines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  }));
  return { status: Number(first.split(" ")[1]), headers, body: answer.slice(end + 4) };
}

/**
 * Resolves when a loopback port refuses connections.
 *
 * @param url URL of the server.
 */
export function untilRefused(url: string): Promise<void> {
  return until(() => isRefused(url), `${url} refuses connections`);
}

function isRefused(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port: Number(new URL(url).port), host: "127.0.0.1" });
    socket.on("connect", () => {
      socket.destroy();
      resolve(false);
    });
    socket.on("error", () => resolve(true));
  });
}

/** An expected error response; `type` is `invalid_request_error` and `param` null by default. */
export interface Refused {
  readonly status: number;
  readonly code: string;
  readonly type?: string;
  readonly param?: string | null;
  /** Expected headers; null for a header that must be absent. */
  readonly headers?: Readonly<Record<string, string | null>>;
}

/** The error of a response. */
export interface ErrorFacts {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string;
}

/**
 * Checks an error response: status, headers, and a body in OpenAI's shape.
 *
 * @param response A response whose body has not been read.
 * @param refused The expected error.
 * @param about Description for the error message.
 */
export async function assertRefused(
  response: Response,
  refused: Refused,
  about: string = refused.code,
): Promise<ErrorFacts> {
  return checkRefused(
    { status: response.status, headers: response.headers, body: await response.text() },
    refused,
    about,
  );
}

/**
 * Checks an error response whose body has been read.
 *
 * @param refused The expected error.
 * @param about Description for the error message.
 */
export function checkRefused(answer: RawResponse, refused: Refused, about: string = refused.code): ErrorFacts {
  const { status, code, type = "invalid_request_error", param = null, headers = {} } = refused;
  assert(answer.body.startsWith("{"), `${about}: ${answer.status} ${answer.body}`);
  const body = JSON.parse(answer.body) as { error: ErrorFacts };
  assertMatchesSchema("ErrorResponse", body);
  const { error } = body;
  assertEquals(
    { status: answer.status, type: error.type, code: error.code, param: error.param },
    { status, type, code, param },
    `${about}: ${error.message}`,
  );
  assert(error.message !== "", about);
  assertMatch(answer.headers.get("content-type") ?? "", /^application\/json/);
  assertRequestId(answer.headers, about);
  for (const [name, value] of Object.entries(headers)) {
    assertEquals(answer.headers.get(name), value, `${about}: ${name}`);
  }
  return error;
}

/**
 * Checks that a response has a request id.
 *
 * @param headers Headers of the response.
 * @param about Description for the error message.
 */
export function assertRequestId(headers: Headers, about: string = "x-request-id"): string {
  const id = headers.get("x-request-id") ?? "";
  assertMatch(id, /^[\x21-\x7e]{1,128}$/, about);
  return id;
}

/** Options of {@linkcode refusing}. */
export interface RefusingOptions {
  /** Sections of the configuration. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** HTTP servers; that of the runtime by default. */
  readonly listeners?: readonly TestProxyOptions["listener"][];
}

/**
 * Runs a test on a proxy that rejects every request. No call goes upstream, no state changes,
 * and the next valid request succeeds.
 *
 * @param test The test, called with the proxy.
 * @param options Configuration and servers.
 */
export async function refusing(
  test: (proxy: TestProxy, upstream: Upstream) => Promise<void>,
  options: RefusingOptions = {},
): Promise<void> {
  for (const listener of options.listeners ?? [undefined]) {
    await using upstream = await startUpstream(respond());
    await using proxy = await startTestProxy({ upstreams: { a: upstream.url }, config: options.config, listener });
    await test(proxy, upstream);
    assertEquals(upstream.calls, 0, "nothing may go upstream");
    assertEquals(proxy.records, [], "nothing was routed, nothing changed its state");
    assertEquals((await (await proxy.chat()).json()).choices[0].message.content, "Hello world");
  }
}
