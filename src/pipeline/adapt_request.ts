/**
 * Adapts a request to one model: removes routing fields, and applies the changes that its operation defines.
 * @module
 */
import type { RequestBody } from "../contracts/openai.ts";
import type { OperationRequest } from "../contracts/provider.ts";
import type { ModelEntry } from "../registry/registry.ts";
import { privateFields } from "./private_fields.ts";
import type { RoutedRequest } from "./request.ts";

/** A request adapted to a model. */
export interface AdaptedRequest {
  readonly completion: OperationRequest;
  /** Parameters omitted because the model rejects them. */
  readonly dropped: readonly string[];
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Adapts a request to a model. */
export function adaptRequest(request: RoutedRequest, model: ModelEntry): AdaptedRequest {
  const { operation, body, text, files, original } = request;
  const { edits: own, dropped } = operation.reword(body, model);
  const native = original?.nativeFor(model, own);
  const edits: Record<string, unknown> = { ...own };
  for (const name of privateFields) if (name in body) edits[name] = undefined;
  const reworded = edited(body, edits);
  const { info } = model;
  const completion: Writable<OperationRequest> = {
    operation: operation.name,
    model: info,
    stream: request.delivery === "stream",
    body: reworded,
  };
  if (text !== undefined) completion.wire = { text, edits };
  if (files !== undefined) completion.files = files;
  if (native !== undefined) completion.native = native.request;
  if (operation.bridge) completion.extra = operation.bridge.extraOf(reworded, { model: info, files: files ?? [] });
  return {
    completion,
    dropped: native !== undefined
      ? dropped.filter((name) => native.edited.includes(name))
      : original === undefined
      ? dropped
      : [...original.dropped, ...dropped],
  };
}

function edited(body: RequestBody, edits: Readonly<Record<string, unknown>>): RequestBody {
  const names = Object.keys(edits);
  if (names.length === 0) return body;
  const copy = { ...body, ...edits };
  for (const name of names) if (edits[name] === undefined) delete copy[name];
  return copy;
}
