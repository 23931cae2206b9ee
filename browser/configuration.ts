/**
 * `MeshConfig` and `ModelMesh` in a page: what may name any connector that a page can have.
 * @module
 */
import { browserConnectors } from "../connectors/browser_connectors.ts";
import { ModelMeshBase } from "../src/client/model_mesh.ts";
import type { MeshOptions } from "../src/client/options.ts";
import { bindPlan } from "../src/client/planned_config.ts";
import type { SettingsPlan } from "../src/config/build/explicit.ts";
import { checkDocument, type CheckedDocument, MeshConfigBase } from "../src/config/load/mesh_config.ts";
import { knownConnectors } from "../src/config/settings/known.ts";
import type { Connector } from "../src/contracts/connector.ts";
import type { SecretStore } from "../src/contracts/secret_store.ts";
import { NoProvidersError } from "../src/errors.ts";
import { browserRuntime, sendWith } from "../src/runtime/browser.ts";

export { MeshConfigBase, ModelMeshBase };

/** What {@linkcode MeshConfig.parse} takes beside a document. */
export interface ParseOptions {
  /** Where its secret references are looked up, when a client becomes ready. */
  readonly secrets?: SecretStore;
}

/**
 * A configuration as a value: parsed, checked whole, and written again. There are no files in a browser.
 *
 * @example
 * ```ts ignore
 * const document = await (await fetch("/modelmesh.json")).json();
 * const client = create({ config: MeshConfig.parse(document, { secrets: browserSecrets() }) });
 * ```
 */
export class MeshConfig extends MeshConfigBase {
  private constructor(checked: CheckedDocument, secrets: SecretStore | undefined) {
    super(checked);
    bindPlan(this, () => planOf(checked, secrets));
  }

  /**
   * Checks a document.
   *
   * @param document A configuration as an object.
   * @param options Where its secrets are.
   * @throws {ConfigError} With everything that is wrong.
   */
  static parse(document: unknown, { secrets }: ParseOptions = {}): MeshConfig {
    return new MeshConfig(checkDocument(document, { known: knownConnectors(browserConnectors()) }), secrets);
  }
}

/** What a client is made of. */
function planOf({ settings }: CheckedDocument, secrets: SecretStore | undefined): SettingsPlan {
  if (settings.providers.size === 0) {
    throw new NoProvidersError('The configuration has no "providers", and a browser has no environment to find any in');
  }
  const store: Connector[] = secrets === undefined
    ? []
    : [{ id: settings.secrets!.store, kind: "secretStore", create: () => secrets }];
  return { settings, connectors: [...browserConnectors(), ...store] };
}

/**
 * The engine behind clients, for pages that want it bare: its statistics, states, and what an operator may do.
 *
 * @example
 * ```ts ignore
 * const mesh = new ModelMesh();
 * await mesh.initialize(document);
 * console.log(mesh.stats());
 * ```
 */
export class ModelMesh extends ModelMeshBase {
  /**
   * Makes one.
   *
   * @param options HTTP client, time and chance, where they are not the browser's own; where states are kept.
   */
  constructor(options: MeshOptions = {}) {
    super({ connectors: browserConnectors(), runtime: browserRuntime(), sendWith }, options);
  }
}
