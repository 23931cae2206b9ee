/**
 * What drives the browser, as tests import it. Not an `npm:` entry of `deno.json`, since Deno downloads every one of
 * those before it runs any task, the demo too.
 * @module
 */
export {
  type Browser,
  type BrowserContext,
  chromium,
  type ConsoleMessage,
  type Page,
} from "npm:playwright-core@1.65.1";
