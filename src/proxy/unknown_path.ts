/**
 * Hints for paths that are unknown: most come from a base URL with the prefix missing or given twice.
 * @module
 */
import { HttpError } from "./error_body.ts";

/** OpenAI's paths that are not served. */
const notServed: ReadonlySet<string> = new Set([
  "assistants",
  "chatkit",
  "containers",
  "conversations",
  "evals",
  "organization",
  "projects",
  "realtime",
  "skills",
  "threads",
  "uploads",
  "vector_stores",
  "videos",
]);

/** What an unknown path is compared with. */
interface Paths {
  /** Whether a path is served. */
  readonly isServed: (path: string) => boolean;
  /** The endpoints that are served, without `/v1/`. */
  readonly served: readonly string[];
}

/**
 * Creates the error for a path without a route.
 *
 * @param target The method and the path, as received.
 * @param paths What it is compared with.
 */
export function unknownPath(
  { method, path }: { readonly method: string; readonly path: string },
  paths: Paths,
): HttpError {
  const hint = findHint(path, paths);
  const message = `Unknown request URL: ${method} ${path}`;
  return new HttpError(hint === undefined ? message : `${message}. ${hint}`, { status: 404, code: "unknown_url" });
}

function findHint(path: string, { isServed, served }: Paths): string | undefined {
  const once = path.replace(/^\/v1(?=\/v1(?:beta)?\/)/, "");
  if (once !== path && isServed(once)) return `Remove one "/v1" from the base URL: ${once}`;
  if (isServed(`/v1${path}`)) return `Add "/v1" to the base URL: /v1${path}`;
  const [, version, name = ""] = path.split("/");
  const first = version === "v1" ? name : version ?? "";
  return notServed.has(first) ? `"${first}" is not served. Served are: ${served.join(", ")}` : undefined;
}
