/**
 * The section `storage`.
 * @module
 */
import type { Given } from "./field.ts";
import { defaultStorage } from "../settings/defaults.ts";

const policy = {
  type: "choice",
  values: ["in-memory", "sync-on-boundary", "periodic", "immediate"],
  default: defaultStorage.policy as string,
} as const;

const interval = { type: "duration", default: defaultStorage.intervalMs as number } as const;

/** The section `storage`. Other keys are passed to the connector. */
export const storage = {
  type: "object",
  spellings: { storage: "" },
  isOptional: true,
  isOpen: true,
  aliases: [["sync_policy", "persistence.sync_policy"], ["sync_interval", "persistence.sync_interval"]],
  fields: {
    /** Storage connector. */
    connector: { type: "text", isLiteral: true, default: "mesh.local-file.v1" },
    /** When state is written. */
    sync_policy: policy as typeof policy,
    /** Interval between writes under `periodic`. */
    sync_interval: interval as typeof interval,
    /**
     * Behavior while the storage is unavailable: continue with the state of this process (`open`), or refuse requests
     * under a budget (`closed`).
     */
    on_unavailable: { type: "choice", values: ["open", "closed"], default: "open" },
    /** Format of the records. */
    persistence: {
      type: "object",
      fields: {
        /** Alias of `sync_policy`. */
        sync_policy: policy as typeof policy,
        /** Alias of `sync_interval`. */
        sync_interval: interval as typeof interval,
        /** Encoding of the records. */
        format: { type: "choice", values: ["json", "yaml", "msgpack"], default: defaultStorage.format as string },
        /** Whether records are compressed with gzip. */
        compression: { type: "flag", default: false },
        /** Whether records are encrypted with the secret `MESH_STORAGE_KEY`. */
        encryption: { type: "flag", default: false },
      },
    },
    /** Locking between processes that share the storage. */
    locking: {
      type: "object",
      fields: {
        /** Whether the record is locked. By default it is under `periodic` and `immediate`. */
        enabled: { type: "flag" },
        /** Maximum time to wait for the lock. */
        timeout: { type: "duration", default: 30_000 },
        /** Interval between attempts to acquire the lock. */
        retry_interval: { type: "duration", default: 1000 },
      },
    },
  },
} as const;

/** The section as given. */
export type StorageValues = Given<typeof storage>;
