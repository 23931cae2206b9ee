/**
 * Fine-tuning jobs: created at the provider that stores their training file.
 * @module
 */
import type { FineTuneAction, FineTuneRequest, FineTuningJob, ObjectPage } from "../contracts/infrastructure.ts";
import { UnsupportedRequestError } from "../errors.ts";
import { bodyChecker, checkOptional, invalid, missing, wrongType } from "../pipeline/check_body.ts";
import { poolFor } from "../pipeline/select_pool.ts";
import type { Member } from "../registry/registry.ts";
import { type Account, getInfrastructure, locate, type Located, mintId } from "./account.ts";
import { refuseUnpriced } from "./batch_money.ts";
import { resultFileId, toPage } from "./files.ts";
import { getObjectOwner, getObjectRecords, type InfrastructureMesh, type ObjectCall } from "./mesh.ts";
import { callProvider } from "./provider_call.ts";

const defaultLimit = 20;

/** Terminal states of a job. */
const ends: ReadonlySet<string> = new Set(["succeeded", "failed", "cancelled"]);

/** The fine-tuning jobs of a mesh. A job of another client is reported as not found. */
export class FineTuningService {
  readonly #mesh: InfrastructureMesh;

  constructor(mesh: InfrastructureMesh) {
    this.#mesh = mesh;
  }

  /**
   * Creates a job.
   *
   * @param body The request body, not validated.
   * @throws {MeshError} When it fails. An aborted call throws the signal's reason.
   */
  async create(body: unknown, call: ObjectCall): Promise<FineTuningJob> {
    const mesh = this.#mesh;
    const request = checkFineTune(body);
    const { ref: training, account } = await locate(request.training_file, { kind: "file", call }, mesh);
    const { validation_file: validation } = request;
    const member = memberFor(request.model, account, { call, mesh });
    refuseUnpriced("A fine-tuning job", [member], call);
    const submitted: FineTuneRequest = {
      ...request,
      model: member.model.info.id,
      training_file: oneId(training.ids, "training_file"),
    };
    if (typeof validation === "string") {
      const other = await locate(validation, { kind: "file", call }, mesh);
      const isSame = other.account.instance === account.instance && other.account.key === account.key;
      if (!isSame) {
        throw invalid('"validation_file" is stored at another provider than "training_file"', "validation_file");
      }
      submitted.validation_file = oneId(other.ref.ids, "validation_file");
    }
    const infrastructure = getInfrastructure(account, "fineTuning");
    const job = await callProvider(
      { account, call, send: (options) => infrastructure.createFineTune(submitted, options) },
      mesh,
    );
    const { id, ref } = await mintId(
      {
        kind: "fine-tuning job",
        owner: getObjectOwner(call),
        madeAt: mesh.runtime.clock.now(),
        ids: [job.id],
      },
      account,
      mesh,
    );
    const files = { training_file: request.training_file, ...(validation ? { validation_file: validation } : {}) };
    const object = { ...await this.#shown(id, job, { ref, account }), ...files } as FineTuningJob;
    await getObjectRecords(mesh).save(ref, { id, object, isOver: false });
    return object;
  }

  /** Returns the current state of a job. */
  async retrieve(id: string, call: ObjectCall): Promise<FineTuningJob> {
    const located = await locate(id, { kind: "fine-tuning job", call }, this.#mesh);
    const { account, ref } = located;
    const infrastructure = getInfrastructure(account, "fineTuning");
    const send = (options: Parameters<typeof infrastructure.retrieveFineTune>[1]) =>
      infrastructure.retrieveFineTune(ref.ids[0]!, options);
    return await this.#seen(id, await callProvider({ account, call, isRead: true, send }, this.#mesh), located);
  }

  /** Cancels, pauses or resumes a job. */
  async change(id: string, action: FineTuneAction, call: ObjectCall): Promise<FineTuningJob> {
    const located = await locate(id, { kind: "fine-tuning job", call }, this.#mesh);
    const { account, ref } = located;
    if (action === "resume") refuseUnpriced("A fine-tuning job", membersAt(account, this.#mesh), call);
    const infrastructure = getInfrastructure(account, "fineTuning");
    const send = (options: Parameters<typeof infrastructure.changeFineTune>[2]) =>
      infrastructure.changeFineTune(ref.ids[0]!, action, options);
    return await this.#seen(id, await callProvider({ account, call, send }, this.#mesh), located);
  }

  /**
   * Returns the events or checkpoints of a job.
   *
   * @param what `events` or `checkpoints`, with the query string as received.
   */
  async listJobItems(id: string, what: string, call: ObjectCall): Promise<ObjectPage> {
    const { account, ref } = await locate(id, { kind: "fine-tuning job", call }, this.#mesh);
    const infrastructure = getInfrastructure(account, "fineTuning");
    const path = `${encodeURIComponent(ref.ids[0]!)}/${what}`;
    const send = (options: Parameters<typeof infrastructure.listOfFineTune>[1]) =>
      infrastructure.listOfFineTune(path, options);
    return await callProvider({ account, call, isRead: true, send }, this.#mesh);
  }

  /** Returns a page of the caller's jobs, newest first. */
  async list(
    { after, limit = defaultLimit }: { readonly after?: string | undefined; readonly limit?: number | undefined },
    call: ObjectCall,
  ): Promise<ObjectPage> {
    const context = { kind: "fine-tuning job", call } as const;
    const last = after === undefined ? undefined : (await locate(after, context, this.#mesh)).ref;
    await call.scopes?.admit();
    const { records, hasMore } = await getObjectRecords(this.#mesh).page({
      kind: "fine-tuning job",
      owner: getObjectOwner(call),
      after: last,
      limit,
    });
    const data = records.map(({ id, object, isOver }) => isOver ? object : this.retrieve(id, call).catch(() => object) // on failure, the last known state
    );
    return toPage(await Promise.all(data), hasMore);
  }

  async #seen(id: string, job: FineTuningJob, located: Located): Promise<FineTuningJob> {
    const records = getObjectRecords(this.#mesh);
    const existing = await records.load(located.ref);
    const { training_file, validation_file } = existing?.object ?? {};
    const files = existing === undefined ? {} : { training_file, validation_file };
    const object = { ...await this.#shown(id, job, located), ...files } as FineTuningJob;
    await records.save(located.ref, { id, object, isOver: ends.has(object.status) });
    return object;
  }

  /** Returns a job with the ids of this mesh. */
  async #shown(id: string, job: FineTuningJob, located: Located): Promise<FineTuningJob> {
    const toProviderFile = (id: string) => resultFileId({ ids: [id] }, located, this.#mesh);
    const { training_file, validation_file } = job;
    const listed: unknown = job.result_files; // a provider sends anything
    const results = Array.isArray(listed) ? listed.filter((item) => typeof item === "string") : [];
    return {
      ...job,
      id,
      training_file: await toProviderFile(training_file),
      validation_file: validation_file ? await toProviderFile(validation_file) : null,
      result_files: await Promise.all(results.map(toProviderFile)),
    };
  }
}

const checkMembers = bodyChecker([
  ...["training_file", "validation_file", "method", "hyperparameters", "suffix", "seed", "integrations", "metadata"],
]);

function checkFineTune(body: unknown): FineTuneRequest {
  const { mesh: _mesh, ...request }: Record<string, unknown> = checkMembers(body);
  for (const name of ["model", "training_file"]) {
    const value = request[name];
    if (value === undefined || value === null) throw missing(name);
    if (typeof value !== "string") throw wrongType(name, "a string", value);
  }
  checkOptional(request, {
    name: "validation_file",
    expected: "a string",
    isValid: (value) => typeof value === "string",
  });
  return request as unknown as FineTuneRequest;
}

/** Returns the model that a name stands for, among those of the training file's provider. */
function memberFor(
  name: string,
  { instance }: Account,
  { call, mesh }: { readonly call: ObjectCall; readonly mesh: InfrastructureMesh },
): Member {
  const pool = poolFor(name, call, mesh.registry);
  const member = pool.members.find(({ model }) =>
    model.instance === instance && model.info.features?.fine_tunable !== false
  );
  if (member !== undefined) return member;
  throw new UnsupportedRequestError(
    `No model of ${
      JSON.stringify(name)
    } can be fine-tuned at the provider "${instance.entry.id}", which stores the training file`,
    { code: "unsupported_by_pool", param: "model" },
  );
}

/** Returns the models of an account's provider. */
function membersAt({ instance }: Account, { registry }: InfrastructureMesh): readonly Member[] {
  return registry.pools.flatMap(({ members }) => members.filter(({ model }) => model.instance === instance));
}

function oneId([id, ...others]: readonly string[], param: string): string {
  if (id === undefined || others.length > 0) throw invalid(`"${param}" is a file of batch requests`, param);
  return id;
}
