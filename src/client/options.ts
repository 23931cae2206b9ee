/**
 * Options of `create` and of the calls of a client.
 * @module
 */
import type { ConfigSource } from "../config/load/sources.ts";
import type { StatePersistence } from "../state/state_persistence.ts";
import type { GivenProvider } from "../contracts/browser_provider.ts";
import type { Connector } from "../contracts/connector.ts";
import type { ChatCompletion, ChatCompletionRequest } from "../contracts/openai.ts";
import type { MeshEvent, RoutingRecord } from "../contracts/events.ts";
import type { CapabilityName, StrategyName, VendorName } from "../contracts/names.ts";
import type { OperationName } from "../contracts/provider.ts";
import type { SelectionStrategy } from "../contracts/rotation.ts";
import type { Clock } from "../contracts/runtime.ts";
import type { ChatStream } from "./stream.ts";

/**
 * Options of `create`. The parameters are the literals that a call has for names: of those, `create` without a
 * configuration accepts the built-in names, ids and paths.
 */
export interface CreateOptions<
  Capability extends string = string,
  Strategy extends string = string,
  Vendor extends string = string,
> {
  /** The capability the client serves: a short name, a full path or an inner node of the capability tree. */
  capability?: CapabilityName<Capability>;
  /**
   * A configuration: the path of a `.yaml`, `.yml` or `.json` file (not in pages), a document as an object, or a
   * `MeshConfig`.
   */
  config?: ConfigSource;
  /**
   * Restricts the client to these providers: vendors, connector ids or ids in the configuration; or, in order of
   * preference, instances such as `openai({ apiKey })` or of a class that extends `BrowserBaseProvider`. A page has no
   * environment to detect providers by name, and passes instances.
   */
  providers?: readonly (VendorName<Vendor> | GivenProvider)[];
  /**
   * Restricts the client to these models, in this order of preference, instead of the providers' defaults; names such
   * as `openai.gpt-5-mini`.
   */
  models?: readonly string[];
  /**
   * The selection strategy: a short name such as `round-robin`, an id, an instance, or a connector such as `roundRobin`
   * of the browser entry. In a page, names do not resolve: pass an imported strategy.
   */
  strategy?: StrategyName<Strategy> | SelectionStrategy | Connector<"strategy">;
  /** The pool for calls without `model`. By default, the first pool that serves the operation. */
  pool?: string;
  /**
   * API keys by environment variable (`OPENAI_API_KEY`) or provider name (`openai`). They take precedence over the
   * environment.
   */
  apiKeys?: Readonly<Record<string, string>>;
  /** Middleware, called around every request. */
  middleware?: Middleware | readonly Middleware[];
  /** The environment, instead of the process's. */
  env?: Readonly<Record<string, string | undefined>> | ((name: string) => string | undefined);
  /** The HTTP client, instead of the runtime's. */
  fetch?: typeof fetch;
  /** The clock, for tests. */
  clock?: Clock;
  /** The random number generator, uniform in [0, 1), for tests. */
  random?: () => number;
  /** Where state is persisted, such as `stateIn(storage)`. A standby then continues after a restart. */
  storage?: StatePersistence;
  /** Called with every event and every routing record. */
  on?: (record: MeshEvent | RoutingRecord) => void;
}

/** Options of `ModelMesh`. */
export type MeshOptions = Pick<CreateOptions, "env" | "fetch" | "clock" | "random" | "on" | "storage">;

/** Routing constraints of a request. Names are models, provider ids or vendors of the pool. */
export interface RouteConstraints {
  /** Allows only these. */
  only?: readonly string[];
  /** Excludes these. */
  ignore?: readonly string[];
  /** Prefers these, in this order; the others follow. */
  order?: readonly string[];
  /** Maximum estimated cost of the request, USD. */
  max_price?: number;
  /** Maximum time to a response, such as `20s`. */
  deadline?: string;
  /** Limit of each model for the first content of a stream, such as `5s`. */
  first_token?: string;
  /**
   * When a stream commits to its model: at its first content, or once it is complete, so that failover covers all of it.
   *
   * @default the pool's `commit`
   */
  commit?: "first_content" | "complete";
  /** Priority in the queue of a pool, from 0 to 100: the highest is served first. */
  priority?: number;
  /** Tags of the request, for its records and for the limits of `tags`. */
  tags?: readonly string[] | Readonly<Record<string, string>>;
  /** The end user, for the records of the request and for the limits of `users`. By default the request's `user`. */
  user?: string;
  /**
   * What the cache may do: nothing (`no-store`), nothing but repeat a response (`only`), or repeat one that is not older, such as
   * `{ ttl: "60s" }`.
   */
  cache?: "no-store" | "only" | { readonly ttl: string | number };
}

/** Options of one call. */
export interface CallSettings {
  /** Aborts the call. */
  signal?: AbortSignal;
  /** Timeout: maximum time to a response, or to the first content of a stream, in milliseconds; at least 1. */
  timeout?: number;
  /** Session id, for session stickiness. */
  sessionId?: string;
  /** Routing constraints of the call, on servers. `mesh` in the request takes precedence. */
  route?: RouteConstraints;
  /** Request headers, read as the proxy reads them: `x-request-id`, `x-mesh-session`, `x-mesh-route`, `x-mesh-priority`, `x-mesh-tags`, `x-mesh-cache`, `x-provider-key`, `traceparent`, `tracestate`, `user-agent`. */
  headers?: Readonly<Record<string, string>>;
}

/** Context passed to middleware in addition to the request. */
export interface MiddlewareContext {
  /** The request's id. */
  readonly requestId: string;
  /** The operation. Requests and responses of other operations than `chat` have the shape of that operation. */
  readonly operation: OperationName;
}

/**
 * Functions called around every request. A returned value replaces the value passed in. The `timeout` of a call covers
 * them, and its signal ends the wait for them.
 */
export interface Middleware {
  /** Called before routing. */
  beforeRequest?(
    request: ChatCompletionRequest,
    context: MiddlewareContext,
  ): ChatCompletionRequest | void | Promise<ChatCompletionRequest | void>;
  /** Called when a response, or the first content of a stream, has arrived. */
  afterResponse?(
    response: ChatCompletion | ChatStream,
    context: MiddlewareContext,
  ): ChatCompletion | ChatStream | void | Promise<ChatCompletion | ChatStream | void>;
  /** Called when the request has failed. Unless it returns a response, the error is thrown. */
  onError?(
    error: unknown,
    context: MiddlewareContext,
  ): ChatCompletion | void | Promise<ChatCompletion | void>;
}
