/**
 * Returns the engine behind a facade, for internal use: the engine's parts are not public.
 * @module
 */
import { MeshError } from "../errors.ts";
import type { Engine } from "./engine.ts";
import { engineKey, type Mesh } from "./mesh.ts";

/**
 * Returns the engine behind a mesh.
 *
 * @param mesh A `ModelMesh`, or the `mesh` of a client or a proxy.
 * @throws {MeshError} `not_a_mesh` for any other value.
 */
export function getEngine(mesh: Mesh): Engine {
  const engine = (mesh as unknown as Partial<Record<symbol, Engine>> | undefined)?.[engineKey];
  if (engine !== undefined) return engine;
  throw new MeshError("Expected a ModelMesh, or the `mesh` of a client or a proxy", { code: "not_a_mesh" });
}
