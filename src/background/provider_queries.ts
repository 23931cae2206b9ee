/**
 * Queries vendors for descriptions of models and for quotas, at the start, where configured.
 * @module
 */
import { isQueryEnabled, modelQueries } from "../config/settings/offers.ts";
import { infoIn } from "../registry/model_facts.ts";
import type { Member, ProviderInstance, Registry } from "../registry/registry.ts";
import type { ModelInfo, Quota } from "../contracts/provider.ts";
import type { VendorQuery } from "../contracts/connector.ts";
import type { Runtime } from "../contracts/runtime.ts";
import type { Hub } from "../observe/hub.ts";
import { Connection } from "../pipeline/connection.ts";
import { toFailure } from "../pipeline/failure.ts";
import { quotaRecovery, statedEnd } from "../state/breaker/end_date.ts";
import { isPriceAmount } from "../util/pricing.ts";

/** Timeout of a query, ms. */
const limitMs = 5_000;

/** Dependencies of queries. */
export interface QueryParts {
  readonly runtime: Runtime;
  readonly hub: Hub;
  /** Redacts secrets in a string. */
  readonly redact: (text: string) => string;
}

/**
 * Asks a provider to describe its models. Never rejects; failures are traced.
 *
 * @param instance An opened provider.
 * @returns The queried members of each description, by the provider's model id.
 */
export async function describedModels(
  instance: ProviderInstance,
  parts: QueryParts,
): Promise<ReadonlyMap<string, ModelInfo>> {
  const [details, capabilities, pricing] = modelQueries.map((name) => isAsked(instance, name));
  if (!details && !capabilities && !pricing) return new Map();
  const described = await query(
    instance,
    "describeModels",
    { parts, call: (options) => instance.provider!.describeModels?.(options) },
  );
  return new Map((Array.isArray(described) ? described : []).flatMap((description) => {
    const info = infoIn(description);
    if (info === undefined || info.id === "") return [];
    return [[info.id, {
      id: info.id,
      ...(details && { features: info.features, constraints: info.constraints }),
      ...(capabilities && { capabilities: info.capabilities }),
      ...((details || pricing) && { pricing: info.pricing }),
    }]];
  }));
}

/**
 * Queries the quotas of providers that report them. One whose quota is exhausted enters standby until the quota
 * resets.
 *
 * @param registry Opened providers and their models.
 */
export async function checkQuotas({ instances, allPools }: Registry, parts: QueryParts): Promise<void> {
  await Promise.all(
    instances.filter((instance) => isAsked(instance, "quota")).map(async (instance) => {
      const { entry, provider } = instance;
      const quota = await query(instance, "checkQuota", { parts, call: (options) => provider!.checkQuota?.(options) });
      if (typeof quota !== "object" || quota === null) return;
      reportQuota(instance, quota, parts);
      if (!isSpent(quota)) return;
      const { clock } = parts.runtime;
      const isOwn = ({ model }: Member) => model.instance === instance;
      const pool = allPools.find(({ members }) => members.some(isOwn));
      if (pool === undefined) return;
      const stated = statedEnd(isPriceAmount(quota.resetsAt) ? quota.resetsAt : undefined, clock);
      const end = stated ?? quotaRecovery(pool.routing.recovery, entry, clock);
      pool.members.find(isOwn)!.state.breakers.openProvider("quota_exhausted", clock.monotonic(), end);
    }),
  );
}

/** Whether a query is enabled. One that the connector cannot answer is not sent: the configuration was warned. */
function isAsked({ entry, connector }: ProviderInstance, query: VendorQuery): boolean {
  return isQueryEnabled(entry, query) && connector?.queries?.includes(query) !== false;
}

function isSpent({ used, remaining }: Quota): boolean {
  return remaining === undefined ? (used ?? 0) >= 1 : remaining <= 0;
}

function reportQuota({ entry: { id } }: ProviderInstance, { used, remaining }: Quota, { hub }: QueryParts): void {
  const facts = [
    ...(isPriceAmount(used) ? [`${Math.round(used * 100)} % of its quota is used`] : []),
    ...(typeof remaining === "number" ? [`${remaining} of its quota is left`] : []),
  ];
  if (facts.length === 0) return;
  hub.trace({
    severity: "info",
    component: "provider",
    message: `The provider "${id}": ${facts.join(", ")}`,
    provider: id,
  });
}

async function query<Result>(
  instance: ProviderInstance,
  question: "describeModels" | "checkQuota",
  { parts: { runtime, hub, redact }, call }: {
    readonly parts: QueryParts;
    readonly call: (options: Connection) => Promise<Result> | undefined;
  },
): Promise<Result | undefined> {
  const { entry, provider } = instance;
  const limits = { ...entry, timeoutMs: Math.min(entry.timeoutMs, limitMs) };
  const connection = new Connection(runtime, { ...instance, entry: limits }, { delivery: "sync" });
  const warn = (problem: string) => {
    const message = `The provider "${entry.id}": ${question}() ${problem}`;
    hub.trace({ severity: "warning", component: "provider", message, provider: entry.id });
  };
  try {
    const pending = call(connection);
    const result = pending === undefined ? undefined : await connection.untilAborted(pending);
    if (result === undefined) warn("returned nothing: the vendor does not report it");
    return result;
  } catch (error) {
    const { message } = toFailure(connection.stop.aborted ? connection.stop.reason : error, provider!, redact);
    warn(`failed: ${message}`);
    return undefined;
  } finally {
    connection.close();
  }
}
