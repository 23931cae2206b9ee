/**
 * `/v1/models` and single models.
 * @module
 */
import type { PlainResponse } from "../contracts/shell.ts";
import { decodeSegment } from "../util/decode_segment.ts";
import type { Exchange } from "./exchange.ts";
import { json } from "./json.ts";
import { listedFor, listFor } from "./listed_models.ts";

const prefix = "/v1/models/";

/** The models and pools available to the caller. */
export function listModels(exchange: Exchange): PlainResponse {
  return json(listFor(exchange), { headers: exchange.headers });
}

/** A single one. */
export function oneListedModel(exchange: Exchange): PlainResponse {
  const { path, headers } = exchange;
  return json(listedFor(exchange, decodeSegment(path.slice(prefix.length))), { headers });
}
