/**
 * The section `storage`.
 * @module
 */
import { object } from "./_containers.ts";
import type { Field } from "./_field.ts";
import { duration, flag, oneOf, text } from "./_fields.ts";

const policy = () => oneOf(["in-memory", "sync-on-boundary", "periodic", "immediate"], "sync-on-boundary");
const interval = () => duration({ default: 5000 });

/** Where state is kept; other keys go to the connector as they are. */
export const storage = (): Field<object> =>
  object({
    /** The connector that keeps it. */
    connector: text({ isLiteral: true, default: "mesh.local-file.v1" }),
    /** When it is written. */
    sync_policy: policy(),
    /** How often, when it is written periodically. */
    sync_interval: interval(),
    /** What happens while the storage is away: go on with what this process knows, or refuse. */
    on_unavailable: oneOf(["open", "closed"], "open"),
    /** How it is written. */
    persistence: object({
      /** The same as `sync_policy`. */
      sync_policy: policy(),
      /** The same as `sync_interval`. */
      sync_interval: interval(),
      /** The encoding. */
      format: oneOf(["json", "yaml", "msgpack"], "json"),
      /** Compress it. */
      compression: flag({ default: false }),
      /** Encrypt it with the secret `MESH_STORAGE_KEY`. */
      encryption: flag({ default: false }),
    }),
    /** Keeping several instances apart. */
    locking: object({
      /** On for the policies of several instances unless given. */
      enabled: flag(),
      /** Longest wait for the lock. */
      timeout: duration({ default: 30_000 }),
      /** How often it is tried. */
      retry_interval: duration({ default: 1000 }),
    }),
  }, {
    isOpen: true,
    twins: [["sync_policy", "persistence.sync_policy"], ["sync_interval", "persistence.sync_interval"]],
  });
