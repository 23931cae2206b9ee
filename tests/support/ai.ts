/**
 * Vercel's AI SDK, for `import { streamText } from "ai"` in examples of doc comments. Not an `npm:` entry of `deno.json`,
 * since Deno downloads those before running any task, including the demo.
 * @module
 */
export * from "npm:ai@7.0.173";
