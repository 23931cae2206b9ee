/**
 * The compiler, in the one version that builds and generators use. Not an `npm:` entry of `deno.json`, since Deno
 * downloads every one of those before it runs any task.
 * @module
 */
export { default } from "npm:typescript@5.9.3";
