/**
 * Which requests and responses may be cached, and what a request says about that.
 * @module
 */
import { parseDuration } from "../../config/schema/units.ts";
import { UnsupportedRequestError } from "../../errors.ts";
import { isObject } from "../../util/is_object.ts";
import type { ExplainedCache } from "../explain.ts";
import { countVendorTools } from "../estimate.ts";
import type { RoutedRequest } from "../request.ts";
import type { CacheDirective } from "../routing_constraints.ts";

/** What a request says about the cache. */
export interface CacheControl {
  /** `no-store`: passes by the cache. `only`: is never sent to a model. */
  readonly mode?: "no-store" | "only";
  /** Maximum age of its response, ms. */
  readonly ttlMs?: number;
}

/** Operations whose responses depend on nothing but the request and the model. */
const deterministic: ReadonlySet<string> = new Set(["embeddings", "rerank", "moderation"]);

/** Types of tools that the caller runs. */
const callerTools: ReadonlySet<unknown> = new Set([undefined, "function", "custom"]);

/**
 * Reads what a request says about the cache.
 *
 * @throws {UnsupportedRequestError} `invalid_value`.
 *
 * @example
 * ```ts
 * readCacheControl({ value: "ttl=60", param: "x-mesh-cache" }); // { ttlMs: 60_000 }
 * readCacheControl({ value: "only", param: "mesh.cache" }); // { mode: "only" }
 * ```
 */
export function readCacheControl(directive: CacheDirective | undefined): CacheControl {
  if (directive === undefined) return {};
  const { value, param } = directive;
  const control = typeof value === "string" ? readText(value) : isObject(value) ? readObject(value) : undefined;
  if (control !== undefined) return control;
  const label = param.startsWith("x-") ? `The header "${param}"` : `"${param}"`;
  const forms = param.startsWith("x-") ? '"ttl=60", in seconds' : 'a time such as { "ttl": "60s" }';
  throw new UnsupportedRequestError(`${label} has to be "no-store", "only", or ${forms}`, {
    code: "invalid_value",
    param,
  });
}

function readText(text: string): CacheControl | undefined {
  if (text === "no-store" || text === "only") return { mode: text };
  return text.startsWith("ttl=") ? readTtl(text.slice("ttl=".length)) : undefined;
}

function readObject(value: Readonly<Record<string, unknown>>): CacheControl | undefined {
  return Object.keys(value).join() === "ttl" ? readTtl(value.ttl) : undefined;
}

/** A number without a unit is one of seconds, as in HTTP. */
function readTtl(value: unknown): CacheControl | undefined {
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string") return undefined;
  const ttlMs = parseDuration(/^\d{1,9}$/.test(text) ? `${text}s` : text);
  return ttlMs ? { ttlMs } : undefined;
}

/** Returns why a request passes by the cache; undefined if its response may be repeated for equal ones. */
export function findBypass({ operation: { name }, body, original, providerKey, isStoredTurn }: RoutedRequest, {
  mode,
  ttlMs,
}: CacheControl): ExplainedCache["reason"] {
  if (mode === "no-store") return "no_store";
  if (providerKey !== undefined) return "provider_key";
  if (original?.isNativeOnly || original?.isNativePreferred) return "native_form";
  const { temperature, seed, random_seed, store } = body as Readonly<Record<string, unknown>>;
  if (store === true || isStoredTurn === true) return "stored";
  if (hasProviderTools(body as Readonly<Record<string, unknown>>)) return "provider_tools";
  if (mode === "only" || ttlMs !== undefined || deterministic.has(name)) return undefined;
  return temperature === 0 || (seed ?? random_seed ?? null) !== null ? undefined : "not_deterministic";
}

/** Whether a request lets the provider run tools, or search, whose results change. */
function hasProviderTools(body: Readonly<Record<string, unknown>>): boolean {
  const { tools, enable_search } = body;
  if (Array.isArray(tools) && !tools.every((tool) => callerTools.has(Object(tool).type))) return true;
  return enable_search === true || countVendorTools(body) !== undefined;
}

/**
 * Whether a response may be repeated: it is complete, and has no calls of tools, which have effects. One that ends at the
 * limit that the request itself sets is complete.
 *
 * @param response The response of any operation.
 * @param body The request.
 */
export function isStorable(response: unknown, body: object): boolean {
  const { choices, error } = Object(response) as { readonly choices?: unknown; readonly error?: unknown };
  if ((error ?? null) !== null) return false;
  if (!Array.isArray(choices)) return true;
  const { max_tokens, max_completion_tokens } = body as Readonly<Record<string, unknown>>;
  const isLimited = (max_tokens ?? max_completion_tokens ?? null) !== null;
  return choices.length > 0 && choices.every((choice) => {
    const { finish_reason: reason, message } = Object(choice);
    if (reason !== "stop" && !(reason === "length" && isLimited)) return false;
    const { tool_calls: calls, function_call: call } = Object(message);
    return !(Array.isArray(calls) && calls.length > 0) && (call ?? null) === null;
  });
}
