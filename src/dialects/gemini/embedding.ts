/**
 * The dialect of `:embedContent` and `:batchEmbedContents`.
 *
 * Source: https://ai.google.dev/api/embeddings, read 2026-11-23.
 * @module
 */
import type { EmbeddingRequest, JsonObject } from "../../contracts/openai.ts";
import { bodyChecker, invalid, missing } from "../../pipeline/check_body.ts";
import { readPath } from "../../util/request_path.ts";
import type { EmbeddingDialect } from "../dialect.ts";
import { findAddress } from "./address.ts";
import { gemini } from "./gemini.ts";
import { checkParts } from "./_parts.ts";
import { Position } from "./_position.ts";

const checkMembers = bodyChecker(["content", "requests", "taskType", "title", "outputDimensionality"]);

/** One content to embed, with its options. */
interface EmbedRequest {
  readonly text: string;
  readonly dimensions: number | undefined;
  /** Members that the embeddings request cannot express. */
  readonly dropped: readonly string[];
}

/** Gemini's embeddings: one content, or several at once. */
export const geminiEmbedding: EmbeddingDialect = {
  dialect: gemini,
  name: "embedContent",
  translate(value, { url }) {
    const position = new Position();
    const body = checkMembers(value) as JsonObject;
    const { model, method } = findAddress(readPath(url))!;
    const isBatch = method === "batchEmbedContents";
    const at = position.member("requests");
    const all = isBatch
      ? at.list(body.requests).map((request, index) => readEmbedRequest(at.item(index).fields(request), at.item(index)))
      : [readEmbedRequest(position.fields(body), position)];
    if (isBatch && body.requests === undefined) throw missing("requests");
    if (all.length === 0) throw invalid('"requests" has to have at least one request', "requests");
    const [first] = all as [EmbedRequest];
    if (all.some(({ dimensions }) => dimensions !== first.dimensions)) {
      throw invalid('"outputDimensionality" has to be the same in all requests', "requests");
    }
    const { models, mesh } = body;
    return {
      request: {
        ...(model === "" ? {} : { model }),
        ...(models === undefined ? {} : { models }),
        ...(mesh === undefined ? {} : { mesh }),
        input: isBatch ? all.map(({ text }) => text) : first.text,
        ...(first.dimensions === undefined ? {} : { dimensions: first.dimensions }),
      } as EmbeddingRequest,
      dropped: [...new Set(all.flatMap(({ dropped }) => dropped))],
      native: {
        edits: (id) => isBatch ? { requests: withModelName(body.requests as JsonObject[], id) } : { model: undefined },
        headers: {},
        only: position.nativeOnly.error,
      },
      toResponse({ data }) {
        const embeddings = data.map(({ embedding }) => ({ values: embedding }));
        return isBatch ? { embeddings } : { embedding: embeddings[0] };
      },
    };
  },
};

function readEmbedRequest(fields: JsonObject, position: Position): EmbedRequest {
  const { content, outputDimensionality: dimensions, taskType, title } = fields;
  const at = position.member("content");
  if (content === undefined) throw missing(at.path);
  const strings = checkParts(at.fields(content), at).flatMap(({ fields: part, position: where }) => {
    const text = where.member("text").text(part.text);
    if (text === undefined) where.addInexpressible();
    return text ?? [];
  });
  return {
    text: strings.length === 0 && position.nativeOnly.error !== undefined ? " " : strings.join("\n"),
    dimensions: position.member("outputDimensionality").number(dimensions),
    dropped: [...(taskType === undefined ? [] : ["taskType"]), ...(title === undefined ? [] : ["title"])],
  };
}

/** Every request of a batch repeats the model. */
function withModelName(requests: readonly JsonObject[], id: string): JsonObject[] {
  return requests.map((request) => ({ ...request, model: id.includes("/") ? id : `models/${id}` }));
}
