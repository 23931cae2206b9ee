/**
 * Conditions of `providers.<id>`.
 * @module
 */
import type { InfrastructureFacts } from "../../contracts/infrastructure.ts";
import type { Condition, ProviderSubject } from "./condition.ts";
import { everyPool } from "./pools.ts";
import { hasRetries } from "./_pool_conditions.ts";

/** Conditions of `providers.<id>`. */
export const providerConditions = (): readonly Condition<ProviderSubject>[] => [
  {
    keys: ["connector", "base_url", "execution.base_url", "execution.ca", "config"],
    reason: ({ value: { instance } }) => instance === undefined ? undefined : ' beside "instance"',
  },
  {
    keys: ["auth.key_rotation"],
    idle: [false],
    reason: ({ value: { api_key, auth } }) => {
      const { length } = api_key ?? auth?.api_key ?? [];
      return length > 1 ? undefined : ` with ${length === 0 ? "no key" : "one key"}: set a list of keys`;
    },
  },
  ...services(),
  ...queries(),
  ...overridden(),
  {
    keys: ["retry.budget.ratio", "retry.budget.min", "retry.budget.window"],
    reason: ({ pools, document }) =>
      pools.some((first) => hasRetries(first, document)) ? undefined : ' without retries: "max_attempts" is 0',
  },
  {
    keys: ["catalogue.refresh_interval"],
    reason: ({ document }) =>
      document.discovery?.sync?.enabled === false ? ": discovery.sync is switched off" : undefined,
  },
  {
    keys: ["budget.daily_limit", "budget.monthly_limit"],
    reason: ({ isFree }) => isFree ? ": the models of a local server are free of charge" : undefined,
  },
];

/** What the settings of a service say about it, and the key of the facts of a connector. */
const abilities = { batch: "batches", files: "files", fineTuning: "fine-tuning" } as const;

const services = (): readonly Condition<ProviderSubject>[] => [
  ...([
    ["batch", ["batch.supported", "infrastructure.batch"]],
    ["files", ["files.upload", "infrastructure.files"]],
    ["fineTuning", ["fine_tuning.supported", "infrastructure.fine_tuning"]],
  ] as const).map(([ability, keys]): Condition<ProviderSubject> => ({
    keys,
    idle: [false],
    reason: ({ services }) =>
      services === undefined ? `: the connector does not support ${abilities[ability]} of this vendor` : undefined,
  })),
  {
    keys: ["batch.max_items"],
    reason: (subject) => offers("batch", subject) ? undefined : ": the provider has no batches",
  },
  {
    keys: ["files.max_size"],
    reason: (subject) => offers("files", subject) ? undefined : ": the provider has no files",
  },
];

const queries = (): readonly Condition<ProviderSubject>[] =>
  ([
    ["discovery.model_details", "details", "details of its models"],
    ["discovery.capability_query", "capabilities", "the capabilities of its models"],
    ["pricing.query", "pricing", "its prices"],
    ["quota.query_current", "quota", "the account's quota"],
    ["quota.query_remaining", "quota", "the account's quota"],
  ] as const).map(([key, query, what]) => ({
    keys: [key],
    idle: [false],
    reason: ({ queries }) => queries?.includes(query) === false ? `: the vendor does not report ${what}` : undefined,
  }));

/** Whether a provider has a service according to its settings, else to its connector. */
export function offers(ability: keyof InfrastructureFacts, { value, services }: ProviderSubject): boolean {
  if (services === undefined || services === null) return services === null;
  const { batch, files, fine_tuning, infrastructure } = value;
  const settings = {
    batch: batch?.supported ?? infrastructure?.batch,
    files: files?.upload ?? infrastructure?.files,
    fineTuning: fine_tuning?.supported ?? infrastructure?.fine_tuning,
  };
  return settings[ability] ?? services[ability] !== undefined;
}

/** Settings of a pool take precedence over those of a provider. */
const overridden = (): readonly Condition<ProviderSubject>[] => [
  {
    keys: ["error.retryable_codes", "error.non_retryable_codes"],
    reason: ({ document }, key) => {
      const name = key === "error.retryable_codes" ? "retryable_codes" : "non_retryable_codes";
      const common = document.pools?.get(everyPool)?.retry;
      return common?.[name] === undefined ? undefined : `: "pools.*.retry.${name}" takes precedence`;
    },
  },
  {
    keys: ["quota.reset_schedule"],
    reason: ({ pools }) => {
      const isUsed = pools.some((first) =>
        first(({ recovery }) => recovery?.on_quota_reset) !== false &&
        first(({ recovery }) => recovery?.quota_reset_schedule) === undefined
      );
      return isUsed ? undefined : ": the pools have schedules of their own, or recover without a reset";
    },
  },
];
