/**
 * Controls of a mesh: its state, its configuration, its providers.
 * @module
 */
import type { MeshConfigBase } from "../config/load/mesh_config.ts";
import type { NewProvider } from "../config/load/new_provider.ts";
import type { ProviderHealth, SyncStatus } from "../contracts/discovery.ts";
import type { RequestBody } from "../contracts/openai.ts";
import type { Storage } from "../contracts/storage.ts";
import type { Engine } from "../engine/engine.ts";
import type { Explanation } from "../pipeline/explain.ts";
import { describeLeftOut } from "../state/persistence/snapshot_codec.ts";
import type { MeshSnapshot } from "../state/persistence/snapshot.ts";
import { SnapshotMapper } from "../state/persistence/snapshot_mapper.ts";
import type { ExplainOptions } from "./explain.ts";

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
  const message = describeLeftOut(new SnapshotMapper(engine.state, engine.runtime.clock).restore(snapshot));
  if (message !== undefined) engine.warn([message]);
  engine.publishMembers();
}

/** Adds a provider to an engine that is ready. */
export async function addProvider(provider: NewProvider, engine: Engine): Promise<void> {
  const { document } = await findConfig(engine);
  const { addProvider } = await import("../engine/add_provider.ts"); // most programs add none
  engine.config = await addProvider(provider, { engine, document });
}

/** Writes the configuration of an engine that is ready to a file or a storage. */
export async function saveConfig(target: string | Storage, engine: Engine): Promise<void> {
  const [config, save] = await Promise.all([findConfig(engine), import("../config/load/save.ts")]);
  if (typeof target === "string") await save.saveConfigFile(config, target, engine.runtime.files);
  else await save.storeConfig(config, { storage: target, clock: engine.runtime.clock });
}

/** Lists the models of the providers of an engine that is ready. */
export function sync(engine: Engine): Promise<readonly SyncStatus[]> {
  return engine.lifecycle!.monitoring.sync();
}

/** Probes a provider of an engine that is ready. */
export function runProbe(provider: string, engine: Engine): Promise<ProviderHealth> {
  return engine.lifecycle!.monitoring.probe(provider);
}

/** Explains where an engine that is ready would route a request. */
export async function explain(request: RequestBody, options: ExplainOptions, engine: Engine): Promise<Explanation> {
  const { explainRequest } = await import("./explain.ts"); // imported on demand
  return explainRequest(request, { ...options, engine, poolFor: () => engine.registry.pools[0]?.name ?? "" });
}

/** The configuration of an engine; of one without, what its providers and pools amount to. */
async function findConfig(engine: Engine): Promise<MeshConfigBase> {
  if (engine.config !== undefined) return engine.config;
  const { configOfDetection } = await import("../engine/config_of_detection.ts");
  return configOfDetection(engine);
}
