/**
 * Clients created at runtime. All proxies of a storage accept them, by the hash of their token.
 * @module
 */
import type { Cancel } from "../../contracts/runtime.ts";
import type { Engine } from "../../engine/engine.ts";
import { MeshError } from "../../errors.ts";
import type { Storage } from "../../contracts/storage.ts";
import { LimitedScopes } from "../../state/limits/limited_scopes.ts";
import { sha256 } from "../../util/sha256.ts";
import { type Caller, Client } from "../client.ts";
import { type ClientsDocument, listTokens, noClients, type StoredClient, toClientSettings } from "./client_record.ts";
import { ClientRecords } from "./client_records.ts";

/**
 * Interval of checks for changed clients, ms, so that a change by another proxy applies within a second. A check is one
 * `stat`, for which cloud storages charge.
 */
const checkIntervalMs = 800;

/** The current mesh, and its storage. */
interface Current {
  readonly mesh: Engine;
  readonly storage: Storage;
  readonly records: ClientRecords;
}

/** A client of the record. */
interface KnownClient {
  readonly stored: StoredClient;
  caller: Caller | undefined;
}

/** The clients created at runtime of one proxy, across configurations. */
export class RuntimeClients {
  #current: Current | undefined;
  #document: ClientsDocument = noClients;
  #byHash: ReadonlyMap<string, {
    readonly client: KnownClient;
    /** Wall clock, ms. */
    readonly endsAt: number;
  }> = new Map();
  /** Whether clients have tokens of other forms than those that are created here. */
  hasSuppliedTokens = false;
  #byName: ReadonlyMap<string, KnownClient> = new Map();
  /** By id. Contains only clients that have sent requests. */
  readonly #clients = new Map<string, Client>();
  /** Configured clients. */
  #configured: ReadonlyMap<string, Client> = new Map();
  #cancel: Cancel = () => {};
  #failure: string | undefined;
  readonly #hash: (text: string) => string;

  /** @param hash SHA-256; tests may replace it. */
  constructor(hash: (text: string) => string = sha256) {
    this.#hash = hash;
  }

  /**
   * Changes to another mesh. Requests and spending so far continue to count.
   *
   * @param mesh A mesh that is ready and has a storage.
   * @returns Resolves when the clients of its storage are known.
   */
  async use(mesh: Engine): Promise<void> {
    const { clock } = mesh.runtime;
    const storage = mesh.storage!;
    const records = new ClientRecords(storage, clock, {
      initial: isSameStorage(this.#current?.mesh, mesh) ? this.#document : noClients,
      onRestored: (count) => reportRestored(mesh, count),
    });
    const previous = this.#current;
    const current = this.#current = { mesh, storage, records };
    const scopes = mesh.state.scopes ??= new LimitedScopes(mesh.settings, { state: mesh.state, clock });
    scopes.follow(previous?.mesh.state.scopes);
    for (const [id, before] of this.#clients) {
      const stored = this.#document.clients.find((client) => client.id === id);
      this.#clients.set(id, new Client(before, stored ? this.#toLimits(stored) : {}, scopes));
    }
    this.#index();
    mesh.onClose(() => Promise.resolve(mesh === this.#current?.mesh ? this.#cancel() : undefined));
    this.#cancel();
    this.#cancel = clock.every(checkIntervalMs, () => this.#check(this.#current!));
    await this.#check(current);
  }

  /** Whether a configured client has this name. */
  isConfigured(name: string): boolean {
    return this.#configured.has(name);
  }

  /** Configured clients, by name. */
  set configured(clients: ReadonlyMap<string, Client>) {
    this.#configured = clients;
  }

  /** The sender of a token; undefined if it is unknown, revoked or expired. */
  findCaller(token: string): Caller | undefined {
    const found = this.#byHash.get(this.#hash(token));
    return found === undefined || this.#hasEnded(found.endsAt) ? undefined : this.#toCaller(found.client);
  }

  /** The client of a name; undefined if it is unknown, revoked or expired. */
  findNamed(name: string): Client | undefined {
    const found = this.#byName.get(name);
    const { expires_at } = found?.stored ?? {};
    if (found === undefined || expires_at !== undefined && this.#hasEnded(Date.parse(expires_at))) return undefined;
    return this.#toCaller(found).client;
  }

  #toCaller(client: KnownClient): Caller {
    return client.caller ??= { client: this.#createClient(client.stored), isAdministrator: false };
  }

  #hasEnded(endsAt: number): boolean {
    return endsAt <= this.#current!.mesh.runtime.clock.now();
  }

  /** The record as known to this process. */
  get document(): ClientsDocument {
    return this.#document;
  }

  /**
   * Changes the record. The change applies in this process immediately.
   *
   * @throws {ConnectorError} If the storage fails.
   */
  async change(change: (document: ClientsDocument) => ClientsDocument): Promise<void> {
    const current = this.#current!;
    const document = await current.records.change(change);
    if (current === this.#current) this.#apply(document);
  }

  /** Reads the record from the storage. */
  async refresh(): Promise<ClientsDocument> {
    const { records } = this.#current!;
    const changed = await records.changedDocument();
    if (changed !== undefined) this.#apply(changed);
    return this.#document;
  }

  /** The client with an id. */
  find(id: string): StoredClient | undefined {
    return this.#document.clients.find((client) => client.id === id);
  }

  /** The name of a client, also of a revoked one. */
  findName(id: string | undefined): string | undefined {
    return [...this.#document.clients, ...this.#document.revoked].find((client) => client.id === id)?.name;
  }

  async #check({ records }: Current): Promise<void> {
    await this.#reportingFailure(async () => {
      const changed = await records.changedDocument();
      if (changed !== undefined && records === this.#current?.records) this.#apply(changed);
    });
  }

  /** Traces a persistent failure once. The known clients remain valid. */
  async #reportingFailure(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#failure = undefined;
    } catch (error) {
      const message = MeshError.isInstance(error) ? error.message : "the storage failed";
      if (message === this.#failure) return;
      this.#failure = message;
      const { hub } = this.#current!.mesh;
      hub.trace({ severity: "error", component: "clients", message: `Clients made at runtime: ${message}` });
    }
  }

  #apply(document: ClientsDocument): void {
    this.#document = document;
    const settings = new Map(document.clients.map((stored) => [stored.id, this.#toLimits(stored)]));
    for (const [id, client] of this.#clients) {
      client.change(settings.get(id) ?? {});
      if (!settings.has(id)) this.#clients.delete(id);
    }
    this.#index();
  }

  #index(): void {
    const { clients } = this.#document;
    const now = this.#current!.mesh.runtime.clock.now();
    const entries = clients.map((stored): KnownClient => ({ stored, caller: undefined }));
    const tokens = entries.flatMap((client) => listTokens(client.stored, now).map((token) => ({ ...token, client })));
    this.#byHash = new Map(tokens.map(({ token_sha256, endsAt, client }) => [token_sha256, { endsAt, client }]));
    this.#byName = new Map(entries.map((client) => [client.stored.name, client]));
    this.hasSuppliedTokens = tokens.some(({ is_supplied }) => is_supplied);
  }

  #toLimits(stored: StoredClient): ConstructorParameters<typeof Client>[1] {
    const { guards } = this.#current!.mesh.settings;
    const missingGuard = stored.guards?.find((name) => !guards?.has(name));
    return { ...toClientSettings(stored), ...(missingGuard !== undefined && { missingGuard }) };
  }

  #createClient(stored: StoredClient): Client {
    const existing = this.#clients.get(stored.id);
    if (existing !== undefined) return existing;
    const client = new Client(stored, this.#toLimits(stored), this.#current!.mesh.state.scopes);
    this.#clients.set(stored.id, client);
    return client;
  }
}

/** Whether two meshes have the same storage by their configurations. */
function isSameStorage(before: Engine | undefined, mesh: Engine): boolean {
  const { storage } = mesh.settings;
  return storage !== undefined && JSON.stringify(storage) === JSON.stringify(before?.settings.storage);
}

function reportRestored({ hub }: Engine, count: number): void {
  const message = `The storage had lost ${count} of the clients made at runtime: they are written again`;
  if (count > 0) hub.trace({ severity: "warning", component: "clients", message });
}
