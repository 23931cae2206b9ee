/**
 * Steps 1 and 2 while providers have not listed their models yet, such as local servers that are down. Imported then.
 * @module
 */
import { MeshError, ModelNotFoundError, NoActiveModelError } from "../errors.ts";
import type { Pool, Registry } from "../registry/registry.ts";
import { untilAborted } from "../util/until_aborted.ts";
import { unlistedHint, unlistedRetryMs } from "./eligibility.ts";
import type { RouteDeps, RoutedRequest } from "./request.ts";
import { poolFor } from "./select_pool.ts";

/**
 * Returns the pool of a request. The providers are asked for their lists again; if there is no model without them, the
 * request waits for the responses.
 *
 * @param deps Dependencies.
 * @throws {ModelNotFoundError} If there is no such pool.
 * @throws {NoActiveModelError} If the name may be a model of a provider that has not listed any.
 */
export async function poolOnceListed(
  request: RoutedRequest,
  { registry, runtime: { clock } }: RouteDeps,
): Promise<Pool> {
  const asking = registry.relist?.();
  const find = () => poolFor(request.model, request, registry);
  if (asking !== undefined && !hasModel(find)) {
    const message = "The deadline expired while providers were asked for their models";
    await untilAborted(asking, request.signal, { clock, ms: request.timeoutMs, message });
  }
  try {
    return find();
  } catch (error) {
    const { pools, findOwnModels } = request.client ?? {};
    throw ModelNotFoundError.isInstance(error) && pools === undefined && findOwnModels === undefined
      ? unlistedError(request.model, error, registry)
      : error;
  }
}

/** The name is unknown, but a provider that has listed no model may have it. */
function unlistedError(name: string, error: ModelNotFoundError, { instances, models }: Registry): MeshError {
  const missing = instances.filter((candidate) => !models.some(({ instance }) => instance === candidate));
  const hint = unlistedHint(missing);
  if (hint === "") return error;
  const prefixes = missing.flatMap(({ vendor, entry }) => [`${vendor}.`, `${vendor}/`, `${entry.id}.`]);
  const isTheirs = models.length === 0 || prefixes.some((prefix) => name.startsWith(prefix));
  if (!isTheirs) return new ModelNotFoundError(`${error.message}${hint}`);
  const message = `No model named ${JSON.stringify(name)} is known${hint}`;
  return new NoActiveModelError(message, { retryAfterMs: unlistedRetryMs, reasons: {} });
}

function hasModel(find: () => Pool): boolean {
  try {
    return find().members.length > 0;
  } catch (error) {
    if (MeshError.isInstance(error)) return false;
    throw error;
  }
}
