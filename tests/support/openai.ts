/**
 * OpenAI's client, for `import OpenAI from "openai"`. Not an `npm:` entry of `deno.json`, since Deno downloads those
 * before running any task, including the demo.
 * @module
 */
export * from "npm:openai@7.55.0";
export { default } from "npm:openai@7.55.0";
