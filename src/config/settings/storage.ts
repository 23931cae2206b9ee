/**
 * Where state is kept, as configured.
 * @module
 */

export type SyncPolicy = "in-memory" | "sync-on-boundary" | "periodic" | "immediate";

export interface StorageSettings {
  /** Connector id. */
  readonly connector: string;
  /** Attributes, secret references unresolved. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly policy: SyncPolicy;
  /** Interval of `periodic`, ms. */
  readonly intervalMs: number;
  readonly format: "json" | "yaml" | "msgpack";
  readonly isCompressed: boolean;
  /** With the secret `MESH_STORAGE_KEY`. */
  readonly isEncrypted: boolean;
  /** What becomes of requests while a shared storage is unavailable: served by local state, or refused. */
  readonly onUnavailable: "open" | "closed";
  /** Undefined: writers do not lock the record. */
  readonly locking?: {
    /** Maximum wait for the lock, ms. */
    readonly timeoutMs: number;
    /** Wait between two tries, ms. */
    readonly retryIntervalMs: number;
  };
}
