/**
 * Anthropic's client, for `import Anthropic from "@anthropic-ai/sdk"`. Like OpenAI's, not an `npm:` entry of
 * `deno.json`.
 * @module
 */
export * from "npm:@anthropic-ai/sdk@1.12.0";
export { default } from "npm:@anthropic-ai/sdk@1.12.0";
