/**
 * The bundler, in the one version that builds and tests use. Not an `npm:` entry of `deno.json`, since Deno downloads
 * those before any task.
 * @module
 */
export * from "npm:esbuild@0.25.9";
