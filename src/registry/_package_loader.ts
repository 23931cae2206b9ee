/**
 * Loads connector packages: reads, verifies, unpacks, imports and registers them.
 * @module
 */
import type { Connector, PluggableConnector } from "../contracts/connector.ts";
import type { ModuleLoader, Runtime } from "../contracts/runtime.ts";
import { ConnectorError } from "../errors.ts";
import { readBody } from "../util/bytes.ts";
import { untilAborted } from "../util/until_aborted.ts";
import { maxBytes, unpack } from "./_archive.ts";
import { readManifest, toConnector } from "./_manifest.ts";
import type { ConnectorCatalogue } from "./catalogue.ts";

/** A package named by a configuration. */
export interface PackageEntry {
  /** Path of a file, or an https URL. */
  readonly source: string;
  readonly sha256?: string;
}

/** Dependencies of {@linkcode loadAll}. */
export interface PackageParts {
  readonly catalogue: ConnectorCatalogue;
  readonly runtime: Runtime;
}

/** Timeout of a download, ms. */
const downloadMs = 60_000;
/** Maximum number of redirects; release hosts redirect once or twice. */
const maxRedirects = 5;

/** Connectors loaded from packages. Packages may replace only these. */
const fromPackages = new WeakSet<PluggableConnector>();

/**
 * Loads packages, and registers their connectors.
 *
 * @param parts The catalogue, and the runtime port.
 * @throws {ConnectorError} When a package cannot be read, is invalid, or has a connector whose id is taken.
 */
export async function loadAll(
  entries: readonly PackageEntry[],
  { catalogue, runtime }: PackageParts,
): Promise<void> {
  const { modules } = runtime;
  if (modules === undefined) throw new ConnectorError("Connector packages cannot be loaded here: there are no files");
  const loaded = await Promise.all(entries.map((entry) => load(entry, modules, runtime)));
  const names = new Map<string, string>();
  for (const [at, connector] of loaded.entries()) {
    const { id, kind } = connector;
    const { source } = entries[at]!;
    const other = names.get(`${kind} ${id}`) ?? catalogue.all.find((one) => {
      return one.id === id && one.kind === kind && !fromPackages.has(one);
    })?.id;
    if (other !== undefined) {
      throw new ConnectorError(`The connector package ${source} contains "${id}", which is already registered`);
    }
    names.set(`${kind} ${id}`, source);
  }
  for (const connector of loaded) {
    fromPackages.add(connector);
    catalogue.register(connector.id, connector);
  }
}

async function load({ source, sha256 }: PackageEntry, modules: ModuleLoader, runtime: Runtime): Promise<Connector> {
  const bytes = /^https?:/i.test(source) ? await download(source, runtime) : await read(source, modules);
  const digest = await hash(bytes);
  if (sha256 !== undefined && sha256.toLowerCase() !== digest) {
    throw new ConnectorError(
      `The connector package ${source} is refused: its SHA-256 is ${digest}, not the one configured`,
    );
  }
  const files = await unpack(bytes, source);
  const manifest = readManifest(files, source);
  let exported: Readonly<Record<string, unknown>>;
  try {
    exported = await modules.importFrom(files, { key: digest, entry: manifest.entry });
  } catch (error) {
    throw new ConnectorError(`The connector package ${source} cannot be loaded (see the error's cause)`, error);
  }
  return await toConnector(exported, manifest, source);
}

async function read(path: string, { readBytes }: ModuleLoader): Promise<Uint8Array> {
  try {
    return await readBytes(path);
  } catch (error) {
    throw new ConnectorError(`The connector package ${path} cannot be read: is the path right?`, error);
  }
}

async function download(address: string, { send, clock }: Runtime): Promise<Uint8Array> {
  const controller = new AbortController();
  const { signal } = controller;
  const message = `The connector package ${address} was not downloaded within ${downloadMs / 1000} s`;
  try {
    return await untilAborted(
      fetchBytes(address, (url) => send({ url, method: "GET", headers: {}, signal })),
      undefined,
      {
        clock,
        ms: downloadMs,
        message,
      },
    );
  } finally {
    controller.abort();
  }
}

async function fetchBytes(address: string, get: (url: string) => ReturnType<Runtime["send"]>): Promise<Uint8Array> {
  const refuse = (reason: string) =>
    new ConnectorError(`The connector package ${address} cannot be downloaded: ${reason}`);
  let url = address;
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    if (!isSafe(url) || redirects > 0 && !url.startsWith("https:") && address.startsWith("https:")) {
      throw refuse("only https is allowed");
    }
    const response = await get(url);
    const location = response.status >= 300 && response.status < 400 ? response.headers.get("location") : null;
    if (location === null) {
      if (response.status !== 200) throw refuse(`the server answered ${response.status}`);
      return await readBody(response, { maxBytes, tooLarge: () => refuse("it is over 64 MiB") });
    }
    url = new URL(location, url).href;
  }
  throw refuse("it is redirected too often");
}

/** Whether a URL is protected against tampering: https, or this machine. */
function isSafe(address: string): boolean {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  return url?.protocol === "https:" || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url?.hostname ?? "");
}

async function hash(bytes: Uint8Array): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes as BufferSource));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
