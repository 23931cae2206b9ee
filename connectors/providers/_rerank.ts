/**
 * Reranking. Vendors share the shape, under different member names.
 *
 * Sources: docs.cohere.com, `POST /v2/rerank`; docs.vllm.ai and localai.io, `POST /v1/rerank`, which follow it;
 * docs.voyageai.com/reference/reranker-api.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { OperationCall, OperationRequest } from "../../src/contracts/provider.ts";
import { UpstreamError } from "../../src/errors.ts";
import { isObject } from "../../src/util/is_object.ts";
import { parseObject, readBytes, throwIfError } from "./_http.ts";
import type { Post } from "./_openai_vendor.ts";

const decoder = /* @__PURE__ */ new TextDecoder();

/** A vendor's dialect of reranking. */
export interface RerankDialect {
  /** Path relative to the vendor's base URL; may start with `../`. */
  readonly path: string;
  /** Its name of `top_n`. */
  readonly topName?: string;
  /** Its name of `results`. */
  readonly resultsName?: string;
}

/**
 * Reranking by a vendor that returns a list with `index` and `relevance_score`.
 *
 * @param dialect The vendor's dialect.
 */
export function rerankIn({ path, topName, resultsName = "results" }: RerankDialect): (post: Post) => OperationCall {
  return (post) => async (request, options) => {
    const sent = topName === undefined ? request : { ...request, json: renameMembers(request, topName) };
    const body = parseObject(decoder.decode(await readBytes(await post(path, sent, options))));
    throwIfError(body);
    const { [resultsName]: results, usage, meta } = body;
    const { length } = request.body.documents as readonly unknown[];
    const isResult = (one: unknown) =>
      isObject(one) && Number.isInteger(one.index) && (one.index as number) >= 0 && (one.index as number) < length &&
      Number.isFinite(one.relevance_score);
    if (!Array.isArray(results) || !results.every(isResult)) {
      throw new UpstreamError("The provider's response has no relevance scores", { kind: "invalid_response" });
    }
    const billed = Object(Object(meta).billed_units);
    const units = billed.search_units === undefined ? {} : { search_units: billed.search_units };
    return { body: { model: request.model.id, results, usage: { ...Object(usage), ...units } } };
  };
}

function renameMembers({ body: { top_n, ...rest }, model }: OperationRequest, topName: string): JsonObject {
  return { ...rest, model: model.id, ...(top_n === undefined ? {} : { [topName]: top_n }) };
}
