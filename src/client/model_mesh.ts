/**
 * The engine for programs that want it bare. The shells bind it to their connectors and runtime.
 * @module
 */
import { activate, deactivate, type OverrideContext } from "../background/manual.ts";
import { configuredPersistence } from "../background/configured_store.ts";
import { askProviders } from "../background/ask_providers.ts";
import { discoverModels } from "../background/discover.ts";
import { openProvider } from "../background/open_provider.ts";
import { checkedDocument, MeshConfigBase } from "../config/load/mesh_config.ts";
import { type NewProvider, withProvider } from "../config/load/new_provider.ts";
import { saveConfigFile, storeConfig } from "../config/load/save.ts";
import { settingsOf } from "../config/load/sources.ts";
import { type ConfigSource, readSource } from "../config/load/config_source.ts";
import type { SettingsSecrets } from "../config/secrets/settings_secrets.ts";
import type { Settings } from "../config/settings/settings.ts";
import type { PluggableConnector } from "../contracts/connector.ts";
import type { ChatCompletionRequest } from "../contracts/openai.ts";
import type { Storage } from "../contracts/storage.ts";
import { MeshError } from "../errors.ts";
import type { Explanation } from "../pipeline/explain.ts";
import { configContextOf, loadConnectors } from "../registry/catalogue.ts";
import type { ProviderAnswers } from "../registry/provider_answers.ts";
import { loadPackages } from "../registry/packages.ts";
import { type Draft, draft, extend } from "../registry/extend.ts";
import { Engine } from "../engine/engine.ts";
import { SnapshotMapper } from "../state/persistence/snapshot_mapper.ts";
import { leftOutOf } from "../state/persistence/snapshot_codec.ts";
import type { MeshSnapshot } from "../state/persistence/snapshot.ts";
import { loadKeyPools } from "../state/limits/key_pools.ts";
import type { CreateParts } from "./create.ts";
import { explainChat } from "./explain.ts";
import type { CreateOptions } from "./options.ts";
import { runtimeWith } from "./runtime_with.ts";

/** Options of `ModelMesh`. */
export type MeshOptions = Pick<CreateOptions, "env" | "fetch" | "clock" | "random" | "on" | "storage">;

/** The part of `ModelMesh` that knows neither a runtime nor connectors of its own. */
export class ModelMeshBase extends Engine {
  #config: MeshConfigBase | undefined;
  /** What it runs by since a provider was added. */
  #settings: Settings | undefined;
  #secrets: SettingsSecrets | undefined;
  /** Providers are added one after the other. */
  #adding: Promise<void> = Promise.resolve();

  /**
   * Made by a shell.
   *
   * @param parts Connectors and runtime.
   * @param options What replaces the runtime's own; where states are kept.
   * @internal
   */
  constructor(parts: CreateParts, options: MeshOptions) {
    const runtime = runtimeWith(parts, options);
    const { on, storage = configuredPersistence(() => this) } = options;
    super({ connectors: parts.connectors, runtime, on, storage });
  }

  /**
   * What it runs by. Throws before it is configured.
   *
   * @internal
   */
  override get settings(): Settings {
    return this.#settings ?? super.settings;
  }

  /**
   * Where the secrets of its settings are looked up.
   *
   * @internal
   */
  override get secrets(): SettingsSecrets | undefined {
    return this.#secrets ?? super.secrets;
  }

  /**
   * Loads a configuration and makes ready for requests. Without a `providers` section the providers are those detected.
   *
   * @param config A configuration: a document as an object, a `MeshConfig`, or a file's path.
   * @throws {ConfigError} With all that is wrong.
   * @throws {NoProvidersError} When it has no providers and none is detected.
   * @throws {SecretNotFoundError} When a secret it refers to does not exist.
   */
  async initialize(config: ConfigSource): Promise<void> {
    const { document, source } = await readSource(config, this.runtime.files);
    await this.start(document, source);
  }

  /**
   * The same, for a document that came from somewhere.
   *
   * @param document A configuration.
   * @param source Where it came from, for messages.
   * @internal
   */
  async start(document: unknown, source?: string): Promise<void> {
    await loadPackages(document, this);
    const settings = settingsOf(document, configContextOf(this), source === undefined ? {} : { source });
    this.#config = new MeshConfigBase(checkedDocument(document, settings));
    this.#settings = undefined;
    this.#secrets = undefined;
    this.configure(settings);
    await this.ready();
  }

  /**
   * Adds a connector of one's own; its id works wherever a connector's id does.
   *
   * @param id The id it goes by.
   * @param connector What it is.
   */
  registerConnector(id: string, connector: PluggableConnector): void {
    this.catalogue.register(id, connector);
  }

  /**
   * Adds a provider to the running mesh, as if its entry stood last in `providers`: its models take their places in
   * pools behind those that are there. States, sessions, counts and requests under way go on. Nothing has changed when
   * it throws.
   *
   * @param provider Its entry as in `providers`, with its `id`; its `models` as in the section of that name.
   * @throws {ConfigError} With all that is wrong, or when the id or a model's name is taken.
   * @throws {SecretNotFoundError} When a secret it refers to does not exist.
   *
   * @example
   * ```ts ignore
   * await mesh.addProvider({ id: "groq.api.v1", api_key: "${secrets:GROQ_API_KEY}" });
   * ```
   */
  addProvider(provider: NewProvider): Promise<void> {
    const added = this.#adding.then(() => this.#add(provider));
    this.#adding = added.catch(() => {});
    return added;
  }

  /**
   * Writes the present configuration, providers added since included. Secret references stay references; comments are
   * lost. A file is replaced whole or not at all.
   *
   * @param target A path that ends in `.yaml`, `.yml` or `.json`; or a storage, which keeps it under the key `config`.
   * @throws {ConfigError} For a path that ends otherwise.
   * @throws {MeshError} `config_not_saved`; or when the configuration has an object of the program in it.
   * @throws {ConnectorError} When the storage does not take it.
   *
   * @example
   * ```ts ignore
   * await mesh.saveConfig("modelmesh.yaml");
   * ```
   */
  async saveConfig(target: string | Storage): Promise<void> {
    if (typeof target === "string") await saveConfigFile(this.#written, target, this.runtime.files);
    else await storeConfig(this.#written, target);
  }

  /**
   * Sets a model or a provider aside in every pool until {@linkcode ModelMeshBase.activate}; reason `manual`.
   *
   * @param name A model's name or a provider's entry id.
   * @throws {ModelNotFoundError} When it is neither.
   */
  deactivate(name: string): void {
    deactivate(name, this.#manual);
  }

  /**
   * Takes a model or a provider back, whatever it rests for. A limit that still holds sets it aside again.
   *
   * @param name A model's name or a provider's entry id.
   * @throws {ModelNotFoundError} When it is neither.
   */
  activate(name: string): void {
    activate(name, this.#manual);
  }

  /**
   * Where a chat request would go, and why. Sends nothing.
   *
   * @param request OpenAI's chat request, its `model` a name of this mesh.
   * @throws {ModelNotFoundError} When its `model` stands for nothing.
   * @throws {UnsupportedRequestError} When it is malformed.
   *
   * @example
   * ```ts ignore
   * const { order, excluded } = await mesh.explain({ model: "chat", messages });
   * console.log(order[0]?.model, excluded);
   * ```
   */
  async explain(request: ChatCompletionRequest): Promise<Explanation> {
    await this.ready();
    return explainChat(request, this, () => this.registry.pools[0]?.name ?? "");
  }

  /** Everything that is remembered of states, as plain JSON: what {@linkcode ModelMeshBase.importState} takes. */
  exportState(): MeshSnapshot {
    return new SnapshotMapper(this.state, this.runtime.clock).snapshot();
  }

  /**
   * Becomes what was remembered, by names. An entry that cannot be read is left out, with a warning.
   *
   * @param snapshot What {@linkcode ModelMeshBase.exportState} gave, by way of JSON.
   * @throws {MeshError} `invalid_state` when it is anything else; nothing has changed then.
   */
  importState(snapshot: unknown): void {
    const message = leftOutOf(new SnapshotMapper(this.state, this.runtime.clock).restore(snapshot));
    if (message !== undefined) this.hub.trace({ severity: "warning", component: "mesh", message });
    this.publishMembers();
  }

  get #manual(): OverrideContext {
    return { registry: this.registry, state: this.state, clock: this.runtime.clock };
  }

  get #written(): MeshConfigBase {
    if (this.#config !== undefined) return this.#config;
    throw new MeshError("There is no configuration yet: await initialize() first", { code: "not_initialized" });
  }

  async #add(provider: NewProvider): Promise<void> {
    const { document } = this.#written;
    await this.ready();
    const context = configContextOf(this);
    const { settings: before, catalogue, runtime, hub, redact } = this;
    const { source } = before;
    const next = withProvider(document, provider, { settings: before, context });
    const written = settingsOf(next, context, source === undefined ? {} : { source });
    const config = new MeshConfigBase(checkedDocument(next, written));
    const { settings, secrets } = await this.#withSecrets(written);
    await loadConnectors(settings, catalogue);
    const draftWith = async (discovered?: Awaited<ReturnType<typeof discoverModels>>, answers?: ProviderAnswers) => {
      const made = draft(provider.id, { settings, catalogue, runtime, discovered, answers });
      if (made.instance !== undefined) await openProvider(made.instance, this);
      return made;
    };
    const first = await draftWith();
    const instanceOf = ({ instance }: Draft) => instance === undefined ? [] : [instance];
    const found = await discoverModels(instanceOf(first), { settings, runtime, hub, redact });
    const listed = found.size === 0 ? first : await draftWith(found);
    const answers = await askProviders(instanceOf(listed), listed.registry, this);
    const drafted = answers === undefined ? listed : await draftWith(found, answers);
    await loadKeyPools(settings.providers.values());
    extend(this.registry, drafted, { settings, state: this.state });
    this.#config = config;
    this.#settings = settings;
    this.#secrets = secrets;
    await this.monitoring.renew(settings);
    const known = new Set(before.warnings.map(({ path, message }) => `${path}: ${message}`));
    for (const { path, message } of settings.warnings) {
      if (!known.has(`${path}: ${message}`)) {
        hub.trace({ severity: "warning", component: "mesh", message: `${path}: ${message}` });
      }
    }
  }

  /** Sinks stay those that there are: they were made at the start. */
  async #withSecrets(written: Settings): Promise<{ settings: Settings; secrets?: SettingsSecrets }> {
    const { settings, secrets } = await this.resolveSecrets({ ...written, observability: [] });
    return { settings: { ...settings, observability: this.settings.observability }, secrets };
  }
}
