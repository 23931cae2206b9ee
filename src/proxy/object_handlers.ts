/**
 * Requests for files, batches and fine-tuning jobs.
 * @module
 */
import type { FineTuneAction } from "../contracts/infrastructure.ts";
import type { PlainResponse, PlainStream } from "../contracts/shell.ts";
import type { FileContent } from "../infrastructure/file_content.ts";
import type { ObjectCall } from "../infrastructure/mesh.ts";
import { invalid, missing } from "../pipeline/check_body.ts";
import { endIterator } from "../util/end_iterator.ts";
import { findBoundary } from "../util/multipart.ts";
import { readSearch } from "../util/request_path.ts";
import { addContentType } from "./content_body.ts";
import { HttpError } from "./error_body.ts";
import type { Exchange } from "./exchange.ts";
import { formSource } from "./form_source.ts";
import { json } from "./json.ts";
import { withDecompressedBody } from "./compressed_body.ts";
import { findRequestTimeout, readWork } from "./body.ts";
import { UploadBody } from "./upload_body.ts";
import { findScopes } from "./perform_request.ts";

/** `POST /v1/files`. */
export async function uploadFile(exchange: Exchange): Promise<PlainResponse> {
  const { mesh, proxy, request, headers } = exchange;
  const boundary = findBoundary(request.headers.get("content-type"));
  if (boundary === undefined) {
    const message = "The content type has to be multipart/form-data";
    throw new HttpError(message, { status: 415, code: "unsupported_media_type" });
  }
  const body = new UploadBody(withDecompressedBody(request, mesh.runtime), {
    maxBytes: proxy.uploadLimit,
    clock: mesh.runtime.clock,
  });
  await exchange.begin();
  try {
    const source = await formSource(body, boundary);
    const pool = request.headers.get("x-mesh-pool") ?? source.pool;
    const { files } = await mesh.infrastructure();
    const created = await files.create({ ...source, pool }, toObjectCall(exchange));
    Object.assign(headers, { "x-mesh-pool": created.pool, "x-mesh-provider": created.provider });
    return json(created.object, { headers });
  } catch (error) {
    if (!request.signal.aborted) await body.drain().catch(() => {}); // the error is already known
    throw error;
  }
}

/** `GET /v1/files`. */
export async function listFiles(exchange: Exchange): Promise<PlainResponse> {
  const { query, files } = await opened(exchange);
  const order = query.get("order") ?? "desc";
  if (order !== "asc" && order !== "desc") throw invalid('"order" has to be "asc" or "desc"', "order");
  const page = await files.list({
    purpose: query.get("purpose") ?? undefined,
    after: query.get("after") ?? undefined,
    limit: limitIn(query, 10_000),
    order,
  }, toObjectCall(exchange));
  return json(page, exchange);
}

/** `GET /v1/files/{id}`. */
export async function retrieveFile(exchange: Exchange): Promise<PlainResponse> {
  const { files } = await opened(exchange);
  return json(await files.retrieve(idIn(exchange), toObjectCall(exchange)), exchange);
}

/** `DELETE /v1/files/{id}`. */
export async function deleteFile(exchange: Exchange): Promise<PlainResponse> {
  const { files } = await opened(exchange);
  return json(await files.delete(idIn(exchange), toObjectCall(exchange)), exchange);
}

/** `GET /v1/files/{id}/content`. */
export async function fileContent(exchange: Exchange): Promise<PlainResponse> {
  const { files } = await opened(exchange);
  const { headers, onEnd } = exchange;
  const content = await files.content(idIn(exchange), toObjectCall(exchange));
  addContentType(headers, content.type);
  return { status: 200, headers, body: streamFile(content, onEnd) };
}

/** `POST /v1/batches`. */
export async function createBatch(exchange: Exchange): Promise<PlainResponse> {
  const { headers } = exchange;
  const body = await bodyIn(exchange);
  const { batches } = await exchange.mesh.infrastructure();
  const { object, pool, model, provider } = await batches.create(body, toObjectCall(exchange));
  Object.assign(headers, { "x-mesh-pool": pool, "x-mesh-model": model, "x-mesh-provider": provider });
  return json(object, { headers });
}

/** `GET /v1/batches`. */
export async function listBatches(exchange: Exchange): Promise<PlainResponse> {
  const { query, batches } = await opened(exchange);
  return json(await batches.list(pageIn(query), toObjectCall(exchange)), exchange);
}

/** `GET /v1/batches/{id}`. */
export async function retrieveBatch(exchange: Exchange): Promise<PlainResponse> {
  const { batches } = await opened(exchange);
  return json(await batches.retrieve(idIn(exchange), toObjectCall(exchange)), exchange);
}

/** `POST /v1/batches/{id}/cancel`. */
export async function cancelBatch(exchange: Exchange): Promise<PlainResponse> {
  const { batches } = await opened(exchange);
  return json(await batches.cancel(idIn(exchange), toObjectCall(exchange)), exchange);
}

/** `POST /v1/fine_tuning/jobs`. */
export async function createJob(exchange: Exchange): Promise<PlainResponse> {
  const body = await bodyIn(exchange);
  const { jobs } = await exchange.mesh.infrastructure();
  return json(await jobs.create(body, toObjectCall(exchange)), exchange);
}

/** `GET /v1/fine_tuning/jobs`. */
export async function listJobs(exchange: Exchange): Promise<PlainResponse> {
  const { query, jobs } = await opened(exchange);
  return json(await jobs.list(pageIn(query), toObjectCall(exchange)), exchange);
}

/** `GET /v1/fine_tuning/jobs/{id}`. */
export async function retrieveJob(exchange: Exchange): Promise<PlainResponse> {
  const { jobs } = await opened(exchange);
  return json(await jobs.retrieve(idIn(exchange), toObjectCall(exchange)), exchange);
}

/** `POST /v1/fine_tuning/jobs/{id}/cancel`, `/pause` and `/resume`. */
export async function changeJob(exchange: Exchange): Promise<PlainResponse> {
  const { jobs } = await opened(exchange);
  const action = exchange.path.replace(/\/$/, "").split("/").at(-1) as FineTuneAction;
  return json(await jobs.change(idIn(exchange), action, toObjectCall(exchange)), exchange);
}

/** `GET /v1/fine_tuning/jobs/{id}/events` and `/checkpoints`. */
export async function listOfJob(exchange: Exchange): Promise<PlainResponse> {
  const { jobs } = await opened(exchange);
  const what = exchange.path.replace(/\/$/, "").split("/").at(-1)!;
  const item = what + readSearch(exchange.request.url);
  return json(await jobs.listJobItems(idIn(exchange), item, toObjectCall(exchange)), exchange);
}

/** Reads the JSON body of a request, and takes a slot. */
async function bodyIn(exchange: Exchange): Promise<unknown> {
  return (await readWork(exchange)).value;
}

function pageIn(query: URLSearchParams) {
  return { after: query.get("after") ?? undefined, limit: limitIn(query, 100) };
}

/** Takes a slot, for a request without a body. */
async function opened(exchange: Exchange) {
  const { mesh, request } = exchange;
  await exchange.begin();
  const query = new URLSearchParams(readSearch(request.url));
  return { query, ...await mesh.infrastructure() };
}

function toObjectCall(exchange: Exchange): ObjectCall {
  const { requestId, client, request, mesh, proxy } = exchange;
  const team = client?.team && mesh.settings.teams?.get(client.team.identity.key);
  const { headers, signal } = request;
  const userAgent = headers.get("user-agent") ?? undefined;
  return {
    requestId,
    client,
    guards: [...proxy.guards ?? [], ...team?.guards ?? []],
    scopes: findScopes(exchange),
    userAgent,
    signal,
    timeoutMs: findRequestTimeout(request, mesh.settings.deadlineMs),
  };
}

/** The id in a path. */
function idIn({ path }: Exchange): string {
  const [, id] = /\/(?:files|batches|jobs)\/([^/]+)/.exec(path) ?? [];
  if (id === undefined) throw missing("id");
  return id;
}

function limitIn(query: URLSearchParams, most: number): number | undefined {
  const limitText = query.get("limit");
  if (limitText === null) return undefined;
  const limit = Number(limitText);
  if (Number.isInteger(limit) && limit >= 1 && limit <= most) return limit;
  throw invalid(`"limit" has to be a number from 1 to ${most}`, "limit");
}

/** Streams bytes as they are received. If the provider fails midway, the response is aborted. */
function streamFile({ bytes }: FileContent, onEnd: () => void): PlainStream {
  const iterator = bytes[Symbol.asyncIterator]();
  return {
    async read() {
      let chunk: Uint8Array | undefined;
      try {
        const { done, value } = await iterator.next();
        return chunk = done ? undefined : value;
      } finally {
        if (chunk === undefined) onEnd();
      }
    },
    cancel() {
      endIterator(iterator);
      onEnd();
    },
  };
}
