/**
 * The endpoint of Responses.
 * @module
 */
import { responses } from "../dialects/responses/responses.ts";
import { dialectRoute } from "./dialect_route.ts";
import type { RouteEntry } from "./exchange.ts";

/** `/v1/responses`. */
export const responsesRoute: RouteEntry = dialectRoute(responses);
