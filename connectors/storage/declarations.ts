/**
 * Declarations of the storages.
 * @module
 */

/** For storages with a prefix. */
const key = { type: "text", about: "Alias of `prefix`." } as const;

/** Redis. */
export const redisDeclaration = {
  id: "redis.redis.v1",
  kind: "storage",
  sharing: "state",
  hasEntries: true,
  attributes: {
    url: {
      type: "text",
      about:
        "`redis://[user:password@]host[:port][/db]`, or `rediss://` for TLS. Replaces the individual settings below.",
    },
    host: { type: "text", default: "127.0.0.1", about: "Host name or IP address." },
    port: { type: "integer", default: 6379, about: "Port." },
    cluster: {
      type: "list",
      about: "Nodes of a Redis Cluster, `host:port` or a URL each. They are asked for the other nodes.",
    },
    sentinel: {
      type: "object",
      about: "`master`: its name; `nodes`: sentinels, `host:port` or a URL each; their own `username` and `password`.",
    },
    read_from: {
      type: "text",
      values: ["master", "replica"],
      default: "master",
      about: "Where records are read, with `cluster` or `sentinel`. Everything else always uses the master.",
    },
    tls: {
      type: ["flag", "object"],
      about:
        "Whether TLS is used; or `ca`, `cert` and `key`, each as PEM or as the path of a PEM file, and `servername`.",
    },
    username: { type: "text", about: "User name." },
    password: { type: "text", about: "Password." },
    db: { type: "integer", default: 0, about: "Database number. A cluster has only 0." },
    prefix: { type: "text", default: "modelmesh", about: "Prefix of all keys." },
    key: key as typeof key,
    credentials: { type: ["object", "text"], about: "`username` and `password` as one object, or its JSON." },
  },
} as const;

/** PostgreSQL. */
export const postgresDeclaration = {
  id: "mesh.postgres.v1",
  kind: "storage",
  sharing: "state",
  hasEntries: true,
  attributes: {
    url: {
      type: "text",
      about:
        "`postgres://[user[:password]@]host[:port][/database][?sslmode=verify-full]`. Replaces the individual settings.",
    },
    host: { type: "text", default: "127.0.0.1", about: "Host name or IP address." },
    port: { type: "integer", default: 5432, about: "Port." },
    username: { type: "text", default: "postgres", about: "User name." },
    password: { type: "text", about: "Password." },
    database: { type: "text", default: "postgres", about: "Database. Defaults to the user name if that is set." },
    tls: {
      type: ["flag", "object"],
      about:
        "Whether TLS is used; or `ca`, `cert` and `key`, each as PEM or as the path of a PEM file, and `servername`.",
    },
    schema: {
      type: "text",
      default: "modelmesh",
      about: "Schema of the tables; it is created if it does not exist.",
    },
    prefix: { type: "text", about: "Prefix of table names, for several meshes in one schema." },
    key: key as typeof key,
    listen_url: {
      type: "text",
      about: "URL of the server for messages (`LISTEN`), if `url` is that of a pooler in transaction mode.",
    },
    pool_size: {
      type: "integer",
      default: 4,
      about: "Maximum number of connections of a process, besides the one for messages.",
    },
    prepared_statements: {
      type: "flag",
      default: true,
      about: "Whether statements are prepared; `false` for a pooler in transaction mode that does not support them.",
    },
    credentials: { type: ["object", "text"], about: "`username` and `password` as one object, or its JSON." },
  },
} as const;

/** Files. */
export const localFileDeclaration = {
  id: "mesh.local-file.v1",
  kind: "storage",
  sharing: "records",
  attributes: {
    path: {
      type: "text",
      default: "./.modelmesh/state.json",
      about: "Path of the file. Other records are files next to it.",
    },
    backup: {
      type: "flag",
      default: false,
      about: "Whether the previous record is kept as a backup, and used when the current one cannot be read.",
    },
  },
} as const;

/** Address and credentials of a bucket. */
export const bucketAttributes = {
  bucket: { type: "text", about: "Name of the bucket. Required." },
  region: {
    type: "text",
    default: "us-east-1",
    about: "AWS region. `AWS_REGION` or `AWS_DEFAULT_REGION` override the default.",
  },
  endpoint: { type: "text", about: "Address of the service. Defaults to `AWS_ENDPOINT_URL_S3`, otherwise AWS." },
  path_style: {
    type: "flag",
    about: "Whether the bucket is part of the path. Defaults to `true` if `endpoint` is set.",
  },
  access_key_id: { type: "text", about: "Access key id. Defaults to `AWS_ACCESS_KEY_ID`." },
  secret_access_key: { type: "text", about: "Secret access key. Defaults to `AWS_SECRET_ACCESS_KEY`." },
  session_token: { type: "text", about: "Session token of temporary credentials. Defaults to `AWS_SESSION_TOKEN`." },
  credentials: {
    type: ["object", "text"],
    about:
      "`access_key_id`, `secret_access_key` and `session_token` as one object, or its JSON; `ambient` for the role of an EC2 instance. A role that the environment announces needs no setting.",
  },
  ca: { type: "text", about: "PEM file of certificate authorities that are trusted in addition to the runtime's own." },
} as const;

const s3Prefix = {
  prefix: { type: "text", default: "modelmesh/", about: "Prefix of object keys." },
  key: key as typeof key,
} as const;

/** S3, or a compatible service. */
export const s3Declaration: {
  readonly id: "aws.s3.v1";
  readonly kind: "storage";
  readonly sharing: "records";
  readonly attributes: typeof bucketAttributes & typeof s3Prefix;
} = { id: "aws.s3.v1", kind: "storage", sharing: "records", attributes: { ...bucketAttributes, ...s3Prefix } };

/** Google Drive. */
export const driveDeclaration = {
  id: "google.drive.v1",
  kind: "storage",
  sharing: "records",
  attributes: {
    folder: {
      type: "text",
      default: "appDataFolder",
      about: "Id of the folder. Defaults to the application's own folder.",
    },
    prefix: { type: "text", default: "modelmesh", about: "Prefix of file names." },
    client_id: { type: "text", about: "OAuth client id that `refresh_token` was issued to." },
    client_secret: { type: "text", about: "OAuth client secret." },
    refresh_token: { type: "text", about: "Refresh token of a user." },
    access_token: { type: "text", about: "Access token, used without refreshing." },
    endpoint: { type: "text", about: "Overrides the address of the API." },
    token_url: { type: "text", about: "Overrides the token endpoint." },
    key: key as typeof key,
    credentials: { type: ["object", "text"], about: "The JSON key of a service account." },
  },
} as const;

/** Deno KV. */
export const denoKvDeclaration = {
  id: "mesh.deno-kv.v1",
  kind: "storage",
  sharing: "records",
  attributes: {
    path: { type: "text", about: "Path of the database file. Defaults to the runtime's default for the program." },
  },
} as const;
