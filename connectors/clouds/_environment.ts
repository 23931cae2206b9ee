/**
 * The environment of a machine in a cloud: variables, and files that they name.
 * @module
 */
import type { Runtime } from "../../src/contracts/runtime.ts";
import { describeDenial } from "../../src/util/denial.ts";
import { IssuerError } from "../../src/util/call_issuer.ts";

/** The used parts of a runtime. */
export type CloudRuntime = Pick<Runtime, "send" | "clock" | "env" | "files" | "addSecret">;

/** How long before callers would wait for the next credentials of a machine they are fetched in the background, ms. */
export const aheadMs: number = 4 * 60_000;

/** An environment variable; undefined if it is unset or blank. */
export function findVariable({ env }: Pick<Runtime, "env">, name: string): string | undefined {
  return env?.(name)?.trim() || undefined;
}

/**
 * Reads a file that contains a token. It is read each time, since tokens are replaced in it.
 *
 * @param subject The file, as the subject of error messages.
 * @throws {IssuerError} If it cannot be read, or does not contain a token.
 */
export async function readTokenFile(
  subject: string,
  { path, runtime }: { readonly path: string; readonly runtime: CloudRuntime },
): Promise<string> {
  const token = await readFile(subject, { path, runtime });
  if (!/^[\x20-\x7e]+$/.test(token)) throw new IssuerError(subject, "contains no token", "misconfigured");
  runtime.addSecret?.(token);
  return token;
}

/**
 * Reads a text file.
 *
 * @param subject The file, as the subject of error messages.
 * @throws {IssuerError} If it cannot be read.
 */
export async function readFile(
  subject: string,
  { path, runtime: { files } }: { readonly path: string; readonly runtime: CloudRuntime },
): Promise<string> {
  try {
    return (await files!.readText(path)).trim();
  } catch (error) {
    const denied = describeDenial(error, { path });
    const problem = denied === undefined ? "cannot be read" : `cannot be read: ${denied}`;
    throw new IssuerError(subject, problem, "misconfigured"); // the runtime's message may contain anything
  }
}

/** Maximum difference between the clocks of an issuer and of this machine, ms. Beyond it, neither is better. */
const maxSkewMs = 24 * 60 * 60_000;

/**
 * The remaining lifetime of something that was issued, by the clock of its issuer, since that of this machine may be
 * wrong.
 *
 * @param expiry Its end: an ISO date, or seconds since 1970.
 * @param headers Headers of the response.
 * @returns ms; undefined if `expiry` is not a date.
 */
export function toLifetimeMs(
  expiry: unknown,
  headers: { get(name: string): string | null },
  { clock }: Pick<Runtime, "clock">,
): number | undefined {
  const seconds = Number(expiry);
  const end = seconds > 0 ? seconds * 1000 : typeof expiry === "string" ? Date.parse(expiry) : NaN;
  if (Number.isNaN(end)) return undefined;
  const [now, issuedAt] = [clock.now(), Date.parse(headers.get("date") ?? "")];
  return end - (Math.abs(issuedAt - now) <= maxSkewMs ? issuedAt : now);
}
