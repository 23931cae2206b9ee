/**
 * One request at an instance of the proxy: its body, its slot, and its sender.
 * @module
 */
import type { ProxySettings } from "../config/settings/settings.ts";
import type { Peer, PlainRequest } from "../contracts/shell.ts";
import type { Engine } from "../engine/engine.ts";
import type { Authenticator } from "./authenticator.ts";
import { type BodyBounds, type BodyMemory, readBody, receivedBody } from "./body_reader.ts";
import type { Caller, Client } from "./client.ts";
import type { ClientSlot } from "./client_slot.ts";
import type { RuntimeClients } from "./clients/runtime_clients.ts";
import { HttpError, waitHeaders } from "./error_body.ts";
import type { BodyOptions, Exchange } from "./exchange.ts";
import type { LogRateLimit } from "./log_rate_limit.ts";
import { isLoopback } from "./origin_policy.ts";
import type { ProxyOverview } from "./overview/overview.ts";
import type { Slots } from "./slots.ts";

/** Counters shared by all instances of one proxy. */
interface SharedCounts {
  readonly slots: Slots;
  readonly bodies: BodyMemory;
  readonly uploads: BodyMemory;
  readonly lines: LogRateLimit;
  readonly overview: ProxyOverview;
  /** The current instance, for responses that outlast a reload. */
  authenticator?: Authenticator;
}

/** What the requests of an instance share. */
export interface InstanceParts {
  readonly mesh: Engine;
  readonly proxy: ProxySettings;
  readonly authenticator: Authenticator;
  readonly runtimeClients: ClientSlot;
  /** Shared with earlier and later instances, none of which it keeps in memory. */
  readonly shared: SharedCounts;
  readonly isDraining: () => boolean;
  readonly isStopping: () => boolean;
  /** Called when a request that performs work begins and ends. */
  readonly onWork: (change: 1 | -1) => void;
}

export interface RequestFacts {
  readonly requestId: string;
  readonly peer?: Peer | undefined;
}

/** One request. Its path, headers and sender are set once they are known. */
export class ProxyExchange implements Exchange {
  readonly request: PlainRequest;
  readonly requestId: string;
  path = "";
  headers: Record<string, string> = {};
  /** The sender; undefined if the path requires no token. */
  sender: Caller | undefined;
  readonly #peer: Peer | undefined;
  readonly #parts: InstanceParts;
  /** Whether it takes a slot. */
  #isWork = false;
  #isUnderWay = false;
  #hasSlot = false;

  constructor(parts: InstanceParts, request: PlainRequest, { requestId, peer }: RequestFacts) {
    this.#parts = parts;
    this.request = request;
    this.requestId = requestId;
    this.#peer = peer;
  }

  get mesh(): Engine {
    return this.#parts.mesh;
  }

  get proxy(): ProxySettings {
    return this.#parts.proxy;
  }

  get client(): Client | undefined {
    return this.sender?.client;
  }

  get isDraining(): boolean {
    return this.#parts.isDraining() || this.#parts.isStopping();
  }

  get isStopping(): () => boolean {
    return this.#parts.isStopping;
  }

  get runtimeClients(): RuntimeClients | undefined {
    return this.#parts.runtimeClients.clients;
  }

  get overview(): ProxyOverview {
    return this.#parts.shared.overview;
  }

  caller(): Caller | undefined {
    return this.#parts.authenticator.callerOf(this.request);
  }

  callerNow(): Caller | undefined {
    return this.#parts.shared.authenticator?.callerOf(this.request);
  }

  /** Begins work. It ends with {@linkcode onEnd}. */
  beginWork(): void {
    this.#checkSlots(); // before the body is read
    this.#isWork = this.#isUnderWay = true;
    this.#parts.onWork(1);
  }

  body(options: BodyOptions): Uint8Array | Promise<Uint8Array> {
    const bytes = this.#read(options);
    return bytes instanceof Uint8Array ? this.#admitted(bytes) : bytes.then((read) => this.#admitted(read));
  }

  begin(): Promise<void> | undefined {
    if (!this.#isWork) return undefined;
    this.#checkSlots();
    const taken = this.#parts.shared.slots.take(this.proxy.maxConcurrent);
    return typeof taken === "boolean" ? this.#admit(taken) : taken.then((isTaken) => this.#admit(isTaken));
  }

  onEnd(): void {
    if (!this.#isUnderWay) return;
    this.#isUnderWay = false;
    const { shared, onWork } = this.#parts;
    if (this.#hasSlot) shared.slots.give(this.proxy.maxConcurrent);
    onWork(-1);
  }

  #admitted(bytes: Uint8Array): Uint8Array | Promise<Uint8Array> {
    const admission = this.begin();
    return admission === undefined ? bytes : admission.then(() => bytes);
  }

  #admit(isTaken: boolean): Promise<void> | undefined {
    if (!isTaken) throw this.#overloaded();
    this.#hasSlot = true;
    return this.client?.admit(this.mesh.runtime.clock);
  }

  #read(options: BodyOptions): Uint8Array | Promise<Uint8Array> {
    const bounds = this.#boundsOf(options);
    return receivedBody(this.request, bounds) ?? readBody(this.request, bounds);
  }

  #boundsOf({ isUpload, startedAt, limitMs }: BodyOptions): BodyBounds {
    const { bodyLimit, bodyMemory, uploadLimit } = this.proxy;
    const { bodies, uploads } = this.#parts.shared;
    const { clock } = this.mesh.runtime;
    return isUpload
      ? {
        maxBytes: uploadLimit,
        limitKey: "upload_limit",
        memoryKey: "upload_limit",
        memory: uploads,
        memoryBytes: uploadLimit,
        client: undefined, // one upload may use all of the memory
        clock,
        startedAt,
        limitMs,
      }
      : {
        maxBytes: bodyLimit,
        limitKey: "body_limit",
        memoryKey: "body_memory",
        memory: bodies,
        memoryBytes: bodyMemory,
        client: this.#parts.authenticator.isOpen ? addressOf(this.#peer) : this.sender,
        clock,
        startedAt,
        limitMs,
      };
  }

  /** Rejects requests during shutdown, and when all slots are taken. */
  #checkSlots(): void {
    const { isStopping, shared, proxy } = this.#parts;
    if (isStopping()) throw unavailable("The proxy is shutting down", "shutting_down");
    if (shared.slots.isFull(proxy.maxConcurrent)) throw this.#overloaded();
  }

  #overloaded(): HttpError {
    const { maxConcurrent } = this.proxy;
    return unavailable(`The proxy is at its limit of ${maxConcurrent} requests at once`, "overloaded");
  }
}

function unavailable(message: string, code: "overloaded" | "shutting_down"): HttpError {
  return new HttpError(message, { status: 503, type: "server_error", code, headers: waitHeaders(1000, false) });
}

/** The address to which a body counts; undefined for loopback, since a reverse proxy may send there for all clients. */
function addressOf(peer: Peer | undefined): string | undefined {
  const address = peer?.()?.replace(/^::ffff:/i, "");
  return address === undefined || isLoopback(address) ? undefined : address;
}
