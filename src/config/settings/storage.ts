/**
 * Storage settings, after validation.
 * @module
 */

import type { Completed } from "../schema/complete.ts";
import type { storage } from "../schema/schema.ts";

type Section = NonNullable<Completed<typeof storage>>;

export interface StorageSettings {
  /** Connector id. */
  readonly connector: string;
  /** Attributes, with unresolved secret references. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly policy: Section["syncPolicy"];
  /** Interval of the `periodic` policy, ms. */
  readonly intervalMs: number;
  readonly format: Section["persistence"]["format"];
  readonly isCompressed: boolean;
  /** Whether records are encrypted with the secret `MESH_STORAGE_KEY`. */
  readonly isEncrypted: boolean;
  /** How requests are handled while a shared storage is unavailable: served with local state, or rejected. */
  readonly onUnavailable: Section["onUnavailable"];
  /** Locking settings; undefined if writers do not lock the record. */
  readonly locking?: Omit<Section["locking"], "enabled">;
}
