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

/** Where state is kept; other keys go to the connector as they are. */
export const storage = (): Field<StorageValues> =>
  object<StorageValues>({
    /** The connector that keeps it. */
    connector: text({ isLiteral: true, default: defaultStorage.connector }),
    /** When it is written. */
    sync_policy: policy(),
    /** How often, when it is written periodically. */
    sync_interval: interval(),
    /** What happens while the storage is away: go on with what this process knows, or refuse. */
    on_unavailable: oneOf(["open", "closed"], "open"),
    /** How it is written. */
    persistence: object<NonNullable<StorageValues["persistence"]>>({
      /** The same as `sync_policy`. */
      sync_policy: policy(),
      /** The same as `sync_interval`. */
      sync_interval: interval(),
      /** The encoding. */
      format: oneOf(["json", "yaml", "msgpack"], defaultStorage.format),
      /** Compress it. */
      compression: flag({ default: false }),
      /** Encrypt it with the secret `MESH_STORAGE_KEY`. */
      encryption: flag({ default: false }),
    }),
    /** Keeping several instances apart. */
    locking: object<NonNullable<StorageValues["locking"]>>({
      /** On for the policies of several instances unless given. */
      enabled: flag(),
      /** Longest wait for the lock. */
      timeout: duration({ default: defaultLocking.timeoutMs }),
      /** How often it is tried. */
      retry_interval: duration({ default: defaultLocking.retryIntervalMs }),
    }),
  }, {
    isOpen: true,
    aliases: [["sync_policy", "persistence.sync_policy"], ["sync_interval", "persistence.sync_interval"]],
  });
