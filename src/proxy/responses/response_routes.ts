/**
 * Requests about stored responses.
 * @module
 */
import { isUnderWay } from "../../dialects/responses/background.ts";
import { formatInputItem, toItemsName } from "../../dialects/responses/stored_response.ts";
import type { JsonObject } from "../../contracts/openai.ts";
import type { PlainResponse } from "../../contracts/shell.ts";
import { invalid } from "../../pipeline/check_body.ts";
import { readSearch } from "../../util/request_path.ts";
import { HttpError } from "../error_body.ts";
import type { Exchange } from "../exchange.ts";
import { json } from "../json.ts";
import { respondWithEvents } from "./event_stream.ts";
import { findOwner, openMemory, quoteId, type ResponseMemory, withStorageErrors } from "./response_memory.ts";
import type { ResponseRecord, ResponseRef } from "./response_records.ts";

const defaultLimit = 20;
const maxLimit = 100;

/** Maximum length of the conversation of a response whose input is listed, characters. */
const maxListedChars = 64 * 1024 * 1024;

/** Values of `include`. All of it is returned anyway. */
const includable: ReadonlySet<string> = new Set([
  ...["web_search_call.action.sources", "web_search_call.results", "code_interpreter_call.outputs"],
  ...["computer_call_output.output.image_url", "file_search_call.results", "message.input_image.image_url"],
  ...["message.output_text.logprobs", "reasoning.encrypted_content"],
]);

/** A request about a response. */
interface ResponseRequest {
  readonly exchange: Exchange;
  readonly memory: ResponseMemory;
  readonly ref: ResponseRef;
  readonly query: URLSearchParams;
}

/** Handlers by method and subpath. */
const handlers: Readonly<Record<string, (request: ResponseRequest) => Promise<PlainResponse>>> = {
  "GET": retrieve,
  "DELETE": remove,
  "GET input_items": listInputItems,
  "POST cancel": cancel,
};

/**
 * Handles a request.
 *
 * @throws {HttpError} 404 if the client has no such response, 503 if the storage fails.
 */
export async function handleResponse(exchange: Exchange): Promise<PlainResponse> {
  const { path, request } = exchange;
  const [, , , id = "", action] = path.split("/");
  const method = request.method === "HEAD" ? "GET" : request.method;
  const memory = openMemory(exchange);
  const ref = { owner: findOwner(exchange), id };
  const query = new URLSearchParams(readSearch(request.url));
  checkInclude(query);
  return await withStorageErrors(() =>
    handlers[action ? `${method} ${action}` : method]!({ exchange, memory, ref, query })
  );
}

async function retrieve(request: ResponseRequest): Promise<PlainResponse> {
  const { exchange, memory, ref, query } = request;
  const isStreamed = query.get("stream") ?? "false";
  if (isStreamed !== "true" && isStreamed !== "false") throw invalid('"stream" has to be true or false', "stream");
  const position = readPosition(query);
  const { response, isStreamed: hasEvents } = await loadRecord(request);
  if (isStreamed === "false") return json(response, exchange);
  if (!hasEvents) {
    throw invalid('Only responses that were created with "background" and "stream" are streamed again', "stream");
  }
  return respondWithEvents(memory.openEvents(ref), exchange, { position, onEnd: exchange.onEnd });
}

async function cancel(request: ResponseRequest): Promise<PlainResponse> {
  const { exchange, memory, ref } = request;
  const { response } = await loadRecord(request);
  if (response.background !== true) {
    throw invalid("Cannot cancel a synchronous response: close its connection", "background");
  }
  const ended = isUnderWay(response) ? (await memory.cancel(ref))?.response : response;
  if (ended === undefined) throw notFound(ref.id);
  return json(ended, exchange);
}

async function remove({ exchange, memory, ref }: ResponseRequest): Promise<PlainResponse> {
  if (!await memory.delete(ref)) throw notFound(ref.id);
  return json({ id: ref.id, object: "response", deleted: true }, exchange);
}

async function listInputItems(request: ResponseRequest): Promise<PlainResponse> {
  const { exchange, memory, ref, query } = request;
  const limit = readLimit(query);
  const order = query.get("order") ?? "desc";
  if (order !== "asc" && order !== "desc") throw invalid('"order" has to be "asc" or "desc"', "order");
  const record = await loadRecord(request);
  const items = await listItems(record, { memory, ref });
  if (order === "desc") items.reverse();
  const after = query.get("after");
  const start = after === null ? 0 : items.findIndex(({ id }) => id === after) + 1;
  if (after !== null && start === 0) throw invalid(`"after" is not the id of an item of this response`, "after");
  const data = items.slice(start, start + limit);
  const hasMore = start + limit < items.length;
  return json({
    object: "list",
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: hasMore,
  }, exchange);
}

/** The whole conversation before a response, oldest first: all of it was input. */
async function listItems(
  record: ResponseRecord,
  { memory, ref }: Pick<ResponseRequest, "memory" | "ref">,
): Promise<JsonObject[]> {
  const last = record.ancestors.at(-1);
  const { turns } = last === undefined
    ? { turns: [] }
    : await memory.loadConversation({ ...ref, id: last }, maxListedChars);
  const all = [...turns.flatMap(({ input, response }) => [input, response.output as JsonObject[]]), record.input];
  const name = `${toItemsName(ref.id)}_in`;
  return all.flat().map((item, index) => formatInputItem(item, `${name}_${index}`));
}

async function loadRecord({ memory, ref }: ResponseRequest): Promise<ResponseRecord> {
  const record = await memory.loadCurrent(ref);
  if (record === undefined) throw notFound(ref.id);
  return record;
}

/** Number of events that the client has. */
function readPosition(query: URLSearchParams): number {
  const text = query.get("starting_after");
  if (text === null) return 0;
  if (/^\d{1,15}$/.test(text)) return Number(text) + 1;
  throw invalid('"starting_after" has to be the sequence number of an event', "starting_after");
}

function readLimit(query: URLSearchParams): number {
  const text = query.get("limit");
  if (text === null) return defaultLimit;
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= maxLimit) return limit;
  throw invalid(`"limit" has to be an integer from 1 to ${maxLimit}`, "limit");
}

function checkInclude(query: URLSearchParams): void {
  for (const name of ["include", "include[]"]) {
    for (const value of query.getAll(name)) {
      if (!includable.has(value)) throw invalid(`"include" may have ${[...includable].join(", ")}`, "include");
    }
  }
}

function notFound(id: string): HttpError {
  return new HttpError(`Response with id ${quoteId(id)} not found`, { status: 404, code: "response_not_found" });
}
