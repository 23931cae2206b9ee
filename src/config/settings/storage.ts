/**
 * Storage settings, after validation.
 * @module
 */

export type SyncPolicy = "in-memory" | "sync-on-boundary" | "periodic" | "immediate";

export interface StorageSettings {
  /** Connector id. */
  readonly connector: string;
  /** Attributes, with unresolved secret references. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly policy: SyncPolicy;
  /** Interval of the `periodic` policy, ms. */
  readonly intervalMs: number;
  readonly format: "json" | "yaml" | "msgpack";
  readonly isCompressed: boolean;
  /** Whether records are encrypted with the secret `MESH_STORAGE_KEY`. */
  readonly isEncrypted: boolean;
  /** How requests are handled while a shared storage is unavailable: served with local state, or rejected. */
  readonly onUnavailable: "open" | "closed";
  /** Locking settings; undefined if writers do not lock the record. */
  readonly locking?: {
    /** Timeout of the wait for a lock, ms. */
    readonly timeoutMs: number;
    /** Interval between attempts, ms. */
    readonly retryIntervalMs: number;
  };
}
