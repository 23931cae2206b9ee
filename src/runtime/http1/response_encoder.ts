/**
 * Encodes heads of responses.
 * @module
 */
import type { PlainResponse } from "../../contracts/shell.ts";

/** Exceeds load balancers' usual idle timeout (60 s): otherwise they would send requests on closing connections. */
export const keepAliveSeconds = 75;

/** Reason phrases; others are empty. */
const reasons: Readonly<Record<number, string>> = {
  100: "Continue",
  200: "OK",
  201: "Created",
  202: "Accepted",
  204: "No Content",
  304: "Not Modified",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  417: "Expectation Failed",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  499: "Client Closed Request",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
  505: "HTTP Version Not Supported",
};

/** Fields that only the server sets. */
const own = new Set(["connection", "content-length", "keep-alive", "transfer-encoding"]);
const invalidValue = /[^\t\x20-\x7e\x80-\xff]/;

/**
 * Encodes the head of a response, without its end.
 *
 * @param response Status and headers.
 * @param isLast Whether the connection is closed after it.
 * @returns undefined for an invalid header value, which would corrupt the head.
 */
export function encodedHead({ status, headers }: PlainResponse, isLast: boolean): string | undefined {
  let head = statusLine(status);
  if (headers.date === undefined) head += `date: ${httpDate()}\r\n`;
  for (const name in headers) {
    if (own.has(name)) continue;
    const value: string | readonly string[] = headers[name]!;
    for (const one of typeof value === "string" ? [value] : value as readonly string[]) {
      if (invalidValue.test(one)) return undefined;
      head += `${name}: ${one}\r\n`;
    }
  }
  return head +
    (isLast ? "connection: close\r\n" : `connection: keep-alive\r\nkeep-alive: timeout=${keepAliveSeconds}\r\n`);
}

/** The head of a response without a body, after which the connection is closed. */
export function refusal(status: number): string {
  return `${statusLine(status)}connection: close\r\ncontent-length: 0\r\n`;
}

/** Whether responses with a status have no body, nor a length (RFC 9110, section 6.4.1). */
export function hasNoBody(status: number): boolean {
  return status === 204 || status === 304;
}

function statusLine(status: number): string {
  return `HTTP/1.1 ${status} ${reasons[status] ?? ""}\r\n`;
}

let second = 0;
let date = "";

function httpDate(): string {
  const now = Date.now();
  if (now - second >= 1_000 || now < second) {
    second = now - now % 1_000;
    date = new Date(second).toUTCString();
  }
  return date;
}
