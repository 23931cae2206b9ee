/**
 * Embeddings and moderation in OpenAI's dialect; moderation also by vendors with other category names.
 *
 * Sources: OpenAI REST API reference, `POST /embeddings` and `/moderations`, document version 2.3.0; docs.mistral.ai,
 * guardrailing.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { OperationCall, OperationRequest } from "../../src/contracts/provider.ts";
import { UpstreamError } from "../../src/errors.ts";
import { findOwn } from "../../src/util/entries.ts";
import { isObject } from "../../src/util/is_object.ts";
import { parseObject, readWire, throwIfError, toWireText } from "./_http.ts";
import type { Post } from "./_openai_vendor.ts";

/**
 * Embeddings by a vendor with OpenAI's `POST /embeddings`.
 *
 * @param post Posts to the vendor.
 */
export function embeddingsBy(post: Post): OperationCall {
  return async (request, options) => {
    const wire = await readWire(await post("embeddings", request, options));
    return { body: checkEmbeddings(parseObject(toWireText(wire)), request), wire };
  };
}

/** The inputs of a request; a list of token ids is one input. */
export function listTokenInputs({ body: { input } }: OperationRequest): readonly unknown[] {
  return Array.isArray(input) && input.some((item) => typeof item !== "number") ? input : [input];
}

/** Validates that there is one vector per input. */
function checkEmbeddings(body: JsonObject, request: OperationRequest): JsonObject {
  throwIfError(body);
  const { data } = body;
  const isVector = (value: unknown) => {
    const { embedding } = Object(value);
    return typeof embedding === "string" ||
      Array.isArray(embedding) && embedding.every((item) => typeof item === "number");
  };
  if (!Array.isArray(data) || data.length !== listTokenInputs(request).length || !data.every(isVector)) {
    throw new UpstreamError("The provider's response does not have one vector per input", { kind: "invalid_response" });
  }
  return body;
}

const categories = [
  ...["hate", "hate/threatening", "harassment", "harassment/threatening", "illicit", "illicit/violent"],
  ...["self-harm", "self-harm/intent", "self-harm/instructions", "sexual", "sexual/minors", "violence"],
  ...["violence/graphic"],
];

/** OpenAI's category names for those of other vendors. */
const otherNames: Readonly<Record<string, string>> = {
  hate_and_discrimination: "hate",
  violence_and_threats: "violence",
  dangerous_and_criminal_content: "illicit",
  selfharm: "self-harm",
};

/**
 * Moderation by a vendor whose `POST /moderations` accepts OpenAI's requests. Results without `flagged`, or with the
 * vendor's own categories, are completed.
 *
 * @param post Posts to the vendor.
 */
export function moderationBy(post: Post): OperationCall {
  return async (request, options) => {
    const wire = await readWire(await post("moderations", request, options));
    const body = parseObject(toWireText(wire));
    throwIfError(body);
    const { results } = body;
    const isResult = (value: unknown) =>
      isObject(value) && isObject(value.categories) && isObject(value.category_scores);
    if (!Array.isArray(results) || !results.every(isResult)) {
      throw new UpstreamError("The provider's response has no results", { kind: "invalid_response" });
    }
    if (results.every(({ flagged }) => typeof flagged === "boolean")) return { body, wire };
    return { body: { ...body, results: results.map(completed) } };
  };
}

function completed(
  { categories: rawCategories, category_scores: scores, ...rest }: Record<string, JsonObject>,
): JsonObject {
  const named = (values: JsonObject = {}) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [findOwn(otherNames, name) ?? name, value]));
  const all = (value: unknown) => Object.fromEntries(categories.map((name) => [name, value]));
  const found = named(rawCategories);
  return {
    ...rest,
    flagged: Object.values(found).includes(true),
    categories: { ...all(false), ...found },
    category_scores: { ...all(0), ...named(scores) },
    category_applied_input_types: { ...all(["text"]) },
  };
}
