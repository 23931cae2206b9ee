/**
 * Google credentials: a service account key, a user's credentials, or the machine's service account.
 * @module
 */
import { assertionSigner, readServiceAccount } from "../../src/util/service_account.ts";
import { type IssuedToken, TokenCache } from "../../src/util/token_cache.ts";
import { address, variable, type Vendor } from "./_vendor.ts";

const scope = "https://www.googleapis.com/auth/cloud-platform";
const tokenAddress = "https://oauth2.googleapis.com/token";
const metadataPath = "/computeMetadata/v1";

/** A credentials file in the format of Google's tools. */
type Credentials = Readonly<Record<string, string | undefined>>;

/** Provides access tokens. */
export class GoogleAccess {
  readonly #vendor: Vendor;
  readonly #path: string | undefined;
  readonly #tokens: TokenCache;
  #credentials: Promise<Credentials | undefined> | undefined;

  /**
   * @param vendor Sends the requests.
   * @param path Path of the credentials. Defaults to `GOOGLE_APPLICATION_CREDENTIALS`, then to the machine's service
   * account.
   */
  constructor(vendor: Vendor, path: string | undefined) {
    this.#vendor = vendor;
    this.#path = path ?? variable(vendor.runtime, "GOOGLE_APPLICATION_CREDENTIALS");
    this.#tokens = new TokenCache((task) => this.#newToken(task), vendor.runtime.clock);
  }

  /**
   * An access token.
   *
   * @param task The operation, for error messages.
   * @throws {ConnectorError} If none can be obtained.
   */
  token(task: string): Promise<string> {
    return this.#tokens.get({ purpose: task });
  }

  /**
   * The project of the credentials.
   *
   * @param task The operation, for error messages.
   * @throws {ConnectorError} If it is unknown.
   */
  async project(task: string): Promise<string> {
    const credentials = await this.#findCredentials(task);
    const project = credentials === undefined ? undefined : credentials.project_id ?? credentials.quota_project_id;
    if (project !== undefined) return project;
    throw this.#vendor.error(task, 'the project is unknown: set "secrets.project" or GOOGLE_CLOUD_PROJECT');
  }

  async #newToken(task: string): Promise<IssuedToken> {
    const credentials = await this.#findCredentials(task);
    const { type } = credentials ?? {};
    const body = credentials === undefined
      ? await this.#ofMachine(task)
      : type === "service_account"
      ? await this.#exchange(task, credentials, {
        grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer",
        assertion: await this.#assertion(task, credentials),
      })
      : await this.#exchange(task, credentials, {
        grant_type: "refresh_token",
        client_id: credentials.client_id ?? "",
        client_secret: credentials.client_secret ?? "",
        refresh_token: credentials.refresh_token ?? "",
      });
    const { access_token: value, expires_in: seconds } = body;
    if (typeof value === "string" && typeof seconds === "number") return { value, lifetimeMs: seconds * 1000 };
    throw this.#vendor.error(task, "Google returned no access token");
  }

  async #ofMachine(task: string): Promise<Readonly<Record<string, unknown>>> {
    const host = variable(this.#vendor.runtime, "GCE_METADATA_HOST") ?? "metadata.google.internal";
    const { body } = await this.#vendor.call({
      task: `${task} as this machine's service account (or set GOOGLE_APPLICATION_CREDENTIALS to a key file)`,
      url: `http://${host}${metadataPath}/instance/service-accounts/default/token`,
      method: "GET",
      headers: { "metadata-flavor": "Google" },
    });
    return body;
  }

  async #exchange(
    task: string,
    credentials: Credentials,
    form: Readonly<Record<string, string>>,
  ): Promise<Readonly<Record<string, unknown>>> {
    const { body } = await this.#vendor.call({
      task: `${task}, nor get an access token`,
      url: getTokenAddress(credentials),
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(form).toString(),
    });
    return body;
  }

  /** The JWT assertion grant, RFC 7523. */
  async #assertion(task: string, credentials: Credentials): Promise<string> {
    const audience = getTokenAddress(credentials);
    try {
      const sign = assertionSigner(readServiceAccount(credentials), { audience, scope });
      return await sign(this.#vendor.runtime.clock.now());
    } catch {
      throw this.#vendor.error(task, `the private key in "${this.#path}" cannot be read`);
    }
  }

  /** The content of the file; undefined if there is none. */
  #findCredentials(task: string): Promise<Credentials | undefined> {
    return this.#credentials ??= this.#read(task).catch((error) => {
      this.#credentials = undefined; // retried at the next attempt
      throw error;
    });
  }

  async #read(task: string): Promise<Credentials | undefined> {
    if (this.#path === undefined) return undefined;
    const { runtime: { files } } = this.#vendor;
    let content: unknown;
    try {
      content = JSON.parse(await files!.readText(this.#path));
    } catch {
      throw this.#vendor.error(task, `the credentials "${this.#path}" cannot be read as JSON`);
    }
    const { type } = (content ?? {}) as Credentials;
    if (type === "service_account" || type === "authorized_user") return content as Credentials;
    throw this.#vendor.error(
      task,
      `the credentials "${this.#path}" are neither of the type "service_account" nor "authorized_user"`,
    );
  }
}

function getTokenAddress({ token_uri = tokenAddress }: Credentials): string {
  return address(token_uri, "credentials.token_uri");
}
