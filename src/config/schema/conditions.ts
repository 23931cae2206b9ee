/**
 * Settings that act only where other settings let them: the table beside the schema. Elsewhere they are reported, so
 * that none is silently without effect.
 * @module
 */
import { documentConditions } from "./_document_conditions.ts";
import { modelConditions } from "./_model_conditions.ts";
import { poolConditions } from "./_pool_conditions.ts";
import { providerConditions } from "./_provider_conditions.ts";
import { sinkConditions } from "./_sink_conditions.ts";
import type {
  BudgetSubject,
  Condition,
  DocumentSubject,
  ModelSubject,
  PoolSubject,
  ProviderSubject,
  SinkSubject,
} from "./condition.ts";

/** The table, by where the keys are. Created on use, so that bundles without a document exclude it. */
interface Conditions {
  readonly document: readonly Condition<DocumentSubject>[];
  readonly "providers.*": readonly Condition<ProviderSubject>[];
  readonly "models.*": readonly Condition<ModelSubject>[];
  readonly "pools.*": readonly Condition<PoolSubject>[];
  readonly "observability.logging": readonly Condition<SinkSubject>[];
  /** Keys of every budget. */
  readonly budget: readonly Condition<BudgetSubject>[];
}

/** Returns the table. */
export const conditions = (): Conditions => ({
  document: documentConditions(),
  "providers.*": providerConditions(),
  "models.*": modelConditions(),
  "pools.*": poolConditions(),
  "observability.logging": sinkConditions(),
  budget: [{
    keys: ["alert_at"],
    reason: (layers) =>
      layers.some((layer) => (layer?.daily_limit ?? layer?.monthly_limit) !== undefined)
        ? undefined
        : " without a limit",
  }],
});
