/**
 * Builds the section `storage`.
 * @module
 */
import { readAttributes } from "../check/attributes.ts";
import { type Report, show, suggest } from "../schema/report.ts";
import { deepFreeze } from "../schema/tree.ts";
import { complete, type Completed } from "../schema/complete.ts";
import type { KnownConnectors } from "../settings/known.ts";
import { storage, type StorageValues } from "../schema/storage.ts";
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
  const { connector, onUnavailable, persistence, locking } = complete(storage, values)!;
  const { sync_policy, sync_interval } = values;
  const config = Object.fromEntries(Object.entries(values).filter(([key]) => !Object.hasOwn(storage.fields, key)));
  const policy = sync_policy ?? persistence.syncPolicy;
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
    intervalMs: sync_interval ?? persistence.syncIntervalMs,
    format: persistence.format,
    isCompressed: persistence.compression,
    isEncrypted: persistence.encryption,
    onUnavailable,
    locking: buildLocking(locking, policy),
  };
}

/** Locking is off for policies of a single process unless configured; undefined if off. */
function buildLocking(
  { enabled, ...locking }: Completed<typeof storage.fields.locking>,
  policy: StorageSettings["policy"],
): StorageSettings["locking"] {
  return enabled ?? (policy === "immediate" || policy === "periodic") ? locking : undefined;
}
