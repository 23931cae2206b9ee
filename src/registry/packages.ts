/**
 * Connector packages: archives named by the configuration under `connectors.packages`.
 * @module
 */
import type { PackageEntry, PackageParts } from "./_package_loader.ts";

/**
 * Loads the packages of a configuration and registers their connectors, before the configuration is validated. The
 * loader is imported only if there are packages.
 *
 * @param document A configuration; malformed parts are left to its validation.
 * @param parts The catalogue, and the runtime port.
 * @throws {ConnectorError} When a package cannot be read, is invalid, or has a connector whose id is taken.
 */
export async function loadPackages(document: unknown, parts: PackageParts): Promise<void> {
  const entries = listPackages(document);
  if (entries.length > 0) await (await import("./_package_loader.ts")).loadAll(entries, parts);
}

/** Whether a configuration names packages. */
export function namesPackages(document: unknown): boolean {
  return listPackages(document).length > 0;
}

/** Returns the packages that a configuration names, as far as it is well-formed. */
function listPackages(document: unknown): PackageEntry[] {
  const section = readMember(document, "connectors");
  const list = readMember(section, "packages") ?? readMember(document, "connectors.packages");
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry: unknown) => {
    const [source, sha256] = typeof entry === "string"
      ? [entry]
      : [readMember(entry, "path") ?? readMember(entry, "url"), readMember(entry, "sha256")];
    if (typeof source !== "string") return [];
    return typeof sha256 === "string" ? { source, sha256 } : { source };
  });
}

function readMember(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}
