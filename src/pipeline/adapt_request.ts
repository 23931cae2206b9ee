/**
 * Rewords a request for one model: routing fields out, and what its operation rewords.
 * @module
 */
import type { RequestBody } from "../contracts/openai.ts";
import type { NativeRequest, OperationRequest } from "../contracts/provider.ts";
import type { ModelEntry } from "../registry/registry.ts";
import type { Rewording } from "./operation.ts";
import type { OriginalRequest, RoutedRequest } from "./request.ts";
import { speaks } from "./speaks.ts";

/** Fields that steer us, or that would let a caller choose the target or the key. */
export const privateFields: readonly string[] = [
  "mesh",
  "models",
  "api_key",
  "api_base",
  "base_url",
  "extra_headers",
];

/** A request in a model's words. */
export interface AdaptedRequest {
  readonly completion: OperationRequest;
  /** Parameters left out because the model refuses them. */
  readonly dropped: readonly string[];
}

/**
 * Rewords a request.
 *
 * @param request As the client made it.
 * @param model The model that it is sent to.
 */
export function adaptRequest(request: RoutedRequest, model: ModelEntry): AdaptedRequest {
  const { operation, body, text, files, original } = request;
  const { edits: own, dropped } = operation.reword(body, model);
  const native = nativeOf(original, model, own);
  const edits: Record<string, unknown> = { ...own };
  for (const name of privateFields) if (name in body) edits[name] = undefined;
  const reworded = edited(body, edits);
  const { info } = model;
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

/** The request in its own words, for a provider that speaks them, and the members that differ for the model. */
function nativeOf(
  original: OriginalRequest | undefined,
  { info, instance }: ModelEntry,
  inChat: Rewording["edits"],
): { readonly request: NativeRequest; readonly edited: readonly string[] } | undefined {
  if (original?.native === undefined || !speaks(instance.provider, original.dialect, info.id)) return undefined;
  const { dialect, native: { textFor, headers } } = original;
  const { text, edited } = textFor(info.id, { inChat, hidden: privateFields });
  return { request: { dialect, text, headers }, edited };
}

function edited(body: RequestBody, edits: Readonly<Record<string, unknown>>): RequestBody {
  const names = Object.keys(edits);
  if (names.length === 0) return body;
  const copy = { ...body, ...edits };
  for (const name of names) if (edits[name] === undefined) delete copy[name];
  return copy;
}
