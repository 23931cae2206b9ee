/**
 * Nothing: what it takes to start Deno.
 * @module
 */
