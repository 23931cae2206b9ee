/**
 * Recognizes secrets by the names of their variables and settings.
 * @module
 */
import type { Runtime } from "../contracts/runtime.ts";
import type { Redactor } from "./redact.ts";

/** Matches names of variables and settings whose values are secrets. */
const secretNames =
  /(^|[_-])(api[_-]?key|authorization|token|secret|password|passphrase|secret_access_key|private_key)$/i;

/** Maximum nesting depth of settings. */
const maxDepth = 4;

/**
 * Wraps a runtime so that secret environment variables are redacted once they are read. Connectors read some that no
 * configuration names, such as `AWS_SESSION_TOKEN`.
 */
export function withSecretVariables(runtime: Runtime, redactor: Redactor): Runtime {
  const seen = new Set<string>();
  return {
    ...runtime,
    env(name) {
      const value = runtime.env(name);
      if (value !== undefined && secretNames.test(name) && !seen.has(value)) {
        seen.add(value);
        redactor.add(value.trim());
      }
      return value;
    },
  };
}

/** Redacts secrets that a connector's settings contain literally. */
export function addSecretSettings(settings: unknown, redactor: Redactor): void {
  const visit = (value: unknown, name: string, depth: number) => {
    if (typeof value === "string" && secretNames.test(name)) redactor.add(value.trim());
    if (typeof value !== "object" || value === null || depth === maxDepth) return;
    for (const [key, member] of Object.entries(value)) visit(member, key, depth + 1);
  };
  visit(settings, "", 0);
}
