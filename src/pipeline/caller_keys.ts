/**
 * Keys of callers: the header `x-provider-key`, for providers with `credentials: header`. This module is imported if a
 * provider has that setting, or with the first request that has the header.
 * @module
 */
import { UnsupportedRequestError } from "../errors.ts";
import type { Member, Pool, ProviderInstance, Registry } from "../registry/registry.ts";
import type { Eligibility } from "./eligibility.ts";
import type { RoutedRequest } from "./request.ts";

const header = "x-provider-key";

/** Maximum length of the header, characters. */
const maxLength = 8192;
/** Maximum number of keys in it. */
const maxKeys = 32;

/**
 * Keeps the models for which the request has what authorizes it: those of other providers, and those of providers whose
 * key it contains. A key goes to no other provider than its own.
 *
 * @returns The same models with the keys, by provider id.
 * @throws {UnsupportedRequestError} `invalid_value` for a malformed header, or a key whose provider is unclear;
 * `missing_provider_key` if a key is missing for all models.
 */
export function withCallerKeys<Found extends Eligibility>(
  found: Found,
  { request: { providerKey }, pool, registry }: {
    readonly request: Pick<RoutedRequest, "providerKey">;
    readonly pool: Pick<Pool, "name" | "members">;
    readonly registry: Pick<Registry, "instances">;
  },
): Found & { readonly callerKeys: ReadonlyMap<string, string> } {
  const keys = providerKey === undefined ? undefined : readKeys(providerKey, registry.instances);
  const own = listKeyless(pool.members);
  const callerKeys = new Map([...keys?.named ?? []].filter(([id]) => own.includes(id)));
  if (keys?.plain !== undefined) callerKeys.set(findOnly(own, pool.name), keys.plain);
  const eligible = found.eligible.filter(({ model: { instance } }) =>
    !takesCallerKeys(instance) || callerKeys.has(instance.entry.id)
  );
  if (eligible.length === 0) throw createMissing(listKeyless(found.eligible));
  // where it goes for want of a key does not affect the pool
  const isConstrained = found.isConstrained || eligible.length < found.eligible.length;
  return { ...found, eligible, isConstrained, callerKeys };
}

/** Whether callers authorize the requests of a provider. */
function takesCallerKeys({ entry: { credentials } }: ProviderInstance): boolean {
  return credentials === "header";
}

/** The ids of the providers of some models whose requests callers authorize. */
function listKeyless(members: readonly Member[]): readonly string[] {
  const instances = new Set(members.map(({ model: { instance } }) => instance));
  return [...instances].filter(takesCallerKeys).map(({ entry: { id } }) => id);
}

/** A key that names no provider may go to one only. */
function findOnly(providers: readonly string[], pool: string): string {
  const [provider] = providers;
  if (provider !== undefined && providers.length === 1) return provider;
  throw wrong(
    provider === undefined
      ? `No provider of the pool "${pool}" takes keys of callers`
      : `Several providers of the pool "${pool}" take keys of callers: name that of each key, as in ` +
        providers.map((id) => `${id}=<key>`).join(", "),
  );
}

/**
 * Reads the header: one key, or `<provider id>=<key>`, separated by commas.
 *
 * @returns Keys by provider, and the one that does not name its provider.
 * @throws {UnsupportedRequestError} `invalid_value` if it is malformed, or names a provider that takes no keys.
 */
function readKeys(text: string, instances: readonly ProviderInstance[]): {
  readonly named: ReadonlyMap<string, string>;
  readonly plain: string | undefined;
} {
  const entries = text.length > maxLength ? [] : text.split(",").map((entry) => entry.trim());
  if (entries.length === 0 || entries.length > maxKeys || entries.some((entry) => !/^[\x21-\x7e]+$/.test(entry))) {
    throw wrong("It has to be a key, or <provider id>=<key> for each provider, separated by commas");
  }
  const [first = ""] = entries;
  if (entries.length === 1 && !isNamed(first)) return { named: new Map(), plain: first };
  const takers = new Set(instances.filter(takesCallerKeys).map(({ entry: { id } }) => id));
  const named = new Map<string, string>();
  for (const entry of entries) {
    const id = entry.slice(0, Math.max(0, entry.indexOf("=")));
    if (!isNamed(entry) || !takers.has(id)) throw wrong("One of its keys names no provider that takes keys of callers");
    if (named.has(id)) throw wrong(`It has two keys for the provider "${id}"`);
    named.set(id, entry.slice(id.length + 1));
  }
  return { named, plain: undefined };
}

/** Whether a key names its provider. One may end in `=`, as Base64 does, and is never taken for another's by mistake. */
function isNamed(entry: string): boolean {
  return /=[^=]/.test(entry);
}

function createMissing(providers: readonly string[]): UnsupportedRequestError {
  const [first] = providers;
  const form = providers.length === 1 ? "<key>" : providers.map((id) => `${id}=<key>`).join(", ");
  const takers = providers.length === 1 ? `The provider "${first}" takes` : "The providers of this pool take";
  return new UnsupportedRequestError(`${takers} the key of the caller: send it in the header "${header}: ${form}"`, {
    code: "missing_provider_key",
    param: header,
  });
}

/** The message never quotes the header. */
function wrong(message: string): UnsupportedRequestError {
  return new UnsupportedRequestError(`${header}: ${message}`, { code: "invalid_value", param: header });
}
