/**
 * The session of a request, for strategies that keep sessions together.
 * @module
 */
import type { RequestBody } from "../contracts/openai.ts";

/**
 * Returns the session of a request, the first present of: the header `x-mesh-session`, `mesh.session`, the library's
 * `sessionId`, `prompt_cache_key`, `safety_identifier`, `user`.
 *
 * @param header The header's value.
 * @param sessionId The library's option.
 */
export function findSession(
  header: string | null | undefined,
  body: RequestBody,
  sessionId?: string,
): string | undefined {
  const { mesh, prompt_cache_key, safety_identifier, user } = body;
  const own = (mesh as { session?: unknown } | null | undefined)?.session;
  const names = [header, own, sessionId, prompt_cache_key, safety_identifier, user];
  for (const name of names) if (typeof name === "string" && name !== "") return name;
  return undefined;
}
