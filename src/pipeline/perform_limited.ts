/**
 * Requests of a program that count against limits of tags or end users. Imported with the first one.
 * @module
 */
import type { RequestBody } from "../contracts/openai.ts";
import type { LimitedScopes } from "../state/limits/limited_scopes.ts";
import type { Delivered } from "./perform.ts";
import type { RoutedRequest } from "./request.ts";

/**
 * Performs a request under the limits of its tags and its end user. It is in flight until its response has ended.
 *
 * @param limits The limits of the mesh.
 * @param perform Performs it.
 */
export async function performLimited<Body extends RequestBody, Response>(
  request: RoutedRequest<Body, Response>,
  limits: LimitedScopes,
  perform: (request: RoutedRequest<Body, Response>) => Promise<Delivered<Response>>,
): Promise<Delivered<Response>> {
  const scopes = limits.select({ own: [], client: request.client?.id ?? "", ...request.labels });
  if (scopes === undefined) return await perform(request);
  const end = () => scopes.end();
  try {
    const delivered = await perform({ ...request, scopes });
    if (delivered.kind === "complete") end();
    else delivered.onSettled = end;
    return delivered;
  } catch (error) {
    end();
    throw error;
  }
}
