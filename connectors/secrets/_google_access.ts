/**
 * Who we are to Google: a service account's key, a person's own credentials, or the machine's service account.
 * @module
 */
import { assertionSigner, readServiceAccount } from "../../src/util/service_account.ts";
import { type IssuedToken, TokenCache } from "../../src/util/token_cache.ts";
import { address, variable, type Vendor } from "./_vendor.ts";

const scope = "https://www.googleapis.com/auth/cloud-platform";
const tokenAddress = "https://oauth2.googleapis.com/token";
const metadataPath = "/computeMetadata/v1";

/** A file of credentials, as Google's tools write it. */
type Credentials = Readonly<Record<string, string | undefined>>;

/** Hands out access tokens. */
export class GoogleAccess {
  readonly #vendor: Vendor;
  readonly #path: string | undefined;
  readonly #tokens: TokenCache;
  #credentials: Promise<Credentials | undefined> | undefined;

  /**
   * @param vendor Makes the calls.
   * @param path Of the credentials; undefined: that of `GOOGLE_APPLICATION_CREDENTIALS`, else the machine's own.
   */
  constructor(vendor: Vendor, path: string | undefined) {
    this.#vendor = vendor;
    this.#path = path ?? variable(vendor.runtime, "GOOGLE_APPLICATION_CREDENTIALS");
    this.#tokens = new TokenCache((task) => this.#newToken(task), vendor.runtime.clock);
  }

  /**
   * An access token.
   *
   * @param task What it is for, for messages.
   * @throws {ConnectorError} When there is none to be had.
   */
  token(task: string): Promise<string> {
    return this.#tokens.get({ purpose: task });
  }

  /**
   * The project of the credentials.
   *
   * @param task What it is for, for messages.
   * @throws {ConnectorError} When they name none.
   */
  async project(task: string): Promise<string> {
    const credentials = await this.#known(task);
    const project = credentials === undefined ? undefined : credentials.project_id ?? credentials.quota_project_id;
    if (project !== undefined) return project;
    throw this.#vendor.error(task, 'the project is not known: set "secrets.project" or GOOGLE_CLOUD_PROJECT');
  }

  async #newToken(task: string): Promise<IssuedToken> {
    const credentials = await this.#known(task);
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
    throw this.#vendor.error(task, "Google gave no access token");
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
      url: tokenAddressOf(credentials),
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams(form).toString(),
    });
    return body;
  }

  /** RFC 7523. */
  async #assertion(task: string, credentials: Credentials): Promise<string> {
    const audience = tokenAddressOf(credentials);
    try {
      const sign = assertionSigner(readServiceAccount(credentials), { audience, scope });
      return await sign(this.#vendor.runtime.clock.now());
    } catch {
      throw this.#vendor.error(task, `the private key in "${this.#path}" cannot be read`);
    }
  }

  /** The file's content; undefined when there is no file. */
  #known(task: string): Promise<Credentials | undefined> {
    return this.#credentials ??= this.#read(task).catch((error) => {
      this.#credentials = undefined; // it may be there at the next try
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
      `the credentials "${this.#path}" are of neither type, "service_account" or "authorized_user"`,
    );
  }
}

function tokenAddressOf({ token_uri = tokenAddress }: Credentials): string {
  return address(token_uri, "credentials.token_uri");
}
