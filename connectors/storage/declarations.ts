/**
 * What is known of storages before they are used.
 * @module
 */
import type { Attributes, ConnectorDeclaration } from "../../src/contracts/connector.ts";

/** A Redis. */
export const redisDeclaration: ConnectorDeclaration<"storage"> = {
  id: "redis.redis.v1",
  kind: "storage",
  attributes: {
    url: {
      type: "text",
      about: "`redis://[user:password@]host[:port][/db]`, or `rediss://` for TLS; in place of its parts.",
    },
    host: { type: "text", default: "127.0.0.1", about: "Host name or address." },
    port: { type: "integer", default: 6379, about: "Port." },
    username: { type: "text", about: "Who enters." },
    password: { type: "text", about: "With what." },
    db: { type: "integer", default: 0, about: "The database's number." },
    prefix: { type: "text", default: "modelmesh", about: "What all keys begin with." },
    ...commonAttributes("`username` and `password` as one object, or its JSON."),
  },
};

/** Files. */
export const localFileDeclaration: ConnectorDeclaration<"storage"> = {
  id: "mesh.local-file.v1",
  kind: "storage",
  attributes: {
    path: { type: "text", default: "./.modelmesh/state.json", about: "The file; other records are files beside it." },
    backup: {
      type: "flag",
      default: false,
      about: "Keep the record before, and use it when the record cannot be read.",
    },
  },
};

/** S3, or anything that speaks its language. */
export const s3Declaration: ConnectorDeclaration<"storage"> = {
  id: "aws.s3.v1",
  kind: "storage",
  attributes: {
    bucket: { type: "text", about: "The bucket; it has to be given." },
    region: { type: "text", default: "us-east-1", about: "The region; else `AWS_REGION` or `AWS_DEFAULT_REGION`." },
    endpoint: { type: "text", about: "The service's address; else `AWS_ENDPOINT_URL_S3`, else that of AWS." },
    path_style: { type: "flag", about: "Put the bucket into the path; where `endpoint` is given unless switched off." },
    prefix: { type: "text", default: "modelmesh/", about: "What the keys of objects begin with." },
    access_key_id: { type: "text", about: "The key's id; else `AWS_ACCESS_KEY_ID`." },
    secret_access_key: { type: "text", about: "The key; else `AWS_SECRET_ACCESS_KEY`." },
    session_token: { type: "text", about: "The token of temporary keys; else `AWS_SESSION_TOKEN`." },
    ...commonAttributes("`access_key_id`, `secret_access_key` and `session_token` as one object, or its JSON."),
  },
};

/** Google Drive. */
export const driveDeclaration: ConnectorDeclaration<"storage"> = {
  id: "google.drive.v1",
  kind: "storage",
  attributes: {
    folder: { type: "text", default: "appDataFolder", about: "The folder's id; the app's own unless given." },
    prefix: { type: "text", default: "modelmesh", about: "What the names of files begin with." },
    client_id: { type: "text", about: "The client of `refresh_token`." },
    client_secret: { type: "text", about: "Its secret." },
    refresh_token: { type: "text", about: "A person's refresh token." },
    access_token: { type: "text", about: "An access token, used as it is." },
    endpoint: { type: "text", about: "Replaces the API's address." },
    token_url: { type: "text", about: "Replaces the address that tokens are fetched at." },
    ...commonAttributes("The JSON key of a service account."),
  },
};

/** Deno KV. */
export const denoKvDeclaration: ConnectorDeclaration<"storage"> = {
  id: "mesh.deno-kv.v1",
  kind: "storage",
  attributes: {
    path: { type: "text", about: "The database's file; the runtime's default for the program unless given." },
  },
};

/**
 * `key` and `credentials`, as storages with a prefix and with keys of their own have them.
 *
 * @param credentials What its credentials are.
 */
function commonAttributes(credentials: string): Attributes {
  return {
    key: { type: "text", about: "The same as `prefix`." },
    credentials: { type: ["object", "text"], about: credentials },
  };
}
