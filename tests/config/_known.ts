/** Connectors that exist only in these tests, and what a failed call said. */
import type { ProviderConnector } from "../../src/contracts/connector.ts";
import type { FileSystem } from "../../src/contracts/runtime.ts";
import { ConfigError, MeshError } from "../../src/errors.ts";
import type { KnownConnectors } from "../../src/config/settings/known.ts";

function connector(facts: Partial<ProviderConnector> & { id: string; vendor: string }): ProviderConnector {
  return {
    kind: "provider",
    models: [],
    create: () => {
      throw new Error("no provider is made in these tests");
    },
    ...facts,
  };
}

export const acme: ProviderConnector = connector({
  id: "acme.llm.v1",
  vendor: "acme",
  models: [{ id: "small" }, { id: "large" }],
  detection: { keys: ["ACME_API_KEY", "ACME_TOKEN"], baseUrl: ["ACME_BASE_URL"] },
});

export const zeta: ProviderConnector = connector({
  id: "zeta.api.v1",
  vendor: "zeta",
  models: [{ id: "small" }, { id: "acme/large" }],
  detection: {
    keys: ["ZETA_API_KEY"],
    baseUrl: ["ZETA_BASE_URL"],
    requires: { account: ["ZETA_ACCOUNT", "ZETA_ACCOUNT_ID"] },
  },
});

export const open: ProviderConnector = connector({ id: "open.compatible.v1", vendor: "open", needsBaseUrl: true });

export const home: ProviderConnector = connector({
  id: "home.local.v1",
  vendor: "home",
  local: true,
  keyless: true,
  detection: {
    keys: ["HOME_API_KEY"],
    baseUrl: ["HOME_BASE_URL"],
    host: ["HOME_HOST", "HOME_BASE_URL"],
    port: 11434,
  },
});

export const connectors: readonly ProviderConnector[] = [acme, zeta, open, home];

export const known: KnownConnectors = {
  providers: connectors,
  guards: [],
  strategies: ["mesh.stick-until-failure.v1", "mesh.round-robin.v1", "mesh.priority-selection.v1"],
  storages: ["mesh.local-file.v1", "mesh.memory.v1"],
  secretStores: ["mesh.env.v1", "mesh.dotenv.v1"],
  observability: ["mesh.console.v1", "mesh.webhook.v1"],
  discovery: ["mesh.registry-sync.v1", "mesh.health-monitor.v1"],
  findAttributes: () => undefined,
  findSections: () => undefined,
  hasEntries: () => false,
  needsStorage: () => false,
  findSharing: () => undefined,
};

/** A file system of texts. */
export function createFiles(texts: Readonly<Record<string, string>>): FileSystem {
  return {
    readText: (path) => {
      const text = texts[path];
      return text === undefined
        ? Promise.reject(Object.assign(new Error(), { code: "ENOENT" }))
        : Promise.resolve(text);
    },
    writeText: () => Promise.reject(new Error("read only")),
    replaceText: () => Promise.reject(new Error("read only")),
    remove: () => Promise.reject(new Error("read only")),
  };
}

/** The lines of the problems that a call throws. */
export function catchProblems(call: () => unknown): string[] {
  try {
    call();
  } catch (error) {
    if (ConfigError.isInstance(error)) return formatProblems(error);
    throw error;
  }
  return [];
}

/** The lines of the problems that a promise rejects with. */
export async function catchRejections(promise: Promise<unknown>): Promise<string[]> {
  try {
    await promise;
  } catch (error) {
    if (ConfigError.isInstance(error)) return formatProblems(error);
    if (MeshError.isInstance(error)) return [error.message];
    throw error;
  }
  return [];
}

function formatProblems({ problems }: ConfigError): string[] {
  return problems.map(({ path, message }) => path === "" ? message : `${path}: ${message}`);
}
