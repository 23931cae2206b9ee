/**
 * `MeshConfig` and `ModelMesh` for pages, with all connectors that run in browsers.
 * @module
 */
import { browserConnectors } from "../connectors/browser_connectors.ts";
import { ModelMeshBase } from "../src/client/model_mesh.ts";
import type { MeshOptions } from "../src/client/options.ts";
import { bindPlan } from "../src/client/planned_config.ts";
import type { SettingsPlan } from "../src/config/build/explicit.ts";
import { checkDocument, type CheckedDocument, MeshConfigBase } from "../src/config/load/mesh_config.ts";
import { groupConnectors } from "../src/config/settings/known.ts";
import type { Connector } from "../src/contracts/connector.ts";
import type { SecretStore } from "../src/contracts/secret_store.ts";
import { NoProvidersError } from "../src/errors.ts";
import { browserRuntime, sendWith } from "../src/runtime/browser.ts";

export { MeshConfigBase, ModelMeshBase };

/** Options of {@linkcode MeshConfig.parse}. */
export interface ParseOptions {
  /** Store that resolves secret references when a client becomes ready. */
  readonly secrets?: SecretStore;
}

/**
 * A validated configuration, parsed from an object. Browsers have no files to load it from.
 *
 * @example
 * ```ts
 * import { browserSecrets, create, MeshConfig } from "@modelmesh/core/browser";
 *
 * const document = await (await fetch("/modelmesh.json")).json();
 * const client = create({ config: MeshConfig.parse(document, { secrets: browserSecrets() }) });
 * ```
 */
export class MeshConfig extends MeshConfigBase {
  private constructor(checked: CheckedDocument, secrets: SecretStore | undefined) {
    super(checked);
    bindPlan(this, () => createPlan(checked, secrets));
  }

  /**
   * Validates a configuration object.
   *
   * @param document The configuration as an object.
   * @param options The secret store of its references.
   * @throws {ConfigError} If the configuration is invalid; reports all errors at once.
   */
  static parse(document: unknown, { secrets }: ParseOptions = {}): MeshConfig {
    return new MeshConfig(checkDocument(document, { knownConnectors: groupConnectors(browserConnectors()) }), secrets);
  }
}

/** The plan from which a client is created. */
function createPlan({ settings }: CheckedDocument, secrets: SecretStore | undefined): SettingsPlan {
  if (settings.providers.size === 0) {
    throw new NoProvidersError('The configuration has no "providers", and a browser has no environment to find any in');
  }
  const store: Connector[] = secrets === undefined
    ? []
    : [{ id: settings.secrets!.store, kind: "secretStore", create: () => secrets }];
  return { settings, connectors: [...browserConnectors(), ...store] };
}

/**
 * The engine behind clients, for pages that use it directly: statistics, states and operator actions.
 *
 * @example
 * ```ts
 * import { ModelMesh } from "@modelmesh/core/browser";
 *
 * const mesh = new ModelMesh();
 * await mesh.initialize(await (await fetch("/modelmesh.json")).json());
 * console.log(mesh.stats());
 * ```
 */
export class ModelMesh extends ModelMeshBase {
  /**
   * Creates a mesh; `ModelMesh.initialize` starts it.
   *
   * @param options Replacements for the browser's HTTP client, clock and random source; the storage of its state.
   */
  constructor(options: MeshOptions = {}) {
    super({ connectors: browserConnectors(), runtime: browserRuntime(), sendWith }, options);
  }
}
