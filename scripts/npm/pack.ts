/**
 * Packs the npm package into a tarball.
 * @module
 */
import { fromFileUrl, root } from "./files.ts";
import { buildPackage } from "./package.ts";
import { run } from "./process.ts";

/** Where the built package is. */
export interface PackOptions {
  /** Folder of a package that is built already, or a tarball, relative to the repository; by default it is built. */
  readonly built?: string;
}

/**
 * Packs the package.
 *
 * @param folder Path of the tarball's folder.
 * @returns Path of the tarball.
 * @throws {Error} When it cannot be built or packed.
 */
export async function packPackage(folder: string, { built }: PackOptions = {}): Promise<string> {
  const source = built === undefined ? `${folder}/package` : fromFileUrl(new URL(built, root));
  if (source.endsWith(".tgz")) return source;
  if (built === undefined) await buildPackage(new URL(`file://${source}/`));
  const { out } = await run(["npm", "pack", "--json", "--pack-destination", folder], { folder: source });
  const [packed] = JSON.parse(out) as { filename: string }[];
  return `${folder}/${packed!.filename.replace("@", "").replace("/", "-")}`;
}
