/**
 * The configuration of an engine whose providers were detected or named, not configured.
 * @module
 */
import { checkedDocument, MeshConfigBase } from "../config/load/mesh_config.ts";
import { detectedDocument } from "../config/load/new_provider.ts";
import { readSettings } from "../config/load/sources.ts";
import { createConfigContext } from "../registry/catalogue.ts";
import type { Engine } from "./engine.ts";

/**
 * Returns a configuration that has the same effect: the providers, and the pools that exist.
 *
 * @throws {ConfigError} When a provider cannot be expressed in a document, such as an instance of the program.
 */
export function configOfDetection(engine: Engine): MeshConfigBase {
  const context = createConfigContext(engine);
  const document = detectedDocument({ settings: engine.settings, pools: engine.listPools(), context });
  return new MeshConfigBase(checkedDocument(document, readSettings(document, context)));
}
