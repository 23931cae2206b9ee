/**
 * The endpoints of Messages.
 * @module
 */
import { messages } from "../dialects/messages/messages.ts";
import { countRoute } from "./count_route.ts";
import { dialectRoute } from "./dialect_route.ts";
import type { RouteEntry } from "./exchange.ts";

/** `/v1/messages`. */
export const messagesRoute: RouteEntry = dialectRoute(messages);

/** `/v1/messages/count_tokens`. */
export const messagesCount: RouteEntry = countRoute(messages);
