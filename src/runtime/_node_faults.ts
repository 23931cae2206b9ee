/**
 * What the errors of `node:http` mean, by their codes.
 * @module
 */
import type { NetworkFault } from "./_fetch.ts";

/** Progress of a call. */
export type Phase = "preparing" | "connecting" | "securing" | "waiting" | "answering";

/** Before a connection is established, nothing of the request can have been read. */
const connecting: readonly (readonly [code: RegExp, message: string])[] = [
  [/^(ENOTFOUND|EAI_\w+)$/, "Cannot find the provider's host: its name does not resolve"],
  [/^ECONNREFUSED$/, "Cannot connect to the provider: refused"],
];

/** The first that fits counts. */
const answering: readonly (readonly [code: RegExp, message: string])[] = [
  [/^HPE_/, "The provider answered in no valid HTTP"],
  [/^(Z_|ERR_?_?BROTLI|ERR__ERROR)/, "The provider's answer cannot be decompressed"],
];

/** The meaning of an error in a phase of the call. */
export function faultOf(error: unknown, phase: Phase): NetworkFault {
  const code = codeOf(error);
  const find = (faults: typeof connecting) => faults.find(([pattern]) => pattern.test(code))?.[1];
  const never = (message: string) => ({ message, neverSent: true });
  const maybe = (message: string) => ({ message, neverSent: false });
  switch (phase) {
    case "preparing":
      return never(find(connecting) ?? "Cannot make the request: bad address or header");
    case "connecting":
      return never(find(connecting) ?? "Cannot connect to the provider: unreachable");
    case "securing":
      return never("Cannot connect to the provider: no secure connection (TLS) came about");
    case "waiting":
      return maybe(find(answering) ?? "The connection to the provider broke before its answer began");
    case "answering":
      return maybe(find(answering) ?? "The connection to the provider broke in the middle of its answer");
  }
}

function codeOf(error: unknown): string {
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "";
}
