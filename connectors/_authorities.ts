/**
 * Certificate authorities that a connector trusts in addition to the runtime's own.
 * @module
 */
import type { Authorities, Runtime } from "../src/contracts/runtime.ts";
import { ConfigError, ConnectorError } from "../src/errors.ts";

/**
 * A runtime whose requests trust the certificate authorities of the setting `ca`. The file is read with the first
 * request; one that cannot be read fails every request until it can be.
 *
 * @param runtime The runtime; returned as it is if `ca` is not set.
 * @param settings All settings of a connector.
 * @param section The section of the configuration.
 * @throws {ConfigError} If `ca` is not a string, or the runtime does not support it.
 */
export function withAuthorities<Used extends Pick<Runtime, "send" | "readAuthorities">>(
  runtime: Used,
  { ca }: Readonly<Record<string, unknown>>,
  section: string,
): Used {
  if (ca === undefined) return runtime;
  const fail = (message: string): never => {
    throw new ConfigError([{ path: `${section}.ca`, message }]);
  };
  if (typeof ca !== "string" || ca.trim() === "") return fail("expected the path of a PEM file");
  if (runtime.readAuthorities === undefined) return fail("this runtime does not support certificate authorities");
  let authorities: Promise<Authorities> | undefined;
  const read = async () => {
    try {
      return await (authorities ??= runtime.readAuthorities!(ca));
    } catch (error) {
      authorities = undefined; // read again: the file may be written later
      throw new ConnectorError(`${section}.ca cannot be used: ${error instanceof Error ? error.message : "?"}`, error);
    }
  };
  return { ...runtime, send: async (request) => await runtime.send({ ...request, authorities: await read() }) };
}
