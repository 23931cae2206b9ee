/**
 * How a mesh has its state kept, whoever does it.
 * @module
 */
import type { Clock } from "../contracts/runtime.ts";
import type { Hub } from "../observe/hub.ts";
import type { MeshState } from "../state/mesh_state.ts";

/** Keeps one mesh's state beyond its process. */
export interface StateKeeper {
  /** Gives a state what was kept, and keeps it from now on. Throws when it cannot be kept at all. */
  load(state: MeshState): Promise<void>;
  /** The state has changed. Returns at once. */
  mark(): void;
  /** Keeps it a last time. Throws when the state is lost. */
  close(): Promise<void>;
}

/** Where states are kept: what `create` takes as `storage`. */
export interface StateKeeping {
  /**
   * Makes the keeper of one mesh.
   *
   * @internal
   */
  keeperOf(parts: { readonly clock: Clock; readonly hub: Hub }): StateKeeper;
}
