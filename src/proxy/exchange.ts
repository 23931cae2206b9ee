/**
 * Requests at the proxy, and the handlers of paths.
 * @module
 */
import type { ProxySettings } from "../config/settings/settings.ts";
import type { Peer, PlainRequest, PlainResponse } from "../contracts/shell.ts";
import type { DialectConventions } from "../dialects/dialect.ts";
import type { Engine } from "../engine/engine.ts";
import type { RoutedRequest } from "../pipeline/request.ts";
import type { BodyBounds } from "./body_reader.ts";
import type { ProxyOverview } from "./overview/overview.ts";
import type { Caller, Client } from "./client.ts";
import type { RuntimeClients } from "./clients/runtime_clients.ts";
import type { Processes } from "./processes/processes.ts";
import type { Slots } from "./slots.ts";
import type { UsageLog } from "./usage/usage_log.ts";

/** Options for reading a body. */
export interface ReadOptions extends Pick<BodyBounds, "startedAt" | "limitMs" | "hold"> {
  /** Whether it contains files, which have their own limits. */
  readonly isUpload?: boolean;
}

/** One request at the proxy. */
export interface Exchange {
  readonly mesh: Engine;
  readonly proxy: ProxySettings;
  readonly request: PlainRequest;
  readonly requestId: string;
  readonly path: string;
  /** Headers for every response to it. */
  readonly headers: Record<string, string>;
  /** The sender; undefined if the path requires no token, or the sender has no name. */
  readonly client: Client | undefined;
  /** The sender, also on paths that require no token. Undefined if a token is required and none is accepted. */
  readonly caller: () => Caller | undefined;
  /** Returns the current sender: a response may outlast a reload, or its token. */
  readonly callerNow: () => Caller | undefined;
  readonly isDraining: () => boolean;
  readonly isStopping: () => boolean;
  /** Clients created at runtime; undefined without a storage. */
  readonly runtimeClients: RuntimeClients | undefined;
  /** Daily usage; undefined without a storage. */
  readonly usage: UsageLog | undefined;
  /** The processes that share the storage; undefined unless several may. */
  readonly processes: Processes | undefined;
  /** The overview of all processes of the proxy. */
  readonly overview: ProxyOverview;
  /** Limits the readers of records. */
  readonly recordReaders: Slots;
  /**
   * Reads the whole body within the proxy's limits, then takes a slot. Can be called once. The body counts against the
   * memory of all bodies until the end of the response.
   *
   * @param options Time at which the request was received, monotonic ms; time limit for the body, ms; kind of body.
   */
  readonly body: (options: ReadOptions) => Promise<Uint8Array>;
  /** Takes a slot, for a handler that reads no body, or reads it itself. Can be called once. */
  readonly begin: () => Promise<void> | undefined;
  /** The sender, with its team and tags; undefined if the path requires no token. */
  readonly sender: Caller | undefined;
  /** The limits that the request counts against, once they have been selected; see `RoutedRequest.scopes`. */
  scopes: RoutedRequest["scopes"];
  /** Its team, tags and end user, once they have been read. */
  labels?: RoutedRequest["labels"];
  /**
   * Reserves memory for what the request refers to, bytes; returns its release, or undefined if there is none left.
   * Undefined unless the proxy stores responses.
   */
  readonly reserve: SocketAccess["reserve"] | undefined;
  /** Work that goes on after its request was answered. */
  readonly background: Set<Promise<void>>;
  /** Whether it is a turn of a conversation that the proxy stores. */
  isStoredTurn?: boolean;
  /** Whether `onEnd` is called later than at the end of the response. */
  isDetached: boolean;
  /** Must be called at the end of a streamed response. */
  readonly onEnd: () => void;
}

/** What a request for a WebSocket has in addition. */
export interface SocketAccess {
  /** Handles a request that was received on the connection like any other, at the current instance. Never rejects. */
  readonly serve: (request: PlainRequest) => Promise<PlainResponse>;
  /** Reserves memory for what the connection keeps, bytes; undefined if there is none left. */
  readonly reserve: (bytes: number) => (() => void) | undefined;
}

/** The handler of a path. */
export interface RouteEntry {
  readonly methods: readonly string[];
  /** Whether it requires no token. */
  readonly isPublic?: boolean;
  /** Whether a path that requires no token shows more to a sender with one. */
  readonly showsMore?: boolean;
  /** Whether only administrators may call it, and only from the same origin. */
  readonly isAdministrative?: boolean;
  /** Whether it takes a slot of `max_concurrent` after reading the body, and is rejected during shutdown. */
  readonly isWork?: boolean;
  /** The format of errors, and the location of tokens; OpenAI's by default. */
  readonly dialect?: DialectConventions;
  readonly handle: (exchange: Exchange) => PlainResponse | Promise<PlainResponse>;
  /** Handles requests for a WebSocket; without it they are like any other GET. */
  readonly upgrade?: (exchange: Exchange, access: SocketAccess) => Promise<PlainResponse>;
}

/** What a server knows of a request. */
export interface RequestFacts {
  readonly requestId: string;
  readonly peer?: Peer | undefined;
}

/** A request before it is handled. */
export interface IncomingRequest extends Pick<Exchange, "request" | "requestId" | "path" | "headers" | "client"> {
  /** Its sender by token, and the remote address. */
  readonly from: { readonly caller: Caller | undefined; readonly peer: Peer | undefined };
}
