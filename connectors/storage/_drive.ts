/**
 * Client for Google Drive: files of one folder, by name.
 * @module
 */
import { ConnectorError } from "../../src/errors.ts";
import type { GetToken } from "./_google_token.ts";
import { callRemote, type RemoteResponse, type RemoteRuntime } from "./_remote.ts";

/** A file in Drive. Names are not unique. */
export interface DriveFile {
  readonly id: string;
  readonly name: string;
  /** Size in bytes, as a string. */
  readonly size?: string;
  /** Modification time, RFC 3339. */
  readonly modifiedTime: string;
  /** App-specific properties. */
  readonly appProperties?: Readonly<Record<string, string>>;
}

/** File metadata. */
type DriveFacts = Partial<Pick<DriveFile, "name" | "modifiedTime" | "appProperties">>;

/** Options of a folder. */
interface DriveFolderOptions {
  readonly id: string;
  /** Id of the folder; `appDataFolder` for the folder that other apps cannot access. */
  readonly folder: string;
  /** Base URL of the service. */
  readonly endpoint: string;
  readonly token: GetToken;
}

const fields = "id,name,size,modifiedTime,appProperties";

/** The files of one folder. */
export class DriveFolder {
  readonly #runtime: RemoteRuntime;
  readonly #options: DriveFolderOptions;

  /**
   * @param runtime Clock and HTTP.
   * @param options Folder and credentials.
   */
  constructor(runtime: RemoteRuntime, options: DriveFolderOptions) {
    this.#runtime = runtime;
    this.#options = options;
  }

  /**
   * Lists files, oldest first.
   *
   * @param name Name of the files; all files when omitted.
   */
  async find(name?: string): Promise<readonly DriveFile[]> {
    const { folder } = this.#options;
    const q = `'${folder}' in parents and trashed = false${name === undefined ? "" : ` and name = '${name}'`}`;
    const spaces = folder === "appDataFolder" ? folder : "drive";
    const found: DriveFile[] = [];
    for (let pageToken: string | undefined = ""; pageToken !== undefined;) {
      const response = await this.#call({
        method: "GET",
        path: "/drive/v3/files",
        query: {
          ...{ q, spaces, orderBy: "createdTime", pageSize: "1000", fields: `nextPageToken,files(${fields})` },
          ...{ supportsAllDrives: "true", includeItemsFromAllDrives: "true" },
          ...(pageToken === "" ? {} : { pageToken }),
        },
      });
      const page = JSON.parse(new TextDecoder().decode(response.bytes)) as {
        files: DriveFile[];
        nextPageToken?: string;
      };
      found.push(...page.files);
      pageToken = page.nextPageToken;
    }
    return found;
  }

  /** A file's content; undefined if it no longer exists. */
  async read({ id }: DriveFile): Promise<Uint8Array | undefined> {
    const query = { alt: "media", supportsAllDrives: "true" };
    const { status, bytes } = await this.#call({ method: "GET", path: `/drive/v3/files/${id}`, query });
    return status === 404 ? undefined : bytes;
  }

  /** Creates a file and returns its id. */
  async create(facts: DriveFacts, content: Uint8Array): Promise<string> {
    const { bytes } = await this.#upload("POST", "", { facts: { ...facts, parents: [this.#options.folder] }, content });
    return JSON.parse(new TextDecoder().decode(bytes)).id;
  }

  /** Replaces a file's content and metadata; false if it no longer exists. */
  async update({ id }: Pick<DriveFile, "id">, facts: DriveFacts, content: Uint8Array): Promise<boolean> {
    return (await this.#upload("PATCH", `/${id}`, { facts, content })).status !== 404;
  }

  async delete({ id }: Pick<DriveFile, "id">): Promise<boolean> {
    const query = { supportsAllDrives: "true" };
    return (await this.#call({ method: "DELETE", path: `/drive/v3/files/${id}`, query })).status !== 404;
  }

  /** Metadata and content are sent as one multipart body, so that the update is atomic. */
  #upload(
    method: "POST" | "PATCH",
    path: string,
    { facts, content }: { readonly facts: object; readonly content: Uint8Array },
  ): Promise<RemoteResponse> {
    const boundary = crypto.randomUUID();
    const head = `--${boundary}\r\ncontent-type: application/json; charset=UTF-8\r\n\r\n${JSON.stringify(facts)}\r\n` +
      `--${boundary}\r\ncontent-type: application/octet-stream\r\n\r\n`;
    const [start, end] = [head, `\r\n--${boundary}--`].map((text) => new TextEncoder().encode(text));
    const body = new Uint8Array(start!.length + content.length + end!.length);
    body.set(start!);
    body.set(content, start!.length);
    body.set(end!, start!.length + content.length);
    const query = { uploadType: "multipart", fields: "id", supportsAllDrives: "true" };
    const type = `multipart/related; boundary=${boundary}`;
    return this.#call({ method, path: `/upload/drive/v3/files${path}`, query, type, body });
  }

  async #call({ method, path, query = {}, type, body }: {
    readonly method: "GET" | "POST" | "PATCH" | "DELETE";
    readonly path: string;
    readonly query?: Readonly<Record<string, string>>;
    readonly type?: string;
    readonly body?: string | Uint8Array;
  }): Promise<RemoteResponse> {
    const { id, endpoint, token } = this.#options;
    const url = new URL(endpoint.replace(/\/$/, "") + path);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const headers = {
      authorization: `Bearer ${await token()}`,
      ...(type === undefined ? {} : { "content-type": type }),
    };
    const response = await callRemote(id, this.#runtime, { method, url: url.href, headers, body });
    const { status } = response;
    const isOfOneFile = /files\/[^/]+$/.test(path);
    if (status === 200 || status === 204 || status === 404 && isOfOneFile) return response;
    throw this.#refusal(method, response);
  }

  /** Only the error reason is exposed, since the service's message may quote the request. */
  #refusal(method: string, { status, bytes }: RemoteResponse): ConnectorError {
    const { id, folder } = this.#options;
    const reason = /"reason":\s*"([A-Za-z]{1,60})"/.exec(new TextDecoder().decode(bytes))?.[1];
    const detail = reason === undefined ? `status ${status}` : `status ${status}, ${reason}`;
    const isFull = reason === "storageQuotaExceeded";
    const isBusy = status === 429 || status >= 500 || reason === "rateLimitExceeded" ||
      reason === "userRateLimitExceeded";
    const advice = isFull
      ? "The quota is exhausted. A service account has none of its own: use a folder of a shared drive"
      : isBusy
      ? "Try again later"
      : "Check the credentials, storage.folder, and that the folder is shared with them for editing";
    const message = `"${id}" was denied access to the folder "${folder}" (${method}: ${detail}). ${advice}`;
    return new ConnectorError(message, undefined, isFull ? "full" : isBusy ? undefined : "forbidden");
  }
}
