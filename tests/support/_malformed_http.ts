/**
 * Malformed and rejected HTTP requests: their bytes, and the expected responses.
 * @module
 */

/** A malformed request. */
export interface MalformedRequest {
  /** What is wrong with it. */
  readonly what: string;
  /** Its bytes, one per character. */
  readonly bytes: string;
  /**
   * Expected status; where servers differ, of `node:http` and `Deno.serve`. 0: closed without a response; 200: accepted
   * by that server.
   */
  readonly status: number | readonly [node: number, deno: number];
  /** Expected error code in the body; empty if the server rejects it itself, or accepts it. */
  readonly code: string | readonly [node: string, deno: string];
}

type Status = MalformedRequest["status"];
type Row = readonly [what: string, bytes: string, status: Status, code?: MalformedRequest["code"]];

const crlf = "\r\n";
const body = '{"model":"chat","messages":[{"role":"user","content":"Hi"}]}';
const path = "/v1/chat/completions";
const length = `Content-Length: ${body.length}`;
const json = "Content-Type: application/json";

/** A valid request, with some parts replaced. */
function post(parts: { line?: string; host?: string | null; headers?: readonly string[]; body?: string } = {}): string {
  const { line = `POST ${path} HTTP/1.1`, host = "Host: 127.0.0.1", headers = [json, length] } = parts;
  const lines = [line, ...(host === null ? [] : [host]), ...headers, "Connection: close"];
  return `${lines.join(crlf)}${crlf}${crlf}${parts.body ?? body}`;
}

const withLine = (line: string) => post({ line });
const withHost = (host: string) => post({ host: `Host: ${host}` });
const withHeader = (...headers: string[]) => post({ headers: [json, length, ...headers] });
const withLength = (...lengths: string[]) =>
  post({ headers: [json, ...lengths.map((value) => `Content-Length: ${value}`)] });
const withType = (type: string) => post({ headers: [`Content-Type: ${type}`, length] });
const withBody = (text: string) => post({ headers: [json, `Content-Length: ${text.length}`], body: text });
const chunked = (text: string, ...headers: string[]) =>
  post({ headers: [json, ...(headers.length === 0 ? ["Transfer-Encoding: chunked"] : headers)], body: text });
const chunk = (text: string) => `${text.length.toString(16)}${crlf}${text}${crlf}`;
const get = (target: string) => `GET ${target} HTTP/1.1${crlf}Host: 127.0.0.1${crlf}Connection: close${crlf}${crlf}`;

const lines: readonly Row[] = [
  ["no method", withLine(` ${path} HTTP/1.1`), 400],
  ["a method in lower case", withLine(`post ${path} HTTP/1.1`), [400, 405], ["", "method_not_allowed"]],
  ["an unknown method", withLine(`BREW ${path} HTTP/1.1`), [400, 405], ["", "method_not_allowed"]],
  ["a method with a bracket", withLine(`PO(ST ${path} HTTP/1.1`), 400],
  ["a method with a control character", withLine(`PO\x01ST ${path} HTTP/1.1`), 400],
  ["a method that is not ASCII", withLine(`P\xd6ST ${path} HTTP/1.1`), 400],
  ["a method of 10,000 letters", withLine(`${"A".repeat(10_000)} ${path} HTTP/1.1`), [400, 405], [
    "",
    "method_not_allowed",
  ]],
  ["a method alone", withLine("POST"), 400],
  ["no target", withLine("POST HTTP/1.1"), 400],
  ["no version", withLine(`POST ${path}`), [505, 400]],
  ["version 1.2", withLine(`POST ${path} HTTP/1.2`), 400],
  ["version 2.0", withLine(`POST ${path} HTTP/2.0`), [505, 400]],
  ["version 0.9", withLine(`POST ${path} HTTP/0.9`), [505, 400]],
  ["version 1", withLine(`POST ${path} HTTP/1`), 400],
  ["version 1.1.1", withLine(`POST ${path} HTTP/1.1.1`), 400],
  ["a version in lower case", withLine(`POST ${path} http/1.1`), 400],
  ["words after the version", withLine(`POST ${path} HTTP/1.1 now`), 400],
  ["a tab in place of a space", withLine(`POST\t${path} HTTP/1.1`), 400],
  ["two spaces", withLine(`POST  ${path} HTTP/1.1`), [200, 400]],
  ["a space before all", withLine(` POST ${path} HTTP/1.1`), 400],
  ["a space in the target", withLine("POST /v1/chat completions HTTP/1.1"), 400],
  ["a NUL in the target", withLine(`POST ${path}\x00 HTTP/1.1`), 400],
  ["a control character in the target", withLine(`POST ${path}\x07 HTTP/1.1`), 400],
  ["a target without a slash", withLine("POST v1/chat/completions HTTP/1.1"), 400],
  ["a target that is a word", get("models"), 400],
  ["a star for a target", get("*"), [404, 400], ["unknown_url", ""]],
  ["a fragment alone", get("#x"), 400],
  ["a path that climbs", get("/v1/../../etc/passwd"), 400, "invalid_url"],
  ["a path that climbs, encoded", get("/v1/%2e%2e/%2e%2e/etc/passwd"), 400, "invalid_url"],
  ["a path with bad escapes", get("/v1/%zz%"), 404, "unknown_url"],
  ["a path with an encoded NUL", get("/v1/models%00"), 400, "invalid_url"],
  ["a target of 20,000 characters", get(`/v1/${"a".repeat(20_000)}`), [431, 404], ["", "unknown_url"]],
  ["a CONNECT", `CONNECT 127.0.0.1:443 HTTP/1.1${crlf}Host: 127.0.0.1:443${crlf}${crlf}`, [0, 405], [
    "",
    "method_not_allowed",
  ]],
  ["a TRACE", get(path).replace("GET", "TRACE"), 405, "method_not_allowed"],
  ["a PUT", post().replace("POST", "PUT"), 405, "method_not_allowed"],
  ["a GET for a POST", get(path), 405, "method_not_allowed"],
  ["a POST for a GET", post({ line: "POST /v1/models HTTP/1.1" }), 405, "method_not_allowed"],
  [
    "the start of a TLS handshake",
    "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + "\x00".repeat(32) + crlf + crlf,
    400,
  ],
  ["an answer in place of a request", `HTTP/1.1 200 OK${crlf}Content-Length: 0${crlf}${crlf}`, 400],
  ["another protocol's words", `EHLO example.test${crlf}${crlf}`, 400],
  ["noise", `\x00\x01\x02\xff\xfe\xfd${crlf}${crlf}`, 400],
  ["a JSON line alone", `${body}${crlf}${crlf}`, 400],
];

const headers: readonly Row[] = [
  ["no host", post({ host: null }), [400, 200]],
  ["two hosts", post({ host: `Host: 127.0.0.1${crlf}Host: 127.0.0.1` }), [400, 400], ["invalid_value", ""]],
  ["two hosts, one foreign", post({ host: `Host: 127.0.0.1${crlf}Host: evil.test` }), [400, 400], [
    "invalid_value",
    "",
  ]],
  ["a foreign host", withHost("evil.test"), 403, "host_not_allowed"],
  ["an empty host", withHost(""), 400, "invalid_value"],
  ["a host with a name and password", withHost("user:password@127.0.0.1"), 400, "invalid_value"],
  ["a host with a path", withHost("127.0.0.1/v1"), 400, "invalid_value"],
  ["a host with a space", withHost("127.0.0.1 evil.test"), 400, "invalid_value"],
  ["a host with a port that is none", withHost("127.0.0.1:http"), 400, "invalid_value"],
  ["a host with a port beyond all", withHost("127.0.0.1:99999"), 400, "invalid_value"],
  ["a host with an open bracket", withHost("[::1"), 400, "invalid_value"],
  ["a host that is not ASCII", withHost("ex\xe4mple.test"), 400, "invalid_value"],
  ["two hosts in one", withHost("127.0.0.1, evil.test"), 400, "invalid_value"],
  ["a header without a colon", withHeader("X-Lost"), 400],
  ["a header without a name", withHeader(": x"), 400],
  ["a space before the colon", withHeader("X-Space : x"), 400],
  ["a space in the name", withHeader("X Space: x"), 400],
  ["a bracket in the name", withHeader("X(Y): x"), 400],
  ["a name that is not ASCII", withHeader("X-\xe4: x"), 400],
  ["a control character in the name", withHeader("X-\x01: x"), 400],
  ["a NUL in the value", withHeader("X-Nul: a\x00b"), 400],
  ["a lone CR in the value", withHeader("X-Cr: a\rb"), 400],
  ["a control character in the value", withHeader("X-Control: a\x01b"), 400],
  ["a DEL in the value", withHeader("X-Del: a\x7fb"), 400],
  ["a folded value", withHeader(`X-Folded: a${crlf} b`), 400],
  ["a folded first header", `POST ${path} HTTP/1.1${crlf} Host: 127.0.0.1${crlf}${crlf}`, 400],
  ["a value of 20,000 characters", withHeader(`X-Long: ${"a".repeat(20_000)}`), [431, 200]],
  ["a name of 20,000 characters", withHeader(`X-${"a".repeat(20_000)}: x`), [431, 200]],
  ["3,000 headers", withHeader(...Array.from({ length: 3_000 }, (_, index) => `X-${index}: x`)), [431, 400]],
  ["a length below zero", withLength("-1"), 400],
  ["a length with a plus", withLength(`+${body.length}`), 400],
  ["a length in hexadecimals", withLength("0x3c"), 400],
  ["a length with a point", withLength("60.0"), 400],
  ["a length in words", withLength("sixty"), 400],
  ["an empty length", withLength(""), 400],
  ["a length beyond 2^64", withLength("18446744073709551616"), 400],
  ["two lengths that differ", withLength(String(body.length), "5"), 400],
  ["two lengths in one that differ", withLength(`${body.length}, 5`), 400],
  ["length and chunks at once", chunked(`${chunk(body)}0${crlf}${crlf}`, length, "Transfer-Encoding: chunked"), 400],
  ["chunks and length at once", chunked(`${chunk(body)}0${crlf}${crlf}`, "Transfer-Encoding: chunked", length), 400],
  ["a coding that is unknown", chunked(body, "Transfer-Encoding: gzip"), 400],
  ["a coding after chunks", chunked(`0${crlf}${crlf}`, "Transfer-Encoding: chunked, gzip"), 400],
  ["a coding of another name", chunked(`0${crlf}${crlf}`, "Transfer-Encoding: xchunked"), 400],
  ["a coding with a control character", chunked(`0${crlf}${crlf}`, "Transfer-Encoding: \x0bchunked"), 400],
  ["a wish that is unknown", withHeader("Expect: the unexpected"), [417, 200]],
  ["a body over the limit", withLength("99999999999"), 413, "request_too_large"],
];

const meanings: readonly Row[] = [
  ["no body", post({ headers: [json, "Content-Length: 0"], body: "" }), 400, "invalid_json"],
  ["a body of another type", withType("text/plain"), 415, "unsupported_media_type"],
  ["a form", withType("application/x-www-form-urlencoded"), 415, "unsupported_media_type"],
  ["a form with files, for a chat", withType("multipart/form-data; boundary=x"), 415, "unsupported_media_type"],
  ["a type that begins like JSON", withType("application/jsonp"), 415, "unsupported_media_type"],
  ["an empty type", withType(""), 415, "unsupported_media_type"],
  ["two types in one", withType("text/plain, application/json"), 415, "unsupported_media_type"],
  ["another charset", withType("application/json; charset=utf-16"), 415, "unsupported_media_type"],
  ["a body that is not packed as it says", withHeader("Content-Encoding: gzip"), 400, "invalid_value"],
  ["a body packed twice", withHeader("Content-Encoding: gzip, br"), 415, "unsupported_media_type"],
  ["a body that is not UTF-8", withBody('{"model":"\xff"}'), 400, "invalid_json"],
  ["half a document", withBody(body.slice(0, -1)), 400, "invalid_json"],
  ["two documents", withBody(body + body), 400, "invalid_json"],
  ["a list", withBody("[]"), 400, "invalid_value"],
  ["a member twice", withBody(body.replace("{", '{"model":"other",')), 400, "invalid_value"],
  ["no model", withBody(body.replace('"model":"chat",', "")), 400, "missing_required_parameter"],
  ["an unknown model", withBody(body.replace("chat", "none")), 404, "model_not_found"],
  ["messages that are none", withBody('{"model":"chat","messages":"Hi"}'), 400, "invalid_value"],
  ["a route that is none", withHeader("X-Mesh-Route: everywhere"), 400, "invalid_value"],
  ["a route with an unknown field", withHeader("X-Mesh-Route: via=a"), 400, "invalid_value"],
  ["a route with a price that is none", withHeader("X-Mesh-Route: max-price=cheap"), 400, "invalid_value"],
  ["a route with an unknown model", withHeader("X-Mesh-Route: only=none"), 400, "invalid_value"],
  ["a page of elsewhere", withHeader("Origin: https://evil.test"), 403, "origin_not_allowed"],
  ["an origin that is none", withHeader("Origin: evil"), 403, "origin_not_allowed"],
  ["an origin of nowhere", withHeader("Origin: null"), 403, "origin_not_allowed"],
];

const chunks: readonly Row[] = [
  ["a chunk whose size is a word", chunked(`zz${crlf}${body}${crlf}0${crlf}${crlf}`), [400, 0]],
  ["a chunk without a size", chunked(`${crlf}${body}${crlf}0${crlf}${crlf}`), [400, 0]],
  ["a chunk of a size below zero", chunked(`-1${crlf}${body}${crlf}0${crlf}${crlf}`), [400, 0]],
  ["a chunk of a size with a sign", chunked(`+3c${crlf}${body}${crlf}0${crlf}${crlf}`), [400, 0]],
  ["a chunk of a size with a prefix", chunked(`0x3c${crlf}${body}${crlf}0${crlf}${crlf}`), [400, 0]],
  ["a chunk of a size beyond 2^64", chunked(`10000000000000000${crlf}${body}${crlf}0${crlf}${crlf}`), [400, 0]],
  ["a chunk shorter than it says", chunked(`3d${crlf}${body}${crlf}0${crlf}${crlf}`), [400, 0]],
  ["a chunk longer than it says", chunked(`3b${crlf}${body}${crlf}0${crlf}${crlf}`), [400, 0]],
  ["a chunk that a bare LF ends", chunked(`3c${crlf}${body}\n0${crlf}${crlf}`), [400, 0]],
  ["a chunk's size that a bare CR ends", chunked(`3c\r${body}${crlf}0${crlf}${crlf}`), [400, 0]],
  ["a trailer without a colon", chunked(`${chunk(body)}0${crlf}lost${crlf}${crlf}`), [400, 0]],
  ["chunks that are no JSON", chunked(`${chunk("{")}0${crlf}${crlf}`), 400, "invalid_json"],
];

/** Requests to a proxy that requires a token. */
const secrets: readonly Row[] = [
  ["no token", withHeader(), 401, "invalid_api_key"],
  ["an empty token", withHeader("Authorization: Bearer "), 401, "invalid_api_key"],
  ["a scheme alone", withHeader("Authorization: Bearer"), 401, "invalid_api_key"],
  ["another scheme", withHeader("Authorization: Basic dXNlcjpwYXNzd29yZA=="), 401, "invalid_api_key"],
  ["a token without a scheme", withHeader("Authorization: a-long-secret-0123456789"), 401, "invalid_api_key"],
  ["another token", withHeader("Authorization: Bearer a-long-secret-0123456780"), 401, "invalid_api_key"],
  ["the start of the token", withHeader("Authorization: Bearer a-long-secret"), 401, "invalid_api_key"],
  ["the token and more", withHeader("Authorization: Bearer a-long-secret-0123456789x"), 401, "invalid_api_key"],
  ["a token of 10,000 letters", withHeader(`Authorization: Bearer ${"x".repeat(10_000)}`), 401, "invalid_api_key"],
  ["a token that is not ASCII", withHeader("Authorization: Bearer s\xe4cret"), 401, "invalid_api_key"],
  [
    "a token in the query",
    post({ line: `POST ${path}?key=a-long-secret-0123456789 HTTP/1.1` }),
    401,
    "invalid_api_key",
  ],
];

const requestsOf = (rows: readonly Row[]): readonly MalformedRequest[] =>
  rows.map(([what, bytes, status, code = ""]) => ({ what, bytes, status, code }));

/** All requests, by category. */
export const malformed: Readonly<Record<string, readonly MalformedRequest[]>> = {
  "first line": requestsOf(lines),
  "headers": requestsOf(headers),
  "chunks": requestsOf(chunks),
  "meaning": requestsOf(meanings),
  "token": requestsOf(secrets),
};

/** The token that these require. */
export const token = "a-long-secret-0123456789";

/** A valid request. */
export const good: string = post();
