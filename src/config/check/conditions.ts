/**
 * Reports settings that cannot act where they are, by the table of conditions.
 * @module
 */
import type { CapabilityTree } from "../../capability/tree.ts";
import { deliveryModes, servesOperation } from "../../capability/operations.ts";
import type { VendorQuery } from "../../contracts/connector.ts";
import type { Provider } from "../../contracts/provider.ts";
import type {
  BudgetSubject,
  Condition,
  DocumentSubject,
  ModelSubject,
  PoolSubject,
  ProviderSubject,
} from "../schema/condition.ts";
import { conditions } from "../schema/conditions.ts";
import { isQueryEnabled } from "../settings/offers.ts";
import { valueAt } from "../schema/tree.ts";
import { mayUse } from "../schema/_pool_conditions.ts";
import type { ModelValues } from "../schema/models.ts";
import { createLookup, everyPool, type First, type PoolValues } from "../schema/pools.ts";
import { listLimited } from "./contradictions.ts";
import { type Report, under } from "../schema/report.ts";
import { type DocumentValues, schema } from "../schema/schema.ts";
import { defaultSink, defaultStrategy } from "../settings/defaults.ts";
import { type KnownConnectors, resolveStrategy } from "../settings/known.ts";
import { findConnectors } from "../check/connectors.ts";
import type { ConfiguredModel, PoolSettings } from "../settings/settings.ts";
import type { Members } from "./pool_members.ts";
import { expandProviders, type ProviderParts } from "./names.ts";
import { byId } from "./connectors.ts";

/** What the document means. */
interface ConditionFacts extends ProviderParts {
  readonly models: ReadonlyMap<string, ConfiguredModel>;
  readonly pools: ReadonlyMap<string, PoolSettings>;
  readonly members: Members;
  readonly tree: CapabilityTree;
  readonly knownConnectors: KnownConnectors;
  readonly report: Report;
}

/** Warns about every setting that cannot act. Entries that are switched off are left out. */
export function checkConditions(values: DocumentValues, facts: ConditionFacts): void {
  new ConditionChecker(values, facts).check();
}

class ConditionChecker {
  readonly #values: DocumentValues;
  readonly #facts: ConditionFacts;
  readonly #table = conditions();
  readonly #common: PoolValues;
  /** The settings of pools on demand. */
  readonly #onDemand: First;
  /** The settings of every configured pool, and of pools on demand. */
  readonly #pools: readonly First[];
  /** The settings of the configured pools of a model. */
  readonly #poolsOf = new Map<ConfiguredModel, First[]>();
  readonly #providers = new Map<string, ProviderSubject>();

  constructor(values: DocumentValues, facts: ConditionFacts) {
    this.#values = values;
    this.#facts = facts;
    this.#common = values.pools?.get(everyPool) ?? {};
    this.#onDemand = createLookup([this.#common]);
    const own = [...facts.pools.values()].map((pool) => {
      const first = createLookup([values.pools?.get(pool.name) ?? {}, this.#common]);
      for (const model of facts.members.configuredIn(pool)) {
        const others = this.#poolsOf.get(model);
        if (others === undefined) this.#poolsOf.set(model, [first]);
        else others.push(first);
      }
      return first;
    });
    this.#pools = [this.#onDemand, ...own];
  }

  check(): void {
    const { providers, models, pools, observability } = this.#values;
    this.#report(this.#values, "", { table: this.#table.document, subject: this.#documentSubject() });
    for (const [id, value] of providers ?? []) {
      if (value.enabled === false) continue;
      this.#report(value, under("providers", id), {
        table: this.#table["providers.*"],
        subject: this.#providerSubject(id),
      });
    }
    for (const [name, value] of models ?? []) {
      const subject = this.#modelSubject(name);
      if (subject === undefined) continue;
      const path = under("models", name);
      this.#report(value, path, { table: this.#table["models.*"], subject });
      for (const [row, suffix] of listRows(value.pricing)) {
        this.#report(row, `${path}.pricing${suffix}`, { table: this.#table["models.*.pricing"], subject });
      }
    }
    for (const [name, value] of pools ?? []) this.#checkPool(name, value);
    observability?.logging?.forEach((value, index, { length }) => {
      const path = `observability.logging${length === 1 ? "" : `[${index}]`}`;
      this.#report(value, path, { table: this.#table["observability.logging"], subject: { value: { ...value } } });
    });
    this.#checkBudgets();
  }

  #report<Subject>(
    value: unknown,
    path: string,
    { table, subject }: { readonly table: readonly Condition<Subject>[]; readonly subject: Subject },
  ): void {
    for (const { keys, idle = [], reason } of table) {
      for (const key of keys) {
        const setting = valueAt(value, key);
        if (setting === undefined || idle.includes(setting)) continue;
        const cause = reason(subject, key);
        if (cause !== undefined) this.#warn(path, key, cause);
      }
    }
  }

  #warn(path: string, key: string, cause: string): void {
    this.#facts.report.warn(path === "" ? key : `${path}.${key}`, `has no effect${cause}`);
  }

  #documentSubject(): DocumentSubject {
    const { knownConnectors, entries } = this.#facts;
    const toId = (name: string, ids: readonly string[]) => findConnectors(name, byId(ids))[0] ?? name;
    const { storage, observability, discovery } = this.#values;
    const sinks = [observability?.routing, observability?.logging, observability?.statistics, observability?.tracing];
    const ids = discovery?.sync?.providers && expandProviders(discovery.sync.providers, this.#facts);
    const enabled = [...entries.values()].filter((entry) => entry.enabled);
    const synced = enabled.filter(({ id }) => ids?.includes(id) ?? true);
    const hasOwn = enabled.some(({ catalogue }) => catalogue?.refreshIntervalMs !== undefined);
    const isAll = synced.every(({ catalogue }) => catalogue?.refreshIntervalMs !== undefined);
    return {
      values: this.#values,
      sharing: storage && knownConnectors.findSharing(
        toId(storage.connector ?? schema.fields.storage.fields.connector.default, knownConnectors.storages),
      ),
      isStorageLogged: sinks.flat().some((sink) =>
        sink && knownConnectors.needsStorage(toId(sink.connector ?? defaultSink, knownConnectors.observability))
      ),
      refresh: hasOwn ? isAll ? "all" : "some" : undefined,
    };
  }

  #providerSubject(id: string): ProviderSubject {
    const existing = this.#providers.get(id);
    if (existing !== undefined) return existing;
    const subject = this.#newProviderSubject(id);
    this.#providers.set(id, subject);
    return subject;
  }

  #newProviderSubject(id: string): ProviderSubject {
    const { entries, connectorOf, members } = this.#facts;
    const value = this.#values.providers?.get(id) ?? {};
    const connector = connectorOf(entries.get(id)!);
    const isPriced = () => members.usable.some(({ provider, pricing }) => provider === id && pricing !== undefined);
    return {
      id,
      value,
      document: this.#values,
      pools: this.#pools,
      isFree: connector?.local === true && !isPriced(),
      services: value.instance === undefined
        ? connector === undefined ? null : connector.infrastructure
        : value.instance.infrastructure?.facts,
      queries: value.instance === undefined ? connector?.queries : queriesTo(value.instance),
      promptCache: value.instance !== undefined || connector === undefined ? null : connector.promptCache,
      apis: value.instance === undefined && connector !== undefined ? connector.apis ?? ["chat"] : undefined,
      billsAudioByDuration: value.instance !== undefined || (connector?.billsAudioByDuration ?? false),
      mayServe: (...operations) => operations.some((operation) => members.mayServe(operation, id)),
    };
  }

  #modelSubject(name: string): ModelSubject | undefined {
    const { entries, members, models, tree } = this.#facts;
    const model = models.get(name)!;
    const entry = entries.get(model.provider);
    if (!entry?.enabled) return undefined;
    const isKnown = model.capabilities !== undefined || members.catalogued(model)?.capabilities !== undefined ||
      !isQueryEnabled(entry, "capabilities") && entry.instance === undefined;
    const leaves = isKnown ? members.findKnownLeaves(model) : undefined;
    return {
      value: this.#values.models!.get(name)!,
      provider: this.#providerSubject(model.provider),
      serves: (...operations) =>
        leaves === undefined || leaves.some((leaf) => operations.some((operation) => servesOperation(leaf, operation))),
      modes: leaves && new Set(leaves.flatMap((leaf) => deliveryModes(tree.resolve(leaf) ?? leaf))),
      mayUse: (...names) => {
        const pools = [this.#onDemand, ...this.#poolsOf.get(model) ?? []];
        return pools.some((first) => names.some((name) => mayUse(name, this.#listStrategies(first))));
      },
    };
  }

  #listStrategies(first: First): PoolSubject["strategies"] {
    const { knownConnectors: { strategies } } = this.#facts;
    const toStrategyId = (strategy: unknown) =>
      typeof strategy === "string" ? resolveStrategy(strategy, strategies) ?? strategy : strategy;
    return [
      toStrategyId(first((layer) => layer.strategy) ?? defaultStrategy),
      toStrategyId(first((layer) => layer.fallback_strategy)),
    ];
  }

  #poolSubject(name: string, first: First): PoolSubject {
    const { pools, members } = this.#facts;
    const pool = pools.get(name);
    const providers = [...this.#values.providers ?? []];
    return {
      first,
      strategies: this.#listStrategies(first),
      document: this.#values,
      mayServe: (...operations) =>
        pool === undefined || operations.some((operation) => members.mayServeIn(pool, operation)),
      hasSeveral: () => pool === undefined || members.mayHaveSeveral(pool),
      get providers() {
        return providers.flatMap(([id, value]) => pool === undefined || members.mayList(pool, id) ? [value] : []);
      },
    };
  }

  /** A setting of `*` acts if it acts in one of the pools that do not override it. */
  #checkPool(name: string, value: PoolValues): void {
    const others = [...this.#values.pools!].filter(([, pool]) => pool !== this.#common);
    const all: readonly (readonly [name: string, layers: readonly PoolValues[]])[] = name === everyPool
      ? [[name, [value]], ...others.map(([own, other]) => [own, [other, value]] as const)]
      : [[name, [value, this.#common]]];
    for (const { keys, idle = [], reason } of this.#table["pools.*"]) {
      for (const key of keys) {
        const setting = valueAt(value, key);
        if (setting === undefined || idle.includes(setting)) continue;
        const taking = all.filter(([, layers]) => layers.find((layer) => valueAt(layer, key) !== undefined) === value);
        const causes = taking.map(([pool, layers]) => reason(this.#poolSubject(pool, createLookup(layers)), key));
        const [cause] = causes;
        if (cause !== undefined && !causes.includes(undefined)) this.#warn(under("pools", name), key, cause);
      }
    }
  }

  #checkBudgets(): void {
    const { budget, providers, pools } = this.#values;
    const report = (path: string, layers: BudgetSubject) =>
      this.#report(layers[0], path, { table: this.#table.budget, subject: layers });
    report("budget", [budget]);
    for (const [id, value] of providers ?? []) report(`${under("providers", id)}.budget`, [value.budget]);
    for (const [name, value] of pools ?? []) {
      report(`${under("pools", name)}.budget`, [value.budget, this.#common.budget]);
    }
    for (const { path, budget } of listLimited(this.#values)) report(`${path}.budget`, [budget]);
  }
}

/** The rows of a price list, and what follows the path of each. */
function listRows(pricing: ModelValues["pricing"]): readonly (readonly [row: unknown, suffix: string])[] {
  return Array.isArray(pricing) ? pricing.map((row, index) => [row, `[${index}]`]) : [[pricing, ""]];
}

/** The queries that an instance answers. Whether it knows its quota is known once it was asked. */
function queriesTo({ describeModels }: Provider): readonly VendorQuery[] | undefined {
  return describeModels === undefined ? ["quota"] : undefined;
}
