/**
 * `/mesh/clients`: administration of clients at runtime. The handlers are imported with the first request.
 * @module
 */
import type { RouteEntry } from "./exchange.ts";

const path = "/mesh/clients";

const all = routeClients(["GET", "POST"]);
const single = routeClients(["PATCH", "DELETE"]);
const below: Readonly<Record<string, RouteEntry>> = { rotate: routeClients(["POST"]), usage: routeClients(["GET"]) };

function routeClients(methods: readonly string[]): RouteEntry {
  return {
    methods,
    isAdministrative: true,
    handle: async (exchange) => (await import("./clients/client_routes.ts")).handleClients(exchange),
  };
}

/**
 * Returns the route of a path; undefined for others.
 *
 * @param plain The path without trailing slash.
 */
export function findClientsRoute(plain: string): RouteEntry | undefined {
  if (plain === path) return all;
  const [id, action, further] = plain.slice(path.length + 1).split("/");
  if (!plain.startsWith(`${path}/`) || id === "" || further !== undefined) return undefined;
  if (action === undefined) return single;
  return Object.hasOwn(below, action) ? below[action] : undefined;
}
