/**
 * An independent verifier of webhooks. Not an `npm:` entry of `deno.json`, since Deno downloads those before running
 * any task.
 * @module
 */
export { Webhook } from "npm:standardwebhooks@1.1.1";
