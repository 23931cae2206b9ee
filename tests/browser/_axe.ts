/**
 * What checks pages for people who use a keyboard or a screen reader. Not an `npm:` entry of `deno.json`, since Deno
 * downloads every one of those before it runs any task.
 * @module
 */
export { default as axe } from "npm:axe-core@4.14.1";
