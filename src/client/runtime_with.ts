/**
 * Replaces parts of a runtime by those that a program supplies.
 * @module
 */
import type { PluggableConnector } from "../contracts/connector.ts";
import type { Runtime } from "../contracts/runtime.ts";
import { ConfigError } from "../errors.ts";
import type { CreateOptions } from "./options.ts";

/** A runtime, and a factory for its HTTP client. */
interface RuntimeParts {
  /** The runtime port. */
  readonly runtime: Runtime;
  /** Makes an HTTP client over a given `fetch`. */
  readonly sendWith: (fetcher: typeof fetch) => Runtime["send"];
}

/** A runtime with its connectors. */
export interface ConnectedRuntime extends RuntimeParts {
  /** Connectors that can be named, in order of detection. */
  readonly connectors: readonly PluggableConnector[];
}

/**
 * Returns the runtime with the given parts replaced.
 *
 * @param options Environment, `fetch`, clock and random number generator; each replaces the runtime's own when given.
 */
export function runtimeWith(
  { runtime, sendWith }: RuntimeParts,
  { env, fetch, clock, random }: Pick<CreateOptions, "env" | "fetch" | "clock" | "random">,
): Runtime {
  return {
    ...runtime,
    clock: clock ?? runtime.clock,
    random: random ?? runtime.random,
    ...(fetch && { send: sendWith(fetch), readAuthorities: undefined }), // `fetch` brings its own authorities
    env: env === undefined ? runtime.env : checkedEnv(env),
  };
}

/** An environment that a program supplies. Its values are checked: it may be asynchronous by mistake, or have numbers. */
function checkedEnv(env: NonNullable<CreateOptions["env"]>): Runtime["env"] {
  const found = typeof env === "function" ? env : (name: string) => Object(env)[name];
  return (name) => {
    const value: unknown = found(name);
    if (value === undefined || value === null || typeof value === "string") return value ?? undefined;
    if (value instanceof Promise) value.catch(() => {}); // the error below says enough
    const kind = value instanceof Promise ? "a promise" : typeof value === "object" ? "an object" : `a ${typeof value}`;
    const message = `expected a string or undefined, found ${kind}`;
    throw new ConfigError([{ path: `env.${name}`, message }]);
  };
}
