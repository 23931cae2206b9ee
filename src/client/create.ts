/**
 * The front door: `create`.
 * @module
 */
import { configuredState } from "../background/configured_state.ts";
import { serverParts } from "../background/server_parts.ts";
import { loadDocument } from "../config/load.ts";
import { settingsOf, settingsOfDetection } from "../config/sources.ts";
import type { Connector } from "../contracts/connector.ts";
import { ConfigError } from "../errors.ts";
import { Mesh } from "../mesh.ts";
import { checkChatRequest } from "../pipeline/check_request.ts";
import { surroundingsOf } from "../registry/catalogue.ts";
import { nearestCapabilities } from "../capability/nearest.ts";
import { checkTarget, poolsFor, refuseBeside } from "./_target.ts";
import { narrowingOf } from "./narrowing_of.ts";
import type { CreateOptions } from "./options.ts";
import { type RuntimeParts, runtimeWith } from "./runtime_with.ts";
import { ServerClient } from "./server_client.ts";

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
export function createClient(parts: CreateParts, first: string | CreateOptions, second?: CreateOptions): ServerClient {
  const options: CreateOptions = typeof first === "string" ? { ...second, capability: first } : first;
  const runtime = runtimeWith(parts, options);
  const mesh: Mesh = new Mesh({
    ...serverParts,
    connectors: parts.connectors,
    runtime,
    on: options.on,
    storage: keepingOf(options) ?? configuredState(() => mesh),
  });
  const { config } = options;
  if (config === undefined) {
    const addPools = poolsFor(options.capability, nearestCapabilities);
    mesh.configure(settingsOfDetection(surroundingsOf(mesh), options), addPools);
    checkTarget(mesh, options);
  } else refuseBeside(options);
  if (typeof config === "object") configureWith(mesh, config, options);
  return new ServerClient({
    mesh,
    capability: options.capability ?? null,
    middleware: [options.middleware ?? []].flat(),
    check: checkChatRequest,
    narrowingOf,
    pool: options.pool,
    load: typeof config === "string" ? () => load(mesh, config, options) : undefined,
  });
}

/** Programs in plain JavaScript may pass a bare storage. */
function keepingOf({ storage }: CreateOptions): CreateOptions["storage"] {
  if (storage === undefined || typeof storage?.keeperOf === "function") return storage;
  throw new ConfigError([{ path: "storage", message: "expected what stateIn(…) returns" }]);
}

function configureWith(mesh: Mesh, document: unknown, options: CreateOptions, source?: string): void {
  const { apiKeys } = options;
  mesh.configure(settingsOf(document, surroundingsOf(mesh), {
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
