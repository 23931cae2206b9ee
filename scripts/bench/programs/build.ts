/**
 * Builds our npm package into a folder. A program of its own, since what it imports comes from npm.
 * @module
 */
import { pathToFileURL } from "node:url";
import { stop } from "../../npm/esbuild.ts";
import { buildPackage } from "../../npm/package.ts";

await buildPackage(pathToFileURL(`${Deno.args[0]}/`));
await stop();
