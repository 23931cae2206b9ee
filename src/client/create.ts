/**
 * The front door: `create`.
 * @module
 */
import { CapabilityTree } from "../capability/tree.ts";
import { loadDocument } from "../config/load.ts";
import { settingsOf, settingsOfDetection } from "../config/sources.ts";
import type { Connector } from "../contracts/connector.ts";
import type { Runtime } from "../contracts/runtime.ts";
import { ConfigError, MeshError } from "../errors.ts";
import { Mesh } from "../mesh.ts";
import { resolveCapability } from "../pipeline/resolve_capability.ts";
import { addLeafPools } from "../registry/build.ts";
import type { Registry } from "../registry/registry.ts";
import { MeshClient } from "./client.ts";
import type { CreateOptions } from "./options.ts";

/** What `create` works with. */
export interface CreateParts {
  /** Connectors, in order of detection. */
  readonly connectors: readonly Connector[];
  /** The door to the outside. */
  readonly runtime: Runtime;
  /** An HTTP client over a `fetch` that the program gives. */
  readonly sendWith: (fetcher: typeof fetch) => Runtime["send"];
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
    const path = options.capability === undefined ? undefined : pathOf(options.capability);
    const addPools = path === undefined ? addLeafPools : (registry: Registry) => void registry.poolAt(path, true);
    mesh.configure(settingsOfDetection(mesh.surroundings, options), addPools);
    checkTarget(mesh, options);
  } else refuseBoth(options);
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

/** A pool or capability that the configuration does not know is told at once, not at every call. */
function checkTarget({ registry }: Mesh, { pool, capability }: CreateOptions): void {
  for (const [path, name] of Object.entries({ pool, capability })) {
    if (name === undefined) continue;
    try {
      resolveCapability(name, registry);
    } catch (error) {
      if (!MeshError.isInstance(error)) throw error;
      throw new ConfigError([{ path, message: error.message }]);
    }
  }
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

function pathOf(capability: string): string {
  const tree = new CapabilityTree();
  const paths = tree.matches(capability);
  if (paths.length === 1) return paths[0]!;
  const choices = paths.length > 1 ? paths : tree.nearest(capability);
  throw new ConfigError([{
    path: "capability",
    message: paths.length > 1
      ? `"${capability}" is ambiguous: use ${choices.join(" or ")}`
      : `"${capability}" is no capability; the nearest are ${choices.map((name) => `"${name}"`).join(", ")}`,
  }]);
}

function refuseBoth(options: CreateOptions): void {
  const problems = (["providers", "models", "strategy"] as const)
    .filter((name) => options[name] !== undefined)
    .map((name) => ({ path: name, message: "goes without `config`: say it in the configuration" }));
  if (problems.length > 0) throw new ConfigError(problems);
}

/**
 * A runtime with some of its doors replaced.
 *
 * @param parts The runtime.
 * @param options What replaces them.
 */
export function runtimeWith(
  { runtime, sendWith }: Pick<CreateParts, "runtime" | "sendWith">,
  { env, fetch, clock, random }: Pick<CreateOptions, "env" | "fetch" | "clock" | "random">,
): Runtime {
  return {
    ...runtime,
    ...(clock === undefined ? {} : { clock }),
    ...(random === undefined ? {} : { random }),
    ...(fetch === undefined ? {} : { send: sendWith(fetch) }),
    ...(env === undefined ? {} : { env: typeof env === "function" ? env : (name: string) => env[name] }),
  };
}
