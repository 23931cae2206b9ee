/**
 * Embeddings in the cache, input by input. The vectors of one response belong to one embedding space.
 * @module
 */
import type { Embedding, EmbeddingRequest, EmbeddingResponse } from "../../contracts/openai.ts";
import type { CompletionResponse } from "../../contracts/provider.ts";
import { DeadlineError, MeshError } from "../../errors.ts";
import { findSpace } from "../../registry/embedding_spaces.ts";
import { isObject } from "../../util/is_object.ts";
import { isNonNegativeInteger } from "../check_body.ts";
import type { Completing, Completion } from "../delivered.ts";
import type { Operation } from "../operation.ts";
import type { RouteDeps, RoutedRequest } from "../request.ts";
import type { Result } from "../result.ts";
import { route } from "../route.ts";
import type { CacheEntry } from "./cache_entry.ts";
import { CachedResult, formatStatus } from "./cached_result.ts";
import { type CachedRequest, createMissError } from "./cached_request.ts";
import type { Begun, CallFacts } from "./pending_call.ts";

type EmbeddingOperation = Operation<EmbeddingRequest, EmbeddingResponse>;

/** Characters that cost as much as a token, about. */
const charsPerToken = 4;

/** Tokens, as `usage` names them; fractions of those of a response. */
type TokenShares = EmbeddingResponse["usage"];

/** A vector in the cache, in the encoding of its provider, and the entry that contains it. */
interface FoundVector {
  readonly embedding: Embedding["embedding"];
  /** The upstream model id. */
  readonly model: string;
  /** Its embedding space. */
  readonly space: string;
  /** Its share of the usage of the response that it is from; undefined if that reported none. */
  readonly tokens?: TokenShares | undefined;
  readonly entry: CacheEntry;
}

/** One input of a request, for all of its occurrences. */
interface RequestedInput {
  /** A string, or its tokens. */
  readonly input: string | readonly number[];
  readonly key: string;
  readonly found: FoundVector | undefined;
}

/** A request for embeddings. */
interface EmbeddingCall {
  readonly sent: RoutedRequest<EmbeddingRequest, EmbeddingResponse>;
  readonly cached: CachedRequest;
  /** When it arrived, monotonic ms. */
  readonly startedAt: number;
  readonly deps: RouteDeps;
  readonly completing: Completing;
  /** Its inputs, each once. */
  readonly inputs: readonly RequestedInput[];
  /** The position in `inputs` of each input. */
  readonly positions: readonly number[];
}

/** No model of the embedding space is eligible. */
class OtherSpaceError extends Error {}

/**
 * Requests the vectors of the inputs that are not in the cache.
 *
 * @param request A request for embeddings.
 * @throws {MeshError} `cache_miss` if it may not be sent to a model.
 */
export async function callForVectors(
  request: RoutedRequest,
  parts: Omit<EmbeddingCall, "sent" | "inputs" | "positions">,
): Promise<Begun> {
  const { cached } = parts;
  const sent = request as unknown as EmbeddingCall["sent"];
  const call = { ...parts, sent, ...await findInputs(sent, cached) };
  const space = findCommonSpace(call.inputs);
  const missing = call.inputs.filter(({ found }) => found?.space !== space);
  if (space !== undefined && missing.length === 0) return repeatVectors(call);
  cached.countMiss();
  if (cached.control.mode === "only") throw createMissError();
  return (space === undefined ? undefined : await callForMissing(call, { space, missing })) ?? await callForAll(call);
}

/** Looks up the inputs of a request. */
async function findInputs(
  sent: EmbeddingCall["sent"],
  cached: CachedRequest,
): Promise<Pick<EmbeddingCall, "inputs" | "positions">> {
  const { input: requested } = sent.body;
  const isOne = typeof requested === "string" || requested.every((item) => typeof item === "number");
  const all = (isOne ? [requested] : requested) as readonly RequestedInput["input"][];
  const distinct = new Map(all.map((input) => [JSON.stringify(input), input]));
  const order = new Map([...distinct.keys()].map((text, index) => [text, index]));
  const inputs = await Promise.all([...distinct.values()].map(async (input) => {
    const body = { ...sent.body, input: [input], encoding_format: undefined };
    const key = await cached.caching.createKey({ ...sent, body } as unknown as RoutedRequest, cached.pool);
    const entry = await cached.find(key, sent.signal);
    return { input, key, found: entry && readVector(entry) };
  }));
  return { inputs, positions: all.map((input) => order.get(JSON.stringify(input))!) };
}

/** Reads an entry; undefined if it is none of a vector. */
function readVector(entry: CacheEntry): FoundVector | undefined {
  if (entry.form.kind !== "complete") return undefined;
  const value: unknown = JSON.parse(entry.form.text);
  if (!isObject(value)) return undefined;
  const { embedding, model, space, tokens } = value;
  const isVector = Array.isArray(embedding) || typeof embedding === "string";
  if (!isVector || typeof model !== "string" || typeof space !== "string") return undefined;
  return { entry, embedding: embedding as number[], model, space, tokens: tokens as TokenShares | undefined };
}

/** Returns the embedding space of most vectors in the cache; undefined if there are none. */
function findCommonSpace(inputs: readonly RequestedInput[]): string | undefined {
  const counts = new Map<string, number>();
  for (const { found } of inputs) if (found !== undefined) counts.set(found.space, (counts.get(found.space) ?? 0) + 1);
  return [...counts].sort(([, first], [, second]) => second - first)[0]?.[0];
}

/** Repeats vectors for all inputs. Like other repeated responses, they have the usage of their calls. */
function repeatVectors(call: EmbeddingCall): Begun {
  const { cached: { pool, request }, startedAt, deps, inputs } = call;
  const { costUsd, ageMs } = sumSavings(inputs, call);
  call.cached.countHit(costUsd);
  const { entry, model } = inputs[0]!.found!;
  const result = new CachedResult(request, { entry: { ...entry, costUsd }, pool, ageMs, startedAt, deps });
  const usage = sumTokens(inputs.map(({ found }) => found!.tokens));
  const body = { object: "list", data: [], model, ...(usage && { usage }) } as unknown as EmbeddingResponse;
  const response = mergeVectors(call, body, new Map());
  return { kind: "complete", result, response, end: { usage: undefined, written: () => 0 }, savedUsd: costUsd };
}

/** Requests all vectors. */
async function callForAll(call: EmbeddingCall): Promise<Begun> {
  const { sent, deps, completing, positions } = call;
  const result = await route(sent as unknown as RoutedRequest, completing(sent, deps), deps);
  result.cacheStatus = "MISS";
  const { response } = result.received;
  const vectors = readVectors(response.body, positions);
  return toBegun(call, { result, response, vectors: vectors ?? new Map() });
}

/**
 * Requests vectors of the embedding space of those that are in the cache.
 *
 * @returns Undefined if no model has them: all vectors have to be requested.
 */
async function callForMissing(call: EmbeddingCall, { space, missing }: {
  readonly space: string;
  readonly missing: readonly RequestedInput[];
}): Promise<Begun | undefined> {
  const { sent: { text: _, ...request }, deps, completing, inputs } = call;
  const narrow = new SpaceFilter(request.operation, space);
  const input = missing.map((requested) => requested.input) as string[];
  const sent = { ...request, operation: narrow.operation, body: { ...request.body, input } };
  let result: Result<Completion<EmbeddingResponse>>;
  try {
    result = await route(sent as unknown as RoutedRequest, completing(sent, deps), deps);
  } catch (error) {
    const isFinal = sent.signal?.aborted || DeadlineError.isInstance(error) || !MeshError.isInstance(error);
    if (error instanceof OtherSpaceError || narrow.hasExcluded && !isFinal) return undefined;
    throw error;
  }
  const { usage, response: { body } } = result.received;
  const vectors = readVectors(body, missing.map((requested) => inputs.indexOf(requested)));
  if (vectors === undefined) {
    result.settle("success", usage);
    return undefined;
  }
  const repeated = inputs.filter((requested) => !missing.includes(requested));
  const { costUsd, ageMs } = sumSavings(repeated, call);
  result.cacheStatus = formatStatus("PARTIAL", { ageMs, costUsd });
  Object.assign(result.routing, costUsd !== undefined && { saved_usd: costUsd });
  return toBegun(call, { result, response: mergeVectors(call, body, vectors), vectors, savedUsd: costUsd });
}

/** Keeps the models of one embedding space. */
class SpaceFilter {
  readonly operation: EmbeddingOperation;
  /** Whether models of other spaces could serve the request. */
  hasExcluded = false;

  constructor(operation: EmbeddingOperation, space: string) {
    this.operation = {
      ...operation,
      interchangeable: (members, first, body) => {
        const all = operation.interchangeable?.(members, first, body) ?? members;
        const inSpace = all.filter(({ model }) => findSpace(model) === space);
        if (inSpace.length === 0) throw new OtherSpaceError("No model of the embedding space is eligible");
        this.hasExcluded = inSpace.length < all.length;
        return inSpace;
      },
    };
  }
}

/**
 * Returns the vectors of a response by the positions of their inputs; undefined if it does not have one for each.
 *
 * @param positions The position of each input that was sent.
 */
function readVectors(
  { data }: EmbeddingResponse,
  positions: readonly number[],
): ReadonlyMap<number, Embedding> | undefined {
  const byIndex = new Map(data.map((item) => [item.index, item]));
  const items = positions.map((position, index) => [position, byIndex.get(index)] as const);
  const isComplete = data.length === positions.length && items.every(([, item]) => item !== undefined);
  return isComplete ? new Map(items as readonly (readonly [number, Embedding])[]) : undefined;
}

/** Returns a response for all inputs, in the requested encoding. */
function mergeVectors(
  { sent: { operation, body: requested }, inputs, positions }: EmbeddingCall,
  body: EmbeddingResponse,
  vectors: ReadonlyMap<number, Embedding>,
): CompletionResponse<EmbeddingResponse> {
  const data = positions.map((position, index): Embedding => {
    const { embedding, ...others } = vectors.get(position) ?? inputs[position]!.found!;
    return { ...("object" in others && others), object: "embedding", index, embedding };
  });
  const response = { body: { ...body, data } };
  return operation.finish?.(response, requested) ?? response;
}

/** Returns a response that is kept input by input. */
function toBegun(call: EmbeddingCall, { result, response, vectors, savedUsd }: {
  readonly result: Result<Completion<EmbeddingResponse>>;
  readonly response: CompletionResponse<EmbeddingResponse>;
  readonly vectors: ReadonlyMap<number, Embedding>;
  readonly savedUsd?: number | undefined;
}): Begun {
  const { cached, deps, inputs } = call;
  const { usage, body } = result.received;
  const { routing: { model, provider }, dropped, member } = result;
  const space = findSpace(member.model);
  const total = [...vectors.keys()].reduce((sum, position) => sum + measureInput(inputs[position]!), 0);
  const keep = ({ costUsd }: CallFacts) => {
    const createdAt = deps.runtime.clock.now();
    const entries = [...vectors].map(([position, { embedding }]) => {
      const requested = inputs[position]!;
      const share = measureInput(requested) / total;
      const tokens = scaleTokens(result.received.response.body.usage, share);
      const text = JSON.stringify({ embedding, model: response.body.model, space, tokens });
      const cost = costUsd === undefined ? undefined : costUsd * share;
      const origin = { model: model!, provider: provider!, ...(dropped.length > 0 && { dropped }), costUsd: cost };
      return [requested.key, { ...origin, createdAt, form: { kind: "complete", text } }] as const;
    });
    cached.caching.storeAll(new Map(entries), cached.control.ttlMs);
  };
  return { kind: "complete", result, response, end: { ...usage, text: () => JSON.stringify(body) }, keep, savedUsd };
}

/** Returns a share of reported usage; undefined if it is malformed. */
function scaleTokens(usage: unknown, share: number): TokenShares | undefined {
  const { prompt_tokens, total_tokens } = Object(usage) as Readonly<Record<string, unknown>>;
  if (!isNonNegativeInteger(prompt_tokens) || !isNonNegativeInteger(total_tokens)) return undefined;
  return { prompt_tokens: prompt_tokens * share, total_tokens: total_tokens * share };
}

/** Undefined if one of the shares is unknown. */
function sumTokens(shares: readonly (TokenShares | undefined)[]): TokenShares | undefined {
  const reported = shares.filter((share) => share !== undefined);
  if (reported.length < shares.length) return undefined;
  const sum = (name: keyof TokenShares) => Math.round(reported.reduce((total, share) => total + share[name], 0));
  return { prompt_tokens: sum("prompt_tokens"), total_tokens: sum("total_tokens") };
}

/** Its size, by which usage and cost of a response are shared out. */
function measureInput({ input }: RequestedInput): number {
  return typeof input === "string" ? input.length : input.length * charsPerToken;
}

/** What vectors from the cache have cost, and the age of the oldest one. */
function sumSavings(inputs: readonly RequestedInput[], { cached: { caching } }: EmbeddingCall) {
  const entries = inputs.flatMap(({ found }) => found?.entry ?? []);
  const costs = entries.flatMap(({ costUsd }) => costUsd ?? []);
  const costUsd = costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0);
  return { costUsd, ageMs: Math.max(0, ...entries.map((entry) => caching.findAge(entry))) };
}
