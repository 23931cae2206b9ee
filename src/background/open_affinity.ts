/**
 * Prompt-cache affinity of a mesh. Imported when it starts with a pool that has it.
 * @module
 */
import type { Runtime } from "../contracts/runtime.ts";
import { affinityWarnings } from "../pipeline/affinity.ts";
import type { Registry } from "../registry/registry.ts";
import { Conversations } from "../state/model/conversations.ts";
import type { MeshState } from "../state/model/mesh_state.ts";

/** Remembers conversations from now on, besides those of an earlier configuration; warns of pools that save nothing. */
export function openAffinity({ state, registry }: {
  readonly state: MeshState;
  readonly registry: Registry;
}, { runtime: { clock }, warn }: {
  readonly runtime: Pick<Runtime, "clock">;
  readonly warn: (messages: readonly string[]) => void;
}): void {
  state.conversations ??= new Conversations(clock);
  warn(affinityWarnings(registry.pools, clock.now()));
}
