/**
 * npm packages that are imported on demand: optional peer dependencies of the package.
 * @module
 */

/** Versions by name, as in `npm:` imports. */
export const optionalPackages: Readonly<Record<string, string>> = {
  "@cfworker/json-schema": "4.1.6",
  "@msgpack/msgpack": "3.1.3",
  "@redis/client": "6.3.1",
  "jose": "6.2.17",
  "postgres": "3.4.9",
  "re2js": "2.10.0",
  "ws": "8.23.0",
};
