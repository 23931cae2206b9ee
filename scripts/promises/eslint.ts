/**
 * The linter of promises, pinned. Not `npm:` entries of `deno.json`, since Deno downloads those before running any task.
 * @module
 */
export { Linter } from "npm:eslint@10.15.0";
export { default as rules } from "npm:@typescript-eslint/eslint-plugin@8.74.0";
export * as parser from "npm:@typescript-eslint/parser@8.74.0";
