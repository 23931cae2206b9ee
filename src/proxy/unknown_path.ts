/**
 * Hints for paths that are unknown: most come from a base URL with the prefix missing or given twice.
 * @module
 */
import { HttpError } from "./error_body.ts";

/** Paths of OpenAI and Anthropic that are not served, without `/v1/`. */
const notServed =
  /^(?:assistants|chatkit|complete|containers|conversations|edits|engines|evals|organization|projects|realtime|skills|threads|uploads|vector_stores|videos|images\/variations|messages\/batches|fine_tuning\/(?:alpha|checkpoints)|chat\/completions\/chatcmpl-[^/]*|responses\/resp_[^/]*)(?=\/|$)/;

/** Maximum number of segments of a path that is compared. */
const maxSegments = 16;

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
  const below = path.replace(/^\/(?:v1\/)?/, "");
  const [name] = notServed.exec(below) ?? [];
  if (name !== undefined) return `${JSON.stringify(name)} is not served. Served are: ${served.join(", ")}`;
  const end = findServedEnd(path, isServed);
  return end && `The base URL has too much before ${end}`;
}

/** Finds the longest end of a path that is served: a base URL may include another prefix, or an endpoint. */
function findServedEnd(path: string, isServed: Paths["isServed"]): string | undefined {
  const segments = path.split("/").slice(1);
  if (segments.length > maxSegments) return undefined;
  const ends = segments.map((_, index) => `/${segments.slice(index + 1).join("/")}`).slice(0, -1);
  return ends.flatMap((end) => [end, `/v1${end}`]).find((end) => /^\/v1(?:beta)?\//.test(end) && isServed(end));
}
