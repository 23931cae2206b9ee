/**
 * Step 3: models that support the operation and the delivery mode.
 * @module
 */
import { deliveryModes } from "../capability/delivery.ts";
import type { CapabilityPath, Delivery } from "../contracts/provider.ts";
import { NoActiveModelError, UnsupportedRequestError } from "../errors.ts";
import type { Member, ModelEntry, Pool, ProviderInstance, Registry } from "../registry/registry.ts";
import type { Operation } from "./operation.ts";
import type { RoutedRequest } from "./request.ts";
import { callNow } from "../util/call_now.ts";

/** The operation and delivery mode of a request, and its pool. */
export interface DeliveryContext {
  readonly request: Pick<RoutedRequest, "operation" | "delivery">;
  readonly pool: Pool;
  /** To detect providers that may have caused an empty pool. */
  readonly registry: Pick<Registry, "instances">;
}

/** Time after which providers that could not list their models are asked again, ms. */
export const unlistedRetryMs = 5_000;

/**
 * Keeps the members with a leaf of the operation and delivery mode. Computed once per pool.
 *
 * @param context The request and its pool.
 * @throws {UnsupportedRequestError} If no member is left.
 * @throws {NoActiveModelError} If there is none because a provider could not list its models.
 */
export function filterByDelivery({ request, pool, registry }: DeliveryContext): readonly Member[] {
  const { operation, delivery } = request;
  const key = `${operation.name}:${delivery}` as const;
  let delivering = pool.membersByDelivery.get(key);
  if (delivering === undefined) {
    delivering = pool.members.filter(({ model }) =>
      model.delivers(delivery) && performs(model, operation) &&
      model.leaves.some((leaf) => isServed(leaf, request) && isSupported(model, leaf, delivery))
    );
    pool.membersByDelivery.set(key, delivering);
  }
  if (delivering.length > 0) return delivering;
  const hint = pool.members.length === 0 ? unlistedHint(registry.instances) : "";
  if (hint !== "") {
    throw new NoActiveModelError(`${emptyPool(pool)}${hint}`, { retryAfterMs: unlistedRetryMs, reasons: {} });
  }
  const message = pool.members.length === 0
    ? emptyPool(pool)
    : `No model of the pool "${pool.name}" does ${operation.name} with ${delivery} delivery`;
  throw new UnsupportedRequestError(message + adviceFor(operation, pool), {
    code: "unsupported_by_pool",
    param: "model",
  });
}

function emptyPool({ name }: Pool): string {
  return `No model is in the pool "${name}"`;
}

/** Whether the operation serves the leaf in the delivery mode. */
function isServed(leaf: CapabilityPath, { operation, delivery }: DeliveryContext["request"]): boolean {
  return operation.serves(leaf) && deliveryModes(leaf).includes(delivery);
}

/** Whether the provider supports the operation. */
function performs({ instance: { provider } }: ModelEntry, { name }: Operation): boolean {
  return name === "chat" || provider === undefined || provider.operations?.includes(name) === true;
}

/**
 * Whether the provider supports the leaf. It is not queried about a leaf that only the configuration assigns to the
 * model.
 */
function isSupported({ info, instance }: ModelEntry, leaf: CapabilityPath, delivery: Delivery): boolean {
  const answers = instance.answers?.get(info.id);
  if (answers === undefined || answers.leaves?.includes(leaf) === false) return true;
  try {
    return callNow(() => instance.provider!.supports(info.id, leaf, delivery)) !== false;
  } catch {
    return true;
  }
}

/** Names providers that could not list their models, which may explain an empty pool; empty if there are none. */
export function unlistedHint(instances: readonly ProviderInstance[]): string {
  const problems = instances.flatMap(({ entry, listProblem }) => {
    return listProblem === undefined ? [] : `the provider "${entry.id}" ${listProblem}`;
  });
  return problems.length === 0 ? "" : `: ${problems.join("; ")}`;
}

/** Advice for a caller of a pool with other capabilities. */
function adviceFor({ name, serves }: Operation, { members, capability }: Pool): string {
  const leaves = members.length === 0 ? [capability ?? []].flat() : members.flatMap(({ model }) => model.leaves);
  if (leaves.length === 0 || leaves.some(serves)) return "";
  return `. Ask for a pool or capability that serves ${name}${name === "chat" ? ', such as "chat-completion"' : ""}`;
}
