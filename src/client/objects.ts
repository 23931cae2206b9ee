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
import { type FileInput, toFileStream } from "./read_files.ts";
import type { CallSettings } from "./options.ts";

/** The fields of a file upload. */
export interface UploadFields {
  /** The purpose of the file, such as `batch` or `fine-tune`. */
  purpose: string;
  /**
   * The pool that selects the provider. By default it is derived from the `model` of the requests in the file, else the
   * first pool that supports files.
   */
  mesh?: { readonly pool?: string };
  /** When the file expires, in seconds after its creation. */
  expires_after?: { anchor: "created_at"; seconds: number };
}

/** A file to upload. */
export interface FileUploadRequest extends UploadFields {
  /** Its content: a `File`, `Blob`, `Response`, bytes, or a stream such as `fs.createReadStream(path)`. */
  file: FileInput;
}

/** Pagination of a list. */
export interface ListQuery {
  /** Returns objects after the one with this id. */
  after?: string;
  /** Maximum number of objects. */
  limit?: number;
}

/** Pagination and filters of a list of files. */
export interface FileListQuery extends ListQuery {
  /** Returns only files with this purpose. */
  purpose?: string;
  /** Order by creation time. @default {"desc"} */
  order?: "asc" | "desc";
}

/** One request of a batch. */
export interface BatchItem {
  /** Identifies the result of this request; `request-1`, `request-2`, … by default. */
  custom_id?: string;
  /** The request body. Without `model`, the client's pool is used. */
  body: RequestBody;
}

/** Requests to be submitted as one batch. */
export interface BatchSubmission extends Partial<Omit<BatchRequest, "input_file_id">> {
  /** The requests. They are consumed one at a time, so a generator keeps one in memory. */
  requests: Iterable<BatchItem> | AsyncIterable<BatchItem>;
  /** The endpoint they are for. @default {"/v1/chat/completions"} */
  endpoint?: string;
}

async function openServices({ engine, ready }: CallContext) {
  await ready();
  return await engine.infrastructure();
}

function createObjectCall({ engine }: CallContext, { headers, signal, timeout }: CallSettings) {
  const requestHeaders = new Headers(headers);
  const requestId = requestIdFrom(requestHeaders.get("x-request-id"));
  const userAgent = requestHeaders.get("user-agent") ?? undefined;
  const timeoutMs = Math.min(timeout ?? Infinity, engine.settings.deadlineMs);
  return { requestId, userAgent, timeoutMs, ...(signal === undefined ? {} : { signal }) };
}

/** Manages files, stored at the provider that the pool selects. */
export class Files {
  readonly #context: CallContext;

  /** Created by the client; programs do not construct it. */
  constructor(context: CallContext) {
    this.#context = context;
  }

  /**
   * Uploads a file. The file is streamed to the provider.
   *
   * @param request The file and its purpose.
   * @param settings Abort signal, timeout in milliseconds.
   * @throws {MeshError} When the request fails. An aborted call throws the signal's reason.
   *
   * @example
   * ```ts
   * import { create } from "@modelmesh/core";
   *
   * const client = create({ config: "modelmesh.yaml" });
   * const file = new File([await Deno.readFile("requests.jsonl")], "requests.jsonl");
   * const { id } = await client.files.create({ file, purpose: "batch" });
   * ```
   */
  async create(request: FileUploadRequest, settings: CallSettings = {}): Promise<FileObject> {
    const { file, mesh, ...uploaded } = request;
    const { files } = await openServices(this.#context);
    const fields = Object.fromEntries(Object.entries(uploaded).flatMap(([name, value]) => flattenFields(name, value)));
    const source = { ...toFileStream("file", file), fields, pool: mesh?.pool, laterFields: () => Promise.resolve({}) };
    return (await files.create(source, createObjectCall(this.#context, settings))).object;
  }

  /** Returns the metadata of a file. */
  async retrieve(id: string, settings: CallSettings = {}): Promise<FileObject> {
    return await (await openServices(this.#context)).files.retrieve(id, createObjectCall(this.#context, settings));
  }

  /** Returns a page of the uploaded files. */
  async list(query: FileListQuery = {}, settings: CallSettings = {}): Promise<ObjectPage<FileObject>> {
    const page = await (await openServices(this.#context)).files.list(query, createObjectCall(this.#context, settings));
    return page as ObjectPage<FileObject>;
  }

  /** Returns the content of a file as a streamed response. */
  async content(id: string, settings: CallSettings = {}): Promise<Response> {
    const { type, bytes } = await (await openServices(this.#context)).files.content(
      id,
      createObjectCall(this.#context, settings),
    );
    return new Response(readableFrom(bytes), { headers: { "content-type": type } });
  }

  /** Deletes a file at its provider. */
  async delete(id: string, settings: CallSettings = {}): Promise<{ id: string; object: "file"; deleted: true }> {
    return await (await openServices(this.#context)).files.delete(id, createObjectCall(this.#context, settings));
  }
}

/** Manages batches: many requests in one file, completed within hours. */
export class Batches {
  readonly #context: CallContext;

  /** Created by the client; programs do not construct it. */
  constructor(context: CallContext) {
    this.#context = context;
  }

  /**
   * Creates a batch from an uploaded file.
   *
   * @param request OpenAI's request. `completion_window` defaults to the one that the model's provider accepts.
   * @param settings Abort signal, timeout in milliseconds.
   * @throws {MeshError} When the request fails. An aborted call throws the signal's reason.
   */
  async create(
    request: Omit<BatchRequest, "completion_window"> & { completion_window?: string },
    settings: CallSettings = {},
  ): Promise<Batch> {
    const { batches } = await openServices(this.#context);
    return withoutNulls((await batches.create(request, createObjectCall(this.#context, settings))).object);
  }

  /** Uploads requests as a file and creates a batch from it. */
  async submit(submission: BatchSubmission, settings: CallSettings = {}): Promise<Batch> {
    const { requests, endpoint = "/v1/chat/completions", ...others } = submission;
    await this.#context.ready();
    const { batchOperationFor } = await import("../infrastructure/batch_operations.ts");
    const { operation } = batchOperationFor(endpoint, 1);
    const file = writeBatchLines(requests, { endpoint, model: () => this.#context.poolFor(operation) });
    const { id } = await new Files(this.#context).create({ file, purpose: "batch" }, settings);
    return await this.create({ ...others, endpoint, input_file_id: id }, settings);
  }

  /** Returns the current state of a batch. */
  async retrieve(id: string, settings: CallSettings = {}): Promise<Batch> {
    return withoutNulls(
      await (await openServices(this.#context)).batches.retrieve(id, createObjectCall(this.#context, settings)),
    );
  }

  /** Returns a page of the batches, newest first. */
  async list(query: ListQuery = {}, settings: CallSettings = {}): Promise<ObjectPage<Batch>> {
    const page = await (await openServices(this.#context)).batches.list(
      query,
      createObjectCall(this.#context, settings),
    );
    return { ...page, data: page.data.map((batch) => withoutNulls(batch as Batch)) };
  }

  /** Requests the cancellation of a batch. */
  async cancel(id: string, settings: CallSettings = {}): Promise<Batch> {
    return withoutNulls(
      await (await openServices(this.#context)).batches.cancel(id, createObjectCall(this.#context, settings)),
    );
  }
}

/** Manages fine-tuning jobs. */
export class FineTuningJobs {
  readonly #context: CallContext;

  /** Created by the client; programs do not construct it. */
  constructor(context: CallContext) {
    this.#context = context;
  }

  /**
   * Creates a job at the provider that stores its training file.
   *
   * @param request OpenAI's request; `model` is the name of a pool or model of this mesh.
   * @param settings Abort signal, timeout in milliseconds.
   * @throws {MeshError} When the request fails. An aborted call throws the signal's reason.
   */
  async create(request: FineTuneRequest, settings: CallSettings = {}): Promise<FineTuningJob> {
    return await (await openServices(this.#context)).jobs.create(request, createObjectCall(this.#context, settings));
  }

  /** Returns the current state of a job. */
  async retrieve(id: string, settings: CallSettings = {}): Promise<FineTuningJob> {
    return await (await openServices(this.#context)).jobs.retrieve(id, createObjectCall(this.#context, settings));
  }

  /** Returns a page of the jobs, newest first. */
  async list(query: ListQuery = {}, settings: CallSettings = {}): Promise<ObjectPage<FineTuningJob>> {
    const page = await (await openServices(this.#context)).jobs.list(query, createObjectCall(this.#context, settings));
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

  /** Returns a page of the events of a job. */
  async listEvents(id: string, query: ListQuery = {}, settings: CallSettings = {}): Promise<ObjectPage> {
    const parameters = Object.entries(query).map(([name, value]) => [name, String(value)]);
    const what = `events${parameters.length === 0 ? "" : `?${new URLSearchParams(parameters)}`}`;
    return await (await openServices(this.#context)).jobs.listJobItems(
      id,
      what,
      createObjectCall(this.#context, settings),
    );
  }

  async #change(id: string, action: FineTuneAction, settings: CallSettings): Promise<FineTuningJob> {
    return await (await openServices(this.#context)).jobs.change(id, action, createObjectCall(this.#context, settings));
  }
}

/** Removes null members: a field that a batch lacks is null on the wire, and absent in OpenAI's types. */
function withoutNulls(batch: Batch): Batch {
  return Object.fromEntries(Object.entries(batch).filter(([, value]) => value !== null)) as unknown as Batch;
}

/** Flattens nested objects into form fields as OpenAI's clients do: `expires_after[anchor]`. */
function flattenFields(name: string, value: unknown): [string, string][] {
  if (value === undefined || value === null) return [];
  if (typeof value !== "object") return [[name, String(value)]];
  return Object.entries(value).flatMap(([key, member]) => flattenFields(`${name}[${key}]`, member));
}

async function* writeBatchLines(
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
