/**
 * What `create` and the calls of a client take.
 * @module
 */
import type { ConfigSource } from "../config/load/config_source.ts";
import type { StatePersistence } from "../state/persistence/state_store.ts";
import type { GivenProvider } from "../contracts/browser_provider.ts";
import type { Connector } from "../contracts/connector.ts";
import type { ChatCompletion, ChatCompletionRequest } from "../contracts/openai.ts";
import type { MeshEvent, RoutingRecord } from "../contracts/events.ts";
import type { CapabilityName, StrategyName, VendorName } from "../contracts/names.ts";
import type { OperationName } from "../contracts/provider.ts";
import type { SelectionStrategy } from "../contracts/rotation.ts";
import type { Clock } from "../contracts/runtime.ts";
import type { ChatStream } from "./stream.ts";

/** Options of {@linkcode create}. */
export interface CreateOptions {
  /** What the client is for: a short name, a full path or an inner node of the capability tree. */
  capability?: CapabilityName;
  /** A configuration: the path of a `.yaml`, `.yml` or `.json` file (not in pages), a document as an object, or a `MeshConfig`. */
  config?: ConfigSource;
  /**
   * Only these providers: vendors, connector ids or entry ids; or, in order of preference, instances such as
   * `openai({ apiKey })` or one of a class over `BrowserBaseProvider`. A page has no environment to find any by name in.
   */
  providers?: readonly (VendorName | GivenProvider)[];
  /** Only these models, in this order of preference, in place of the providers' defaults: names such as `openai.gpt-5-mini`. */
  models?: readonly string[];
  /**
   * Selection strategy: a short name such as `round-robin`, an id, an instance, or a connector such as `roundRobin` of
   * the browser entry. A page has the strategies that it imports: there, names stand for none.
   */
  strategy?: StrategyName | SelectionStrategy | Connector<"strategy">;
  /** The pool that calls without `model` go to; else the first one that serves the operation. */
  pool?: string;
  /** Keys by variable (`OPENAI_API_KEY`) or provider name (`openai`); they win over the environment. */
  apiKeys?: Readonly<Record<string, string>>;
  /** Called around every request. */
  middleware?: Middleware | readonly Middleware[];
  /** The environment, in place of the process's. */
  env?: Readonly<Record<string, string | undefined>> | ((name: string) => string | undefined);
  /** The HTTP client, in place of the runtime's. */
  fetch?: typeof fetch;
  /** Time, for tests. */
  clock?: Clock;
  /** Chance, uniform in [0, 1), for tests. */
  random?: () => number;
  /** Where states outlive the process, such as `stateIn(storage)`: a standby before a restart goes on after it. */
  storage?: StatePersistence;
  /** Gets every event and routing decision. */
  on?: (record: MeshEvent | RoutingRecord) => void;
}

/** Options of `ModelMesh`. */
export type MeshOptions = Pick<CreateOptions, "env" | "fetch" | "clock" | "random" | "on" | "storage">;

/** How a request narrows its own routing: names are models, provider entry ids or vendors of the pool. */
export interface RouteWishes {
  /** Only these. */
  only?: readonly string[];
  /** Not these. */
  ignore?: readonly string[];
  /** These first, in this order; the others after them. */
  order?: readonly string[];
  /** Most that the request may cost by estimate, USD. */
  max_price?: number;
  /** Longest time to an answer, such as `20s`. */
  deadline?: string;
}

/** Options of one call. */
export interface CallSettings {
  /** Aborts the call. */
  signal?: AbortSignal;
  /** Longest time to an answer, or to a stream's first content, ms; at least 1. */
  timeout?: number;
  /** Whom the call belongs to, for session-stickiness. */
  sessionId?: string;
  /** How the call narrows its own routing, on servers; `mesh` in the request wins. */
  route?: RouteWishes;
  /** Request headers as a proxy would read them: `x-request-id`, `x-mesh-session`, `x-mesh-route`. */
  headers?: Readonly<Record<string, string>>;
}

/** What middleware gets beside the request. */
export interface MiddlewareContext {
  /** The request's id. */
  readonly requestId: string;
  /** What is asked for: requests and responses of another operation than `chat` have its shape. */
  readonly operation: OperationName;
}

/** Called around every request. A returned value replaces the one given. */
export interface Middleware {
  /** Before routing. */
  beforeRequest?(
    request: ChatCompletionRequest,
    context: MiddlewareContext,
  ): ChatCompletionRequest | void | Promise<ChatCompletionRequest | void>;
  /** When an answer, or a stream's first content, is there. */
  afterResponse?(
    response: ChatCompletion | ChatStream,
    context: MiddlewareContext,
  ): ChatCompletion | ChatStream | void | Promise<ChatCompletion | ChatStream | void>;
  /** When there is none; without a returned response the error goes on. */
  onError?(
    error: unknown,
    context: MiddlewareContext,
  ): ChatCompletion | void | Promise<ChatCompletion | void>;
}
