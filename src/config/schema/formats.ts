/**
 * Checks of string formats. Each returns the error, which never quotes the string.
 * @module
 */
import type { Field, Format } from "./field.ts";
import { type Cron, nextStart, parseCron } from "../../util/cron.ts";
import { isHours } from "../../util/pricing.ts";

const minTokenLength = 16;
const minuteMs = 60_000;

/** The error of a string that is not of a format; undefined if it is. */
export function formatProblem(text: string, format: Field["format"]): string | undefined {
  if (format === undefined) return undefined;
  return typeof format === "function" ? format(text) : problems[format](text);
}

const problems: Readonly<Record<Format, (text: string) => string | undefined>> = {
  credential: credentialProblem,
  secret: secretProblem,
  header: headerProblem,
  baseUrl: baseUrlProblem,
  origin: originProblem,
  host: hostProblem,
  cron: cronProblem,
  day: dayProblem,
  hours: (hours) => isHours(hours) ? undefined : 'expected two times (UTC) such as "16:30-00:30"',
  hash: hashProblem,
  download: findDownloadProblem,
  publicKey: findKeyProblem,
  keysUrl: findKeysUrlProblem,
};

/** Checks an API key or token; it becomes a header value unchanged. */
export function credentialProblem(key: string): string | undefined {
  const at = key.search(/[^\x21-\x7e]/);
  if (at === -1) return undefined;
  return `has a space, a control or a non-ASCII character at position ${at + 1}, which a key must not contain`;
}

/** Maximum length of a header value: servers accept 8 KiB for a line, or for all headers. */
const maxHeaderLength = 4096;

/** Checks the value of a header. */
export function headerProblem(value: string): string | undefined {
  const at = value.search(/[^\x20-\x7e]/);
  if (at !== -1) return `has a control or a non-ASCII character at position ${at + 1}, which a header must not contain`;
  if (value.trim() !== value) return "has surrounding spaces, which a header must not have";
  return value.length > maxHeaderLength ? `has more than ${maxHeaderLength} characters` : undefined;
}

/** Checks a day of the calendar. */
function dayProblem(day: string): string | undefined {
  const date = new Date(/^\d{4}-\d{2}-\d{2}$/.test(day) ? day : NaN);
  const isDay = !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
  return isDay ? undefined : 'expected a date such as "2027-01-31"';
}

/** Checks a signing secret. */
export function secretProblem(secret: string): string | undefined {
  if (secret.length >= minTokenLength) return undefined;
  return `is short: use ${minTokenLength} characters or more, such as 32 random bytes in base64 (openssl rand -base64 32)`;
}

/** Warns about a valid but weak proxy token. */
export function tokenWarning(token: string): string | undefined {
  return token.length < minTokenLength
    ? `is short: use ${minTokenLength} characters or more, so that it cannot be guessed`
    : undefined;
}

/** Checks a provider's base URL; undefined if valid. */
export function baseUrlProblem(address: string): string | undefined {
  const expected = 'expected an http or https URL such as "https://api.example.com/v1"';
  const url = parseUrl(address);
  if (url === undefined) return expected;
  if (url.username !== "" || url.password !== "") return `${expected} without a user name or password`;
  if (/[?#]/.test(address)) return `${expected} without a query or fragment`;
  return undefined;
}

/**
 * Warns about a valid but questionable base URL, such as plain HTTP to another machine.
 *
 * @param hasKey Whether an API key is sent there.
 */
export function baseUrlWarning(address: string, hasKey: boolean): string | undefined {
  const url = parseUrl(address);
  if (url === undefined) return undefined;
  if (/^(?:169\.254\.|\[fe80:|\[fd00:ec2:)/.test(url.hostname)) return "is a link-local address";
  return hasKey && url.protocol === "http:" && !isLoopback(url.hostname)
    ? "sends the key unencrypted: use https"
    : undefined;
}

/** Whether a host name is a loopback address. */
function isLoopback(host: string): boolean {
  return /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/.test(host);
}

/** Checks an allowed origin; `*` is valid. */
export function originProblem(origin: string): string | undefined {
  return origin === "*" || parseUrl(origin)?.origin === origin
    ? undefined
    : 'expected "*" or an origin such as "https://app.example.com", in lower case and without a path';
}

/** Checks a host name or IP address. */
export function hostProblem(host: string): string | undefined {
  return /^(?:[A-Za-z0-9._-]{1,253}|\[?[0-9A-Fa-f:.]{2,45}\]?)$/.test(host)
    ? undefined
    : 'expected a host name or an IP address without scheme, port or path, such as "127.0.0.1"';
}

/** Checks a cron expression of five fields; undefined if valid. */
export function cronProblem(expression: string): string | undefined {
  let cron: Cron;
  try {
    cron = parseCron(expression);
  } catch {
    return 'expected a cron expression of five fields, such as "0 3 * * 0" for Sundays at 03:00 UTC';
  }
  return nextStart(cron, 0) === undefined ? "never occurs: none of its months has such a day" : undefined;
}

/** Number of start days to check: a year of daily starts, so that a month without any is included. */
const startDays = 400;

/**
 * Whether each occurrence always lasts until the next one.
 *
 * @param expression A valid cron expression.
 */
export function isEndless(expression: string, durationMs: number): boolean {
  const cron = parseCron(expression);
  const { times } = cron;
  if (times.some((time, index) => index > 0 && (time - times[index - 1]!) * minuteMs > durationMs)) return false;
  const first = times[0]! * minuteMs;
  const lastMs = times.at(-1)! * minuteMs;
  let day = nextStart(cron, -1)! - first;
  for (let count = 0; count < startDays; count++) {
    const next = nextStart(cron, day + lastMs)!;
    if (next - (day + lastMs) > durationMs) return false;
    day = next - first;
  }
  return true;
}

function parseUrl(text: string): URL | undefined {
  // The URL parser corrects some errors ("http:host", surrounding blanks), which are rejected here.
  if (!/^https?:\/\/[^/\\\s]/i.test(text) || /[\s\\]/.test(text)) return undefined;
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** Checks a SHA-256 in hexadecimal: 64 digits. */
function hashProblem(text: string): string | undefined {
  return /^[0-9a-f]{64}$/i.test(text) ? undefined : "expected a SHA-256, 64 hexadecimal digits";
}

/** Checks the address of a download: HTTPS, or HTTP to this machine. */
function findDownloadProblem(address: string): string | undefined {
  const expected = 'expected an https URL such as "https://example.com/catalogue.json"';
  const url = parseUrl(address);
  if (url === undefined || url.protocol !== "https:" && !isLoopback(url.hostname)) return expected;
  return url.username === "" && url.password === "" ? undefined : `${expected} without a user name or password`;
}

/** Checks the address of public keys. */
function findKeysUrlProblem(address: string): string | undefined {
  const expected = 'expected an https URL such as "https://login.example.com/keys"';
  const url = parseUrl(address);
  if (url === undefined || address.includes("#")) return expected;
  return url.username === "" && url.password === "" ? undefined : `${expected} without a user name or password`;
}

/** Warns about public keys that are fetched without encryption. */
export function keysUrlWarning(address: string): string | undefined {
  const url = parseUrl(address);
  return url?.protocol === "http:" && !isLoopback(url.hostname)
    ? "fetches the keys unencrypted, so that they can be replaced on the way: use https"
    : undefined;
}

/** Checks an Ed25519 public key: 32 bytes, or these after the prefix of PEM files. */
function findKeyProblem(text: string): string | undefined {
  return /^(?:MCowBQYDK2VwAyEA)?[\w+/-]{43}=?$/.test(text)
    ? undefined
    : "expected an Ed25519 public key: 32 bytes in Base64";
}
