/**
 * Secret stores as a test needs them: over real files, or over a simulated vendor on real loopback HTTP.
 * @module
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadedConnectors } from "../support/connectors.ts";
import type { Connector } from "../../src/contracts/connector.ts";
import type { SecretStore } from "../../src/contracts/secret_store.ts";
import { serverRuntime } from "../../src/runtime/server.ts";
import { fakeClock, type TestRuntime, testRuntime } from "../../src/runtime/test.ts";
import type { SimulatedVendor } from "../support/vendors/_server.ts";
import { startAwsSecrets } from "../support/vendors/aws_secrets.ts";
import { startGoogleSecrets } from "../support/vendors/google_secrets.ts";
import { keyVaultClient, startKeyVault } from "../support/vendors/key_vault.ts";
import { connectToken, startOnePassword } from "../support/vendors/onepassword.ts";

/** A store that a test uses, and what is behind it. */
export interface UsedStore extends AsyncDisposable {
  readonly store: Required<SecretStore>;
  /** What is behind it, for one in a cloud. */
  readonly vendor?: SimulatedVendor;
}

/** A store of the package, by its id. */
export function secretStore(id: string): Connector<"secretStore"> {
  return loadedConnectors.find((one): one is Connector<"secretStore"> => one.kind === "secretStore" && one.id === id)!;
}

/**
 * A runtime with a real network and a clock that stands still.
 *
 * @param files Path to text.
 */
export function loopbackRuntime(
  env: Readonly<Record<string, string>> = {},
  files: Readonly<Record<string, string>> = {},
): TestRuntime {
  return testRuntime({ env, files, send: serverRuntime().send, clock: fakeClock({ skipSleeps: true }) });
}

/** A folder on disk that goes when the test ends. */
export async function folder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "modelmesh-secrets-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Makes each store, empty. */
export const usedStores: Readonly<Record<string, () => Promise<UsedStore>>> = {
  async "mesh.dotenv.v1"() {
    const { path, ...ends } = await folder();
    const file = join(path, ".env");
    await serverRuntime().files!.writeText(file, "");
    return { ...ends, store: made("mesh.dotenv.v1", { path: file }, serverRuntime()) };
  },
  async "mesh.encrypted-file.v1"() {
    const { path, ...ends } = await folder();
    const runtime = { ...serverRuntime(), env: () => "a passphrase" };
    const store = made("mesh.encrypted-file.v1", { path: join(path, "secrets.json") }, runtime);
    await store.set("FIRST", "makes the file");
    await store.delete("FIRST");
    return { ...ends, store };
  },
  async "aws.secrets-manager.v1"() {
    const runtime = loopbackRuntime({
      AWS_ACCESS_KEY_ID: "AKIAEXAMPLE",
      AWS_SECRET_ACCESS_KEY: "secret/of+aws",
      AWS_SESSION_TOKEN: "session-1",
    });
    const vendor = await startAwsSecrets({
      accessKeyId: "AKIAEXAMPLE",
      secretAccessKey: "secret/of+aws",
      sessionToken: "session-1",
      region: "eu-central-1",
      now: () => runtime.clock.now(),
    });
    return used(vendor, made("aws.secrets-manager.v1", { region: "eu-central-1", endpoint: vendor.url }, runtime));
  },
  async "google.secret-manager.v1"() {
    const { clock } = loopbackRuntime();
    const vendor = await startGoogleSecrets({ now: () => clock.now() });
    const runtime = {
      ...loopbackRuntime({ GOOGLE_APPLICATION_CREDENTIALS: "key.json" }, { "key.json": vendor.keyFile }),
    };
    return used(vendor, made("google.secret-manager.v1", { endpoint: vendor.url }, { ...runtime, clock }));
  },
  async "microsoft.key-vault.v1"() {
    const { tenant, id, secret } = keyVaultClient;
    const runtime = loopbackRuntime({ AZURE_TENANT_ID: tenant, AZURE_CLIENT_ID: id, AZURE_CLIENT_SECRET: secret });
    const vendor = await startKeyVault({ now: () => runtime.clock.now() });
    return used(vendor, made("microsoft.key-vault.v1", { url: vendor.url, authority: vendor.url }, runtime));
  },
  async "1password.connect.v1"() {
    const vendor = await startOnePassword();
    const runtime = loopbackRuntime({ OP_CONNECT_HOST: vendor.url, OP_CONNECT_TOKEN: connectToken });
    return used(vendor, made("1password.connect.v1", { vault: "Keys" }, runtime));
  },
};

function used(vendor: SimulatedVendor, store: Required<SecretStore>): UsedStore {
  return { vendor, store, [Symbol.asyncDispose]: () => vendor[Symbol.asyncDispose]() };
}

function made(id: string, ...parts: Parameters<Connector<"secretStore">["create"]>): Required<SecretStore> {
  return secretStore(id).create(...parts) as Required<SecretStore>;
}
