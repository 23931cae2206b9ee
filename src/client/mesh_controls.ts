/**
 * Controls of a mesh that act at once: manual standby, export and import of the state.
 * @module
 */
import type { Engine } from "../engine/engine.ts";
import { leftOutOf } from "../state/persistence/snapshot_codec.ts";
import type { MeshSnapshot } from "../state/persistence/snapshot.ts";
import { SnapshotMapper } from "../state/persistence/snapshot_mapper.ts";

export { activate, deactivate } from "../background/manual.ts";

/** Returns a snapshot of the state as plain JSON. */
export function exportState({ state, runtime }: Engine): MeshSnapshot {
  return new SnapshotMapper(state, runtime.clock).snapshot();
}

/**
 * Restores a snapshot. An entry that cannot be read is skipped with a warning.
 *
 * @throws {MeshError} `invalid_state` when it is not a snapshot. Nothing has changed then.
 */
export function importState(snapshot: unknown, engine: Engine): void {
  const message = leftOutOf(new SnapshotMapper(engine.state, engine.runtime.clock).restore(snapshot));
  if (message !== undefined) engine.warn([message]);
  engine.publishMembers();
}
