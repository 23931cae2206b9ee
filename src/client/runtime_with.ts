/**
 * A runtime with some of its doors replaced by the program.
 * @module
 */
import type { PluggableConnector } from "../contracts/connector.ts";
import type { Runtime } from "../contracts/runtime.ts";
import type { CreateOptions } from "./options.ts";

/** A runtime, and how it makes an HTTP client. */
interface RuntimeParts {
  /** The door to the outside. */
  readonly runtime: Runtime;
  /** An HTTP client over a `fetch` that the program gives. */
  readonly sendWith: (fetcher: typeof fetch) => Runtime["send"];
}

/** The same with its connectors. */
export interface ConnectedRuntime extends RuntimeParts {
  /** Those that can be named, in order of detection. */
  readonly connectors: readonly PluggableConnector[];
}

/**
 * A runtime with some of its doors replaced.
 *
 * @param parts The runtime.
 * @param options What replaces them.
 */
export function runtimeWith(
  { runtime, sendWith }: RuntimeParts,
  { env, fetch, clock, random }: Pick<CreateOptions, "env" | "fetch" | "clock" | "random">,
): Runtime {
  return {
    ...runtime,
    clock: clock ?? runtime.clock,
    random: random ?? runtime.random,
    ...(fetch && { send: sendWith(fetch), readAuthorities: undefined }), // a program's `fetch` trusts what it trusts
    env: env === undefined ? runtime.env : typeof env === "function" ? env : (name) => env[name],
  };
}
