/**
 * Builds the JSR package into `jsr/`.
 * @module
 */
import { buildJsrPackage } from "./jsr/package.ts";
import { stop } from "./npm/esbuild.ts";
import { root } from "./npm/files.ts";

if (import.meta.main) await buildJsrPackage(new URL("jsr/", root)).finally(stop);
