/**
 * What files, batches and fine-tuning jobs need of a mesh, and of a call.
 * @module
 */
import type { Settings } from "../config/settings/settings.ts";
import type { Storage } from "../contracts/storage.ts";
import type { StopSignal } from "../contracts/runtime.ts";
import type { RouteDeps } from "../pipeline/deps.ts";
import type { RequestClient } from "../pipeline/request.ts";
import type { MeshState } from "../state/mesh_state.ts";
import type { ObjectBook } from "./object_book.ts";

/** A mesh; its registry may grow. */
export interface InfrastructureMesh extends RouteDeps {
  readonly settings: Settings;
  readonly state: MeshState;
  /** Where its records are; undefined: in memory. */
  readonly storage: Storage | undefined;
  /** What was made so far, once the services are there. */
  readonly objects: { book?: ObjectBook };
}

/** What was made so far. */
export function bookOf({ objects }: Pick<InfrastructureMesh, "objects">): ObjectBook {
  return objects.book!;
}

/** One call of a program, or of the proxy's client. */
export interface ObjectCall {
  /** The request's id. */
  readonly requestId: string;
  /** Owns what is made; undefined where clients have no names. */
  readonly client?: RequestClient | undefined;
  /** Aborts it. */
  readonly signal?: StopSignal | undefined;
  /** Longest time to an answer, ms. */
  readonly timeoutMs: number;
}

/** Whose object is made or asked for: the client's name, empty where clients have none. */
export function ownerOf({ client }: Pick<ObjectCall, "client">): string {
  return client?.name ?? "";
}
