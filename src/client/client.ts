/**
 * The client object that `create` returns.
 * @module
 */
import { operationLeaves } from "../capability/operations.ts";
import type { StatsRecord } from "../contracts/events.ts";
import type { Batch, FileObject, FineTuneRequest, FineTuningJob } from "../contracts/infrastructure.ts";
import type { RequestBody } from "../contracts/openai.ts";
import { UnsupportedRequestError } from "../errors.ts";
import type { Engine } from "../engine/engine.ts";
import type { Mesh } from "../engine/mesh.ts";
import type { Operation } from "../pipeline/operation.ts";
import type { Explanation } from "../pipeline/explain.ts";
import type { Pool } from "../registry/registry.ts";
import type { ModelList } from "../registry/model_list.ts";
import { onceResolved } from "../util/once.ts";
import type { CallContext } from "./call_context.ts";
import { type Audio, audioOf } from "./audio.ts";
import { Chat } from "./chat.ts";
import { describe, type Description } from "./describe.ts";
import type { Documents } from "./documents.ts";
import type { Embeddings } from "./embeddings.ts";
import type { ExplainOptions } from "./explain.ts";
import type { FileInput } from "./files_of.ts";
import { type Lazy, lazy } from "./lazy.ts";
import type { Batches, BatchSubmission, Files, FineTuningJobs, UploadFields } from "./objects.ts";
import type { Moderations } from "./moderations.ts";
import type { Images } from "./images.ts";
import type { CallSettings, Middleware } from "./options.ts";
import type { Rerank } from "./rerank.ts";
import type { Responses } from "./responses.ts";
import type { Search } from "./search.ts";

/** What a {@linkcode MeshClient} is made of. */
export interface ClientParts {
  /** Its engine. */
  readonly engine: Engine;
  /** What it is for. */
  readonly capability: string | null;
  /** The pool of calls without `model`. */
  readonly pool?: string;
  /** Called around every request. */
  readonly middleware: readonly Middleware[];
  /** Reads what could not be read at once; undefined when nothing is left to read but secrets. */
  readonly load?: () => Promise<void>;
}

/**
 * A client in the shape of OpenAI's, over many providers.
 *
 * @example
 * ```ts ignore
 * import { create } from "@modelmesh/core";
 *
 * const client = create("chat-completion");
 * const answer = await client.chat.completions.create({ messages: [{ role: "user", content: "Hello" }] });
 * console.log(answer.choices[0]?.message.content);
 * await client.close();
 * ```
 */
export class MeshClient {
  /** Chat. */
  readonly chat: Chat;
  /** Sound: speech, transcripts, translations. */
  readonly audio: Audio;
  /** Embeddings. */
  readonly embeddings: Lazy<Embeddings>;
  /** New images, and edits of images. */
  readonly images: Lazy<Images>;
  /** Moderation. */
  readonly moderations: Lazy<Moderations>;
  /** Reranking. */
  readonly rerank: Lazy<Rerank>;
  /** Web search. */
  readonly search: Lazy<Search>;
  /** Document parsing. */
  readonly documents: Lazy<Documents>;
  /** Chat in the words of OpenAI's Responses API. */
  readonly responses: Lazy<Responses>;
  /** Files at the provider that a pool chooses. */
  readonly files: Lazy<Files>;
  /** Batches: many requests in one file, whose responses come within hours. */
  readonly batches: Lazy<Batches>;
  /** Fine-tuning. */
  readonly fineTuning: { readonly jobs: Lazy<FineTuningJobs> };
  /** Pools and models. */
  readonly models: { list: () => Promise<ModelList> };
  readonly #parts: ClientParts;
  readonly #ready: () => Promise<void> = onceResolved(async () => {
    await this.#parts.load?.();
    await this.#parts.engine.ready();
  });

  /**
   * Made by `create`.
   *
   * @param parts What it is made of.
   */
  private constructor(parts: ClientParts) {
    this.#parts = parts;
    const { engine, middleware } = parts;
    const ready = () => this.ready();
    const context: CallContext = { engine, middleware, ready, poolFor: (operation) => this.#poolFor(operation) };
    this.chat = new Chat(context);
    this.audio = audioOf(context);
    this.embeddings = lazy(async () => new (await import("./embeddings.ts")).Embeddings(context), "create");
    this.images = lazy(async () => new (await import("./images.ts")).Images(context), "generate", "edit");
    this.moderations = lazy(async () => new (await import("./moderations.ts")).Moderations(context), "create");
    this.rerank = lazy(async () => new (await import("./rerank.ts")).Rerank(context), "create");
    this.search = lazy(async () => new (await import("./search.ts")).Search(context), "create");
    this.responses = lazy(async () => new (await import("./responses.ts")).Responses(context), "create");
    this.documents = lazy(async () => new (await import("./documents.ts")).Documents(context), "parse");
    const objects = () => import("./objects.ts"); // most pages keep nothing
    const files = ["create", "retrieve", "list", "content", "delete"] as const;
    this.files = lazy(async () => new (await objects()).Files(context), ...files);
    const batches = ["create", "submit", "retrieve", "list", "cancel"] as const;
    this.batches = lazy(async () => new (await objects()).Batches(context), ...batches);
    const jobs = ["create", "retrieve", "list", "cancel", "pause", "resume", "listEvents"] as const;
    this.fineTuning = { jobs: lazy(async () => new (await objects()).FineTuningJobs(context), ...jobs) };
    this.models = {
      list: async () => {
        await ready();
        const { modelList } = await import("../registry/model_list.ts"); // most pages never ask
        return modelList(engine.registry, engine.runtime.clock);
      },
    };
  }

  /** The engine behind it: pools, models, sinks. */
  get mesh(): Mesh {
    return this.#parts.engine;
  }

  /**
   * Reads the configuration file, secrets and local servers' lists. Memoised; every call awaits it first.
   *
   * @throws {ConfigError} With all that is wrong.
   * @throws {SecretNotFoundError} When a secret does not exist.
   */
  ready(): Promise<void> {
    return this.#ready();
  }

  /**
   * Uploads a file: `files.create`.
   *
   * @param file A `File`, `Blob`, `Response`, bytes, or a stream such as `fs.createReadStream(path)`.
   * @param fields What it is for, and further fields.
   * @param settings Signal, time limit (ms).
   * @throws A `MeshError`, or the signal's reason.
   */
  uploadFile(file: FileInput, fields: UploadFields, settings?: CallSettings): Promise<FileObject> {
    return this.files.create({ ...fields, file }, settings);
  }

  /**
   * Uploads requests, and makes a batch of them.
   *
   * @param submission The requests, and what they ask for: chat completions unless given.
   * @param settings Signal, time limit (ms).
   * @throws A `MeshError`, or the signal's reason.
   *
   * @example
   * ```ts ignore
   * const requests = texts.map((content) => ({ body: { messages: [{ role: "user", content }] } }));
   * const { id } = await client.submitBatch({ requests });
   * ```
   */
  submitBatch(submission: BatchSubmission, settings?: CallSettings): Promise<Batch> {
    return this.batches.submit(submission, settings);
  }

  /**
   * Starts a fine-tuning job: `fineTuning.jobs.create`.
   *
   * @param request OpenAI's; `model` is a name of this mesh.
   * @param settings Signal, time limit (ms).
   * @throws A `MeshError`, or the signal's reason.
   */
  createFineTune(request: FineTuneRequest, settings?: CallSettings): Promise<FineTuningJob> {
    return this.fineTuning.jobs.create(request, settings);
  }

  /**
   * The detected providers and the pools.
   *
   * @throws {MeshError} When the configuration is a file that has not been read yet.
   */
  describe(): Description {
    return describe(this.#parts.engine, this.#parts.capability);
  }

  /**
   * The numbers of every model, provider and pool since this client was made: requests, tokens, cost, latencies, standby.
   *
   * @example
   * ```ts ignore
   * const { requests_total, cost_total } = client.stats().find(({ scope }) => scope === "pool")!;
   * ```
   */
  stats(): readonly StatsRecord[] {
    return this.#parts.engine.stats();
  }

  /**
   * Where a request would go, and why. Sends nothing; middleware is not asked.
   *
   * @param request A request in OpenAI's shape; without `model` it is about the client's pool.
   * @param options Which operation it is for, `chat` by default.
   * @throws {ModelNotFoundError} When its `model` stands for nothing.
   * @throws {UnsupportedRequestError} When it is malformed.
   *
   * @example
   * ```ts ignore
   * const { order, excluded } = await client.explain({ messages });
   * console.log(order[0]?.model, excluded);
   * ```
   */
  async explain(request: RequestBody, options: ExplainOptions = {}): Promise<Explanation> {
    await this.ready();
    const { explainRequest } = await import("./explain.ts"); // most pages never ask
    const { engine } = this.#parts;
    return explainRequest(request, { ...options, engine, poolFor: (operation) => this.#poolFor(operation) });
  }

  /**
   * Ends timers, writes the state and what sinks still hold.
   *
   * @throws {ConnectorError} When the storage does not take the state.
   */
  async close(): Promise<void> {
    await this.#parts.engine.close();
  }

  /** The same, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /**
   * What a call without `model` goes to: the pool or capability that the client is for, where that serves the operation;
   * else the first pool that does, else a pool made for the operation.
   */
  #poolFor(operation: Pick<Operation, "name" | "serves">): string {
    const { pool, capability, engine } = this.#parts;
    if (pool !== undefined) return pool;
    const { pools, tree } = engine.registry;
    if (capability !== null) {
      const path = tree.resolve(capability);
      const own = pools.find(({ name }) => name === capability) ??
        pools.find((one) => path !== undefined && one.capability === path);
      const isFor = path !== undefined && tree.leaves(path).some((leaf) => operation.serves(leaf));
      if (isFor) return own?.name ?? capability;
    }
    const serves = ({ members }: Pool) =>
      members.some(({ model }) => model.leaves.some((leaf) => operation.serves(leaf)));
    const serving = pools.find(serves) ?? (capability === null ? pools[0] : undefined);
    const name = serving?.name ?? (capability === null ? undefined : operationLeaves(tree, operation.name)[0]);
    if (name !== undefined) return name;
    throw new UnsupportedRequestError(`No pool serves ${operation.name}: name a model, or configure a pool`, {
      code: "missing_required_parameter",
      param: "model",
    });
  }
}
