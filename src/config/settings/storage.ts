/**
 * Storage settings, after validation.
 * @module
 */
import type { Completed } from "../schema/complete.ts";
import type { storage } from "../schema/schema.ts";

type StorageSection = NonNullable<Completed<typeof storage>>;

/** The section `storage`: how records are coded, and when they are written. */
export interface StorageSettings
  extends
    Omit<StorageSection, "syncPolicy" | "syncIntervalMs" | "persistence" | "locking">,
    Omit<StorageSection["persistence"], "syncPolicy" | "syncIntervalMs"> {
  /** Attributes, with unresolved secret references. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly policy: StorageSection["syncPolicy"];
  /** Interval of the `periodic` policy, ms. */
  readonly intervalMs: number;
  /** Locking settings; undefined if writers do not lock the record. */
  readonly locking?: Omit<StorageSection["locking"], "enabled">;
}
