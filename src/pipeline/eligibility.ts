/**
 * Step 3, continued: whom a request fits, by all that is known of models and all that it says itself.
 * @module
 */
import type { Member, Pool, Registry } from "../registry/registry.ts";
import type { Load } from "../state/usage.ts";
import type { Narrowed } from "./apply_narrowing.ts";
import { estimateTokens } from "./estimate.ts";
import { filterByRequest } from "./filter_by_request.ts";
import { narrow } from "./narrow.ts";
import type { RoutedRequest } from "./request.ts";
import { measureRequest } from "./request_size.ts";

/** What a request is held against. */
export interface EligibilityContext {
  readonly request: RoutedRequest;
  readonly pool: Pool;
  readonly registry: Registry;
}

/** Whom a request fits. */
export interface Eligibility {
  /** Members that can take it. */
  readonly eligible: readonly Member[];
  /** What it will take. */
  readonly load: Load;
  /** What the request itself made of them; undefined when it said nothing. */
  readonly narrowed?: Narrowed | undefined;
}

/**
 * Finds the members that a request fits.
 *
 * @param able Those that do the operation and deliver as wanted.
 * @param context The request.
 * @throws {UnsupportedRequestError} When none is left; the message says why.
 */
export function eligibility(able: readonly Member[], { request, pool, registry }: EligibilityContext): Eligibility {
  const { body, client } = request;
  const size = measureRequest(body);
  const estimate = estimateTokens(body, size);
  const load = client?.budget === undefined ? estimate : { ...estimate, budget: client.budget };
  const eligible = filterByRequest(able, body, size);
  const narrowed = narrow(eligible, { request, pool, registry, load });
  return { eligible: narrowed?.members ?? eligible, load, narrowed };
}
