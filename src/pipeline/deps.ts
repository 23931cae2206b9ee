/**
 * Dependencies of the pipeline.
 * @module
 */
import type { Runtime } from "../contracts/runtime.ts";
import type { Hub } from "../observe/hub.ts";
import type { Registry } from "../registry/registry.ts";

/** Dependencies of the pipeline. */
export interface RouteDeps {
  readonly registry: Registry;
  readonly runtime: Runtime;
  readonly hub: Hub;
  /** Redacts secrets in a string. */
  readonly redact: (text: string) => string;
}
