/**
 * Adapts a request to one model: removes routing fields, and applies the changes that its operation defines.
 * @module
 */
import type { RequestBody } from "../contracts/openai.ts";
import type { ModelInfo, OperationRequest } from "../contracts/provider.ts";
import type { ModelEntry } from "../registry/registry.ts";
import { splitDate } from "../util/model_ids.ts";
import { privateFields } from "./private_fields.ts";
import type { RoutedRequest } from "./request.ts";

/** A request adapted to a model. */
export interface AdaptedRequest {
  readonly completion: OperationRequest;
  /** Parameters omitted because the model rejects them. */
  readonly dropped: readonly string[];
}

/** Adapts a request to a model. */
export function adaptRequest(request: RoutedRequest, model: ModelEntry): AdaptedRequest {
  const { operation, body, text, files, original } = request;
  const { edits: own, dropped } = operation.reword(body, model);
  const info = toDated(model.info, request.model);
  const native = original?.nativeFor(info === model.info ? model : { ...model, info }, own);
  const edits: Record<string, unknown> = { ...own };
  for (const name of privateFields) if (name in body) edits[name] = undefined;
  const reworded = edited(body, edits);
  return {
    completion: {
      operation: operation.name,
      model: info,
      stream: request.delivery === "stream",
      body: reworded,
      ...(text === undefined ? {} : { wire: { text, edits } }),
      ...(files === undefined ? {} : { files }),
      ...(native === undefined ? {} : { native: native.request }),
      ...(operation.bridge && { extra: operation.bridge.extraOf(reworded, { model: info, files: files ?? [] }) }),
    },
    dropped: native !== undefined
      ? dropped.filter((name) => native.edited.includes(name))
      : original === undefined
      ? dropped
      : [...original.dropped, ...dropped],
  };
}

/** A dated name of a model is sent as it came, since it means that release. */
function toDated(info: ModelInfo, name: string): ModelInfo {
  const { undated, date } = splitDate(name);
  const isOfModel = date !== "" && (undated === info.id || undated.endsWith(`/${info.id}`));
  return isOfModel ? { ...info, id: `${info.id}${date}` } : info;
}

function edited(body: RequestBody, edits: Readonly<Record<string, unknown>>): RequestBody {
  const names = Object.keys(edits);
  if (names.length === 0) return body;
  const copy = { ...body, ...edits };
  for (const name of names) if (edits[name] === undefined) delete copy[name];
  return copy;
}
