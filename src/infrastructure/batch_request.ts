/**
 * Checks requests for batches.
 * @module
 */
import { formatDuration, parseDuration } from "../config/schema/units.ts";
import type { BatchRequest } from "../contracts/infrastructure.ts";
import { UnsupportedRequestError } from "../errors.ts";
import { bodyChecker, checkOptional, invalid, missing, wrongType } from "../pipeline/check_body.ts";
import type { Member } from "../registry/registry.ts";
import { isObject } from "../util/is_object.ts";

/** Completion window when neither the request nor the model has one. */
const defaultWindow = "24h";

const checkMembers = bodyChecker([
  ...["input_file_id", "endpoint", "completion_window", "metadata", "output_expires_after"],
]);

/**
 * Checks the body of a request for a batch.
 *
 * @throws {UnsupportedRequestError} When it is malformed.
 */
export function readBatchRequest(body: unknown): BatchRequest {
  const { mesh: _mesh, ...request }: Record<string, unknown> = checkMembers(body);
  for (const name of ["input_file_id", "endpoint"]) {
    const value = request[name];
    if (value === undefined || value === null) throw missing(name);
    if (typeof value !== "string") throw wrongType(name, "a string", value);
  }
  checkOptional(request, { name: "metadata", expected: "an object", isValid: isObject });
  checkOptional(request, {
    name: "completion_window",
    expected: "a string",
    isValid: (value) => typeof value === "string",
  });
  return request as unknown as BatchRequest;
}

/**
 * Returns the completion window: the requested one, else the model's.
 *
 * @throws {UnsupportedRequestError} When it is shorter than the model's.
 */
export function readWindow(window: string | undefined | null, { model: { name, batch } }: Member): string {
  const { completionWindowMs: windowMs } = batch ?? {};
  if (window === undefined || window === null) return windowMs === undefined ? defaultWindow : formatDuration(windowMs);
  const ms = parseDuration(window);
  if (ms === undefined) throw invalid(`"completion_window" has to be a duration such as "24h"`, "completion_window");
  if (windowMs === undefined || ms >= windowMs) return window;
  throw new UnsupportedRequestError(
    `"completion_window" is shorter than ${formatDuration(windowMs)}, the window of the model "${name}"`,
    { code: "unsupported_by_pool", param: "completion_window" },
  );
}
