/**
 * The TypeScript compiler, in the version used by builds and generators. Not an `npm:` entry of `deno.json`, since Deno
 * downloads those before running any task.
 * @module
 */
export { default } from "npm:typescript@5.9.3";
