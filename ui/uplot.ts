/**
 * The chart library. It is not an `npm:` entry of `deno.json`, since Deno downloads every one of those before it runs any
 * task, the demo too.
 * @module
 */
export { default as uPlot } from "npm:uplot@1.6.32";
