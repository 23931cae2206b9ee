/**
 * Builds the section `storage`.
 * @module
 */
import { readAttributes } from "../check/attributes.ts";
import { type Report, show, suggest } from "../schema/report.ts";
import { deepFreeze } from "../schema/tree.ts";
import { defaultLocking, defaultStorage } from "../settings/defaults.ts";
import type { KnownConnectors } from "../settings/known.ts";
import type { StorageValues } from "../schema/storage.ts";
import type { StorageSettings } from "../settings/storage.ts";

/** Checks connector, attributes and locking, and fills in defaults; undefined without the section. */
export function buildStorage(
  values: StorageValues | undefined,
  { storages, findAttributes: attributesOf }: Pick<KnownConnectors, "storages" | "findAttributes">,
  report: Report,
): StorageSettings | undefined {
  if (values === undefined) return undefined;
  if (storages.length === 0) {
    report.warn(
      "storage",
      "has no effect in a page: pass the storage to create(), as in stateIn(localStorageStorage())",
    );
    return undefined;
  }
  const { connector = defaultStorage.connector, sync_policy, sync_interval, on_unavailable: onUnavailable, ...others } =
    values;
  const { persistence = {}, locking = {}, ...config } = others;
  const policy = sync_policy ?? persistence.sync_policy ?? defaultStorage.policy;
  const intervalMs = sync_interval ?? persistence.sync_interval;
  if (!storages.includes(connector)) {
    report.problem("storage.connector", `no storage ${show(connector)} is registered${suggest(connector, storages)}`);
  }
  return {
    connector,
    config: deepFreeze(readAttributes(config, {
      path: "storage",
      connector,
      declared: attributesOf("storage", connector),
      common: ["path", "bucket", "key", "region", "credentials"],
      report,
    })),
    policy,
    intervalMs: intervalMs ?? defaultStorage.intervalMs,
    format: persistence.format ?? defaultStorage.format,
    isCompressed: persistence.compression ?? false,
    isEncrypted: persistence.encryption ?? false,
    onUnavailable: onUnavailable ?? "open",
    locking: buildLocking(locking, policy),
  };
}

/** Locking is off for policies of a single process unless configured; undefined if off. */
function buildLocking(
  { enabled, timeout, retry_interval }: NonNullable<StorageValues["locking"]>,
  policy: StorageSettings["policy"],
): StorageSettings["locking"] {
  if (!(enabled ?? (policy === "immediate" || policy === "periodic"))) return undefined;
  return {
    timeoutMs: timeout ?? defaultLocking.timeoutMs,
    retryIntervalMs: retry_interval ?? defaultLocking.retryIntervalMs,
  };
}
