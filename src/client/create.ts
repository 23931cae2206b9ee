/**
 * The front door: `create`.
 * @module
 */
import { loadDocument } from "../config/load.ts";
import { settingsOf, settingsOfDetection } from "../config/sources.ts";
import type { Connector } from "../contracts/connector.ts";
import { ConfigError } from "../errors.ts";
import { Mesh } from "../mesh.ts";
import { checkTarget, poolsFor, refuseBeside } from "./_target.ts";
import { MeshClient } from "./client.ts";
import type { CreateOptions } from "./options.ts";
import { type RuntimeParts, runtimeWith } from "./runtime_with.ts";

/** What `create` works with. */
export interface CreateParts extends RuntimeParts {
  /** Connectors, in order of detection. */
  readonly connectors: readonly Connector[];
}

/**
 * Makes a client.
 *
 * @param parts Connectors and runtime.
 * @param first A capability, or the options.
 * @param second The options, after a capability.
 * @throws What can be known at once: an unknown capability, no provider, a bad configuration object.
 */
export function createClient(parts: CreateParts, first: string | CreateOptions, second?: CreateOptions): MeshClient {
  const options: CreateOptions = typeof first === "string" ? { ...second, capability: first } : first;
  const runtime = runtimeWith(parts, options);
  const mesh = new Mesh({
    connectors: parts.connectors,
    runtime,
    ...(options.on === undefined ? {} : { on: options.on }),
  });
  const { config } = options;
  if (config === undefined) {
    const addPools = poolsFor(options.capability);
    mesh.configure(settingsOfDetection(mesh.surroundings, options), addPools);
    checkTarget(mesh, options);
  } else refuseBeside(options);
  if (typeof config === "object") configureWith(mesh, config, options);
  return new MeshClient({
    mesh,
    capability: options.capability ?? null,
    middleware: [options.middleware ?? []].flat(),
    ...(options.pool === undefined ? {} : { pool: options.pool }),
    ...(typeof config === "string" ? { load: () => load(mesh, config, options) } : {}),
  });
}

function configureWith(mesh: Mesh, document: unknown, options: CreateOptions, source?: string): void {
  const { apiKeys } = options;
  mesh.configure(settingsOf(document, mesh.surroundings, {
    ...(source === undefined ? {} : { source }),
    ...(apiKeys === undefined ? {} : { apiKeys }),
  }));
  checkTarget(mesh, options);
}

async function load(mesh: Mesh, path: string, options: CreateOptions): Promise<void> {
  const { files } = mesh.runtime;
  if (files === undefined) {
    throw new ConfigError(
      [{ path: "", message: "this runtime has no files: pass the configuration as an object" }],
      path,
    );
  }
  configureWith(mesh, await loadDocument(path, files), options, path);
}
