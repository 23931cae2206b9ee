/**
 * Classifies errors of `fetch` by message, since neither Deno nor Node provides codes.
 * @module
 */
import { describeDenial } from "../util/denial.ts";
import type { NetworkFault } from "./_fetch.ts";
import { explainTlsFault } from "./_tls_faults.ts";

const unresolved = "Cannot find the provider's host: its name does not resolve";
const refused = "Cannot connect to the provider: refused";
const unreachable = "Cannot connect to the provider: unreachable";
const unmakeable = "Cannot make the request: bad address or header";

/** The first match applies. */
const faults: readonly (readonly [text: RegExp, message: string | ((text: string) => string), neverSent: boolean])[] = [
  [/client error \(Connect\): dns error|ENOTFOUND|EAI_/, unresolved, true],
  [/client error \(Connect\): tcp connect error: .{0,500}refused|ECONNREFUSED/is, refused, true],
  [
    /client error \(Connect\): tcp connect error|EHOSTUNREACH|ENETUNREACH|connect ETIMEDOUT|Connect Timeout/,
    unreachable,
    true,
  ],
  [/client error \(Connect\)|certificate|before secure TLS|SSL routines/, explainTlsFault, true],
  [
    /^(Invalid (URL|header)|Url scheme|Fetch failed: Requests to port|Failed to (construct|parse URL)|Method is|Headers\.)|unknown scheme|bad port/,
    unmakeable,
    true,
  ],
  [
    /invalid HTTP|invalid content-length|invalid chunk|head is too large|HPE_/i,
    "The provider's response is not valid HTTP",
    false,
  ],
  [
    /unexpected end of file|invalid gzip|corrupt|brotli|incorrect header check/i,
    "The provider's response cannot be decompressed",
    false,
  ],
];

/**
 * Classifies a message; undefined if it is unknown.
 *
 * @param text The messages of the error and its causes, joined.
 */
export function classifyFetchFault(text: string): NetworkFault | undefined {
  const denial = describeDenial({ message: text.split("\n", 1)[0] });
  if (denial !== undefined) return { message: `Cannot connect to the provider: ${denial}`, neverSent: true };
  const fault = faults.find(([pattern]) => pattern.test(text));
  if (fault === undefined) return undefined;
  const [, message, neverSent] = fault;
  return { message: typeof message === "string" ? message : message(text), neverSent };
}
