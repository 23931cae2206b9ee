/**
 * `POST /v1/responses/compact`: a model of the pool summarizes a conversation.
 * @module
 */
import type { PlainResponse } from "../contracts/shell.ts";
import { formatCompaction, readSummary, toSummaryRequest } from "../dialects/responses/compaction.ts";
import { responses } from "../dialects/responses/responses.ts";
import { sealSummary } from "../infrastructure/compaction.ts";
import { isObject } from "../util/is_object.ts";
import { performChat } from "./dialect_route.ts";
import { HttpError } from "./error_body.ts";
import type { Exchange } from "./exchange.ts";
import { json } from "./json.ts";
import { readResponsesWork } from "./responses_work.ts";
import { addRoutingHeaders } from "./routing_headers.ts";

/** Handles a request. */
export async function handleCompact(exchange: Exchange): Promise<PlainResponse> {
  const work = await readResponsesWork(exchange);
  const request = isObject(work.value) ? toSummaryRequest(work.value) : work.value;
  const translation = responses.translate(request, exchange.request);
  const result = await performChat(translation, {
    dialect: responses,
    work: { ...work, value: request, text: JSON.stringify(request) },
    exchange,
  }).finally(() => work.release?.());
  const { headers, client, mesh } = exchange;
  addRoutingHeaders(headers, result);
  if (result.kind !== "complete") throw new TypeError(`A summary has no response of the kind ${result.kind}`);
  const { body } = result.response;
  const summary = readSummary(body);
  if (summary === "") {
    throw new HttpError("The model has not returned a summary", {
      status: 502,
      type: "server_error",
      code: "all_attempts_failed",
    });
  }
  return json(formatCompaction(body, await sealSummary(summary, { client }, mesh)), { headers });
}
