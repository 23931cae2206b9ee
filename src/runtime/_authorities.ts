/**
 * Certificate authorities in addition to those of the runtime: files named by `NODE_EXTRA_CA_CERTS`, `SSL_CERT_FILE`
 * and `DENO_CERT`, some of which a runtime may read itself, and configured files.
 * @module
 */
import type { Authorities } from "../contracts/runtime.ts";
import { describeDenial } from "../util/denial.ts";
import { builtin } from "./_node_builtin.ts";

/**
 * Reads certificates from files named by environment variables.
 *
 * @returns PEM strings. Unreadable files are ignored, as by the runtimes.
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

const certificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** By content, so that connections continue to be used after a reload with the same certificates. */
const parsed = new Map<string, Authorities>();

/**
 * Reads a file of certificates.
 *
 * @returns The same object for the same certificates.
 * @throws {Error} If it cannot be read, contains no certificate, or a malformed one.
 */
export async function readAuthorities(path: string): Promise<Authorities> {
  const text = await builtin("node:fs").promises.readFile(path, "utf8").catch((error) => {
    throw new Error(reasons[error?.code] ?? describeDenial(error, { path }) ?? "the file cannot be read");
  });
  const certificates: string[] = text.match(certificate) ?? [];
  if (certificates.length === 0) {
    throw new Error('the file holds no certificate in PEM ("-----BEGIN CERTIFICATE-----")');
  }
  const { X509Certificate } = builtin("node:crypto");
  certificates.forEach((pem, index) => {
    try {
      new X509Certificate(pem);
    } catch {
      throw new Error(`certificate ${index + 1} of ${certificates.length} in the file is malformed`);
    }
  });
  const joined = certificates.join("\n");
  const found = parsed.get(joined) ?? { key: `authorities ${parsed.size + 1}`, certificates };
  parsed.set(joined, found);
  return found;
}

/** By error code of the file system. */
const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a folder, not a file",
  EACCES: "the file may not be read",
  EPERM: "the file may not be read",
};
