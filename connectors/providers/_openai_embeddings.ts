/**
 * Embeddings in OpenAI's dialect.
 *
 * Source: OpenAI REST API reference, `POST /embeddings`, document version 2.3.0.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { OperationCall, OperationRequest } from "../../src/contracts/provider.ts";
import { UpstreamError } from "../../src/errors.ts";
import { parseObject, readBytes, throwIfError } from "./_http.ts";
import type { Post } from "./_openai_vendor.ts";

const decoder = /* @__PURE__ */ new TextDecoder();

/**
 * Embeddings by a vendor with OpenAI's `POST /embeddings`.
 *
 * @param post Posts to the vendor.
 */
export function embeddingsBy(post: Post): OperationCall {
  return async (request, options) => {
    const wire = await readBytes(await post("embeddings", request, options));
    return { body: checkEmbeddings(parseObject(decoder.decode(wire)), request), wire };
  };
}

/** The inputs of a request; a list of token ids is one input. */
export function listTokenInputs({ body: { input } }: OperationRequest): readonly unknown[] {
  return Array.isArray(input) && input.some((one) => typeof one !== "number") ? input : [input];
}

/** Validates that there is one vector per input. */
function checkEmbeddings(body: JsonObject, request: OperationRequest): JsonObject {
  throwIfError(body);
  const { data } = body;
  const isVector = (one: unknown) => {
    const { embedding } = Object(one);
    return typeof embedding === "string" || Array.isArray(embedding);
  };
  if (!Array.isArray(data) || data.length !== listTokenInputs(request).length || !data.every(isVector)) {
    throw new UpstreamError("The provider's response does not have one vector per input", { kind: "invalid_response" });
  }
  return body;
}
