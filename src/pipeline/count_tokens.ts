/**
 * Counts the input tokens of a chat request: by the vendor of the model that would receive it, if the vendor counts free
 * of charge, otherwise by estimate.
 * @module
 */
import type { ChatCompletionRequest } from "../contracts/openai.ts";
import type { CompletionRequest } from "../contracts/provider.ts";
import { UnsupportedRequestError } from "../errors.ts";
import type { ModelEntry } from "../registry/registry.ts";
import { adaptRequest } from "./adapt_request.ts";
import { Connection } from "./connection.ts";
import { estimateTokens } from "./estimate.ts";
import { explain } from "./explain.ts";
import type { GuardedDeps } from "./guards/guarding.ts";
import type { RouteDeps, RoutedRequest } from "./request.ts";
import { poolFor } from "./select_pool.ts";

/** Maximum time that a vendor may take, ms: an estimate is available at once. */
const maxCountMs = 10_000;

/** The number of input tokens of a request. */
export interface TokenCount {
  readonly tokens: number;
  readonly isEstimated: boolean;
  /** Name of the pool. */
  readonly pool: string;
  /** The model that would receive the request first; undefined if none would. */
  readonly model: ModelEntry | undefined;
}

/**
 * Counts the input tokens of a request. Neither the call nor its failure affects the state of a model.
 *
 * @throws {ModelNotFoundError} If the name of its model is unknown.
 */
export async function countTokens(
  request: RoutedRequest<ChatCompletionRequest>,
  deps: GuardedDeps,
): Promise<TokenCount> {
  const { name: pool } = poolFor(request.model, request, deps.registry);
  const guard = deps.guarding && await deps.guarding.open(request as unknown as RoutedRequest, deps);
  const counted = guard?.request ?? request as unknown as RoutedRequest;
  const model = findFirstCandidate(counted, deps);
  const tokens = model && await askVendor(counted, model, deps);
  const isEstimated = tokens === undefined;
  return { pool, model, isEstimated, tokens: tokens ?? estimateTokens(request.body).input };
}

/** A request that no model can take has a size as well. */
function findFirstCandidate(request: RoutedRequest, deps: RouteDeps): ModelEntry | undefined {
  try {
    const [first] = explain(request, deps).order;
    return first && deps.registry.model(first.model);
  } catch (error) {
    if (UnsupportedRequestError.isInstance(error)) return undefined;
    throw error;
  }
}

/** Returns undefined if the vendor does not count, or fails to. */
async function askVendor(
  request: RoutedRequest,
  model: ModelEntry,
  { runtime }: RouteDeps,
): Promise<number | undefined> {
  const { instance } = model;
  const { provider, entry } = instance;
  if (provider?.countTokens === undefined || entry.credentials === "header") return undefined;
  await request.operation.prepare?.(model, request.body);
  const timeoutMs = Math.min(entry.timeoutMs, request.timeoutMs, maxCountMs);
  const connection = new Connection(runtime, { ...instance, entry: { ...entry, timeoutMs } }, { delivery: "sync" });
  const stop = () => connection.abort(request.signal!.reason);
  request.signal?.addEventListener("abort", stop);
  try {
    const { completion } = adaptRequest(request, model);
    const counting = provider.countTokens(completion as unknown as CompletionRequest, connection);
    const tokens = await connection.untilAborted(counting);
    return Number.isSafeInteger(tokens) && tokens >= 0 ? tokens : undefined;
  } catch {
    connection.abort(new DOMException("The count has failed", "AbortError")); // releases its socket
    return undefined; // an estimate is better than an error
  } finally {
    request.signal?.removeEventListener("abort", stop);
    connection.close();
  }
}
