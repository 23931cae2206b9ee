/**
 * esbuild, in the version used by builds and tests. Not an `npm:` entry of `deno.json`, since Deno downloads those
 * before running any task.
 * @module
 */
export * from "npm:esbuild@0.25.9";
