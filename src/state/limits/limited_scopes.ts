/**
 * The limits of a mesh's clients, teams, tags and end users. Imported by meshes that have any.
 * @module
 */
import type { Settings, TeamSettings } from "../../config/settings/settings.ts";
import { listTags } from "../../util/entries.ts";
import { getOrCreate } from "../../util/once.ts";
import { LimitedScope, type ScopeContext, type ScopeIdentity, type ScopeLimits } from "./limited_scope.ts";
import { RequestScopes } from "./request_scopes.ts";
import { UserScopes } from "./user_scopes.ts";

/** What a request counts against. */
interface Counted {
  /** The limits of its client, and of its team; undefined where there are none. */
  readonly own: readonly (LimitedScope | undefined)[];
  /** The identity of its client; empty without one. */
  readonly client: string;
  readonly tags?: Readonly<Record<string, string>> | readonly string[] | undefined;
  /** Its end user, as the client names it. */
  readonly user?: string | undefined;
}

/** The settings with limits. */
type LimitSettings = Pick<Settings, "teams" | "tags" | "users">;

/** The limits of one mesh. All but those of end users are bounded by the configuration and the list of clients. */
export class LimitedScopes {
  readonly #settings: LimitSettings;
  readonly #context: ScopeContext;
  readonly #scopes = new Map<string, LimitedScope>();
  readonly #users: UserScopes | undefined;
  /** The same limits under earlier settings, by id. */
  #before: ReadonlyMap<string, LimitedScope> | undefined;

  /**
   * @param settings Teams, tags and end users.
   * @param context Where they count.
   * @param before The limits under earlier settings. Requests and spending of scopes that exist in both continue.
   */
  constructor(settings: LimitSettings, context: ScopeContext, before?: LimitedScopes) {
    this.#settings = settings;
    this.#context = context;
    this.#before = before && before.#scopes;
    this.#users = settings.users && new UserScopes(settings.users, context, before && before.#users);
  }

  /** Continues the limits of another mesh, unless it continues some already. */
  follow(before: LimitedScopes | undefined): void {
    this.#before ??= before && before.#scopes;
  }

  /** Creates all teams and tags, so that their budgets are listed before the first request. */
  open(): void {
    for (const name of this.#settings.teams?.keys() ?? []) this.findTeam(name);
    for (const name of this.#settings.tags?.keys() ?? []) this.#findTag(name);
  }

  /** Finds a team by its name. */
  findTeam(name: string): LimitedScope | undefined {
    const settings: TeamSettings | undefined = this.#settings.teams?.get(name);
    if (settings === undefined) return undefined;
    return getOrCreate(this.#scopes, `team ${name}`, () => {
      const team = this.#create({ kind: "team", key: name }, settings);
      team.pools = settings.pools && new Set(settings.pools);
      return team;
    });
  }

  /** The teams, in order of the configuration. */
  get teams(): readonly LimitedScope[] {
    return [...this.#settings.teams?.keys() ?? []].map((name) => this.findTeam(name)!);
  }

  /**
   * Returns the limits of a client, under other limits than before if these have changed.
   *
   * @param client Its identity, and its name in records and messages.
   */
  getClient({ id, name }: { readonly id: string; readonly name: string }, limits: ScopeLimits): LimitedScope {
    const existing = this.#scopes.get(`client ${id}`);
    if (existing !== undefined) {
      existing.change(limits);
      return existing;
    }
    const created = this.#create({ kind: "client", key: id, name }, limits);
    this.#scopes.set(created.id, created);
    return created;
  }

  /** Returns the limits that a request counts against; undefined if there are none. */
  select({ own, client, tags = [], user }: Counted): RequestScopes | undefined {
    const scopes = [
      ...own,
      ...[...new Set(listTags(tags))].map((name) => this.#findTag(name)),
      user === undefined ? undefined : this.#users?.get(client, user),
    ].filter((scope) => scope !== undefined).filter(({ isLimited }) => isLimited);
    return scopes.length === 0
      ? undefined
      : new RequestScopes(scopes, { clock: this.#context.clock, sharedCounters: this.#context.state.sharedCounters });
  }

  #findTag(name: string): LimitedScope | undefined {
    const limits = this.#settings.tags?.get(name);
    return limits && getOrCreate(this.#scopes, `tag ${name}`, () => this.#create({ kind: "tag", key: name }, limits));
  }

  #create(identity: ScopeIdentity, limits: ScopeLimits): LimitedScope {
    const scope = new LimitedScope(identity, this.#context, this.#before?.get(`${identity.kind} ${identity.key}`));
    scope.change(limits);
    return scope;
  }
}
