/**
 * `GET /`: the dashboard for people, a few facts for programs.
 * @module
 */
import type { PlainResponse } from "../contracts/shell.ts";
import { version } from "../version.ts";
import type { Exchange } from "./exchange.ts";
import { json } from "./json.ts";

/** Handles a request. */
export function root({ request, headers }: Exchange): PlainResponse {
  if (/\btext\/html\b/i.test(request.headers.get("accept") ?? "")) {
    return { status: 302, headers: { ...headers, location: "/ui" }, body: null };
  }
  const documentation = "jsr:@modelmesh/core";
  return json({ name: "modelmesh", version, documentation, dashboard: "/ui", base_url: "/v1" }, { headers });
}
