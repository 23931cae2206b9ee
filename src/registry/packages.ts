/**
 * Connectors from elsewhere: archives that the configuration names under `connectors.packages`, and nothing else.
 * @module
 */
import type { PackageEntry, PackageParts } from "./_package_loader.ts";

/**
 * Puts the connectors of a document's packages into a catalogue, before anything else is made of the document. What loads
 * packages is imported where there are some.
 *
 * @param document A configuration; what is malformed in it is left to its validation.
 * @param parts The catalogue, and the runtime port.
 * @throws {ConnectorError} When a package cannot be had, is not what it has to be, or brings a connector that is there.
 */
export async function loadPackages(document: unknown, parts: PackageParts): Promise<void> {
  const entries = packagesOf(document);
  if (entries.length > 0) await (await import("./_package_loader.ts")).loadAll(entries, parts);
}

/** Whether a document names packages. */
export function namesPackages(document: unknown): boolean {
  return packagesOf(document).length > 0;
}

/** The packages that a document names, as far as it can be read. */
function packagesOf(document: unknown): PackageEntry[] {
  const section = memberOf(document, "connectors");
  const list = memberOf(section, "packages") ?? memberOf(document, "connectors.packages");
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry: unknown) => {
    const [source, sha256] = typeof entry === "string"
      ? [entry]
      : [memberOf(entry, "path") ?? memberOf(entry, "url"), memberOf(entry, "sha256")];
    if (typeof source !== "string") return [];
    return typeof sha256 === "string" ? { source, sha256 } : { source };
  });
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}
