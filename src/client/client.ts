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
import type { Operation } from "../pipeline/operation.ts";
import type { Explanation } from "../pipeline/explain.ts";
import type { Pool } from "../registry/registry.ts";
import type { ModelList } from "../registry/model_list.ts";
import { onceResolved } from "../util/once.ts";
import type { CallContext } from "./call_context.ts";
import { type Audio, Chat, createAudio, type Lazy, lazy } from "./lazy.ts";
import { ClientMesh, type MeshControls } from "./client_mesh.ts";
import { describe, type Description } from "./describe.ts";
import type { Documents } from "./resources.ts";
import type { Embeddings } from "./resources.ts";
import type { ExplainOptions } from "./explain.ts";
import type { FileInput } from "./read_files.ts";
import type { Batches, BatchSubmission, Files, FineTuningJobs, UploadFields } from "./objects.ts";
import type { Moderations } from "./resources.ts";
import type { Images } from "./media.ts";
import type { CallSettings, Middleware } from "./options.ts";
import type { Rerank } from "./resources.ts";
import type { Responses } from "./responses.ts";
import type { Search } from "./resources.ts";

/** The parts of a {@linkcode MeshClient}. */
export interface ClientParts {
  readonly engine: Engine;
  /** The capability the client serves; null when a configuration determines it. */
  readonly capability: string | null;
  /** The pool for calls without `model`. */
  readonly pool?: string;
  /** Middleware, called around every request in this order. */
  readonly middleware: readonly Middleware[];
  /**
   * Loads what `create` could not load synchronously, such as a configuration file; undefined when only secrets remain
   * to be read.
   */
  readonly load?: () => Promise<void>;
  /** Imports the controls of its mesh at its start; undefined in pages, which import them on demand. */
  readonly loadControls?: (() => Promise<MeshControls>) | undefined;
}

/**
 * A client with the interface of OpenAI's, over many providers.
 *
 * @example
 * ```ts
 * import { create } from "@modelmesh/core";
 *
 * const client = create("chat-completion");
 * const completion = await client.chat.completions.create({ messages: [{ role: "user", content: "Hello" }] });
 * console.log(completion.choices[0]?.message.content);
 * await client.close();
 * ```
 */
export class MeshClient {
  /** Chat completions. */
  readonly chat: Chat;
  /** Speech synthesis, transcription and translation of audio. */
  readonly audio: Audio;
  /** Embeddings. */
  readonly embeddings: Lazy<Embeddings>;
  /** Image generation and image editing. */
  readonly images: Lazy<Images>;
  /** Content moderation. */
  readonly moderations: Lazy<Moderations>;
  /** Reranking. */
  readonly rerank: Lazy<Rerank>;
  /** Web search. */
  readonly search: Lazy<Search>;
  /** Document parsing. */
  readonly documents: Lazy<Documents>;
  /** OpenAI's Responses API, over the models that serve chat. */
  readonly responses: Lazy<Responses>;
  /** Files, stored at the provider that the pool selects. */
  readonly files: Lazy<Files>;
  /** Batches: many requests in one file, completed within hours. */
  readonly batches: Lazy<Batches>;
  /** Fine-tuning jobs. */
  readonly fineTuning: { readonly jobs: Lazy<FineTuningJobs> };
  /** The pools and models that can be named in `model`. */
  readonly models: { list: () => Promise<ModelList> };
  readonly #parts: ClientParts;
  #mesh: ClientMesh | undefined;
  readonly #ready: () => Promise<void> = onceResolved(async () => {
    await this.#parts.load?.();
    await this.#parts.engine.ready();
    this.#controls = await this.#parts.loadControls?.();
  });
  #controls: MeshControls | undefined;

  /** Called by `create`; programs do not construct it. */
  private constructor(parts: ClientParts) {
    this.#parts = parts;
    const { engine, middleware } = parts;
    const ready = () => this.ready();
    const context: CallContext = { engine, middleware, ready, poolFor: (operation) => this.#poolFor(operation) };
    this.chat = new Chat(context);
    this.audio = createAudio(context);
    // imported on demand: few programs use all of them
    const resources = () => import("./resources.ts");
    const media = () => import("./media.ts");
    this.embeddings = lazy(async () => new (await resources()).Embeddings(context), "create");
    this.images = lazy(async () => new (await media()).Images(context), "generate", "edit");
    this.moderations = lazy(async () => new (await resources()).Moderations(context), "create");
    this.rerank = lazy(async () => new (await resources()).Rerank(context), "create");
    this.search = lazy(async () => new (await resources()).Search(context), "create");
    this.responses = lazy(async () => new (await import("./responses.ts")).Responses(context), "create");
    this.documents = lazy(async () => new (await resources()).Documents(context), "parse");
    const objects = () => import("./objects.ts");
    const files = ["create", "retrieve", "list", "content", "delete"] as const;
    this.files = lazy(async () => new (await objects()).Files(context), ...files);
    const batches = ["create", "submit", "retrieve", "list", "cancel"] as const;
    this.batches = lazy(async () => new (await objects()).Batches(context), ...batches);
    const jobs = ["create", "retrieve", "list", "cancel", "pause", "resume", "listEvents"] as const;
    this.fineTuning = { jobs: lazy(async () => new (await objects()).FineTuningJobs(context), ...jobs) };
    this.models = {
      list: async () => {
        await ready();
        const { modelList } = await import("../registry/model_list.ts"); // imported on demand: few pages list models
        return modelList(engine.registry, engine.runtime.clock);
      },
    };
  }

  /** The engine behind the client: its pools, models, providers and state. */
  get mesh(): ClientMesh {
    const { engine } = this.#parts;
    return this.#mesh ??= new ClientMesh({ engine, ready: () => this.ready(), controls: () => this.#controls });
  }

  /**
   * Reads the configuration file and secrets, and lists the models of local servers. Memoized; every call awaits it.
   *
   * @throws {ConfigError} When the configuration is invalid; lists every problem.
   * @throws {SecretNotFoundError} When a secret does not exist.
   */
  ready(): Promise<void> {
    return this.#ready();
  }

  /**
   * Uploads a file. Shorthand for `files.create`.
   *
   * @param file A `File`, `Blob`, `Response`, bytes, or a stream such as `fs.createReadStream(path)`.
   * @param fields The purpose of the file, and optional fields.
   * @param settings Abort signal, timeout in milliseconds.
   * @throws {MeshError} When the request fails. An aborted call throws the signal's reason.
   */
  uploadFile(file: FileInput, fields: UploadFields, settings?: CallSettings): Promise<FileObject> {
    return this.files.create({ ...fields, file }, settings);
  }

  /**
   * Uploads requests as a file and creates a batch from it. Shorthand for `batches.submit`.
   *
   * @param submission The requests, and the endpoint they are for (`/v1/chat/completions` by default).
   * @param settings Abort signal, timeout in milliseconds.
   * @throws {MeshError} When the request fails. An aborted call throws the signal's reason.
   *
   * @example
   * ```ts
   * import { create } from "@modelmesh/core";
   *
   * const client = create({ config: "modelmesh.yaml" });
   * const messages = [{ role: "user", content: "Hello" }];
   * const { id } = await client.submitBatch({ requests: [{ body: { messages } }, { body: { messages } }] });
   * ```
   */
  submitBatch(submission: BatchSubmission, settings?: CallSettings): Promise<Batch> {
    return this.batches.submit(submission, settings);
  }

  /**
   * Creates a fine-tuning job. Shorthand for `fineTuning.jobs.create`.
   *
   * @param request OpenAI's request; `model` is the name of a pool or model of this mesh.
   * @param settings Abort signal, timeout in milliseconds.
   * @throws {MeshError} When the request fails. An aborted call throws the signal's reason.
   */
  createFineTune(request: FineTuneRequest, settings?: CallSettings): Promise<FineTuningJob> {
    return this.fineTuning.jobs.create(request, settings);
  }

  /**
   * Describes the detected providers and the pools.
   *
   * @throws {MeshError} When the configuration is a file that has not been read yet: await `ready()` first.
   */
  describe(): Description {
    return describe(this.#parts.engine, this.#parts.capability);
  }

  /**
   * Returns the statistics of every model, provider and pool since the client was created: requests, tokens, cost,
   * latency, standby.
   *
   * @example
   * ```ts
   * import { create } from "@modelmesh/core";
   *
   * const client = create("chat-completion");
   * const { requests_total, cost_total } = client.stats().find(({ scope }) => scope === "pool")!;
   * ```
   */
  stats(): readonly StatsRecord[] {
    return this.#parts.engine.stats();
  }

  /**
   * Returns where a request would be routed, and why. Sends nothing and runs no middleware.
   *
   * @param request A request in OpenAI's shape. Without `model`, the client's pool is used.
   * @param options The operation, `chat` by default.
   * @throws {ModelNotFoundError} When `model` is unknown.
   * @throws {UnsupportedRequestError} When the request is malformed.
   *
   * @example
   * ```ts
   * import { create } from "@modelmesh/core";
   *
   * const client = create("chat-completion");
   * const { order, excluded } = await client.explain({ messages: [{ role: "user", content: "Hello" }] });
   * console.log(order[0]?.model, excluded);
   * ```
   */
  async explain(request: RequestBody, options: ExplainOptions = {}): Promise<Explanation> {
    await this.ready();
    const { explainRequest } = await import("./explain.ts"); // imported on demand
    const { engine } = this.#parts;
    return explainRequest(request, { ...options, engine, poolFor: (operation) => this.#poolFor(operation) });
  }

  /**
   * Stops timers, writes the state and flushes sinks. Later calls fail with the code `shutting_down`.
   *
   * @throws {ConnectorError} When the state cannot be written.
   */
  async close(): Promise<void> {
    await this.#parts.engine.close();
  }

  /** Calls {@linkcode MeshClient.close}, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /**
   * Returns the target of a call without `model`: the client's pool or capability where it serves the operation; else
   * the first pool that does; else a pool created for the operation.
   */
  #poolFor(operation: Pick<Operation, "name" | "serves">): string {
    const { pool, capability, engine } = this.#parts;
    if (pool !== undefined) return pool;
    const { pools, tree } = engine.registry;
    if (capability !== null) {
      const path = tree.resolve(capability);
      const own = pools.find(({ name }) => name === capability) ??
        pools.find((candidate) => path !== undefined && candidate.capability === path);
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
