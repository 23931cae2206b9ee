/**
 * Requests at the proxy, and the handlers of paths.
 * @module
 */
import type { ProxySettings } from "../config/settings/settings.ts";
import type { Peer, PlainRequest, PlainResponse } from "../contracts/shell.ts";
import type { DialectConventions } from "../dialects/dialect.ts";
import type { Engine } from "../engine/engine.ts";
import type { RoutedRequest } from "../pipeline/request.ts";
import type { Runtime } from "../contracts/runtime.ts";
import {
  type BodyBounds,
  type BodyMemory,
  type HeldMemory,
  type MemoryHolder,
  readRequestBody,
} from "./body_reader.ts";
import type { ProxyOverview } from "./overview/overview.ts";
import { type Caller, type Client, findBodyOwner } from "./client.ts";
import type { ClientSlot } from "./client_slot.ts";
import type { RuntimeClients } from "./clients/runtime_clients.ts";
import { HttpError, waitHeaders } from "./error_body.ts";
import type { Processes } from "./processes/processes.ts";
import type { Slots } from "./slots.ts";
import type { UsageLog } from "./usage/usage_log.ts";

/** Options for reading a body. */
interface ReadOptions extends Pick<BodyBounds, "startedAt" | "limitMs"> {
  /** Whether it contains files, which have their own limits. */
  readonly isUpload?: boolean;
}

/** Finds senders by their tokens. */
interface Senders {
  /** Whether no token is required. */
  readonly isOpen: boolean;
  findSender(request: PlainRequest): Caller | undefined;
}

/** What all requests under one configuration have in common. */
export interface ExchangeParts {
  readonly mesh: Engine;
  readonly proxy: ProxySettings;
  readonly authenticator: Senders;
  readonly runtimeClients: ClientSlot;
  /** Shared with earlier and later configurations. */
  readonly shared: {
    readonly slots: Slots;
    readonly bodies: BodyMemory;
    readonly uploads: BodyMemory;
    readonly recordReaders: Slots;
    readonly overview: ProxyOverview;
    readonly background: Set<Promise<void>>;
    /** That of the current configuration. */
    readonly authenticator?: Senders;
  };
  readonly isDraining: () => boolean;
  readonly isStopping: () => boolean;
  /** Requests in progress, with or without a slot. */
  readonly underWay: { count: number; onIdle?: (() => void) | undefined };
}

/** One request at the proxy. */
export class Exchange implements MemoryHolder {
  readonly parts: ExchangeParts;
  readonly mesh: Engine;
  readonly proxy: ProxySettings;
  readonly request: PlainRequest;
  readonly requestId: string;
  readonly path: string;
  /** The remote address. */
  readonly peer: Peer | undefined;
  /** The route of its path; undefined if there is none. */
  route: RouteEntry | undefined;
  /** Headers for every response to it. */
  headers: Record<string, string> = {};
  /** The sender, with its team and tags; undefined if the path requires no token. */
  sender: Caller | undefined;
  /** The client of the sender; undefined if it has no name. */
  client: Client | undefined;
  /** The limits that the request counts against, once they have been selected; see `RoutedRequest.scopes`. */
  scopes: RoutedRequest["scopes"];
  /** Its team, tags and end user, once they have been read. */
  labels: RoutedRequest["labels"];
  /** Whether it is a turn of a conversation that the proxy stores. */
  isStoredTurn: boolean | undefined;
  /** Whether `end` is called later than at the end of the response. */
  isDetached = false;
  /** Whether it is in progress: it may take a slot, and has to be ended. */
  #isWork = false;
  #hasSlot = false;
  #held: HeldMemory | undefined;

  constructor(
    parts: ExchangeParts,
    { request, requestId, path, peer }: Pick<Exchange, "request" | "requestId" | "path" | "peer">,
  ) {
    this.parts = parts;
    this.mesh = parts.mesh;
    this.proxy = parts.proxy;
    this.request = request;
    this.requestId = requestId;
    this.path = path;
    this.peer = peer;
  }

  get isDraining(): () => boolean {
    return this.parts.isDraining;
  }

  get isStopping(): () => boolean {
    return this.parts.isStopping;
  }

  /** Clients created at runtime; undefined without a storage. */
  get runtimeClients(): RuntimeClients | undefined {
    return this.parts.runtimeClients.clients;
  }

  /** Daily usage; undefined without a storage. */
  get usage(): UsageLog | undefined {
    return this.parts.runtimeClients.usage;
  }

  /** The processes that share the storage; undefined unless several may. */
  get processes(): Processes | undefined {
    return this.parts.runtimeClients.processes;
  }

  /** The overview of all processes of the proxy. */
  get overview(): ProxyOverview {
    return this.parts.shared.overview;
  }

  /** Limits the readers of records. */
  get recordReaders(): Slots {
    return this.parts.shared.recordReaders;
  }

  /** Work that goes on after its request was answered. */
  get background(): Set<Promise<void>> {
    return this.parts.shared.background;
  }

  /** Returns the sender, also on paths that require no token. Undefined if a token is required and none is accepted. */
  caller(): Caller | undefined {
    return this.sender ?? this.parts.authenticator.findSender(this.request);
  }

  /** Returns the current sender: a response may outlast a reload, or its token. */
  callerNow(): Caller | undefined {
    return this.parts.shared.authenticator?.findSender(this.request);
  }

  /**
   * Counts it among the requests in progress, until `end` is called.
   *
   * @throws {HttpError} 503 during shutdown, or if all slots are taken.
   */
  startWork(): void {
    if (this.parts.isStopping()) throw shuttingDown();
    if (this.parts.shared.slots.isFull(this.proxy.maxConcurrent)) throw this.#overloaded();
    this.#isWork = true;
    this.parts.underWay.count++;
  }

  /**
   * Reads the whole body within the proxy's limits. Can be called once. The body of work counts against the memory of all
   * bodies until the end of the response.
   *
   * @param options Time at which the request was received, monotonic ms; time limit for the body, ms; kind of body.
   */
  body({ isUpload = false, startedAt, limitMs }: ReadOptions): Promise<Uint8Array> {
    const { request, proxy, mesh: { runtime }, parts: { shared } } = this;
    // no spread: V8 of Node 20 gives each object that begins with one, and goes on, a hidden class of its own
    const bounds: BodyBounds = {
      maxBytes: isUpload ? proxy.uploadLimit : proxy.bodyLimit,
      limitKey: isUpload ? "upload_limit" : "body_limit",
      memoryKey: isUpload ? "upload_limit" : "body_memory",
      memory: isUpload ? shared.uploads : shared.bodies,
      memoryBytes: isUpload ? proxy.uploadLimit : proxy.bodyMemory,
      // one upload may use all of the memory
      client: isUpload ? undefined : findBodyOwner(this, this.parts.authenticator.isOpen),
      isParsed: !isUpload,
      holder: this.#isWork ? this : undefined,
      clock: runtime.clock,
      startedAt,
      limitMs,
    };
    return request.headers.has("content-encoding")
      ? readCompressedBody(request, bounds, runtime)
      : readRequestBody(request, bounds);
  }

  /** Keeps memory reserved until the request ends. */
  hold(memory: HeldMemory): void {
    const before = this.#held;
    this.#held = before === undefined ? memory : {
      release() {
        before.release();
        memory.release();
      },
    };
  }

  /**
   * Takes a slot, once the body is read. Can be called once.
   *
   * @throws {HttpError} As {@linkcode startWork} does.
   */
  begin(): Promise<void> | undefined {
    if (!this.#isWork) return undefined;
    if (this.parts.isStopping()) throw shuttingDown();
    const taken = this.parts.shared.slots.take(this.proxy.maxConcurrent);
    if (typeof taken !== "boolean") {
      return taken.then((isTaken) => {
        if (!isTaken) throw this.#overloaded();
        this.#hasSlot = true;
      });
    }
    if (!taken) throw this.#overloaded();
    this.#hasSlot = true;
    return undefined;
  }

  /** Calls `end`; must be called at the end of a streamed response. */
  get onEnd(): () => void {
    return () => this.end();
  }

  /** Ends work: releases what it holds. Further calls have no effect. */
  end(): void {
    if (!this.#isWork) return;
    this.#isWork = false;
    this.#held?.release();
    this.scopes?.end();
    const { shared, underWay } = this.parts;
    if (this.#hasSlot) shared.slots.give(this.proxy.maxConcurrent);
    if (--underWay.count === 0) underWay.onIdle?.();
  }

  /**
   * Reserves memory for what the request refers to, bytes; returns its release, or undefined if there is none left.
   * Undefined unless the proxy stores responses.
   */
  get reserve(): SocketAccess["reserve"] | undefined {
    return this.proxy.responses.state ? this.createReservation() : undefined;
  }

  /** Returns a function that reserves memory like that of a body of the same sender. It keeps no configuration in memory. */
  createReservation(): SocketAccess["reserve"] {
    const { bodies } = this.parts.shared;
    const bounds = { memoryBytes: this.proxy.bodyMemory, client: findBodyOwner(this, this.parts.authenticator.isOpen) };
    return (bytes) => bodies.reserve(bytes, bounds) ? () => bodies.release(bytes, bounds.client) : undefined;
  }

  #overloaded(): HttpError {
    const { maxConcurrent } = this.proxy;
    return unavailable(`The proxy is at its limit of ${maxConcurrent} requests at once`, "overloaded");
  }
}

async function readCompressedBody(request: PlainRequest, bounds: BodyBounds, runtime: Runtime): Promise<Uint8Array> {
  const { readCompressed } = await import("./compressed_body.ts");
  return await readCompressed(request, bounds, runtime);
}

/** The error for requests during shutdown. */
export function shuttingDown(): HttpError {
  return unavailable("The proxy is shutting down", "shutting_down");
}

function unavailable(message: string, code: "overloaded" | "shutting_down"): HttpError {
  return new HttpError(message, { status: 503, type: "server_error", code, headers: waitHeaders(1000, false) });
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
