/**
 * Adapts requests to providers with `prompt_cache`, so that the vendor caches their prompts. Imported with the first one.
 * @module
 */
import type { ChatApi, OperationRequest } from "../contracts/provider.ts";
import type { ModelEntry } from "../registry/registry.ts";
import { editMembers, memberText } from "../util/json_members.ts";
import { hashConversation, hashFor } from "./conversation_hash.ts";
import type { RoutedRequest } from "./request.ts";

const keyMember = "prompt_cache_key";

/** A request as it is adapted to a model. */
interface AdaptedForm {
  readonly completion: OperationRequest;
  /** Members that the request can do without. */
  readonly added: readonly string[];
  /** The API through which it is sent; undefined if the model declares none. */
  readonly api: ChatApi | undefined;
}

/** A request and the model that receives it. */
interface CachedCall {
  readonly request: RoutedRequest;
  readonly model: ModelEntry;
  /** Members that the model rejects. */
  readonly rejected: ReadonlySet<string>;
}

/** Adds what the vendor of a model needs to cache the prompt of a chat request. */
export function withPromptCache<Adapted extends AdaptedForm>(adapted: Adapted, call: CachedCall): Adapted {
  const { request: { operation }, model: { instance } } = call;
  if (operation.name !== "chat") return adapted;
  const { connector, entry } = instance;
  const isMarked = connector === undefined || connector.promptCache?.marks === true;
  const { completion } = adapted;
  const marked = isMarked
    ? { ...adapted, completion: { ...completion, promptCache: { ttl: entry.promptCache!.ttl } } }
    : adapted;
  const key = takesKey(adapted, call) ? findKey(call.request) : undefined;
  return key === undefined ? marked : addKey(marked, key);
}

/** Whether the vendor takes a key in the API of the request, and the client has sent none. */
function takesKey({ completion, api = "chat" }: AdaptedForm, { model, rejected }: CachedCall): boolean {
  const { native, body } = completion;
  const { info: { parameters }, instance: { connector } } = model;
  if (native !== undefined && native.dialect !== "responses") return false;
  const isTaken = connector?.promptCache?.keyApis?.includes(native === undefined ? api : "responses") === true;
  const isDropped = rejected.has(keyMember) || parameters?.drop?.includes(keyMember) === true;
  // the chat form of a native request does not contain the key
  const own = native === undefined ? body[keyMember] : JSON.parse(memberText(native.text, keyMember) || "null");
  return isTaken && !isDropped && (own ?? undefined) === undefined;
}

/** The session is hashed: it may be private, and other clients may have one of the same name. */
function findKey(request: RoutedRequest): string | undefined {
  const { session, client } = request;
  return session ? hashFor(client?.id, [keyMember, session]) : hashConversation(request, keyMember);
}

/** The request can do without the key. */
function addKey<Adapted extends AdaptedForm>(adapted: Adapted, key: string): Adapted {
  const { completion } = adapted;
  const { body, wire, native } = completion;
  const edit = { [keyMember]: key };
  const keyed: OperationRequest = {
    ...completion,
    body: { ...body, ...edit },
    ...(wire && { wire: { ...wire, edits: { ...wire.edits, ...edit } } }),
    ...(native && { native: { ...native, text: editMembers(native.text, edit) } }),
  };
  return { ...adapted, completion: keyed, added: [...adapted.added, keyMember] };
}
