/**
 * Batches: created at the provider that stores their file, and settled when they end.
 * @module
 */
import type { Batch, BatchRequest, ObjectPage } from "../contracts/infrastructure.ts";
import { ObjectNotFoundError, ProviderError } from "../errors.ts";
import { invalid } from "../pipeline/check_body.ts";
import type { Member } from "../registry/registry.ts";
import { type Account, getInfrastructure, locate, type Located, mintId } from "./account.ts";
import { emitBatchEvent, emitBatchRecord, emitFailure } from "./batch_records.ts";
import { readBatchRequest, readWindow } from "./batch_request.ts";
import { chargeBatch, keepReserved, measureBatchUsage, reserve } from "./batch_money.ts";
import type { Reservation } from "../state/counters/reservation.ts";
import { openFileContent } from "./file_content.ts";
import { resultFileId, toPage } from "./files.ts";
import { isFinished, joinBatches } from "./joined_batch.ts";
import { getObjectOwner, getObjectRecords, type InfrastructureMesh, type ObjectCall } from "./mesh.ts";
import type { BatchFacts } from "./object_id.ts";
import { callProvider, tryProvider } from "./provider_call.ts";

const defaultLimit = 20;

/** The batches of a mesh. A batch of another client is reported as not found. */
export class BatchService {
  readonly #mesh: InfrastructureMesh;

  constructor(mesh: InfrastructureMesh) {
    this.#mesh = mesh;
  }

  /**
   * Creates a batch from an uploaded file.
   *
   * @param body The request body, not validated.
   * @throws {MeshError} When it fails. An aborted call throws the signal's reason.
   */
  async create(body: unknown, call: ObjectCall): Promise<{
    readonly object: Batch;
    readonly pool: string;
    readonly model: string;
    readonly provider: string;
  }> {
    const mesh = this.#mesh;
    const request = readBatchRequest(body);
    const { input_file_id: inputId, completion_window: window, ...others } = request;
    const { ref: file, account } = await locate(inputId, { kind: "file", call }, mesh);
    const { batch: facts } = file;
    if (facts === undefined) {
      throw invalid('The file does not contain batch requests: upload it with the purpose "batch"', "input_file_id");
    }
    if (facts.endpoint !== request.endpoint) {
      throw invalid(`"endpoint" has to be "${facts.endpoint}", the "url" of the file's lines`, "endpoint");
    }
    const member = findBatchMember(facts, account, mesh);
    await call.scopes?.admit();
    const reservation = await reserve(facts.costNanoUsd, { member, call, mesh });
    const submitted = { ...others, endpoint: request.endpoint, completion_window: readWindow(window, member) };
    const parts = await this.#submit(file.ids, submitted, { account, call, reservation, facts });
    const owner = getObjectOwner(call);
    const ids = parts.map(({ id }) => id);
    const record = { kind: "batch" as const, owner, madeAt: mesh.runtime.clock.now(), ids, batch: facts };
    const { id, ref } = await mintId(record, account, mesh);
    const object = { ...await this.#shown(id, parts, { ref, account }), input_file_id: inputId };
    if (reservation !== undefined) getObjectRecords(mesh).reserved.set(id, reservation);
    const { requestId, client } = call;
    const named = client === undefined ? {} : { client: client.name };
    await getObjectRecords(mesh).save(ref, { id, object, isOver: false, requestId, ...named });
    return { object, pool: facts.pool, model: facts.model, provider: account.instance.entry.id };
  }

  /** Returns the current state of a batch. */
  async retrieve(id: string, call: ObjectCall): Promise<Batch> {
    const located = await locate(id, { kind: "batch", call }, this.#mesh);
    return await this.#refresh(id, located, call);
  }

  /** Requests the cancellation of a batch: of its parts that have not ended. */
  async cancel(id: string, call: ObjectCall): Promise<Batch> {
    const mesh = this.#mesh;
    const located = await locate(id, { kind: "batch", call }, mesh);
    const { account, ref } = located;
    const infrastructure = getInfrastructure(account, "batch");
    const parts = await this.#fetchParts(located, call);
    const open = parts.length === 1 ? parts : parts.filter((part) => !isFinished(part));
    if (open.length === 0) {
      const { status } = joinBatches(parts);
      const facts = { code: "invalid_value", status: 409, type: "invalid_request_error", attempts: [] };
      throw new ProviderError(`The batch is ${status}: there is nothing to cancel`, facts);
    }
    const ended = await Promise.all(
      open.map((part) =>
        callProvider({ account, call, send: (options) => infrastructure.cancelBatch(part.id, options) }, mesh)
      ),
    );
    const now = parts.map((part) => ended.find(({ id }) => id === part.id) ?? part);
    return await this.#seen(id, now, { located: { ref, account }, call });
  }

  /** Returns a page of the caller's batches, newest first. */
  async list(
    { after, limit = defaultLimit }: { readonly after?: string | undefined; readonly limit?: number | undefined },
    call: ObjectCall,
  ): Promise<ObjectPage> {
    const mesh = this.#mesh;
    const last = after === undefined ? undefined : (await locate(after, { kind: "batch", call }, mesh)).ref;
    await call.scopes?.admit();
    const { records, hasMore } = await getObjectRecords(mesh).page({
      kind: "batch",
      owner: getObjectOwner(call),
      after: last,
      limit,
    });
    const data = records.map(({ id, object, isOver }) => isOver ? object : this.retrieve(id, call).catch(() => object) // on failure, the last known state
    );
    return toPage(await Promise.all(data), hasMore);
  }

  /** Polls unfinished batches of models with polling, to detect their end. */
  async poll(): Promise<void> {
    const mesh = this.#mesh;
    const open = await getObjectRecords(mesh).open("batch");
    await Promise.allSettled(open.map(async ({ id, requestId = "" }) => {
      const call: ObjectCall = { requestId, timeoutMs: pollMs };
      const located = await locate(id, { kind: "batch", call, isOurs: true }, mesh);
      const { model } = findBatchMember(located.ref.batch!, located.account, mesh);
      if (model.batch?.polling) await this.#refresh(id, located, call);
    }));
  }

  /** Creates a provider batch for each file. If one is rejected, the earlier ones are cancelled. */
  async #submit(
    ids: readonly string[],
    request: Omit<BatchRequest, "input_file_id">,
    { account, call, reservation, facts }: {
      readonly account: Account;
      readonly call: ObjectCall;
      readonly reservation: Reservation | undefined;
      readonly facts: BatchFacts;
    },
  ): Promise<Batch[]> {
    const infrastructure = getInfrastructure(account, "batch");
    const parts: Batch[] = [];
    if (reservation !== undefined) await keepReserved(reservation);
    for (const input_file_id of ids) {
      const submitted = { ...request, input_file_id } as BatchRequest;
      const end = await tryProvider({
        account,
        call,
        send: (options) => infrastructure.submitBatch(submitted, options),
      }, this.#mesh);
      if ("value" in end) {
        parts.push(end.value);
        continue;
      }
      const cancellation = { requestId: call.requestId, timeoutMs: pollMs };
      const cancels = parts.map(({ id }) =>
        callProvider(
          { account, call: cancellation, send: (options) => infrastructure.cancelBatch(id, options) },
          this.#mesh,
        )
      );
      const isCancelled = (await Promise.allSettled(cancels)).every(({ status }) => status === "fulfilled");
      // a batch that may run may be billed: it counts as reserved
      const isFree = isCancelled && !end.possiblyBilled && parts.length === 0;
      reservation?.settle({ costNanoUsd: isFree ? 0 : undefined });
      emitFailure(end, { facts, account, call, attempts: parts.length + 1 }, this.#mesh);
      throw end.error;
    }
    return parts;
  }

  async #refresh(id: string, located: Located, call: ObjectCall): Promise<Batch> {
    return await this.#seen(id, await this.#fetchParts(located, call), { located, call });
  }

  async #fetchParts({ ref, account }: Located, call: ObjectCall): Promise<Batch[]> {
    const infrastructure = getInfrastructure(account, "batch");
    return await Promise.all(ref.ids.map((id) =>
      callProvider({
        account,
        call,
        isRead: true,
        send: (options) => infrastructure.retrieveBatch(id, options),
      }, this.#mesh)
    ));
  }

  /** Stores the state of a batch, and settles it once when it has ended. */
  async #seen(
    id: string,
    parts: readonly Batch[],
    { located, call }: { readonly located: Located; readonly call: ObjectCall },
  ): Promise<Batch> {
    const records = getObjectRecords(this.#mesh);
    const existing = await records.load(located.ref);
    const shown = await this.#shown(id, parts, located);
    const object = existing === undefined
      ? shown
      : { ...shown, input_file_id: existing.object.input_file_id as string };
    if (isFinished(object)) await this.#finish(object, parts, { located, call });
    else if (existing !== undefined) await records.save(located.ref, { ...existing, object });
    return object;
  }

  async #finish(
    object: Batch,
    parts: readonly Batch[],
    { located: { ref, account }, call }: { readonly located: Located; readonly call: ObjectCall },
  ): Promise<void> {
    const mesh = this.#mesh;
    const { runtime: { clock } } = mesh;
    const records = getObjectRecords(mesh);
    const { id } = object;
    await records.inTurn(ref, async () => {
      const existing = await records.load(ref);
      const reservation = records.reserved.get(id);
      records.reserved.delete(id);
      if (existing?.isOver) return reservation?.settle({ costNanoUsd: existing.costNanoUsd ?? undefined }); // another process has settled it
      const member = findBatchMember(ref.batch!, account, mesh);
      const ids = parts.flatMap(({ output_file_id }) => output_file_id || []);
      const content = async () => (await openFileContent(ids, { account, call, mesh })).bytes;
      const results = { member, endpoint: ref.batch!.endpoint, parts, wallTimeMs: clock.now() };
      const used = await measureBatchUsage({ ...results, content: ids.length === 0 ? undefined : content }, mesh)
        .catch(() => undefined); // it has ended even if its results cannot be read
      reservation?.settle({ costNanoUsd: used?.costNanoUsd });
      const costNanoUsd = used?.costNanoUsd ?? null;
      if (existing === undefined && costNanoUsd !== null) {
        chargeBatch(costNanoUsd, member, { scopes: call.scopes, mesh });
      }
      const { requestId = call.requestId, client: clientName = call.client?.name } = existing ?? {};
      const named = clientName === undefined ? {} : { client: clientName };
      await records.save(ref, { id, object, isOver: true, requestId, costNanoUsd, ...named });
      const ended = { ref, object, member, requestId, clientName };
      emitBatchRecord({ ...ended, used, attempts: parts.length }, mesh);
      if (member.model.batch?.callback) emitBatchEvent(ended, mesh);
    });
  }

  /** Returns a batch with the ids of this mesh. */
  async #shown(id: string, parts: readonly Batch[], { ref, account }: Located): Promise<Batch> {
    const mesh = this.#mesh;
    const batch = joinBatches(parts);
    const { model } = findBatchMember(ref.batch!, account, mesh);
    const toFileId = async (name: "output_file_id" | "error_file_id" | "input_file_id") => {
      const ids = parts.flatMap((part) => part[name] || []);
      const isShown = name === "input_file_id" || parts.length === 1 || isFinished(batch) ||
        model.batch?.partialResults;
      if (ids.length === 0 || !isShown) return null;
      const file = name === "input_file_id" ? { ids, batch: ref.batch } : { ids };
      return await resultFileId(file, { ref, account }, mesh);
    };
    return {
      ...batch,
      id,
      input_file_id: (await toFileId("input_file_id"))!,
      output_file_id: await toFileId("output_file_id"),
      error_file_id: await toFileId("error_file_id"),
    } as Batch; // missing fields are null on the wire, absent in OpenAI's types
  }
}

/** Timeout of a background call, ms. */
const pollMs = 30_000;

/** Returns the model that serves a batch, in the pool of its lines; in a pool of its own if that no longer exists. */
function findBatchMember(
  { pool, model: name }: BatchFacts,
  { instance }: Account,
  { registry }: InfrastructureMesh,
): Member {
  const model = registry.model(name);
  if (model === undefined || model.instance !== instance) {
    throw new ObjectNotFoundError(`The model "${name}" of this batch is no longer configured`);
  }
  const own = registry.allPools.find((candidate) => candidate.name === pool)?.members.find((member) =>
    member.model === model
  );
  return own ?? registry.getPool(name, [model]).members[0]!;
}
