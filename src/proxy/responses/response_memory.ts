/**
 * The memory of `/v1/responses`: responses and their input are stored for the client that has requested them.
 * @module
 */
import { formatFailed, isUnderWay } from "../../dialects/responses/background.ts";
import type { JsonObject, OpenAiError } from "../../contracts/openai.ts";
import type { Engine } from "../../engine/engine.ts";
import { ConnectorError, MeshError } from "../../errors.ts";
import { followWork } from "../../util/failure.ts";
import { sha256 } from "../../util/sha256.ts";
import { waitWithin } from "../../util/within.ts";
import { HttpError } from "../error_body.ts";
import type { Exchange } from "../exchange.ts";
import type { BackgroundJob } from "./background_job.ts";
import type { EventSource } from "./event_log.ts";
import { RunnerLease } from "./runner_lease.ts";
import { StoredEvents } from "./stored_events.ts";
import { type ResponseRecord, ResponseRecords, type ResponseRef } from "./response_records.ts";

/** How long a response waits to be stored, ms. */
const maxWaitMs = 5_000;

/** Statuses of responses that can be continued. */
const continuable: ReadonlySet<unknown> = new Set(["completed", "incomplete"]);

/** Number of responses before it that a record names, which are loaded at once. The oldest one names those before it. */
const maxAncestors = 32;

const runnerError: OpenAiError = {
  message: "The proxy that worked on this response is gone. It may have been billed, and is not repeated",
  type: "server_error",
  code: "server_error",
  param: null,
};

/** A conversation up to a response. */
export interface Conversation {
  /** Its last responses, oldest first: what the record of the next one names. */
  readonly ancestors: readonly string[];
  /** By response: its input and its output. */
  readonly turns: readonly Pick<ResponseRecord, "input" | "response">[];
}

/** The stored responses of one mesh. */
export class ResponseMemory {
  readonly records: ResponseRecords;
  readonly #mesh: Engine;
  readonly #lease: RunnerLease;
  /** Work of this process, by the id of its response. */
  readonly #jobs = new Map<string, BackgroundJob>();
  /** The failure that was reported last, until a response is stored again. */
  #failure: string | undefined;

  constructor(mesh: Engine, { ttlMs, maxBytes }: Exchange["proxy"]["responses"]) {
    const { storage, runtime: { clock } } = mesh;
    if (storage === undefined) {
      const message = "Responses are stored in the storage: add a section `storage` to the configuration";
      throw new HttpError(message, { status: 400, code: "no_storage" });
    }
    this.#mesh = mesh;
    this.records = new ResponseRecords({ storage, clock, ttlMs, maxBytes });
    this.#lease = new RunnerLease(storage, clock);
    mesh.onClose(() => this.#close());
    this.#follow(this.records.bounds.refresh(), "The list of stored responses");
  }

  /**
   * Loads the conversation up to a response.
   *
   * @param maxChars Maximum length of its items as JSON.
   * @throws {HttpError} 404 if the client has no such response, or one before it was deleted; 400 if it has not ended.
   */
  async loadConversation(ref: ResponseRef, maxChars: number): Promise<Conversation> {
    const last = await this.loadCurrent(ref);
    if (last === undefined) throw previousNotFound(`Previous response with id ${quoteId(ref.id)} not found`);
    checkContinuable(last.response, ref.id);
    const batches: (readonly ResponseRecord[])[] = [[last]];
    let chars = 0;
    for (;;) {
      const [{ ancestors }] = batches.at(-1)! as [ResponseRecord];
      for (const { input, response } of batches.at(-1)!) chars += JSON.stringify([input, response.output]).length;
      if (chars > maxChars) throw tooLong("previous_response_id");
      if (ancestors.length === 0) break;
      const loaded = await Promise.all(ancestors.map((id) => this.records.load({ ...ref, id })));
      const missing = loaded.indexOf(undefined);
      if (missing >= 0) throw turnNotFound(ancestors[missing]!, ref.id);
      batches.push(loaded as ResponseRecord[]);
    }
    return { ancestors: [...last.ancestors, ref.id].slice(-maxAncestors), turns: batches.reverse().flat() };
  }

  /**
   * Stores a response; what exceeds the limits of the memory is deleted afterwards.
   *
   * @returns Whether it is stored. A failure is traced.
   */
  async store(ref: ResponseRef, record: ResponseRecord): Promise<boolean> {
    const { runtime: { clock } } = this.#mesh;
    const expired = () => new ConnectorError(`it did not respond within ${maxWaitMs} ms`, undefined, "unavailable");
    try {
      await waitWithin(() => this.records.save(ref, record), { clock, ms: maxWaitMs, expired });
      this.#failure = undefined;
    } catch (error) {
      this.report(error);
      return false;
    }
    this.#follow(this.records.bounds.apply(), "The deletion of old responses"); // the client does not wait for it
    return true;
  }

  /**
   * Loads a response. If the process that works on it is gone, the response has failed.
   *
   * @returns Undefined if the client has none with this id.
   * @throws {ConnectorError} If the storage fails.
   */
  async loadCurrent(ref: ResponseRef): Promise<ResponseRecord | undefined> {
    const record = await this.records.load(ref);
    if (record === undefined || !isUnderWay(record.response) || this.#jobs.has(ref.id)) return record;
    const isAlive = record.runner !== undefined && await this.#lease.isAlive(record.runner);
    return isAlive ? record : await this.#cut(ref, (response) => formatFailed(response, runnerError));
  }

  /**
   * Starts work in the background.
   *
   * @param record The response as accepted.
   * @param create Starts it, given what identifies the stored record.
   * @throws {ConnectorError} If the storage fails; nothing has then begun.
   */
  async startJob(
    ref: ResponseRef,
    record: ResponseRecord,
    create: (stamp: string | undefined) => BackgroundJob,
  ): Promise<BackgroundJob> {
    await this.#lease.begin();
    try {
      await this.records.save(ref, { ...record, runner: this.#lease.id });
      const job = create(await this.records.readStamp(ref));
      this.#jobs.set(ref.id, job);
      this.#follow(this.#endJob(ref, job), "The end of a background response");
      return job;
    } catch (error) {
      await this.#lease.end();
      throw error;
    }
  }

  /** Opens the events of a response, which has some. */
  openEvents(ref: ResponseRef): EventSource {
    const events = this.#jobs.get(ref.id)?.openEvents();
    return events ?? new StoredEvents({
      clock: this.#mesh.runtime.clock,
      load: () => this.loadCurrent(ref),
      loadEvents: (number) => this.records.loadEvents(ref, number),
    });
  }

  /** Cancels the work on a response, in whichever process. */
  async cancel(ref: ResponseRef): Promise<ResponseRecord | undefined> {
    const job = this.#jobs.get(ref.id);
    if (job === undefined) return await this.#cut(ref, (response) => ({ ...response, status: "cancelled" }));
    await job.stop("cancelled");
    return await this.records.load(ref);
  }

  /** Deletes a response, and ends the work on it. False if there was none. */
  async delete(ref: ResponseRef): Promise<boolean> {
    if (!await this.records.has(ref)) return false;
    const isDeleted = await this.records.delete(ref);
    await this.#jobs.get(ref.id)?.stop("deleted");
    return isDeleted;
  }

  async #endJob({ id }: ResponseRef, job: BackgroundJob): Promise<void> {
    await job.ended;
    this.#jobs.delete(id);
    await this.#lease.end();
    await this.records.bounds.apply();
  }

  /** Ends work of another process. */
  async #cut(ref: ResponseRef, end: (response: JsonObject) => JsonObject): Promise<ResponseRecord | undefined> {
    const events = await this.#countEvents(ref);
    return await this.records.end(ref, ({ response }) => ({ response: end(response), events, isCut: true }));
  }

  async #countEvents(ref: ResponseRef): Promise<number> {
    let count = 0;
    for (let number = 0;; number++) {
      const events = await this.records.loadEvents(ref, number);
      if (events === undefined) return count;
      count += events.length;
    }
  }

  async #close(): Promise<void> {
    this.records.bounds.stop();
    await Promise.all([...this.#jobs.values()].map((job) => job.stop("stopped")));
  }

  /** Traces that a response is not stored; once until one is stored again. */
  report(error: unknown): void {
    const reason = MeshError.isInstance(error) ? error.message : "the storage failed";
    if (reason === this.#failure) return;
    this.#failure = reason;
    const message = `A response is not stored, and cannot be retrieved or continued: ${reason}`;
    this.#mesh.hub.trace({ severity: "warning", component: "responses", message });
  }

  #follow(work: Promise<void>, task: string): void {
    followWork(work, { hub: this.#mesh.hub, component: "responses", task });
  }
}

const memories = new WeakMap<Engine, ResponseMemory>();

/**
 * Returns the memory of a mesh.
 *
 * @throws {HttpError} 400 if the mesh has no storage.
 */
export function openMemory({ mesh, proxy }: Pick<Exchange, "mesh" | "proxy">): ResponseMemory {
  const existing = memories.get(mesh);
  if (existing !== undefined) return existing;
  const memory = new ResponseMemory(mesh, proxy.responses);
  memories.set(mesh, memory);
  return memory;
}

/** Returns the owner of what a request stores: its client, else its token; clients of an open proxy have one owner. */
export function findOwner(exchange: Pick<Exchange, "client" | "caller">): string {
  const { client } = exchange;
  const { identity } = exchange.caller() ?? {};
  const owner = client !== undefined ? `client ${client.id}` : identity === undefined ? "" : `token ${identity}`;
  return sha256(`modelmesh responses\n${owner}`).slice(0, 32);
}

/**
 * Turns failures of the storage into errors for clients.
 *
 * @throws {HttpError} 503 if the storage fails.
 */
export async function withStorageErrors<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!ConnectorError.isInstance(error)) throw error;
    const facts = { status: 503, type: "server_error", code: "storage_unavailable" } as const;
    throw new HttpError(`The storage of responses failed: ${error.message}`, facts);
  }
}

/** An id for an error message. */
export function quoteId(id: string): string {
  return `'${id.slice(0, 64)}'`;
}

function previousNotFound(message: string): HttpError {
  return new HttpError(message, { status: 404, code: "previous_response_not_found", param: "previous_response_id" });
}

function turnNotFound(id: string, last: string): HttpError {
  return previousNotFound(
    `Previous response with id ${quoteId(last)} cannot be continued: ${quoteId(id)}, which comes before it, was ` +
      "deleted or has expired",
  );
}

function checkContinuable({ status }: JsonObject, id: string): void {
  if (continuable.has(status)) return;
  const message = `Previous response with id ${quoteId(id)} cannot be continued: its status is ${
    JSON.stringify(status)
  }`;
  throw new HttpError(message, { status: 400, code: "invalid_value", param: "previous_response_id" });
}

/** The error for a conversation that is too long, of which a member of the request is a part. */
export function tooLong(param: string): HttpError {
  const message = "The conversation is longer than the limit of a request (proxy.body_limit): compact it";
  return new HttpError(message, { status: 413, code: "request_too_large", param });
}
