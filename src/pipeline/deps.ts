/**
 * What the pipeline works with.
 * @module
 */
import type { Runtime } from "../contracts/runtime.ts";
import type { Hub } from "../observe/hub.ts";
import type { Registry } from "../registry/registry.ts";

/** What the pipeline works with. */
export interface RouteDeps {
  readonly registry: Registry;
  readonly runtime: Runtime;
  readonly hub: Hub;
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string;
}
