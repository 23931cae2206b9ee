/**
 * Options of handlers.
 * @module
 */
import type { ProxyOverview } from "./overview/overview.ts";
import type { Slots } from "./slots.ts";

/** Options of `createHandler`. */
export interface HandlerOptions {
  /** Accepted tokens, in addition to those of the configuration. */
  readonly tokens?: readonly string[];
  /** Origins of web pages that may send requests, in addition to those of the configuration. */
  readonly origins?: readonly string[] | undefined;
  /** Bind address; overrides the configuration's. */
  readonly host?: string;
  /** Whether the proxy is about to stop: `/ready` returns 503, other paths are still served. */
  readonly isDraining?: () => boolean;
  /** Whether it is stopping: new requests are rejected. */
  readonly isStopping?: () => boolean;
}

/** Options of a handler that is one of several processes. */
export interface ProxyOptions extends HandlerOptions {
  /** Limits concurrent requests; local by default. */
  readonly slots?: Slots | undefined;
  /** The overview of all processes; of this process by default. */
  readonly overview?: ProxyOverview | undefined;
}
