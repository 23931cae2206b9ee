/**
 * The key of a response in the cache: everything that decides it, and for whom it is.
 * @module
 */
import type { Settings } from "../../config/settings/settings.ts";
import type { UploadedFile } from "../../contracts/provider.ts";
import type { Pool } from "../../registry/registry.ts";
import { isObject } from "../../util/is_object.ts";
import { sha256 } from "../../util/sha256.ts";
import type { RoutedRequest } from "../request.ts";

/** Who shares responses. */
type CacheScope = "client" | "team" | "all";

/** Members of a body that name its caller or its pool. */
const ignored: ReadonlySet<string> = new Set([
  ...["model", "models", "mesh", "user", "metadata", "safety_identifier", "store"],
  ...["prompt_cache_key", "prompt_cache_retention"],
]);

/** Members of a chat request that only decide the form of its response. */
const forms: ReadonlySet<string> = new Set(["stream", "stream_options"]);

const encoder = new TextEncoder();

/**
 * Returns the key of a request, in hexadecimal.
 *
 * @param facts Its pool as its client may use it, who shares its response, and a hash of the configuration.
 */
export async function createCacheKey(request: RoutedRequest, { pool, scope, generation }: {
  readonly pool: Pick<Pool, "name" | "members">;
  readonly scope: CacheScope;
  readonly generation: string;
}): Promise<string> {
  const { operation, body, files = [], routingConstraints } = request;
  const { only, ignore, order, maxPrice } = routingConstraints ?? {};
  const isForm = (name: string) => operation.name === "chat" && forms.has(name);
  const parameters = Object.fromEntries(Object.entries(body).filter(([name]) => !ignored.has(name) && !isForm(name)));
  const members = pool.members.map(({ model }) => model.name).sort();
  const facts = {
    generation,
    owner: findOwner(request, scope),
    operation: operation.name,
    pool: [pool.name, members],
    routing: [only?.names, ignore?.names, order?.names, maxPrice?.nanoUsd],
    parameters,
    files: await Promise.all(files.map(hashFile)),
  };
  return await hash(toCanonicalJson(facts));
}

/**
 * Returns the hash of what decides responses in a configuration, with which other processes of it share entries.
 *
 * @param resolved The settings with secrets, of which only addresses and models count.
 * @param written The settings without secrets.
 */
export async function createGeneration(resolved: Settings, written: Settings): Promise<string> {
  const enabled = [...resolved.providers.values()].filter((entry) => entry.enabled);
  const providers = enabled.map(({ id, connector, baseUrl }) => {
    const { config, headers } = written.providers.get(id) ?? {};
    return [id, connector, baseUrl, config, headers];
  });
  const models = [...resolved.models].map(([name, { pricing: _, ...model }]) => [name, model]);
  return await hash(toCanonicalJson({ providers, models }));
}

/** Identifies those who share responses; a request without a team or a name is its sender's own. */
function findOwner({ client, labels, identity }: RoutedRequest, scope: CacheScope): readonly unknown[] {
  if (scope === "all") return [];
  if (scope === "team" && labels?.team !== undefined) return ["team", labels.team];
  return client === undefined || client.isTeam ? ["sender", identity ?? null] : ["client", client.id];
}

/** Returns the hexadecimal SHA-256 of text or bytes. */
export async function hash(data: string | Uint8Array): Promise<string> {
  const { subtle } = crypto as { readonly subtle?: SubtleCrypto }; // pages of insecure origins have none
  if (subtle === undefined) return sha256(data);
  const bytes = typeof data === "string" ? encoder.encode(data) : data;
  const digest = new Uint8Array(await subtle.digest("SHA-256", bytes as BufferSource));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function hashFile({ field, name, type, bytes }: UploadedFile): Promise<readonly string[]> {
  return [field, name, type, await hash(bytes)];
}

/**
 * Returns JSON with sorted members, which has no lone surrogates, so that different values have different bytes. Undefined members
 * are left out; maps and sets are arrays.
 */
export function toCanonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(",")}]`;
  if (value instanceof Map || value instanceof Set) return toCanonicalJson([...value]);
  if (!isObject(value)) return JSON.stringify(value) ?? "null";
  const names = Object.keys(value).filter((name) => value[name] !== undefined).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${toCanonicalJson(value[name])}`).join(",")}}`;
}
