/**
 * A request in the pipeline.
 * @module
 */
import type { RequestBody } from "../contracts/openai.ts";
import type { Delivery, UploadedFile } from "../contracts/provider.ts";
import type { Runtime, StopSignal } from "../contracts/runtime.ts";
import type { RequestScopes } from "../state/limits/request_scopes.ts";
import type { Operation } from "./operation.ts";
import type { OriginalRequest } from "./original.ts";
import type { RequestLabels, RoutingConstraints } from "./routing_constraints.ts";
import type { TraceContext } from "../contracts/observability.ts";
import type { Hub } from "../observe/hub.ts";
import type { ModelEntry, Registry } from "../registry/registry.ts";
import type { MeshState } from "../state/model/mesh_state.ts";

/** A named client. */
export interface RequestClient {
  /**
   * Identity. Objects, spending and records belong to it: the name of a configured client; of one that was created at
   * runtime its id, since its name may have been another one's.
   */
  readonly id: string;
  /** Name in records. */
  readonly name: string;
  /** The only pools that exist for it, with their models. Undefined means all pools and models. */
  readonly pools?: ReadonlySet<string> | undefined;
  /** Returns the only models that exist for it, also in its pools. Undefined means all models. */
  readonly findOwnModels?: ((registry: Registry) => ReadonlySet<ModelEntry>) | undefined;
  /** Whether it stands for a team, whose members have tokens that name no client. */
  readonly isTeam?: boolean | undefined;
  /** Names of the guards of its requests, besides those of the proxy and of pools. */
  readonly guards?: readonly string[] | undefined;
}

/** Members of a record that name its client. */
export interface ClientFacts {
  readonly client: string;
  /** Present unless it is the name. */
  readonly client_id?: string;
}

/** Returns the members of a record that name its client. */
export function toClientFacts({ id, name }: Pick<RequestClient, "id" | "name">): ClientFacts {
  return id === name ? { client: name } : { client: name, client_id: id };
}

/** What a call for several equal requests needs to know of them. The first one begins it. */
export interface CallSharing {
  /** The latest deadline of those that wait for it, monotonic ms. */
  readonly deadlineAt: number;
  /** Why the first one has ended before the call; undefined if it has not. */
  readonly cause: unknown;
}

/** One request, of a program or of a client of the proxy. */
export interface RoutedRequest<Body extends RequestBody = RequestBody, Response = unknown> {
  readonly id: string;
  /** The operation. */
  readonly operation: Operation<Body, Response>;
  /** The delivery mode. */
  readonly delivery: Delivery;
  /** The virtual name. */
  readonly model: string;
  /** The parsed body. */
  readonly body: Body;
  /** Files of a form. */
  readonly files?: readonly UploadedFile[];
  /** The JSON text of the body, if received over HTTP. */
  readonly text?: string;
  /** The original, if `body` is a translation. */
  readonly original?: OriginalRequest | undefined;
  /** Aborts the request. */
  readonly signal?: StopSignal;
  /** Maximum time to a response, or to the first content of a stream, ms. */
  readonly timeoutMs: number;
  /** Set if its call is for several requests, whose deadlines apply. */
  readonly sharing?: CallSharing | undefined;
  /** Groups requests for strategies that honor sessions. */
  readonly session?: string;
  readonly routingConstraints?: RoutingConstraints | undefined;
  /** The header `x-provider-key`: keys for providers whose requests callers authorize. */
  readonly providerKey?: string;
  /** Whether it continues with another name if no model serves it now: it does not wait in a queue then. */
  readonly hasAlternative?: boolean;
  readonly client?: RequestClient | undefined;
  /** What distinguishes its sender from others without a client; undefined if nothing does. */
  readonly identity?: string | undefined;
  /** Whether it is a turn of a conversation that the proxy stores, which passes by the cache. */
  readonly isStoredTurn?: boolean | undefined;
  /** Names of guards, besides those of its client and pool. */
  readonly guards?: readonly string[] | undefined;
  /** Its team, tags and end user; undefined if it has none. */
  readonly labels?: RequestLabels | undefined;
  /**
   * The limits of its client, team, tags and end user; undefined if they have none. It counts against them when it is
   * about to be routed, since requests that are refused before do not count.
   */
  readonly scopes?: RequestScopes | undefined;
  /** `User-Agent` of the caller. */
  readonly userAgent?: string | undefined;
  /** Trace context of the caller. */
  readonly trace?: TraceContext | undefined;
}

/** Dependencies of the pipeline. */
export interface RouteDeps {
  readonly registry: Registry;
  readonly state: Pick<MeshState, "conversations">;
  readonly runtime: Runtime;
  readonly hub: Hub;
  /** Redacts secrets in a string. */
  readonly redact: (text: string) => string;
}
