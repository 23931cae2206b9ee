/**
 * Builds the npm package into a folder. A separate program, since its imports come from npm. Argument: the folder.
 * @module
 */
import { pathToFileURL } from "node:url";
import { stop } from "../../npm/esbuild.ts";
import { buildPackage } from "../../npm/package.ts";

await buildPackage(pathToFileURL(`${Deno.args[0]}/`)).finally(stop);
