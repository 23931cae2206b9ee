/**
 * Where state is kept, as configured.
 * @module
 */

/** When it is read and written. */
export type SyncPolicy = "in-memory" | "sync-on-boundary" | "periodic" | "immediate";

/** Where state is kept between starts, and how. */
export interface StorageSettings {
  /** The storage's connector. */
  readonly connector: string;
  /** Attributes for it, secret references unresolved. */
  readonly config: Readonly<Record<string, unknown>>;
  /** When it is read and written. */
  readonly policy: SyncPolicy;
  /** How often, when periodically, ms. */
  readonly intervalMs: number;
  /** The encoding of records. */
  readonly format: "json" | "yaml" | "msgpack";
  /** Whether they are packed. */
  readonly isCompressed: boolean;
  /** Whether they are encrypted, with the secret `MESH_STORAGE_KEY`. */
  readonly isEncrypted: boolean;
  /** What happens while a storage that several processes share is away. */
  readonly onUnavailable: "open" | "closed";
  /** How several processes keep out of each other's way; undefined: they do not. */
  readonly locking?: {
    /** Longest wait for the lock, ms. */
    readonly timeoutMs: number;
    /** Time between two tries, ms. */
    readonly retryIntervalMs: number;
  };
}
