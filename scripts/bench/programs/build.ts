/**
 * Builds a package into a folder. A separate program, since its imports come from npm. Arguments: jsr or npm; the folder.
 * @module
 */
import { pathToFileURL } from "node:url";
import { buildJsrPackage } from "../../jsr/package.ts";
import { stop } from "../../npm/esbuild.ts";
import { buildPackage } from "../../npm/package.ts";

const [registry, folder] = Deno.args;
await (registry === "jsr" ? buildJsrPackage : buildPackage)(pathToFileURL(`${folder}/`)).finally(stop);
