/**
 * The plan of a request, which is made before a model is selected.
 * @module
 */
import type { Pool } from "../registry/registry.ts";
import type { Eligibility } from "./eligibility.ts";
import type { RoutedRequest } from "./request.ts";

/** A request, its pool, and the eligible models. */
export interface RequestPlan extends Eligibility {
  readonly request: RoutedRequest;
  readonly pool: Pool;
}
