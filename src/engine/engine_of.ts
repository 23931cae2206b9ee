/**
 * The way from a facade to its engine, for our own rooms: programs have no use for the engine's parts.
 * @module
 */
import { MeshError } from "../errors.ts";
import type { Engine } from "./engine.ts";
import { engineKey, type Mesh } from "./mesh.ts";

/**
 * The engine behind what a program has.
 *
 * @param mesh A `ModelMesh`, or the `mesh` of a client or a proxy.
 * @throws {MeshError} `not_a_mesh` for anything else.
 */
export function engineOf(mesh: Mesh): Engine {
  const engine = (mesh as unknown as Partial<Record<symbol, Engine>> | undefined)?.[engineKey];
  if (engine !== undefined) return engine;
  throw new MeshError("Expected a ModelMesh, or the `mesh` of a client or a proxy", { code: "not_a_mesh" });
}
