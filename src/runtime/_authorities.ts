/**
 * Certificate authorities beside those of the runtime: files named by `NODE_EXTRA_CA_CERTS`, `SSL_CERT_FILE` and
 * `DENO_CERT`. Each runtime reads some of them by itself.
 * @module
 */
import { builtin } from "./_node_builtin.ts";

/**
 * Reads certificates from the files that variables name.
 *
 * @returns PEM texts; a file that cannot be read adds nothing, as in the runtimes.
 */
export function authorities(names: readonly string[], env: (name: string) => string | undefined): string[] {
  const paths = new Set(names.flatMap((name) => env(name)?.trim() || []));
  return [...paths].flatMap((path) => {
    try {
      return builtin("node:fs").readFileSync(path, "utf8");
    } catch {
      return [];
    }
  });
}
