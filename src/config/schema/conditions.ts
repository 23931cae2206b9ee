/**
 * Settings that act only where other settings let them: the table beside the schema. Elsewhere they are reported, so
 * that none is silently without effect.
 * @module
 */
import { modelConditions, pricingConditions, providerConditions } from "./_provider_conditions.ts";
import { poolConditions } from "./_pool_conditions.ts";
import type {
  BudgetSubject,
  Condition,
  DocumentSubject,
  ModelSubject,
  PoolSubject,
  ProviderSubject,
  SinkSubject,
} from "./condition.ts";
import { defaultStorage } from "../settings/defaults.ts";
import { listLimits } from "./budget.ts";
import type { StorageValues } from "./schema.ts";
import { observability } from "./observability.ts";

/** Returns the table, by where the keys are. Created on use, so that bundles without a document exclude it. */
export const conditions = (): {
  readonly document: readonly Condition<DocumentSubject>[];
  readonly "providers.*": readonly Condition<ProviderSubject>[];
  readonly "models.*": readonly Condition<ModelSubject>[];
  readonly "models.*.pricing": readonly Condition<ModelSubject>[];
  readonly "pools.*": readonly Condition<PoolSubject>[];
  readonly "observability.logging": readonly Condition<SinkSubject>[];
  /** Keys of every budget. */
  readonly budget: readonly Condition<BudgetSubject>[];
} => ({
  document: documentConditions(),
  "providers.*": providerConditions(),
  "models.*": modelConditions(),
  "models.*.pricing": pricingConditions(),
  "pools.*": poolConditions(),
  "observability.logging": sinkConditions(),
  budget: [{
    keys: ["alert_at"],
    reason: (layers) => layers.some((layer) => listLimits(layer).length > 0) ? undefined : " without a limit",
  }],
});

/** Conditions of `secrets`, `storage`, `observability`, `discovery` and `proxy`. */
const documentConditions = (): readonly Condition<DocumentSubject>[] => [
  {
    keys: ["secrets.resolution.cache_ttl"],
    reason: ({ values: { secrets } }) => {
      if (secrets?.resolution?.cache_enabled === false) return ': "cache_enabled" is false';
      return secrets?.resolution?.reload_on_rotation === false
        ? ': "reload_on_rotation" is false, so that secrets are resolved once'
        : undefined;
    },
  },
  ...storage(),
  {
    keys: ["observability.events.filter", "observability.events.include_metadata"],
    reason: ({ values: { observability } }) =>
      (observability?.routing ?? []).length === 0 ? ' without "observability.routing"' : undefined,
  },
  ...discovery(),
  ...proxy(),
];

const storage = (): readonly Condition<DocumentSubject>[] => [
  {
    keys: ["storage.sync_policy", "storage.persistence.sync_policy"],
    idle: ["in-memory"],
    reason: ({ sharing }) => sharing === "none" ? ": the connector keeps records in memory" : undefined,
  },
  {
    keys: ["storage.sync_interval", "storage.persistence.sync_interval"],
    reason: ({ values, sharing }) => {
      if (getSyncPolicy(values.storage) !== "periodic") return ' unless "sync_policy" is "periodic"';
      return sharing === "state" ? ": the connector shares each change at once" : transience(sharing);
    },
  },
  {
    keys: ["storage.persistence.format"],
    idle: [defaultStorage.format],
    reason: (subject) => unwritten(subject),
  },
  {
    keys: ["storage.persistence.compression", "storage.persistence.encryption"],
    idle: [false],
    reason: (subject) => unwritten(subject),
  },
  {
    keys: ["storage.locking.enabled"],
    idle: [false],
    reason: (subject) => unlocked(subject),
  },
  {
    keys: ["storage.locking.timeout", "storage.locking.retry_interval"],
    reason: (subject) => {
      const { values: { storage } } = subject;
      const policy = getSyncPolicy(storage);
      const isLocked = storage?.locking?.enabled ?? (policy === "immediate" || policy === "periodic");
      return unlocked(subject) ?? (isLocked ? undefined : ' without locking: set "enabled"');
    },
  },
  {
    keys: ["storage.on_unavailable"],
    idle: ["open"],
    reason: ({ sharing }) =>
      sharing === undefined || sharing === "state"
        ? undefined
        : ": the connector does not share state among several processes",
  },
];

function getSyncPolicy(storage: StorageValues | undefined): string {
  return storage?.sync_policy ?? storage?.persistence?.sync_policy ?? defaultStorage.policy;
}

function transience(sharing: DocumentSubject["sharing"]): string | undefined {
  return sharing === "none" ? ": the connector keeps records in memory" : undefined;
}

function unwritten({ values, sharing, isStorageLogged }: DocumentSubject): string | undefined {
  const isInMemory = getSyncPolicy(values.storage) === "in-memory" && !isStorageLogged;
  return isInMemory ? ' while "sync_policy" is "in-memory"' : transience(sharing);
}

function unlocked({ values, sharing }: DocumentSubject): string | undefined {
  if (getSyncPolicy(values.storage) === "in-memory") return ' while "sync_policy" is "in-memory"';
  return sharing === "state" ? ": the connector shares each change at once" : transience(sharing);
}

const syncKeys = ["enabled", "connector", "auto_register", "providers", "on_new_model", "on_deprecated_model"];
const healthKeys = ["enabled", "connector", "timeout", "failure_threshold", "providers"];

const discovery = (): readonly Condition<DocumentSubject>[] => [
  ...([["sync", syncKeys], ["health", healthKeys]] as const).map(([section, keys]): Condition<DocumentSubject> => ({
    keys: keys.map((key) => `discovery.${section}.${key}`),
    reason: ({ values, refresh }, key) => {
      const { enabled, interval } = values.discovery?.[section] ?? {};
      const isSwitch = key === `discovery.${section}.enabled`;
      if (enabled === false) return isSwitch ? undefined : ': "enabled" is false';
      return interval === undefined && !(section === "sync" && refresh) ? ' without "interval"' : undefined;
    },
  })),
  {
    keys: ["discovery.sync.interval", "discovery.health.interval"],
    reason: ({ values, refresh }, key) => {
      const section = key === "discovery.sync.interval" ? "sync" : "health";
      if (values.discovery?.[section]?.enabled === false) return ': "enabled" is false';
      return section === "sync" && refresh === "all"
        ? ': every synchronized provider has a "catalogue.refresh_interval"'
        : undefined;
    },
  },
];

const proxy = (): readonly Condition<DocumentSubject>[] => [
  {
    keys: ["origins", "headers", "methods", "max_age"].map((name) => `proxy.cors.${name}`),
    reason: ({ values: { proxy } }) => proxy?.cors?.enabled === false ? ': "enabled" is false' : undefined,
  },
  {
    keys: ["proxy.address"],
    reason: ({ values: { storage }, sharing }) => {
      if (sharing === "state" || sharing === undefined && storage !== undefined) return undefined;
      const policy = storage === undefined ? undefined : getSyncPolicy(storage);
      const isShared = sharing !== "none" && (policy === "periodic" || policy === "immediate");
      return isShared ? undefined : " without a storage that several processes share";
    },
  },
  {
    keys: ["proxy.allowed_hosts"],
    reason: ({ values: { proxy } }) => {
      const { tokens = [], admin_tokens = [], jwt = [] } = proxy?.auth ?? {};
      return tokens.length + admin_tokens.length + jwt.length > 0 ? ": with a token, every host is served" : undefined;
    },
  },
  {
    keys: ["proxy.auth.resource"],
    reason: ({ values: { proxy } }) => proxy?.auth?.jwt === undefined ? ' without "jwt"' : undefined,
  },
  {
    keys: ["proxy.responses.ttl", "proxy.responses.max_bytes"],
    reason: ({ values: { proxy } }) => proxy?.responses?.state === true ? undefined : ' unless "state" is true',
  },
  {
    keys: ["proxy.listener"],
    idle: ["node"],
    reason: ({ values: { proxy } }) => proxy?.tls === undefined ? undefined : ': "proxy.tls" is served by node:https',
  },
];

/** Bytes that the 200 characters of a summary have at most. */
const maxSummaryBytes = 800;

/** Conditions of an entry of `observability.logging`. */
const sinkConditions = (): readonly Condition<SinkSubject>[] => [
  {
    keys: ["redact_secrets"],
    idle: [true],
    reason: ({ value }) =>
      getLevel(value) === "metadata" ? ': no payloads are logged at the level "metadata"' : undefined,
  },
  {
    keys: ["max_payload_size"],
    reason: ({ value }) => {
      const level = getLevel(value);
      if (level === "metadata") return ': no payloads are logged at the level "metadata"';
      const isBeyondSummary = level === "summary" && Number(value.max_payload_size) >= maxSummaryBytes;
      return isBeyondSummary ? ': at the level "summary", 200 characters are logged' : undefined;
    },
  },
];

function getLevel({ level }: SinkSubject["value"]): unknown {
  return level ?? observability.fields.logging.item.fields.level.default;
}
