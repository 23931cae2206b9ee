/**
 * What is decided of a request before a model is asked.
 * @module
 */
import type { Pool } from "../registry/registry.ts";
import type { Eligibility } from "./eligibility.ts";
import type { RoutedRequest } from "./request.ts";

/** A request, its pool and the models of the pool that can take it. */
export interface RequestPlan extends Eligibility {
  readonly request: RoutedRequest;
  readonly pool: Pool;
}
