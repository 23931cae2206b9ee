/**
 * Loads `jose`, which verifies the signatures of JWTs, once it is needed.
 * @module
 */
import { ConfigError } from "../../errors.ts";
import { onceResolved } from "../../util/once.ts";

/** Finds the key of a signature among several. Rejects with the code `ERR_JWKS_NO_MATCHING_KEY` if there is none. */
export type KeyFinder = (header: object, token: object) => Promise<unknown>;

/** The used part of `jose`. Its errors have codes that begin with `ERR_J`. */
export interface JoseModule {
  createLocalJWKSet(keys: object): KeyFinder;
  decodeJwt(token: string): Readonly<Record<string, unknown>>;
  jwtVerify(token: string, key: unknown, options: {
    readonly issuer: string;
    readonly audience: string[];
    readonly algorithms: string[];
    readonly requiredClaims: string[];
    /** Tolerance of clocks, s. */
    readonly clockTolerance: number;
    readonly currentDate: Date;
  }): Promise<{ readonly payload: Readonly<Record<string, unknown>> }>;
}

/** Bundlers treat an import whose rejection is handled as optional. */
function notInstalled(error: unknown): never {
  throw error;
}

const importInstalled = (): Promise<unknown> =>
  // deno-lint-ignore no-import-prefix -- an entry in deno.json would be downloaded before any task
  import("npm:jose@6.2.17").catch(notInstalled);

/**
 * Imports the package.
 *
 * @param importPackage Imports a replacement of the installed one.
 * @throws {ConfigError} If it is not installed.
 */
export async function importJose(importPackage: () => Promise<unknown> = importInstalled): Promise<JoseModule> {
  try {
    return await importPackage() as JoseModule;
  } catch {
    const message = 'requires the package "jose", which is not installed: add it with "npm install jose@6"';
    throw new ConfigError([{ path: "proxy.auth.jwt", message }]);
  }
}

/** The same, once. */
export const loadJose: () => Promise<JoseModule> = onceResolved(() => importJose());
