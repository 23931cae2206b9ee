/**
 * Google Cloud Secret Manager. Source: cloud.google.com/secret-manager/docs/reference/rest, read 2026-11.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { Runtime } from "../../src/contracts/runtime.ts";
import type { SecretStore } from "../../src/contracts/secret_store.ts";
import { ConfigError } from "../../src/errors.ts";
import { TokenCache } from "../../src/util/token_cache.ts";
import { createGoogleGrant, readGoogleCredentials } from "../clouds/google.ts";
import { address, attribute, variable, Vendor, type VendorCall, type VendorResponse } from "./_vendor.ts";
import { googleDeclaration } from "./declarations.ts";
import { fromBase64, toBase64 } from "../../src/util/base64.ts";

const { id } = googleDeclaration;

/**
 * Google Cloud Secret Manager; reads the latest version of each secret. Settings: `project` (defaults to that of the
 * credentials, then to `GOOGLE_CLOUD_PROJECT`), `region` for regional secrets, `credentials` (path of a key file;
 * defaults to `GOOGLE_APPLICATION_CREDENTIALS`, then to the machine's service account), `endpoint` (overrides the URL).
 */
export const googleSecrets: Connector<"secretStore"> = {
  ...googleDeclaration,
  create(settings, runtime) {
    const region = attribute(settings.region, "region");
    if (region !== undefined && !/^[a-z0-9-]+$/.test(region)) {
      throw new ConfigError([{ path: "secrets.region", message: `${id}: expected a region such as "europe-west3"` }]);
    }
    const endpoint = attribute(settings.endpoint, "endpoint");
    const vendor = new Vendor(id, runtime, "the service account and its role (Secret Manager Secret Accessor)");
    const path = attribute(settings.credentials, "credentials");
    const credentials = path === "ambient" ? undefined : path; // the same word as for other clouds
    return createGoogleStore(
      new Google(vendor, {
        access: new GoogleAccess(vendor, credentials),
        project: attribute(settings.project, "project") ?? projectVariable(runtime),
        region,
        endpoint: endpoint === undefined ? undefined : address(endpoint, "endpoint"),
      }),
    );
  },
};

function projectVariable(runtime: Runtime): string | undefined {
  return variable(runtime, "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT");
}

function createGoogleStore(google: Google): Required<SecretStore> {
  return {
    async get(name) {
      const task = `look up the secret "${name}"`;
      const path = `/${nameIn(google, name, task)}/versions/latest:access`;
      const { status, body } = await google.call({ task, path, method: "GET", expected: [404] });
      if (status === 404) return undefined;
      const { data } = (body.payload ?? {}) as { data?: unknown };
      if (typeof data !== "string") throw google.vendor.error(task, "its response has no payload");
      return decodePayload(data) ?? throwError(google.vendor.error(task, "it is binary, but must be a string"));
    },
    async set(name, value) {
      const task = `store the secret "${name}"`;
      const path = `/${nameIn(google, name, task)}:addVersion`;
      const body = { payload: { data: toBase64(new TextEncoder().encode(value)) } };
      const { status } = await google.call({ task, path, content: body, expected: [404] });
      if (status !== 404) return;
      await google.call({ task, path: `?secretId=${name}`, content: google.emptySecret, expected: [409] });
      await google.call({ task, path, content: body });
    },
    list: () =>
      google.vendor.names(async (next) => {
        const page = next === undefined ? "" : `&pageToken=${encodeURIComponent(next)}`;
        const { body } = await google.call({ task: "list secrets", path: `?pageSize=250${page}`, method: "GET" });
        const secrets = Array.isArray(body.secrets) ? body.secrets as { name?: unknown }[] : [];
        return { names: secrets.map(({ name }) => String(name).split("/").at(-1)), next: body.nextPageToken };
      }),
    async delete(name) {
      const task = `delete the secret "${name}"`;
      const path = `/${nameIn(google, name, task)}`;
      const { status } = await google.call({ task, path, method: "DELETE", expected: [404] });
      return status !== 404;
    },
  };
}

function nameIn(google: Google, name: string, task: string): string {
  if (/^[\w-]{1,255}$/.test(name)) return name;
  throw google.vendor.error(task, "a name may contain only letters, digits, _ and -");
}

const scope = "https://www.googleapis.com/auth/cloud-platform";

/** Access tokens, and the project of the credentials. */
class GoogleAccess {
  readonly #vendor: Vendor;
  readonly #path: string | undefined;
  readonly #tokens: TokenCache;

  /** @param path Path of the credentials. Defaults to `GOOGLE_APPLICATION_CREDENTIALS`, then to the metadata server. */
  constructor(vendor: Vendor, path: string | undefined) {
    const { runtime } = vendor;
    this.#vendor = vendor;
    this.#path = path ?? variable(runtime, "GOOGLE_APPLICATION_CREDENTIALS");
    this.#tokens = new TokenCache(createGoogleGrant(runtime, scope, this.#path), runtime.clock);
  }

  /**
   * An access token.
   *
   * @param task The operation, for error messages.
   * @throws {ConnectorError} If none can be obtained.
   */
  async token(task: string): Promise<string> {
    const way = "as this machine's service account (or set GOOGLE_APPLICATION_CREDENTIALS to a key file)";
    return await this.#tokens.get().catch((error) => {
      throw this.#vendor.unauthorized(this.#path === undefined ? `${task} ${way}` : task, error);
    });
  }

  /**
   * The project of the credentials.
   *
   * @param task The operation, for error messages.
   * @throws {ConnectorError} If it is unknown.
   */
  async project(task: string): Promise<string> {
    const credentials = await readGoogleCredentials(this.#vendor.runtime, this.#path).catch((error) => {
      throw this.#vendor.unauthorized(task, error);
    });
    const project = credentials?.project_id ?? credentials?.quota_project_id;
    if (typeof project === "string") return project;
    throw this.#vendor.error(task, 'the project is unknown: set "secrets.project" or GOOGLE_CLOUD_PROJECT');
  }
}

interface GoogleOptions {
  readonly access: GoogleAccess;
  readonly project: string | undefined;
  readonly region: string | undefined;
  readonly endpoint: string | undefined;
}

/** Builds the URLs of a project's secrets. */
class Google {
  readonly vendor: Vendor;
  readonly #options: GoogleOptions;

  constructor(vendor: Vendor, options: GoogleOptions) {
    this.vendor = vendor;
    this.#options = options;
  }

  /** A secret without versions; a regional one is stored in its region. */
  get emptySecret(): object {
    return this.#options.region === undefined ? { replication: { automatic: {} } } : {};
  }

  async call({ task, path, method, expected, content }: Pick<VendorCall, "task" | "method" | "expected"> & {
    /** Path after `…/secrets`. */
    readonly path: string;
    /** JSON request body. */
    readonly content?: object;
  }): Promise<VendorResponse> {
    const { access, region, endpoint } = this.#options;
    const project = this.#options.project ?? await access.project(task);
    const host = endpoint ?? `https://secretmanager.${region === undefined ? "" : `${region}.rep.`}googleapis.com`;
    const location = region === undefined ? "" : `/locations/${region}`;
    return await this.vendor.call({
      task,
      url: `${host}/v1/projects/${encodeURIComponent(project)}${location}/secrets${path}`,
      method: method ?? "POST",
      headers: {
        authorization: `Bearer ${await access.token(task)}`,
        ...(content === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(content === undefined ? {} : { body: JSON.stringify(content) }),
      expected: expected ?? [],
    });
  }
}

function decodePayload(data: string): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(fromBase64(data));
  } catch {
    return undefined;
  }
}

function throwError(error: Error): never {
  throw error;
}
