/**
 * npm packages that a module loads when it is needed: optional peer dependencies of the package.
 * @module
 */

/** Name to version, the one that `npm:` imports name. */
export const optionalPackages: Readonly<Record<string, string>> = {
  "@cfworker/json-schema": "4.1.6",
  "@msgpack/msgpack": "3.1.3",
  "@redis/client": "6.3.1",
};
