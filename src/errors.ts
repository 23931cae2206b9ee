/**
 * Every error ModelMesh throws. They carry facts; `src/proxy/error_body.ts` turns them into HTTP.
 * `X.isInstance(error)` also recognises errors of another copy of the package in the same process.
 * @module
 */
export * from "./errors/base.ts";
export * from "./errors/configuration.ts";
export * from "./errors/provider.ts";
export * from "./errors/request.ts";
