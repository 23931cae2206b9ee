/**
 * Prints the import time of a module, ms. Argument: its URL.
 * @module
 */
const from = performance.now();
await import(Deno.args[0]!);
console.log(performance.now() - from);
