/**
 * The shared base of model servers on one's own machine: their variables often hold a bare `host:port`.
 * @module
 */
import type { ProviderConnector } from "../../src/contracts/connector.ts";
import type { ParameterRules } from "../../src/contracts/provider.ts";
import { openAiCompatible } from "./_openai_compatible.ts";

/** What sets a local server apart. */
export interface LocalServer {
  /** Connector id. */
  readonly id: string;
  /** Prefix of its models' names. */
  readonly vendor: string;
  /** The port it listens on unless told otherwise. */
  readonly port: number;
  /** Prefix of its variables: `<PREFIX>_HOST` and `<PREFIX>_BASE_URL`, either of which says that it is there. */
  readonly prefix: string;
  /** Variables that hold a key, where the server asks for one; a key alone does not say that it is there. */
  readonly keys?: readonly string[];
  /** Rewording all its models need. */
  readonly parameters?: ParameterRules;
}

/**
 * Makes a connector of a declaration.
 *
 * @param server What sets the server apart.
 */
export function localServer({ id, vendor, port, prefix, keys = [], parameters }: LocalServer): ProviderConnector {
  const base = openAiCompatible({
    id,
    vendor,
    baseUrl: `http://127.0.0.1:${port}/v1`,
    detection: { keys, baseUrl: [`${prefix}_BASE_URL`], host: [`${prefix}_HOST`, `${prefix}_BASE_URL`] },
    local: true,
    ...(parameters === undefined ? {} : { parameters }),
  });
  return {
    ...base,
    create: ({ baseUrl, ...settings }, runtime) =>
      base.create(
        typeof baseUrl === "string" && baseUrl !== ""
          ? { ...settings, baseUrl: localAddress(baseUrl, port) }
          : settings,
        runtime,
      ),
  };
}

/**
 * A callable address of what a server's variable says: a bare host gets a scheme and the usual port, an address to
 * listen on becomes the loopback one, a missing path the version prefix.
 *
 * @param address Such as `0.0.0.0:11434`, `:11434`, `gpu-box` or a whole URL.
 * @param port The server's usual port.
 *
 * @example
 * ```ts ignore
 * localAddress("0.0.0.0:11434", 11434); // http://127.0.0.1:11434/v1
 * ```
 */
export function localAddress(address: string, port: number): string {
  const [, scheme, host = "", path = ""] = /^(https?:\/\/)?([^/]*)(\/.*)?$/i.exec(address.trim()) ?? [];
  const [, name = "", ownPort] = /^(.*?)(:\d+)?$/.exec(host) ?? [];
  const isAnyInterface = name === "" || name === "0.0.0.0" || name === "[::]";
  const authority = `${isAnyInterface ? "127.0.0.1" : name}${ownPort ?? (scheme === undefined ? `:${port}` : "")}`;
  return `${scheme ?? "http://"}${authority}${path.replace(/\/+$/, "") || "/v1"}`;
}
