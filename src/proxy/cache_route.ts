/**
 * `/mesh/cache`: the entries of the cache and what they have saved, for administrators.
 * @module
 */
import type { PlainResponse } from "../contracts/shell.ts";
import { MeshError } from "../errors.ts";
import type { Caching } from "../pipeline/cache/caching.ts";
import { HttpError } from "./error_body.ts";
import type { Exchange } from "./exchange.ts";
import { json } from "./json.ts";

/**
 * `GET`: counts the entries, and what the processes of this proxy have served from them. `DELETE`: deletes the entries.
 *
 * @throws {HttpError} 400 without a cache, 503 while its storage fails.
 */
export async function handleCache(exchange: Exchange): Promise<PlainResponse> {
  const { mesh: { caching }, request, headers } = exchange;
  if (caching === undefined) {
    const message = "This proxy has no cache: configure one in the section `cache`";
    throw new HttpError(message, { status: 400, code: "no_cache" });
  }
  try {
    const perform = request.method === "DELETE" ? clear : readStats;
    return json(await perform(caching, exchange), { headers });
  } catch (error) {
    const reason = MeshError.isInstance(error) ? `: ${error.message}` : "";
    const facts = { status: 503, type: "server_error", code: "storage_unavailable" } as const;
    throw new HttpError(`The storage of the cache failed${reason}`, facts);
  }
}

async function readStats(caching: Caching, { overview }: Exchange) {
  const [own, { cache, held }] = await Promise.all([caching.stats(), overview.read("cache")]);
  const { entries, bytes } = held ?? own;
  return { entries, bytes, hits: 0, misses: 0, saved_usd: 0, ...cache };
}

async function clear(caching: Caching, { overview }: Exchange) {
  const { held } = await overview.read("cache");
  const cleared = await caching.clear();
  return { cleared: held?.entries ?? cleared };
}
