/**
 * Google's token endpoints: requests, responses, and addresses of them in credentials files.
 * @module
 */
import type { IssuedToken } from "../../src/contracts/connector.ts";
import {
  callIssuer,
  isHeaderText,
  IssuerError,
  type IssuerResponse,
  readIssuedJson,
} from "../../src/util/call_issuer.ts";
import type { CloudRuntime } from "./_environment.ts";

/** A token request. */
export interface TokenRequest {
  readonly url: string;
  readonly form: Readonly<Record<string, string | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly runtime: CloudRuntime;
}

/**
 * Sends a form to a token endpoint.
 *
 * @throws {IssuerError} If it returns no token.
 */
export async function postTokenForm({ url, form, headers = {}, runtime }: TokenRequest): Promise<IssuedToken> {
  const endpoint = "Google's token endpoint";
  const fields = Object.entries(form).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const response = await callIssuer({
    endpoint,
    url,
    headers: { ...headers, "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams(fields).toString(),
  }, runtime);
  return readIssuedToken(endpoint, response, runtime);
}

/**
 * The access token of a response.
 *
 * @param endpoint The endpoint, for error messages.
 * @throws {IssuerError} If there is none.
 */
export function readIssuedToken(endpoint: string, response: IssuerResponse, runtime: CloudRuntime): IssuedToken {
  const { access_token: value, expires_in } = readIssuedJson({ endpoint }, response);
  if (!isHeaderText(value)) throw new IssuerError(endpoint, "returned no access token", "invalid_response");
  runtime.addSecret?.(value);
  const seconds = Number(expires_in ?? NaN);
  return seconds >= 0 ? { value, lifetimeMs: seconds * 1000 } : { value };
}

/**
 * A URL of a credentials file.
 *
 * @returns Undefined if there is none.
 * @throws {IssuerError} If it is not a URL to which a credential may be sent.
 */
export function readUrl(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  const url = typeof value === "string" && URL.canParse(value) ? new URL(value) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.username + url.password === "") return url.href;
  throw new IssuerError("The credentials file", "has an address that is not an http or https URL", "misconfigured");
}
