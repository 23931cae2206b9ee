/**
 * Declarations of the secret stores, and the store of environment variables, which needs nothing else.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { Runtime } from "../../src/contracts/runtime.ts";
import { ConnectorError } from "../../src/errors.ts";

/** A dotenv file. */
export const dotenvDeclaration = {
  id: "mesh.dotenv.v1",
  kind: "secretStore",
  attributes: { path: { type: "text", default: ".env", about: "Path of the file." } },
} as const;

/** An encrypted file. */
export const encryptedFileDeclaration = {
  id: "mesh.encrypted-file.v1",
  kind: "secretStore",
  attributes: { path: { type: "text", about: "Path of the file. Required." } },
} as const;

/** AWS Secrets Manager. */
export const awsDeclaration = {
  id: "aws.secrets-manager.v1",
  kind: "secretStore",
  attributes: {
    region: { type: "text", about: "AWS region. Defaults to `AWS_REGION` or `AWS_DEFAULT_REGION`." },
    endpoint: { type: "text", about: "Overrides the address of the service." },
    credentials: {
      type: "text",
      values: ["ambient"],
      about:
        "`ambient`: the role of the EC2 instance. Roles of containers, which the environment announces, need no setting.",
    },
  },
} as const;

/** Google Cloud Secret Manager. */
export const googleDeclaration = {
  id: "google.secret-manager.v1",
  kind: "secretStore",
  attributes: {
    project: {
      type: "text",
      about: "Project id. Defaults to the project of the credentials, or `GOOGLE_CLOUD_PROJECT`.",
    },
    region: { type: "text", about: "Region, for regional secrets." },
    endpoint: { type: "text", about: "Overrides the address of the service." },
    credentials: {
      type: "text",
      about:
        "Path of a credentials file. Defaults to `GOOGLE_APPLICATION_CREDENTIALS`, otherwise the machine's service account.",
    },
  },
} as const;

/** Azure Key Vault. */
export const keyVaultDeclaration = {
  id: "microsoft.key-vault.v1",
  kind: "secretStore",
  attributes: {
    url: { type: "text", about: "Address of the vault. Defaults to `AZURE_KEY_VAULT_URL`." },
    tenant_id: { type: "text", about: "Tenant id. Defaults to `AZURE_TENANT_ID`." },
    client_id: { type: "text", about: "Application (client) id. Defaults to `AZURE_CLIENT_ID`." },
    authority: {
      type: "text",
      default: "https://login.microsoftonline.com",
      about: "Authority that issues tokens. Defaults to `AZURE_AUTHORITY_HOST`.",
    },
    credentials: {
      type: "text",
      values: ["ambient"],
      about: "`ambient`: the managed identity of the machine. One that the environment announces needs no setting.",
    },
  },
} as const;

/** 1Password, through a Connect server. */
export const onePasswordDeclaration = {
  id: "1password.connect.v1",
  kind: "secretStore",
  attributes: {
    url: { type: "text", about: "Address of the Connect server. Defaults to `OP_CONNECT_HOST`." },
    vault: { type: "text", about: "Name or id of the vault. Defaults to `OP_CONNECT_VAULT`." },
  },
} as const;

/** Why a variable may not be read; undefined if it may. */
async function describeDenied(name: string, { env }: Pick<Runtime, "env">): Promise<string | undefined> {
  if (env.isDenied?.(name) !== true) return undefined;
  return (await import("../../src/util/denial.ts")).describeDeniedVariable(name, env);
}

/**
 * A secret is the environment variable of its name; a blank one counts as unset. Names are not listed, since most
 * variables are not secrets.
 */
export const envSecrets: Connector<"secretStore"> = {
  id: "mesh.env.v1",
  kind: "secretStore",
  attributes: {},
  create: (_settings, runtime) => ({
    get: async (name) => {
      const value = runtime.env(name);
      const denied = value === undefined ? await describeDenied(name, runtime) : undefined;
      if (denied !== undefined) throw new ConnectorError(`mesh.env.v1: cannot look up the secret "${name}": ${denied}`);
      return value?.trim() === "" ? undefined : value;
    },
  }),
};
