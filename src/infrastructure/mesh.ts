/**
 * What files, batches and fine-tuning jobs need of a mesh and of a call.
 * @module
 */
import type { Settings } from "../config/settings/settings.ts";
import type { Storage } from "../contracts/storage.ts";
import type { StopSignal } from "../contracts/runtime.ts";
import type { RequestClient, RouteDeps, RoutedRequest } from "../pipeline/request.ts";
import type { MeshState } from "../state/model/mesh_state.ts";
import type { ObjectRecords } from "./object_records.ts";

/** A mesh. Its registry may grow. */
export interface InfrastructureMesh extends RouteDeps {
  readonly settings: Settings;
  readonly state: MeshState;
  /** Storage of object records; undefined for memory. */
  readonly storage: Storage | undefined;
  /** The record of created objects, once the services exist. */
  readonly objects: { records?: ObjectRecords };
}

/** Returns the record of created objects. */
export function getObjectRecords({ objects }: Pick<InfrastructureMesh, "objects">): ObjectRecords {
  return objects.records!;
}

/** A call of a program, or of a client of the proxy. */
export interface ObjectCall {
  /** Id of the request. */
  readonly requestId: string;
  /** Owner of created objects; undefined if clients have no names. */
  readonly client?: RequestClient | undefined;
  /** Names of guards, besides those of its client and pool. */
  readonly guards?: readonly string[] | undefined;
  /** The limits of its client, team, tags and end user: see `RoutedRequest.scopes`. */
  readonly scopes?: RoutedRequest["scopes"];
  /** `User-Agent` of the caller. */
  readonly userAgent?: string | undefined;
  /** Aborts the call. */
  readonly signal?: StopSignal | undefined;
  /** Timeout, ms. */
  readonly timeoutMs: number;
}

/** Returns the owner of created objects: the client's identity; empty if clients have no names. */
export function getObjectOwner({ client }: Pick<ObjectCall, "client">): string {
  return client?.id ?? "";
}
