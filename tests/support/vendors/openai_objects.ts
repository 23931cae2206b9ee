/**
 * Simulated vendor of files, batches and fine-tuning jobs with OpenAI's paths and states. Batches advance when the test
 * says so. An account, identified by its API key, sees only its own objects.
 * @module
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { findBoundary, readForm } from "../../../src/util/multipart.ts";
import { raise } from "../raise.ts";

type Json = Record<string, unknown>;

/** A file of the vendor. */
export interface VendorFile extends Json {
  id: string;
  purpose: string;
  filename: string;
  /** Its content as text. */
  text: string;
  key: string;
}

/** A batch of the vendor. */
export interface VendorBatch extends Json {
  id: string;
  status: string;
  input_file_id: string;
  key: string;
}

/** A running vendor. */
export interface ObjectVendor extends AsyncDisposable {
  /** Base URL, with `/v1`. */
  readonly url: string;
  /** Method and path of every request, oldest first. */
  readonly requests: readonly string[];
  readonly files: Map<string, VendorFile>;
  readonly batches: Map<string, VendorBatch>;
  readonly jobs: Map<string, Json>;
  /** Body of the latest JSON request. */
  readonly latest: Json | undefined;
  /** Number of interrupted uploads. */
  readonly broken: number;
  /** Moves a batch to a state, with results if that state has any. */
  move(id: string, status: string): void;
  /** Overrides responses by method and path; undefined restores its own. */
  instead: ((method: string, path: string) => { status: number; body?: Json; cut?: boolean } | undefined) | undefined;
}

const clockSeconds = 1_767_225_600;

/** Starts a vendor. */
export async function startObjectVendor(): Promise<ObjectVendor> {
  const vendor = new Vendor();
  const server = createServer((request, response) => {
    vendor.serve(request, response).catch(raise);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  vendor.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  vendor.close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return vendor;
}

class Vendor implements ObjectVendor {
  url = "";
  close: () => Promise<void> = () => Promise.resolve();
  readonly requests: string[] = [];
  readonly files: Map<string, VendorFile> = new Map();
  readonly batches: Map<string, VendorBatch> = new Map();
  readonly jobs: Map<string, Json> = new Map();
  latest: Json | undefined;
  broken = 0;
  instead: ObjectVendor["instead"];
  #count = 0;

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url = "", headers } = request;
    this.requests.push(`${method} ${url}`);
    const chunks: Uint8Array[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      this.broken++;
      return;
    }
    const bytes = new Uint8Array(await new Blob(chunks as BlobPart[]).arrayBuffer());
    const key = /^Bearer (.*)$/.exec(headers.authorization ?? "")?.[1] ?? "";
    const path = url.replace(/^\/v1\//, "").split("?")[0]!;
    const other = this.instead?.(method, path);
    if (other?.cut) return void request.socket.destroy();
    const answer = other ?? this.#answer({ method, path, key, type: headers["content-type"] ?? "", bytes });
    const isText = typeof answer.body === "string";
    response.writeHead(answer.status, { "content-type": isText ? "application/octet-stream" : "application/json" });
    response.end(isText ? answer.body as unknown as string : JSON.stringify(answer.body ?? {}));
  }

  move(id: string, status: string): void {
    const batch = this.batches.get(id)!;
    const lines = this.files.get(batch.input_file_id)!.text.trim().split("\n").map((line) => JSON.parse(line));
    const total = lines.length;
    const half = Math.floor(total / 2);
    const done = status === "completed" ? total : ["expired", "cancelled"].includes(status) ? half : 0;
    batch.status = status;
    batch[`${status}_at`] = clockSeconds + 60;
    batch.request_counts = { total, completed: done, failed: 0 };
    if (status === "failed") {
      batch.errors = { object: "list", data: [{ code: "token_limit_exceeded", message: "Too much", line: null }] };
    }
    if (done === 0) return;
    const results = lines.slice(0, done).map(({ custom_id, body }) =>
      JSON.stringify({
        id: `batch_req_${custom_id}`,
        custom_id,
        response: { status_code: 200, request_id: "r", body: answerTo(body) },
        error: null,
      })
    );
    batch.output_file_id =
      this.#addFile({ text: `${results.join("\n")}\n`, purpose: "batch_output", key: batch.key }).id;
  }

  #answer({ method, path, key, type, bytes }: {
    method: string;
    path: string;
    key: string;
    type: string;
    bytes: Uint8Array;
  }): { status: number; body?: unknown } {
    const [room, id = "", what = ""] = path.replace("fine_tuning/jobs", "jobs").split("/");
    if (method === "POST" && path === "files") return this.#upload(readForm(bytes, findBoundary(type)!)!, key);
    this.latest = bytes.length > 0 ? JSON.parse(new TextDecoder().decode(bytes)) : undefined;
    if (method === "POST" && path === "batches") return this.#submit(this.latest!, key);
    if (method === "POST" && path === "fine_tuning/jobs") return this.#tune(this.latest!, key);
    const all: ReadonlyMap<string, Json> = { files: this.files, batches: this.batches, jobs: this.jobs }[room!] ??
      new Map();
    const found = all.get(id);
    if (found === undefined || found.key !== key) return noSuch(`No such ${room} object: ${id}`);
    if (room === "files" && what === "content") return { status: 200, body: found.text };
    if (method === "DELETE") {
      this.files.delete(id);
      return { status: 200, body: { id, object: "file", deleted: true } };
    }
    if (room === "batches" && what === "cancel") return this.#cancel(found as VendorBatch);
    if (room === "jobs" && what !== "") return this.#job(found, what);
    return { status: 200, body: shown(found) };
  }

  #upload(form: NonNullable<ReturnType<typeof readForm>>, key: string) {
    const fields = Object.fromEntries(form.fields);
    const [file] = form.files;
    if (fields.purpose === undefined || file === undefined) return noSuch("'purpose' is a required property", 400);
    const text = new TextDecoder().decode(file.bytes);
    const { purpose, ...others } = fields;
    return {
      status: 200,
      body: shown(this.#addFile({ ...others, text, purpose: purpose!, key, filename: file.name })),
    };
  }

  #addFile(facts: Pick<VendorFile, "text" | "purpose" | "key"> & Json): VendorFile {
    const id = `file-${++this.#count}`;
    const bytes = new TextEncoder().encode(facts.text).length;
    const created = { object: "file", bytes, created_at: clockSeconds, filename: "output.jsonl", status: "processed" };
    const file = { ...created, ...facts, id } as unknown as VendorFile;
    this.files.set(id, file);
    return file;
  }

  #submit({ input_file_id, ...request }: Json, key: string) {
    const input = this.files.get(String(input_file_id));
    if (input === undefined || input.key !== key) return noSuch(`No such File object: ${input_file_id}`, 400);
    const batch = {
      ...request,
      id: `batch_${++this.#count}`,
      object: "batch",
      input_file_id,
      status: "validating",
      errors: null,
      output_file_id: null,
      error_file_id: null,
      created_at: clockSeconds,
      expires_at: clockSeconds + 86_400,
      request_counts: { total: 0, completed: 0, failed: 0 },
      key,
    } as unknown as VendorBatch;
    this.batches.set(batch.id, batch);
    return { status: 200, body: shown(batch) };
  }

  #cancel(batch: VendorBatch) {
    if (["completed", "failed", "expired", "cancelled"].includes(batch.status)) {
      return noSuch(`Cannot cancel a batch with status '${batch.status}'.`, 409);
    }
    batch.status = "cancelling";
    batch.cancelling_at = clockSeconds + 30;
    return { status: 200, body: shown(batch) };
  }

  #tune({ training_file, ...request }: Json, key: string) {
    const input = this.files.get(String(training_file));
    if (input?.purpose !== "fine-tune" || input.key !== key) {
      return noSuch(`invalid training_file: ${training_file}`, 400);
    }
    const job = {
      validation_file: null,
      ...request,
      id: `ftjob-${++this.#count}`,
      object: "fine_tuning.job",
      training_file,
      status: "validating_files",
      fine_tuned_model: null,
      result_files: [],
      created_at: clockSeconds,
      key,
    };
    this.jobs.set(job.id, job);
    return { status: 200, body: shown(job) };
  }

  #job(job: Json, what: string) {
    if (what === "events" || what === "checkpoints") {
      const data = [{ object: "fine_tuning.job.event", id: "ftevent-1", message: "Created", level: "info" }];
      return { status: 200, body: { object: "list", data, has_more: false } };
    }
    job.status = { cancel: "cancelled", pause: "paused", resume: "queued" }[what];
    return { status: 200, body: shown(job) };
  }
}

function answerTo(body: Json): Json {
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const message = { role: "assistant", content: "Hi", refusal: null };
  const choices = [{ index: 0, message, finish_reason: "stop", logprobs: null }];
  return { id: "chatcmpl-1", object: "chat.completion", created: clockSeconds, model: body.model, choices, usage };
}

function shown({ key: _key, text: _text, ...object }: Json): Json {
  return object;
}

function noSuch(message: string, status = 404) {
  return { status, body: { error: { message, type: "invalid_request_error", param: null, code: null } } };
}
