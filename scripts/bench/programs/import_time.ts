/**
 * Prints how long the import of a module takes, ms. Takes its URL.
 * @module
 */
const from = performance.now();
await import(Deno.args[0]!);
console.log(performance.now() - from);
