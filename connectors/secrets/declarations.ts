/**
 * What is known of secret stores before they are used.
 * @module
 */
import type { ConnectorDeclaration } from "../../src/contracts/connector.ts";

/** A dotenv file. */
export const dotenvDeclaration: ConnectorDeclaration<"secretStore"> = {
  id: "mesh.dotenv.v1",
  kind: "secretStore",
  attributes: { path: { type: "text", default: ".env", about: "The file." } },
};

/** An encrypted file. */
export const encryptedFileDeclaration: ConnectorDeclaration<"secretStore"> = {
  id: "mesh.encrypted-file.v1",
  kind: "secretStore",
  attributes: { path: { type: "text", about: "The file; it has to be given." } },
};

/** AWS Secrets Manager. */
export const awsDeclaration: ConnectorDeclaration<"secretStore"> = {
  id: "aws.secrets-manager.v1",
  kind: "secretStore",
  attributes: {
    region: { type: "text", about: "The region; else `AWS_REGION` or `AWS_DEFAULT_REGION`." },
    endpoint: { type: "text", about: "Replaces the service's address." },
  },
};

/** Google Cloud Secret Manager. */
export const googleDeclaration: ConnectorDeclaration<"secretStore"> = {
  id: "google.secret-manager.v1",
  kind: "secretStore",
  attributes: {
    project: { type: "text", about: "The project; else that of the credentials, or `GOOGLE_CLOUD_PROJECT`." },
    region: { type: "text", about: "Where secrets are kept in one region." },
    endpoint: { type: "text", about: "Replaces the service's address." },
    credentials: {
      type: "text",
      about: "The path of a key file; else `GOOGLE_APPLICATION_CREDENTIALS`, else the machine's service account.",
    },
  },
};

/** Azure Key Vault. */
export const keyVaultDeclaration: ConnectorDeclaration<"secretStore"> = {
  id: "microsoft.key-vault.v1",
  kind: "secretStore",
  attributes: {
    url: { type: "text", about: "The vault's address; else `AZURE_KEY_VAULT_URL`." },
    tenant_id: { type: "text", about: "The tenant; else `AZURE_TENANT_ID`." },
    client_id: { type: "text", about: "The application; else `AZURE_CLIENT_ID`." },
    authority: {
      type: "text",
      default: "https://login.microsoftonline.com",
      about: "Where tokens are fetched; else `AZURE_AUTHORITY_HOST`.",
    },
  },
};

/** 1Password, by a Connect server. */
export const onePasswordDeclaration: ConnectorDeclaration<"secretStore"> = {
  id: "1password.connect.v1",
  kind: "secretStore",
  attributes: {
    url: { type: "text", about: "The Connect server's address; else `OP_CONNECT_HOST`." },
    vault: { type: "text", about: "The vault's name or id; else `OP_CONNECT_VAULT`." },
  },
};
