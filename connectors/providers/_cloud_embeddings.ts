/**
 * Embeddings on clouds whose models accept one or a few inputs per call.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { OperationCall, OperationRequest, OperationResponse } from "../../src/contracts/provider.ts";
import { UpstreamError } from "../../src/errors.ts";
import { appendAll } from "../../src/util/append_all.ts";
import { isVector, listEmbeddingInputs, normalized } from "./_embeddings.ts";
import { undeclaredParams } from "./_dropped_params.ts";

/** Maximum concurrent calls for one request. */
const maxAtOnce = 8;
const translated: ReadonlySet<string> = /* @__PURE__ */ new Set(["model", "input", "dimensions", "encoding_format"]);

/** The vectors of some inputs. */
export interface EmbeddedInputs {
  /** In input order. */
  readonly vectors: unknown;
  /** Input tokens; undefined if not reported. */
  readonly tokens: number | undefined;
}

/**
 * Embeddings on a cloud.
 *
 * @param modelOf Returns how the requested model creates embeddings.
 */
export function cloudEmbeddings(
  modelOf: (request: OperationRequest, options: Parameters<OperationCall>[1]) => {
    /** Maximum inputs per call. */
    readonly maxInputs: number;
    /** Supported parameters besides OpenAI's. */
    readonly own?: readonly string[];
    /** Creates embeddings for up to that many inputs. */
    readonly embed: (inputs: readonly string[], dimensions: number | undefined) => Promise<EmbeddedInputs>;
  },
): OperationCall {
  return async (request, options) => {
    const { maxInputs, own = [], embed } = modelOf(request, options);
    const { body } = request;
    const inputs = listEmbeddingInputs(request);
    const left = undeclaredParams(body, new Set([...translated, ...own]));
    if (left.length > 0) options.reportDropped?.(left);
    const dimensions = typeof body.dimensions === "number" ? body.dimensions : undefined;
    const parts = Array.from(
      { length: Math.ceil(inputs.length / maxInputs) },
      (_, at) => inputs.slice(at * maxInputs, (at + 1) * maxInputs),
    );
    const bodies: EmbeddedInputs[] = [];
    for (let at = 0; at < parts.length; at += maxAtOnce) {
      const some = parts.slice(at, at + maxAtOnce);
      const embedded = await Promise.all(
        some.map(async (part) => checkVectorCount(await embed(part, dimensions), part.length)),
      );
      appendAll(bodies, embedded);
    }
    return joinEmbeddings(bodies, request);
  };
}

function checkVectorCount(data: EmbeddedInputs, count: number): EmbeddedInputs {
  if (Array.isArray(data.vectors) && data.vectors.length === count && data.vectors.every(isVector)) return data;
  throw new UpstreamError("The provider's response does not have one vector per input", { kind: "invalid_response" });
}

function joinEmbeddings(bodies: readonly EmbeddedInputs[], { model, body }: OperationRequest): OperationResponse {
  const vectors = bodies.flatMap((body) => body.vectors as readonly number[][]);
  const isCounted = bodies.every(({ tokens }) => Number.isSafeInteger(tokens));
  const tokens = bodies.reduce((sum, body) => sum + (body.tokens ?? 0), 0);
  // truncated vectors are not normalized to length 1
  const shape = body.dimensions === undefined ? (vector: readonly number[]) => vector : normalized;
  const response: JsonObject = {
    object: "list",
    data: vectors.map((vector, index) => ({ object: "embedding", index, embedding: shape(vector) })),
    model: model.id,
    ...(isCounted ? { usage: { prompt_tokens: tokens, total_tokens: tokens } } : {}),
  };
  return { body: response };
}
