/**
 * The built npm package.
 * @module
 */
import { stop } from "../../scripts/npm/esbuild.ts";
import { buildPackage } from "../../scripts/npm/package.ts";

/**
 * Returns the path of the package: the one that `MODELMESH_PACKAGE` names, which the gate has built, else one that is
 * built now.
 *
 * @param folder Absolute path of a folder to build it in.
 */
export async function findPackage(folder: string): Promise<string> {
  const built = Deno.env.get("MODELMESH_PACKAGE");
  if (built !== undefined) return built;
  await buildPackage(new URL(`file://${folder}/package/`)).finally(stop);
  return `${folder}/package`;
}
