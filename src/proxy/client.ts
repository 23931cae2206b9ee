/**
 * A named client of the proxy: its team, its pools and its limits.
 * @module
 */
import type { ClientSettings } from "../config/settings/settings.ts";
import { ModelNotFoundError, UnsupportedRequestError } from "../errors.ts";
import type { Peer } from "../contracts/shell.ts";
import type { RequestClient } from "../pipeline/request.ts";
import type { LimitedScope } from "../state/limits/limited_scope.ts";
import type { LimitedScopes } from "../state/limits/limited_scopes.ts";
import { findNamedModels } from "../registry/named_models.ts";
import type { ModelEntry, Registry } from "../registry/registry.ts";
import { pickDefined } from "../util/entries.ts";
import { isLoopbackHost } from "./origin_policy.ts";

type ClientIdentity = Pick<RequestClient, "id" | "name">;

/** Permissions and limits of a client. */
type ClientLimits = Omit<ClientSettings, "token" | "tokenHash" | "name" | "notes"> & {
  /** One of its guards that is no longer configured. */
  readonly missingGuard?: string | undefined;
};

export class Client implements RequestClient {
  readonly id: string;
  readonly name: string;
  /** Whether it stands for a team, whose members have tokens that name no client. */
  isTeam: boolean | undefined;
  pools: ReadonlySet<string> | undefined;
  /** Returns its only models; undefined if it may use all. */
  findOwnModels: RequestClient["findOwnModels"];
  /** Its team; undefined if it has none. */
  team: LimitedScope | undefined;
  /** Tags of all its requests. */
  tags: readonly string[] | undefined;
  /** Names of guards of its requests. */
  guards: readonly string[] | undefined;
  /** What its limits count; undefined if it never had any. */
  scope: LimitedScope | undefined;
  readonly #scopes: LimitedScopes | undefined;
  /** Names of its own pools. */
  #own: readonly string[] | undefined;
  /** Names of its only models. */
  #models: readonly string[] | undefined;
  /** Its team, if that is no longer configured: until it is changed, the client may use nothing. */
  #missingTeam: string | undefined;
  /** One of its guards that is no longer configured, with the same effect. */
  #missingGuard: string | undefined;
  /** Maximum priority as configured. */
  #priority: number | undefined;
  /** Whether its requests may contain keys of providers. */
  #byok: boolean | undefined;

  /**
   * @param identity Its id, and its name in records.
   * @param scopes The limits of the mesh; undefined if there are none.
   */
  constructor({ id, name }: ClientIdentity, limits: ClientLimits, scopes?: LimitedScopes) {
    this.id = id;
    this.name = name;
    this.#scopes = scopes;
    this.change(limits);
  }

  /** Applies other limits. Earlier requests and spending count against them. */
  change({ pools, models, team, tags, guards, missingGuard, priority, byok, ...limits }: ClientLimits): void {
    this.#models = models;
    this.findOwnModels = models && ((registry) => findModels(models, registry));
    this.#priority = priority;
    this.#byok = byok;
    this.tags = tags;
    this.guards = guards;
    this.#own = pools;
    this.scope = this.#scopes?.getClient(this, limits);
    this.team = team === undefined ? undefined : this.#scopes?.findTeam(team);
    this.#missingTeam = this.team === undefined ? team : undefined;
    this.#missingGuard = missingGuard;
    const isUsable = this.#missingTeam === undefined && missingGuard === undefined;
    this.pools = isUsable ? intersect(pools, this.team?.pools) : new Set();
  }

  /** Returns the same client as a member of another team. */
  inTeam(team: LimitedScope | undefined): Client {
    const [tags, guards, models] = [this.tags, this.guards, this.#models];
    const member = new Client(this, pickDefined({ priority: this.#priority, byok: this.#byok, tags, guards, models }));
    member.scope = this.scope;
    member.team = team;
    member.#missingGuard = this.#missingGuard;
    member.pools = this.#missingGuard === undefined ? intersect(this.#own, team?.pools) : new Set();
    return member;
  }

  /** Whether it may access everything, as administrators do by default. */
  get isUnlimited(): boolean {
    const isOpen = this.pools === undefined && this.#models === undefined;
    return isOpen && this.team === undefined && !this.scope?.isLimited;
  }

  /**
   * Checks the priority of a request in queues. A client without any limit may choose it freely.
   *
   * @throws {UnsupportedRequestError} `invalid_value` if it is above that of the client.
   */
  checkPriority(priority: number): void {
    const most = this.#priority ?? (this.isUnlimited ? Infinity : 0);
    if (priority <= most) return;
    throw new UnsupportedRequestError(`The client "${this.name}" may have a priority of up to ${most}`, {
      code: "invalid_value",
      param: "x-mesh-priority",
    });
  }

  /**
   * Checks a request that contains keys of providers.
   *
   * @throws {UnsupportedRequestError} `invalid_value` if its client may not send any.
   */
  checkProviderKeys(): void {
    if (this.#byok) return;
    throw new UnsupportedRequestError(`The client "${this.name}" may not send keys of providers: it needs \`byok\``, {
      code: "invalid_value",
      param: "x-provider-key",
    });
  }

  /**
   * Returns the message of an error as this client may see it: without other pools and models. Undefined if the message
   * is the same for all clients.
   *
   * @param error Any error of its request.
   */
  messageFor(error: unknown): string | undefined {
    if ((this.pools ?? this.#models) === undefined || !ModelNotFoundError.isInstance(error)) return undefined;
    if (this.#missingTeam !== undefined) return `The team "${this.#missingTeam}" of the client is not configured`;
    if (this.#missingGuard !== undefined) return `The guard "${this.#missingGuard}" of the client is not configured`;
    const names = [...this.pools ?? [], ...this.#models ?? []].map((name) => `"${name}"`).join(", ") || "none";
    return `There is no such model or pool for the client "${this.name}": it has ${names}`;
  }
}

/**
 * Returns a client as a member of a team that its token states. Without a client, the team itself is one: objects belong
 * to it.
 *
 * @param name Name of the team.
 * @param scopes The limits of the mesh.
 */
export function joinTeam(client: Client | undefined, name: string, scopes: LimitedScopes | undefined): Client {
  const id = `team ${name}`;
  const member = (client ?? new Client({ id, name: id }, {})).inTeam(scopes?.findTeam(name));
  member.isTeam = client === undefined;
  return member;
}

/** Finds models by the names that a client may use, including aliases. A name that no model has yet is skipped. */
function findModels(names: readonly string[], registry: Registry): ReadonlySet<ModelEntry> {
  return new Set(
    names.flatMap((name) =>
      (findNamedModels(name, registry) ?? findNamedModels(registry.aliases.get(name) ?? "", registry))?.models ?? []
    ),
  );
}

/** The pools that a client may use: its own, as far as its team may use them. */
function intersect(
  own: readonly string[] | undefined,
  team: ReadonlySet<string> | undefined,
): ReadonlySet<string> | undefined {
  if (own === undefined || team === undefined) return own === undefined ? team : new Set(own);
  return new Set(own.filter((name) => team.has(name)));
}

/** The sender of a request with an accepted token. */
export interface Caller {
  /** Undefined for a token without a client's name, or if no token is required. */
  readonly client?: Client | undefined;
  /** Whether it may read everything, and activate and deactivate. */
  readonly isAdministrator: boolean;
  /** Whether it may read everything. Without a client or team it sends no requests of its own. */
  readonly isViewer?: boolean;
  /** Name of a configured team, if the token states it. */
  readonly team?: string | undefined;
  /** Tags of its requests that the token states. */
  readonly tags?: readonly string[];
  /** What distinguishes it from others without a client: its token if that is a configured one, or what the token states. */
  readonly identity?: string;
}

/**
 * Creates the configured clients that have a name.
 *
 * @param clients Their settings.
 * @param limits The limits of the mesh, and those of the previous one, whose counters continue; undefined without any.
 */
export function createNamedClients(
  clients: readonly ClientSettings[],
  ...[scopes, before]: readonly (LimitedScopes | undefined)[]
): Map<string, Client> {
  scopes?.follow(before);
  return new Map(clients.flatMap((client) => {
    const { token: _, tokenHash: __, notes: ___, name, ...limits } = client;
    return name === undefined ? [] : [[name, new Client({ id: name, name }, limits, scopes)]];
  }));
}

/** The latest remote address, and to which client its bodies count: many requests have the same one. */
let latest: { readonly address: string | undefined; readonly owner: string | undefined } = {
  address: undefined,
  owner: undefined,
};

/**
 * Identifies the client to whose memory a body counts.
 *
 * @param request Its sender by token, and its remote address.
 * @param isOpen Whether no token is required.
 * @returns Undefined for loopback without a token, since a reverse proxy may send there for all clients.
 */
export function findBodyOwner(
  { sender, peer }: { readonly sender: Caller | undefined; readonly peer: Peer | undefined },
  isOpen: boolean,
): unknown {
  if (!isOpen) return sender?.client?.id ?? sender;
  const address = peer?.();
  if (address !== latest.address) {
    const plain = address?.replace(/^::ffff:/i, "");
    latest = { address, owner: plain === undefined || isLoopbackHost(plain) ? undefined : plain };
  }
  return latest.owner;
}
