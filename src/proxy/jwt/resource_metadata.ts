/**
 * `/.well-known/oauth-protected-resource`: whose tokens the proxy accepts (RFC 9728).
 * @module
 */
import type { PlainResponse } from "../../contracts/shell.ts";
import { toResourceUrl } from "../authenticator.ts";
import type { Exchange } from "../exchange.ts";
import { json } from "../json.ts";

/** Serves the metadata. */
export function respondWithMetadata({ proxy, request, headers }: Exchange): PlainResponse {
  const issuers = new Set(proxy.jwt?.map(({ issuer }) => issuer));
  return json({
    resource: toResourceUrl(proxy, request),
    authorization_servers: [...issuers].filter((issuer) => URL.canParse(issuer)),
    bearer_methods_supported: ["header"],
    resource_name: "modelmesh",
  }, { headers });
}
