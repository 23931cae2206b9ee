/**
 * The endpoints of Responses.
 * @module
 */
import type { JsonObject } from "../contracts/openai.ts";
import type { PlainResponse } from "../contracts/shell.ts";
import { responses } from "../dialects/responses/responses.ts";
import { formatWarmUp, isWarmUp } from "../dialects/responses/warm_up.ts";
import { missing } from "../pipeline/check_body.ts";
import { poolFor } from "../pipeline/select_pool.ts";
import { newId } from "../util/request_id.ts";
import { countRoute } from "./count_route.ts";
import { respondInDialect } from "./dialect_route.ts";
import type { Exchange, RouteEntry } from "./exchange.ts";
import { addStreamHeaders } from "./heartbeat.ts";
import { json } from "./json.ts";
import type { TurnWork } from "./responses/conversation_turn.ts";
import { readResponsesWork } from "./responses_work.ts";
import { findScopes } from "./perform_request.ts";

/** `/v1/responses`. */
export const responsesRoute: Pick<RouteEntry, "handle"> = {
  async handle(exchange) {
    const work = await readResponsesWork(exchange);
    const { turn } = work;
    if (turn === undefined) return await respondToWork(work, exchange);
    const { respondToTurn } = await import("./responses/stored_turn.ts");
    return await respondToTurn({ ...work, turn }, { exchange, respond: respondToWork });
  },
};

/** `/v1/responses/input_tokens`. */
export const responsesCount: RouteEntry = countRoute(responses, async (exchange) => {
  const work = await readResponsesWork(exchange);
  work.release?.(); // counting is brief
  return work;
});

async function respondToWork(work: TurnWork, exchange: Exchange): Promise<PlainResponse> {
  if (isWarmUp(work.value)) return await respondToWarmUp(work.value, exchange);
  const { turn, itemsName } = work;
  return await respondInDialect(responses, { work, exchange, carriesReasoning: turn !== undefined, itemsName });
}

/** Responds without a call to a provider. */
async function respondToWarmUp(body: JsonObject, exchange: Exchange): Promise<PlainResponse> {
  const { model, stream } = body;
  const { mesh, headers, client } = exchange;
  if (model === undefined) throw missing("model");
  const { clock } = mesh.runtime;
  const head = { id: newId(), model: String(model), created: Math.floor(clock.now() / 1000) };
  const { response, events } = formatWarmUp(body, head);
  poolFor(head.model, { client }, mesh.registry);
  await findScopes(exchange, body)?.admit();
  if (stream !== true) return json(response, { headers });
  addStreamHeaders(headers, "text/event-stream");
  return { status: 200, headers, body: events };
}
