/**
 * The section `storage`.
 * @module
 */
import { object } from "./_containers.ts";
import type { Field } from "./field.ts";
import { defaultLocking, defaultStorage } from "../settings/defaults.ts";
import type { StorageSettings, SyncPolicy } from "../settings/storage.ts";
import { duration, flag, oneOf, text } from "./_fields.ts";

export interface StorageValues {
  readonly connector?: string;
  readonly sync_policy?: SyncPolicy;
  readonly sync_interval?: number;
  readonly on_unavailable?: "open" | "closed";
  readonly persistence?: {
    readonly sync_policy?: SyncPolicy;
    readonly sync_interval?: number;
    readonly format?: StorageSettings["format"];
    readonly compression?: boolean;
    readonly encryption?: boolean;
  };
  readonly locking?: { readonly enabled?: boolean; readonly timeout?: number; readonly retry_interval?: number };
}

const policy = () =>
  oneOf<SyncPolicy>(["in-memory", "sync-on-boundary", "periodic", "immediate"], defaultStorage.policy);
const interval = () => duration({ default: defaultStorage.intervalMs });

/** Persistence of state. Other keys are passed to the connector. */
export const storage = (): Field<StorageValues> =>
  object<StorageValues>({
    /** Storage connector. */
    connector: text({ isLiteral: true, default: defaultStorage.connector }),
    /** When state is written. */
    sync_policy: policy(),
    /** Interval between writes under `periodic`. */
    sync_interval: interval(),
    /**
     * Behavior while the storage is unavailable: continue with the state of this process (`open`), or refuse requests
     * under a budget (`closed`).
     */
    on_unavailable: oneOf(["open", "closed"], "open"),
    /** Format of the records. */
    persistence: object<NonNullable<StorageValues["persistence"]>>({
      /** Alias of `sync_policy`. */
      sync_policy: policy(),
      /** Alias of `sync_interval`. */
      sync_interval: interval(),
      /** Encoding of the records. */
      format: oneOf(["json", "yaml", "msgpack"], defaultStorage.format),
      /** Whether records are compressed with gzip. */
      compression: flag({ default: false }),
      /** Whether records are encrypted with the secret `MESH_STORAGE_KEY`. */
      encryption: flag({ default: false }),
    }),
    /** Locking between processes that share the storage. */
    locking: object<NonNullable<StorageValues["locking"]>>({
      /** Whether the record is locked. By default it is under `periodic` and `immediate`. */
      enabled: flag(),
      /** Maximum time to wait for the lock. */
      timeout: duration({ default: defaultLocking.timeoutMs }),
      /** Interval between attempts to acquire the lock. */
      retry_interval: duration({ default: defaultLocking.retryIntervalMs }),
    }),
  }, {
    isOpen: true,
    spellings: { storage: "" },
    aliases: [["sync_policy", "persistence.sync_policy"], ["sync_interval", "persistence.sync_interval"]],
  });
