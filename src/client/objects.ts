/**
 * `client.files`, `client.batches` and `client.fineTuning.jobs`.
 * @module
 */
import type {
  Batch,
  BatchRequest,
  FileObject,
  FineTuneAction,
  FineTuneRequest,
  FineTuningJob,
  ObjectPage,
} from "../contracts/infrastructure.ts";
import type { RequestBody } from "../contracts/openai.ts";
import { readableFrom } from "../util/readable_from.ts";
import { requestIdFrom } from "../util/request_id.ts";
import type { CallContext } from "./call_context.ts";
import { type FileInput, fileStreamOf } from "./files_of.ts";
import type { CallSettings } from "./options.ts";

/** What is said of a file that is uploaded. */
export interface UploadFields {
  /** What it is for, such as `batch` or `fine-tune`. */
  purpose: string;
  /** The pool that chooses the provider; by the lines of a file of requests, else the first that can, unless given. */
  mesh?: { readonly pool?: string };
  /** When it expires. */
  expires_after?: { anchor: "created_at"; seconds: number };
}

/** A file to upload. */
export interface FileUploadRequest extends UploadFields {
  /** Its content: a `File`, `Blob`, `Response`, bytes, or a stream such as `fs.createReadStream(path)`. */
  file: FileInput;
}

/** Which objects are listed. */
export interface ListQuery {
  /** Those after the one of this id. */
  after?: string;
  /** Most of them. */
  limit?: number;
}

/** Which files are listed. */
export interface FileListQuery extends ListQuery {
  /** Only those for this purpose. */
  purpose?: string;
  /** By time; the newest first unless given. */
  order?: "asc" | "desc";
}

/** One request of a batch. */
export interface BatchItem {
  /** What its result is found by; `request-1` and so on unless given. */
  custom_id?: string;
  /** What is asked, as in a request of its own; without `model` it goes to the client's pool. */
  body: RequestBody;
}

/** Requests to be answered together. */
export interface BatchSubmission extends Partial<Omit<BatchRequest, "input_file_id">> {
  /** The requests, one after the other; a generator keeps no more than one in memory. */
  requests: Iterable<BatchItem> | AsyncIterable<BatchItem>;
  /** What they ask for. @default {"/v1/chat/completions"} */
  endpoint?: string;
}

async function servicesOf({ engine, ready }: CallContext) {
  await ready();
  return await engine.infrastructure();
}

function callOf({ engine }: CallContext, { headers, signal, timeout }: CallSettings) {
  const requestId = requestIdFrom(new Headers(headers).get("x-request-id"));
  const timeoutMs = Math.min(timeout ?? Infinity, engine.settings.deadlineMs);
  return { requestId, timeoutMs, ...(signal === undefined ? {} : { signal }) };
}

/** Files at the provider that a pool chooses. */
export class Files {
  readonly #context: CallContext;

  /**
   * Made by a client.
   *
   * @param context Of the client.
   */
  constructor(context: CallContext) {
    this.#context = context;
  }

  /**
   * Uploads a file, which is passed on as it is read.
   *
   * @param request The file, and what it is for.
   * @param settings Signal, time limit (ms).
   * @throws A `MeshError`, or the signal's reason.
   *
   * @example
   * ```ts ignore
   * const { id } = await client.files.create({ file: new File([text], "requests.jsonl"), purpose: "batch" });
   * ```
   */
  async create(request: FileUploadRequest, settings: CallSettings = {}): Promise<FileObject> {
    const { file, mesh, ...given } = request;
    const { files } = await servicesOf(this.#context);
    const fields = Object.fromEntries(Object.entries(given).flatMap(([name, value]) => fieldsOf(name, value)));
    const source = { ...fileStreamOf("file", file), fields, pool: mesh?.pool, laterFields: () => Promise.resolve({}) };
    return (await files.create(source, callOf(this.#context, settings))).object;
  }

  /** A file's facts. */
  async retrieve(id: string, settings: CallSettings = {}): Promise<FileObject> {
    return await (await servicesOf(this.#context)).files.retrieve(id, callOf(this.#context, settings));
  }

  /** A page of the files that were uploaded. */
  async list(query: FileListQuery = {}, settings: CallSettings = {}): Promise<ObjectPage<FileObject>> {
    const page = await (await servicesOf(this.#context)).files.list(query, callOf(this.#context, settings));
    return page as ObjectPage<FileObject>;
  }

  /** A file's content, as it arrives. */
  async content(id: string, settings: CallSettings = {}): Promise<Response> {
    const { type, bytes } = await (await servicesOf(this.#context)).files.content(id, callOf(this.#context, settings));
    return new Response(readableFrom(bytes), { headers: { "content-type": type } });
  }

  /** Deletes a file at its provider. */
  async delete(id: string, settings: CallSettings = {}): Promise<{ id: string; object: "file"; deleted: true }> {
    return await (await servicesOf(this.#context)).files.delete(id, callOf(this.#context, settings));
  }
}

/** Batches: many requests in one file, whose responses come within hours. */
export class Batches {
  readonly #context: CallContext;

  /**
   * Made by a client.
   *
   * @param context Of the client.
   */
  constructor(context: CallContext) {
    this.#context = context;
  }

  /**
   * Makes a batch of an uploaded file.
   *
   * @param request OpenAI's; without `completion_window` it is the one that the model takes.
   * @param settings Signal, time limit (ms).
   * @throws A `MeshError`, or the signal's reason.
   */
  async create(
    request: Omit<BatchRequest, "completion_window"> & { completion_window?: string },
    settings: CallSettings = {},
  ): Promise<Batch> {
    const { batches } = await servicesOf(this.#context);
    return withoutNulls((await batches.create(request, callOf(this.#context, settings))).object);
  }

  /** Uploads requests as a file, and makes a batch of it. */
  async submit(submission: BatchSubmission, settings: CallSettings = {}): Promise<Batch> {
    const { requests, endpoint = "/v1/chat/completions", ...others } = submission;
    await this.#context.ready();
    const { batchOperationFor } = await import("../infrastructure/batch_operations.ts");
    const { operation } = await batchOperationFor(endpoint, 1);
    const file = linesOf(requests, { endpoint, model: () => this.#context.poolFor(operation) });
    const { id } = await new Files(this.#context).create({ file, purpose: "batch" }, settings);
    return await this.create({ ...others, endpoint, input_file_id: id }, settings);
  }

  /** A batch as it is now. */
  async retrieve(id: string, settings: CallSettings = {}): Promise<Batch> {
    return withoutNulls(await (await servicesOf(this.#context)).batches.retrieve(id, callOf(this.#context, settings)));
  }

  /** A page of the batches that were made, the newest first. */
  async list(query: ListQuery = {}, settings: CallSettings = {}): Promise<ObjectPage<Batch>> {
    const page = await (await servicesOf(this.#context)).batches.list(query, callOf(this.#context, settings));
    return { ...page, data: page.data.map((batch) => withoutNulls(batch as Batch)) };
  }

  /** Asks for the end of a batch. */
  async cancel(id: string, settings: CallSettings = {}): Promise<Batch> {
    return withoutNulls(await (await servicesOf(this.#context)).batches.cancel(id, callOf(this.#context, settings)));
  }
}

/** Fine-tuning jobs. */
export class FineTuningJobs {
  readonly #context: CallContext;

  /**
   * Made by a client.
   *
   * @param context Of the client.
   */
  constructor(context: CallContext) {
    this.#context = context;
  }

  /**
   * Starts a job where its training file is.
   *
   * @param request OpenAI's; `model` is a name of this mesh.
   * @param settings Signal, time limit (ms).
   * @throws A `MeshError`, or the signal's reason.
   */
  async create(request: FineTuneRequest, settings: CallSettings = {}): Promise<FineTuningJob> {
    return await (await servicesOf(this.#context)).jobs.create(request, callOf(this.#context, settings));
  }

  /** A job as it is now. */
  async retrieve(id: string, settings: CallSettings = {}): Promise<FineTuningJob> {
    return await (await servicesOf(this.#context)).jobs.retrieve(id, callOf(this.#context, settings));
  }

  /** A page of the jobs that were made, the newest first. */
  async list(query: ListQuery = {}, settings: CallSettings = {}): Promise<ObjectPage<FineTuningJob>> {
    const page = await (await servicesOf(this.#context)).jobs.list(query, callOf(this.#context, settings));
    return page as ObjectPage<FineTuningJob>;
  }

  /** Cancels a job. */
  async cancel(id: string, settings: CallSettings = {}): Promise<FineTuningJob> {
    return await this.#change(id, "cancel", settings);
  }

  /** Pauses a job. */
  async pause(id: string, settings: CallSettings = {}): Promise<FineTuningJob> {
    return await this.#change(id, "pause", settings);
  }

  /** Resumes a job. */
  async resume(id: string, settings: CallSettings = {}): Promise<FineTuningJob> {
    return await this.#change(id, "resume", settings);
  }

  /** What a job has done. */
  async listEvents(id: string, query: ListQuery = {}, settings: CallSettings = {}): Promise<ObjectPage> {
    const given = Object.entries(query).map(([name, value]) => [name, String(value)]);
    const what = `events${given.length === 0 ? "" : `?${new URLSearchParams(given)}`}`;
    return await (await servicesOf(this.#context)).jobs.listOf(id, what, callOf(this.#context, settings));
  }

  async #change(id: string, action: FineTuneAction, settings: CallSettings): Promise<FineTuningJob> {
    return await (await servicesOf(this.#context)).jobs.change(id, action, callOf(this.#context, settings));
  }
}

/** What a batch does not have yet is null on the wire, and absent in OpenAI's types. */
function withoutNulls(batch: Batch): Batch {
  return Object.fromEntries(Object.entries(batch).filter(([, value]) => value !== null)) as unknown as Batch;
}

/** Objects as OpenAI's clients write them: `expires_after[anchor]`. */
function fieldsOf(name: string, value: unknown): [string, string][] {
  if (value === undefined || value === null) return [];
  if (typeof value !== "object") return [[name, String(value)]];
  return Object.entries(value).flatMap(([key, member]) => fieldsOf(`${name}[${key}]`, member));
}

async function* linesOf(
  requests: BatchSubmission["requests"],
  { endpoint, model }: { readonly endpoint: string; readonly model: () => string },
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let number = 0;
  for await (const { custom_id = `request-${number + 1}`, body } of requests) {
    number++;
    const line = { custom_id, method: "POST", url: endpoint, body: { ...body, model: body.model ?? model() } };
    yield encoder.encode(`${JSON.stringify(line)}\n`);
  }
}
