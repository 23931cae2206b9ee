/**
 * Adapts a request to one model: removes routing fields, and applies the changes that its operation defines.
 * @module
 */
import type { RequestBody } from "../contracts/openai.ts";
import type { ChatApi, ModelInfo, OperationRequest } from "../contracts/provider.ts";
import type { ModelEntry } from "../registry/registry.ts";
import { splitDate } from "../util/model_ids.ts";
import type { ClientNames } from "./client_names.ts";
import { hasPrivateFields, privateFields } from "./check_body.ts";
import type { RoutedRequest } from "./request.ts";

type Writable<T> = { -readonly [key in keyof T]: T[key] };

/** A request adapted to a model. */
export interface AdaptedRequest {
  readonly completion: OperationRequest;
  /** Parameters omitted because the model rejects them. */
  readonly dropped: readonly string[];
  /** Members that the client has not sent, and that the request can do without. */
  readonly added: readonly string[];
  /** The client's names of tools, which its response has to have; undefined if they are sent. */
  readonly clientNames: ClientNames | undefined;
  /** The API through which it is sent; undefined if the model declares none. */
  readonly api: ChatApi | undefined;
}

let promptCache: typeof import("./prompt_cache.ts") | undefined;

/** Imports what adapts requests to providers with `prompt_cache`. Others do without. */
export async function loadPromptCache(): Promise<void> {
  promptCache ??= await import("./prompt_cache.ts");
}

/** What a request consists of. Translations of other APIs add the rest, so far as it can be expressed in chat. */
const essentials: ReadonlySet<string> = new Set([
  ...["model", "messages", "stream", "n", "stop", "max_tokens", "max_completion_tokens"],
  ...["tools", "tool_choice", "functions", "function_call", "response_format"],
]);

const streamOptions = "stream_options";

/** Changes to a request at a provider that cannot stream. */
const withoutStream = { stream: undefined, [streamOptions]: undefined };

const none: ReadonlySet<string> = new Set();

const nothing: readonly string[] = [];

/**
 * Adapts a request to a model.
 *
 * @param rejected Members that the model rejects: those that the client has not sent are left out.
 */
export function adaptRequest(
  request: RoutedRequest,
  model: ModelEntry,
  rejected: ReadonlySet<string> = none,
): AdaptedRequest {
  const { operation, body, text, files, original } = request;
  const { edits: reworded, dropped: left, added: filled = [], clientNames } = operation.reword(body, model);
  const dated = request.model.includes(model.info.id) ? toDated(model.info, request.model) : model.info;
  const native = original?.nativeFor(dated === model.info ? model : { ...model, info: dated }, {
    inChat: reworded,
    rejected,
  });
  const isTranslated = original !== undefined;
  const added = native?.added ?? (isTranslated || request.delivery === "stream" ? listAdded(filled, request) : filled);
  const without = rejected.size === 0 ? nothing : added.filter((name) => rejected.has(name));
  const { provider } = model.instance;
  const lacksStream = provider !== undefined && provider.stream === undefined && !operation.hasContent;
  const info = without.length === 0 ? dated : withoutMembers(dated, without);
  const edits = without.length > 0 || lacksStream || hasPrivateFields(body)
    ? withoutOwn(reworded, { body, without, lacksStream })
    : reworded;
  const sent = edited(body, edits);
  const selected = operation.selectApi?.(body, model);
  const api = selected !== undefined && native?.request.dialect === "responses" ? "responses" : selected;
  const stream = request.delivery === "stream" && !lacksStream;
  const completion: Writable<OperationRequest> = { operation: operation.name, model: info, stream, body: sent };
  if (api !== undefined) completion.api = api;
  // events of a response whose names are restored must not be joined
  if (text !== undefined && clientNames === undefined) completion.wire = { text, edits };
  if (files !== undefined) completion.files = files;
  if (native !== undefined) completion.native = native.request;
  if (operation.bridge !== undefined) {
    completion.extra = operation.bridge.toAudioRequest(sent, { model: info, files: files ?? [] });
  }
  const adapted: AdaptedRequest = {
    completion,
    dropped: isTranslated || without.length > 0 ? listDropped(request, { left, without, native }) : left,
    added,
    clientNames: native === undefined ? clientNames : undefined,
    api,
  };
  if (!model.instance.entry.promptCache?.auto) return adapted;
  return promptCache?.withPromptCache(adapted, { request, model, rejected }) ?? adapted;
}

/** The parameters of the client that are not sent. */
function listDropped({ body, original }: RoutedRequest, { left, without, native }: {
  readonly left: readonly string[];
  readonly without: readonly string[];
  readonly native: ReturnType<NonNullable<RoutedRequest["original"]>["nativeFor"]>;
}): readonly string[] {
  if (original === undefined && native === undefined) {
    const own = without.filter((name) => name in body);
    return own.length === 0 ? left : [...new Set([...left, ...own])];
  }
  const isOfClient = (name: string) => name !== streamOptions; // translations ask for usage themselves
  if (native !== undefined) {
    return [...native.dropped, ...left.filter((name) => native.isEdited(name) && isOfClient(name))];
  }
  const own = new Set([...left, ...without.filter((name) => name in body)]);
  return [...original?.dropped ?? [], ...own].filter(isOfClient);
}

/** Members of a chat request that the client has not sent: also those of a translation, and the options of a stream. */
function listAdded(
  filled: readonly string[],
  { operation, body, delivery, original }: RoutedRequest,
): readonly string[] {
  const isStream = delivery === "stream" && body.stream_options === undefined;
  if (operation.name !== "chat" || original === undefined && !isStream) return filled;
  const translated = original === undefined
    ? nothing
    : Object.keys(body).filter((name) => !essentials.has(name) && !privateFields.includes(name));
  return [...filled, ...translated, ...(isStream ? [streamOptions] : nothing)];
}

/** Adds the removal of members that the provider must not receive. */
function withoutOwn(edits: Readonly<Record<string, unknown>>, { body, without, lacksStream }: {
  readonly body: RequestBody;
  readonly without: readonly string[];
  readonly lacksStream: boolean;
}): Readonly<Record<string, unknown>> {
  const all: Record<string, unknown> = { ...edits };
  for (const name of privateFields) if (name in body) all[name] = undefined;
  for (const name of without) all[name] = undefined;
  return lacksStream ? Object.assign(all, withoutStream) : all;
}

/** Connectors add no member that the rules of a model drop. */
function withoutMembers(info: ModelInfo, names: readonly string[]): ModelInfo {
  const { parameters } = info;
  return { ...info, parameters: { ...parameters, drop: [...parameters?.drop ?? [], ...names] } };
}

/** A dated name of a model is sent as it came, since it means that release. */
function toDated(info: ModelInfo, name: string): ModelInfo {
  const { undated, date } = splitDate(name);
  const isOfModel = date !== "" && (undated === info.id || undated.endsWith(`/${info.id}`));
  return isOfModel ? { ...info, id: `${info.id}${date}` } : info;
}

function edited(body: RequestBody, edits: Readonly<Record<string, unknown>>): RequestBody {
  let copy: RequestBody | undefined;
  for (const name in edits) {
    if (edits[name] !== undefined) (copy ??= { ...body })[name] = edits[name];
    else if (name in (copy ?? body)) {
      const { [name]: _, ...others } = copy ?? body; // not `delete`, which makes objects slow
      copy = others as RequestBody;
    }
  }
  return copy ?? body;
}
