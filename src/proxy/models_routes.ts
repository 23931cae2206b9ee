/**
 * `/v1/models` and single models.
 * @module
 */
import type { PlainResponse } from "../contracts/shell.ts";
import { decodeSegment } from "../util/request_path.ts";
import { followWork } from "../util/failure.ts";
import type { Exchange } from "./exchange.ts";
import { json } from "./json.ts";
import { listedFor, listFor } from "./listed_models.ts";
import type { ListedEntry } from "../registry/model_list.ts";

const prefix = "/v1/models/";

/** The models and pools available to the caller. Lists of providers that could not be had are asked for again. */
export function respondWithModelList(exchange: Exchange): PlainResponse {
  const { registry, hub } = exchange.mesh;
  const relisted = registry.relist?.();
  if (relisted !== undefined) followWork(relisted, { hub, component: "registry", task: "The list of models" });
  return json(listFor(exchange), { headers: exchange.headers });
}

/**
 * The same in the shape of Anthropic's Models API: all on one page, or a single one.
 *
 * Source: https://platform.claude.com/docs/en/api/models-list
 */
export function anthropicModels(exchange: Exchange): PlainResponse {
  const { path, headers } = exchange;
  if (path.startsWith(prefix)) {
    return json(toAnthropicModel(listedFor(exchange, decodeSegment(path.slice(prefix.length)))), { headers });
  }
  const data = listFor(exchange).data.map(toAnthropicModel);
  return json({ data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null }, { headers });
}

/** An unknown time of release is that of the epoch. */
function toAnthropicModel({ id, created }: ListedEntry) {
  return { type: "model", id, display_name: id, created_at: new Date(created * 1000).toISOString() };
}

/** A single one. */
export function oneListedModel(exchange: Exchange): PlainResponse {
  const { path, headers } = exchange;
  return json(listedFor(exchange, decodeSegment(path.slice(prefix.length))), { headers });
}
