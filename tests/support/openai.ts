/**
 * OpenAI's own client, as tests import it: `import OpenAI from "openai"`. Not an `npm:` entry of `deno.json`, since
 * Deno downloads every one of those before it runs any task, the demo too.
 * @module
 */
export * from "npm:openai@7.55.0";
export { default } from "npm:openai@7.55.0";
