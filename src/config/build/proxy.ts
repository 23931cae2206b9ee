/**
 * Builds the section `proxy` with its clients.
 * @module
 */
import { type Report, show, suggest, under } from "../schema/report.ts";
import { referencesIn } from "../schema/references.ts";
import { complete } from "../schema/complete.ts";
import type { DocumentValues } from "../schema/schema.ts";
import { type LimitValues, proxy, type ProxyValues, type TeamValues, type TokenValues } from "../schema/proxy.ts";
import type {
  ClientSettings,
  JwtIssuerSettings,
  LimitSettings,
  PoolSettings,
  ProxySettings,
  Settings,
} from "../settings/settings.ts";
import type { CapabilityTree } from "../../capability/tree.ts";
import { formatProblem, keysUrlWarning, tokenWarning } from "../schema/formats.ts";
import type { ModelNames } from "../check/names.ts";
import { mergeBudgets } from "../schema/budget.ts";

/** The settings of a proxy without the section `proxy`. */
export function builtInProxy(): ProxySettings {
  const { auth: _, ...settings } = complete(proxy);
  return { ...settings, allowedHosts: [], clients: [], tokenRequired: false };
}

/** Maximum length of a tag of a request, characters. */
const maxTagChars = 64;

/** Resolves the sections `teams`, `tags` and `users`. */
export function buildLimits(
  { teams, tags, users }: Pick<DocumentValues, "teams" | "tags" | "users">,
  parts: PoolNames,
): Pick<Settings, "teams" | "tags" | "users"> {
  const convertTeam = ({ pools, guards, ...limits }: TeamValues, path: string) => ({
    ...convertLimits(limits),
    ...(guards && { guards }),
    ...(pools && { pools: pools.flatMap((pool, at) => findPoolNames(pool, `${path}.pools[${at}]`, parts)) }),
  });
  for (const name of tags?.keys() ?? []) {
    if (name.length > maxTagChars) {
      parts.report.warn(under("tags", name), `has no effect: a tag has up to ${maxTagChars} characters`);
    }
  }
  return {
    ...(teams && { teams: new Map([...teams].map(([name, team]) => [name, convertTeam(team, under("teams", name))])) }),
    ...(tags && { tags: new Map([...tags].map(([name, limits]) => [name, convertLimits(limits)])) }),
    ...(users && { users: convertLimits(users) }),
  };
}

function convertLimits({ budget, rpm, tpm, concurrent }: LimitValues): LimitSettings {
  return { budget: mergeBudgets([budget]), rpm, tpm, concurrent };
}

/** Whether a client has a limit besides its pools and models. */
export function isLimited({ budget, rpm, tpm, concurrent }: LimitSettings): boolean {
  return (budget ?? rpm ?? tpm ?? concurrent) !== undefined;
}

/** Resolves the clients of the section `proxy`. */
export function buildProxy(values: ProxyValues, parts: ClientNames): ProxySettings {
  const { auth, allowedHosts = [], bodyLimit, bodyMemory, ...settings } = complete(proxy, values);
  const { adminTokens, jwt, resource } = auth;
  const { webSearch } = settings.tools;
  if (webSearch?.pool !== undefined) findPoolNames(webSearch.pool, "proxy.tools.web_search.pool", parts);
  adminTokens?.forEach((token, index) => warnOfToken(token, `proxy.auth.admin_tokens[${index}]`, parts.report));
  jwt?.forEach((issuer, index) => checkIssuer(issuer, `proxy.auth.jwt[${index}]`, parts.report));
  return {
    ...settings,
    clients: buildClients(values.auth?.tokens ?? [], parts),
    ...(adminTokens === undefined ? {} : { adminTokens }),
    ...(jwt === undefined ? {} : { jwt }),
    ...(resource === undefined ? {} : { resource }),
    tokenRequired: Object.values(values.auth ?? {}).some((value) => value !== undefined),
    allowedHosts,
    bodyMemory,
    bodyLimit: Math.min(bodyLimit, clientShare(values, bodyMemory, parts.report)),
  };
}

/** Checks what the schema of an issuer cannot state. */
function checkIssuer(
  { issuer, jwksUri, allow = {} }: Partial<JwtIssuerSettings>,
  path: string,
  report: Report,
): void {
  if (issuer === undefined) return; // reported
  const [key, address] = jwksUri === undefined ? ["issuer", issuer] : ["jwks_uri", jwksUri];
  const problem = jwksUri === undefined ? formatProblem(issuer, "keysUrl") : undefined;
  if (problem !== undefined) report.problem(`${path}.issuer`, `${problem}, or set "jwks_uri"`);
  const warning = keysUrlWarning(address);
  if (warning !== undefined) report.warn(`${path}.${key}`, warning);
  for (const [claim, accepted] of Object.entries(allow)) {
    const isValue = (value: unknown) =>
      typeof value === "number" || typeof value === "boolean" ||
      typeof value === "string" && referencesIn(value).names.length === 0;
    const isList = Array.isArray(accepted) && accepted.length > 0 && accepted.every(isValue);
    if (isList || isValue(accepted)) continue;
    report.problem(under(`${path}.allow`, claim), "expected a literal string, a number, true or false, or a list");
  }
}

/** A client may use a quarter of the memory for bodies. */
function clientShare({ body_limit }: ProxyValues, bodyMemory: number, report: Report): number {
  const quarter = Math.floor(bodyMemory / 4);
  if (body_limit !== undefined && body_limit > quarter) {
    report.warn(
      "proxy.body_limit",
      `exceeds a quarter of "body_memory", the limit of each client: ${quarter} bytes apply`,
    );
  }
  return quarter;
}

interface PoolNames {
  readonly pools: ReadonlyMap<string, PoolSettings>;
  /** Names that stand for pools. */
  readonly aliases: ReadonlyMap<string, string>;
  /** The tree whose nodes can become pools on demand. */
  readonly tree: CapabilityTree;
  readonly report: Report;
}

/** What clients may refer to. */
interface ClientNames extends PoolNames {
  readonly models: Pick<ModelNames, "has" | "toTarget" | "describeUnknown">;
  /** Teams by name. */
  readonly teams: ReadonlyMap<string, TeamValues> | undefined;
}

/** The ids of clients created at runtime. What belongs to a configured client belongs to its name. */
const runtimeId = /^client_[\w-]{16}$/;

/**
 * Resolves the clients' pool names, including those of on-demand pools. A bare token becomes a client without limits.
 */
function buildClients(entries: readonly (string | TokenValues)[], parts: ClientNames): ClientSettings[] {
  const names = new Set<string>();
  return entries.flatMap((entry, index) => {
    const path = `proxy.auth.tokens[${index}]`;
    const values: TokenValues = typeof entry === "string" ? { token: entry } : entry;
    const { token, token_hash, name, team, tags, pools, models, guards, priority, notes, byok, ...limits } = values;
    if (token === undefined && token_hash === undefined) return [];
    if (token !== undefined) warnOfToken(token, path, parts.report);
    const tokenHash = token_hash?.toLowerCase();
    const other = tokenHash === undefined
      ? -1
      : entries.slice(0, index).findIndex((earlier) =>
        typeof earlier !== "string" && earlier.token_hash?.toLowerCase() === tokenHash
      );
    if (other >= 0) parts.report.problem(`${path}.token_hash`, `is the same token as proxy.auth.tokens[${other}]`);
    if (name !== undefined && names.has(name)) {
      parts.report.problem(`${path}.name`, `another client is called ${show(name)}: limits are counted by name`);
    }
    if (name !== undefined) names.add(name);
    if (name !== undefined && runtimeId.test(name)) {
      parts.report.problem(`${path}.name`, "has the form of an id of a client created at runtime: use another name");
    }
    checkTeam({ team, pools }, path, parts);
    models?.forEach((model, at) => checkModel(model, `${path}.models[${at}]`, parts));
    return {
      token,
      tokenHash,
      name,
      pools: pools?.flatMap((pool, at) => findPoolNames(pool, `${path}.pools[${at}]`, parts)),
      models,
      ...convertLimits(limits),
      priority,
      ...(guards && { guards }),
      team,
      tags,
      notes,
      byok,
    };
  });
}

/** Reports a name that no model has, or will have. */
function checkModel(name: string, path: string, { models, report }: ClientNames): void {
  if (models.has(name) || models.has(models.toTarget(name))) return;
  report.problem(path, models.describeUnknown(name));
}

function checkTeam({ team, pools }: TokenValues, path: string, { teams, report }: ClientNames): void {
  if (team === undefined) return;
  const settings = teams?.get(team);
  if (settings === undefined) {
    report.problem(`${path}.team`, `no team ${show(team)}${suggest(team, [...teams?.keys() ?? []])}`);
  } else if (pools !== undefined && settings.pools?.some((name) => pools.includes(name)) === false) {
    report.warn(`${path}.pools`, `has none of the pools of the team ${show(team)}: the client may use nothing`);
  }
}

/** Warns about a literal token that is easy to guess. */
function warnOfToken(token: string, path: string, report: Report): void {
  const warning = referencesIn(token).names.length === 0 ? tokenWarning(token) : undefined;
  if (warning !== undefined) report.warn(path, warning);
}

/** Resolves a configured pool, or the on-demand pool of a capability node. */
export function findPoolNames(name: string, path: string, { pools, aliases, tree, report }: PoolNames): string[] {
  if (pools.has(name)) return [name];
  const target = aliases.get(name) ?? name;
  if (pools.has(target)) return [target];
  const node = tree.resolve(target);
  if (node !== undefined) return [tree.shortName(node)];
  report.problem(path, `no pool ${show(name)}${suggest(name, [...pools.keys()])}`);
  return [];
}
