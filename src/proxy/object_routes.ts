/**
 * The endpoints of files, batches and fine-tuning jobs, and of stored responses. Their handlers are imported with the first
 * request.
 * @module
 */
import { responsesConventions } from "../dialects/responses/conventions.ts";
import type { Exchange, RouteEntry } from "./exchange.ts";

/** The routes below `/v1/`, by the segments of their paths; `*` stands for an id. */
const routes: readonly (readonly [path: string, entry: RouteEntry])[] = [
  ["files", routeObjects({ POST: "uploadFile", GET: "listFiles" })],
  ["files/*", routeObjects({ GET: "retrieveFile", DELETE: "deleteFile" })],
  ["files/*/content", routeObjects({ GET: "fileContent" })],
  ["batches", routeObjects({ POST: "createBatch", GET: "listBatches" })],
  ["batches/*", routeObjects({ GET: "retrieveBatch" })],
  ["batches/*/cancel", routeObjects({ POST: "cancelBatch" })],
  ["fine_tuning/jobs", routeObjects({ POST: "createJob", GET: "listJobs" })],
  ["fine_tuning/jobs/*", routeObjects({ GET: "retrieveJob" })],
  ...["cancel", "pause", "resume"].map((action) =>
    [`fine_tuning/jobs/*/${action}`, routeObjects({ POST: "changeJob" })] as const
  ),
  ...["events", "checkpoints"].map((what) =>
    [`fine_tuning/jobs/*/${what}`, routeObjects({ GET: "listOfJob" })] as const
  ),
];

/** The routes of stored responses. */
const storedResponses: typeof routes = [
  ["responses/*", routeResponses(["GET", "DELETE"])],
  ["responses/*/input_items", routeResponses(["GET"])],
  ["responses/*/cancel", routeResponses(["POST"])],
];

/**
 * Returns the route of a path; undefined for others.
 *
 * @param name The path without `/v1/`.
 * @param isExposed Whether the configuration exposes an endpoint.
 */
export function findObjectRoute(name: string, isExposed: (endpoint: string) => boolean): RouteEntry | undefined {
  return findIn(routes, name, isExposed);
}

/** The same for stored responses. */
export function findResponsesRoute(name: string, isExposed: (endpoint: string) => boolean): RouteEntry | undefined {
  return findIn(storedResponses, name, isExposed);
}

function findIn(
  table: typeof routes,
  name: string,
  isExposed: (endpoint: string) => boolean,
): RouteEntry | undefined {
  const segments = name.split("/");
  const found = table.find(([path]) => {
    const expected = path.split("/");
    return expected.length === segments.length &&
      expected.every((segment, index) => segment === segments[index] || segment === "*" && segments[index] !== "");
  });
  if (found === undefined) return undefined;
  return isExposed(found[0].split("/*")[0]!) ? found[1] : undefined;
}

/** The handlers of a path, by method. */
function routeObjects(handlers: Readonly<Record<string, keyof typeof import("./object_handlers.ts")>>): RouteEntry {
  return {
    methods: Object.keys(handlers),
    isWork: true,
    async handle(exchange: Exchange) {
      const { method } = exchange.request;
      const name = handlers[method === "HEAD" ? "GET" : method]!;
      return await (await import("./object_handlers.ts"))[name](exchange);
    },
  };
}

function routeResponses(methods: readonly string[]): RouteEntry {
  return {
    methods, // no work: what holds the last slot can be retrieved and cancelled
    dialect: responsesConventions,
    handle: async (exchange) => await (await import("./responses/response_routes.ts")).handleResponse(exchange),
  };
}
