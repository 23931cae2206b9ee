/**
 * An independent verifier of webhooks. Not an `npm:` entry of `deno.json`, since Deno would download it before any task.
 * @module
 */
export { Webhook } from "npm:standardwebhooks@1.1.1";
