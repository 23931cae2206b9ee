/**
 * Does nothing: measures the startup time of Deno.
 * @module
 */
