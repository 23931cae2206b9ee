/**
 * Checks settings against the models of a pool: settings for models that are not members, models without a pool, limits
 * that cannot be reached, pools and endpoints without models. All findings are warnings, since the mesh works
 * nevertheless.
 * @module
 */
import type { InfrastructureFacts } from "../../contracts/infrastructure.ts";
import { servesOperation } from "../../capability/operations.ts";
import type { OperationName } from "../../contracts/provider.ts";
import { hedgedOperations } from "../schema/_pool_conditions.ts";
import { createLookup, everyPool, type First, pool as poolSection, type PoolValues } from "../schema/pools.ts";
import { proxy as proxySection } from "../schema/proxy.ts";
import { expandProviders, type ProviderParts } from "./names.ts";
import type { Members } from "./pool_members.ts";
import { quoted, type Report, show, under } from "../schema/report.ts";
import { formatDuration } from "../schema/units.ts";
import { defaultRetry } from "../settings/defaults.ts";
import { findConfiguredService } from "../settings/offers.ts";
import type { DocumentValues } from "../schema/schema.ts";
import type { HealthSettings, PoolSettings, ProviderEntry } from "../settings/settings.ts";

interface MemberCheckParts extends ProviderParts {
  readonly members: Members;
  readonly health: HealthSettings;
  readonly pools: ReadonlyMap<string, PoolSettings>;
  readonly report: Report;
}

/** Warns about pools and endpoints without possible models, and settings for models that are not in their pool. */
export function checkMembers(values: DocumentValues, facts: MemberCheckParts): void {
  const common = values.pools?.get(everyPool) ?? {};
  for (const [name, value] of values.pools ?? []) {
    const path = under("pools", name);
    const pool = facts.pools.get(name);
    const first = createLookup(pool === undefined ? [value] : [value, common]);
    if (pool === undefined || facts.members.mayHaveSeveral(pool)) {
      checkScope(value, path, { first, report: facts.report });
    }
    if (pool === undefined) continue;
    checkPriorities(value, path, { pool, facts });
    checkHedge(value, path, { pool, facts });
    checkRate(value, path, { pool, facts });
    checkProbes(pool, facts);
  }
  checkUnused(values, facts);
  checkUnserved(values, facts);
  checkSearchPool(values, facts);
  checkQueues(values, facts);
}

/** Warns about a pool for web search whose models are listed, and none of which searches. */
function checkSearchPool({ proxy, aliases }: DocumentValues, { members, pools, report }: MemberCheckParts): void {
  const name = proxy?.tools?.web_search?.pool;
  const pool = name === undefined ? undefined : pools.get(name) ?? pools.get(aliases?.get(name) ?? name);
  if (pool === undefined || pool.capability !== undefined) return;
  const searches = (leaf: string) => servesOperation(leaf, "search");
  if (members.configuredIn(pool).some((model) => members.findKnownLeaves(model).some(searches))) return;
  report.warn("proxy.tools.web_search.pool", `has no effect: no model of the pool ${show(name)} searches the web`);
}

/** Warns about queues without a limit to wait for, with bounds that other limits precede, and priorities without one. */
function checkQueues(values: DocumentValues, { members, pools, report }: MemberCheckParts): void {
  const common = values.pools?.get(everyPool);
  for (const [name, value] of values.pools ?? []) {
    if (value.queue === undefined) continue;
    const path = `${under("pools", name)}.queue`;
    checkBounds(value.queue, path, { values, report });
    const first = createLookup(common === undefined ? [value] : [value, common]);
    const pool = pools.get(name);
    const models = pool === undefined ? members.usable : members.configuredIn(pool);
    const isLimited = models.some(({ limits }) => Object.values(limits).some((limit) => limit !== undefined));
    if (isLimited || first(({ rate_limit }) => rate_limit?.min_delta) !== undefined) continue;
    report.warn(path, 'none of its models has "limits": requests wait only for limits that providers report');
  }
  if ([...values.pools?.values() ?? []].some(({ queue }) => queue !== undefined)) return;
  values.proxy?.auth?.tokens?.forEach((token, index) => {
    if (typeof token === "string" || token.priority === undefined) return;
    report.warn(`proxy.auth.tokens[${index}].priority`, 'has no effect: no pool has a "queue"');
  });
}

function checkBounds(
  queue: NonNullable<PoolValues["queue"]>,
  path: string,
  { values: { proxy }, report }: { readonly values: DocumentValues; readonly report: Report },
): void {
  const { max_wait: wait, max_length: length } = poolSection.fields.queue.fields;
  const { request_timeout: timeout, max_concurrent: concurrent } = proxySection.fields;
  const deadlineMs = proxy?.request_timeout ?? timeout.default;
  const maxWaitMs = queue.max_wait ?? wait.default;
  if (maxWaitMs > deadlineMs) {
    const duration = `"max_wait" (${formatDuration(maxWaitMs)})`;
    const deadline = `"proxy.request_timeout" (${formatDuration(deadlineMs)}), at which a request ends with 504`;
    report.warn(queue.max_wait === undefined ? path : `${path}.max_wait`, `${duration} is longer than ${deadline}`);
  }
  const slots = proxy?.max_concurrent ?? concurrent.default;
  const maxLength = queue.max_length ?? length.default;
  if (maxLength <= slots) return;
  report.warn(
    queue.max_length === undefined ? path : `${path}.max_length`,
    `"max_length" (${show(maxLength)}) is more than "proxy.max_concurrent" (${show(slots)}), which counts waiting ` +
      "requests, too",
  );
}

function checkPriorities(
  value: PoolValues,
  path: string,
  { pool, facts }: { readonly pool: PoolSettings; readonly facts: MemberCheckParts },
): void {
  const { members, report } = facts;
  value.model_priority?.forEach((name, index) => {
    if (members.mayHave(pool, name)) return;
    report.warn(`${path}.model_priority[${index}]`, `has no effect: the model ${show(name)} is not in this pool`);
  });
  value.provider_priority?.forEach((name, index) => {
    if (expandProviders([name], facts).some((id) => members.mayList(pool, id))) return;
    report.warn(
      `${path}.provider_priority[${index}]`,
      `has no effect: no model of the provider ${show(name)} is in this pool`,
    );
  });
}

/** Warns about hedging in a pool with one model and one API key. */
function checkHedge(
  { hedge }: PoolValues,
  path: string,
  { pool, facts: { entries, members, report } }: { readonly pool: PoolSettings; readonly facts: MemberCheckParts },
): void {
  if (hedge === undefined || pool.routing.hedge === undefined || members.mayHaveSeveral(pool)) return;
  if (!hedgedOperations.some((operation) => members.mayServeIn(pool, operation))) return; // which is a warning of its own
  const hasKeys = members.configuredIn(pool).some(({ provider }) => entries.get(provider)!.apiKeys.length > 1);
  if (!hasKeys) report.warn(`${path}.hedge`, "has no effect: the pool has one model, whose provider has one API key");
}

function checkRate(
  value: PoolValues,
  path: string,
  { pool, facts: { members, report } }: { readonly pool: PoolSettings; readonly facts: MemberCheckParts },
): void {
  const maxRpm = value.rate_limit?.max_rpm ?? 0;
  const models = members.configuredIn(pool).filter(({ limits }) => limits.rpm !== undefined && limits.rpm < maxRpm);
  if (models.length === 0) return;
  const names = quoted(models.map(({ name }) => name));
  report.warn(`${path}.rate_limit.max_rpm`, `is above "limits.rpm" of ${names}, which is reached first`);
}

/** Without probes, a provider with the recovery `on_probe_success` never recovers. */
function checkProbes(pool: PoolSettings, { entries, members, health, report }: MemberCheckParts): void {
  const { providerRecovery, providerDeactivation, recovery } = pool.routing;
  if (providerRecovery !== "on_probe_success" || !providerDeactivation?.size) return;
  if (recovery.probeIntervalMs !== undefined) return;
  const left = [...entries.keys()].filter((id) => health.providers?.includes(id) === false);
  const never = left.filter((id) => members.mayList(pool, id));
  if (never.length === 0) return;
  const recoveries = `which the pool ${show(pool.name)} recovers "on_probe_success" only`;
  report.warn("discovery.health.providers", `excludes ${quoted(never)}, ${recoveries}`);
}

function checkScope(
  { retry }: PoolValues,
  path: string,
  { first, report }: { readonly first: First; readonly report: Report },
): void {
  if ((retry?.scope ?? retry?.max_attempts) === undefined) return;
  const scope = first((layer) => layer.retry?.scope);
  const attempts = first((layer) => layer.retry?.max_attempts) ?? defaultRetry.maxAttempts;
  if (scope !== "same_model" || attempts > 0) return;
  report.warn(
    `${path}.retry.${retry?.scope === undefined ? "max_attempts" : "scope"}`,
    '"same_model" with a "max_attempts" of 0 makes every failure final: no other model is tried',
  );
}

function checkUnused(values: DocumentValues, { members, pools, report }: MemberCheckParts): void {
  if (pools.size === 0) return;
  const aliased = new Set(values.aliases?.values());
  const pooled = new Set([...pools.values()].flatMap((pool) => members.configuredIn(pool)));
  for (const model of members.usable) {
    if (pooled.has(model) || aliased.has(model.name)) continue;
    report.warn(under("models", model.name), "is in none of the pools");
  }
}

/** The operations of each endpoint of `proxy.endpoints`. The list of models needs none. */
export const endpointOperations: Readonly<Record<string, readonly OperationName[]>> = {
  "chat/completions": ["chat"],
  "completions": ["chat"],
  "responses": ["chat"],
  "messages": ["chat"],
  "messages/count_tokens": ["chat"],
  "responses/compact": ["chat"],
  "responses/input_tokens": ["chat"],
  "v1beta/models": ["chat", "embeddings"],
  "embeddings": ["embeddings"],
  "audio/speech": ["speech"],
  "audio/transcriptions": ["transcription"],
  "audio/translations": ["audio-translation"],
  "images/generations": ["image"],
  "images/edits": ["image-edit"],
  "moderations": ["moderation"],
  "rerank": ["rerank"],
  "search": ["search"],
  "documents/parse": ["documents"],
};

/** The feature of providers that an endpoint for stored objects needs. */
const endpointFeatures: Readonly<Record<string, keyof InfrastructureFacts>> = {
  "files": "files",
  "batches": "batch",
  "fine_tuning/jobs": "fineTuning",
};

/** Warns about pools that no model can be in, and about endpoints that are exposed explicitly and that nothing serves. */
function checkUnserved(values: DocumentValues, parts: MemberCheckParts): void {
  const { entries, members, pools, report } = parts;
  if (values.providers === undefined && entries.size === 0) return; // providers are detected where the mesh starts
  for (const [name, pool] of pools) {
    if (!members.mayHaveAny(pool)) report.warn(under("pools", name), emptyPoolMessage(pool));
  }
  values.proxy?.endpoints?.forEach((endpoint, index) => {
    if (mayServe(endpoint, parts)) return;
    report.warn(`proxy.endpoints[${index}]`, unservedMessage(endpoint));
  });
}

/** The warning about a pool without models. */
export function emptyPoolMessage({ capability }: Pick<PoolSettings, "capability">): string {
  return `has no model: no enabled provider ${
    capability === undefined ? "serves those it lists" : `offers one for ${show(capability)}`
  }`;
}

/** The warning about an endpoint that nothing serves. */
export function unservedMessage(endpoint: string): string {
  const server = endpoint in endpointFeatures ? "no provider supports it" : "no model serves it";
  return `${show(endpoint)} is exposed, but ${server}`;
}

function mayServe(endpoint: string, parts: MemberCheckParts): boolean {
  const feature = endpointFeatures[endpoint];
  if (feature !== undefined) return [...parts.entries.values()].some((entry) => maySupport(entry, feature, parts));
  const operations = endpointOperations[endpoint];
  return operations === undefined || operations.some((operation) => parts.members.mayServe(operation));
}

function maySupport(entry: ProviderEntry, feature: keyof InfrastructureFacts, { connectorOf }: ProviderParts): boolean {
  const { enabled, instance } = entry;
  if (!enabled) return false;
  if (instance !== undefined) return true; // known after the start
  const { infrastructure: facts } = connectorOf(entry) ?? {};
  return facts !== undefined && (findConfiguredService(entry, feature) ?? facts[feature] !== undefined);
}
