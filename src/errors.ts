/**
 * All errors that ModelMesh throws. They carry facts; `src/proxy/error_body.ts` maps them to HTTP responses.
 * `X.isInstance(error)` also recognizes errors created by another copy of the package in the same process.
 * @module
 */
export * from "./errors/base.ts";
export * from "./errors/provider.ts";
