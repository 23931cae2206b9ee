/**
 * Secrets in one file, independent of its format.
 * @module
 */
import type { Clock, Disk, FileSystem, Runtime } from "../../src/contracts/runtime.ts";
import type { SecretStore } from "../../src/contracts/secret_store.ts";
import { ConfigError, ConnectorError } from "../../src/errors.ts";
import { describeDenial, findDenial, toFolder } from "../../src/util/denial.ts";
import { withFileLock } from "./_file_lock.ts";
import { SecretFileError } from "./_secret_file_error.ts";

/** The format of a secret file. */
export interface SecretFormat {
  /** Parses all secrets, by name. */
  read(text: string): ReadonlyMap<string, string> | Promise<ReadonlyMap<string, string>>;
  /** Adds or replaces a secret, and returns the new content. */
  put(text: string | undefined, name: string, value: string): string | Promise<string>;
  /** Removes a secret, and returns the new content. */
  drop(text: string, name: string): string | Promise<string>;
}

/** Options of a secret file. */
interface SecretFileOptions {
  readonly store: string;
  readonly path: string;
  /** File access. */
  readonly files: FileSystem;
  /** Renames the lock of a process that was killed. */
  readonly disk: Disk | undefined;
  /** Times the wait for another process. */
  readonly clock: Clock;
  /** Format of the file. */
  readonly format: SecretFormat;
}

/**
 * Creates the file of a store.
 *
 * @param store The connector id, for error messages.
 * @param path The configured path.
 * @param runtime Gives access to files.
 * @throws {ConfigError} If the path is invalid.
 * @throws {ConnectorError} If the runtime has no files.
 */
export function secretFile(
  store: string,
  path: unknown,
  { files, disk, clock }: Runtime,
): Pick<SecretFileOptions, "path" | "files" | "disk" | "clock"> {
  if (typeof path !== "string" || path.trim() === "" || path.includes("\0")) {
    throw new ConfigError([{ path: "secrets.path", message: `${store} requires the path of its file` }]);
  }
  if (files === undefined) throw new ConnectorError(`${store} requires file access, which this runtime does not have`);
  return { path, files, disk, clock };
}

/** A secret store in one file, which is read on each access and replaced atomically. */
export class FileSecrets implements Required<SecretStore> {
  readonly #options: SecretFileOptions;
  /** The pending read, shared by concurrent lookups at startup. */
  #reading: Promise<ReadonlyMap<string, string> | undefined> | undefined;
  /** The pending change: changes are serialized, so that none is lost. */
  #changing: Promise<unknown> = Promise.resolve();

  /** @param options The file and its format. */
  constructor(options: SecretFileOptions) {
    this.#options = options;
  }

  /** Looks up a secret. */
  async get(name: string): Promise<string | undefined> {
    const secrets = await this.#secrets(`look up the secret "${name}"`);
    return secrets.get(name);
  }

  /** The names of the secrets, sorted. */
  async list(): Promise<readonly string[]> {
    const secrets = await this.#secrets("list secrets");
    return [...secrets.keys()].sort();
  }

  /** Adds or replaces a secret; creates the file if missing. */
  set(name: string, value: string): Promise<void> {
    const { format } = this.#options;
    const task = `store the secret "${name}"`;
    return this.#change(task, async (text) => await format.put(text, name, value));
  }

  /** Deletes a secret. */
  async delete(name: string): Promise<boolean> {
    const { format } = this.#options;
    const task = `delete the secret "${name}"`;
    let isThere = false;
    await this.#change(task, async (text) => {
      isThere = text !== undefined && (await format.read(text)).has(name);
      return isThere ? await format.drop(text!, name) : undefined;
    });
    return isThere;
  }

  async #secrets(task: string): Promise<ReadonlyMap<string, string>> {
    const { store, path, format } = this.#options;
    this.#reading ??= this.#text().then((text) => text === undefined ? undefined : format.read(text))
      .finally(() => this.#reading = undefined);
    const secrets = await this.#during(task, () => this.#reading!);
    if (secrets !== undefined) return secrets;
    throw new ConnectorError(
      `${store}: cannot ${task}: there is no file "${path}". Create it with: modelmesh secrets set <name> - --store ${store} --path ${path}`,
    );
  }

  #change(task: string, change: (text: string | undefined) => Promise<string | undefined>): Promise<void> {
    const { path, files } = this.#options;
    const changed = this.#changing.then(() =>
      this.#during(task, () =>
        withFileLock(path, this.#options, async (isOurs) => {
          const text = await change(await this.#text());
          if (text === undefined) return;
          if (!await isOurs()) throw new SecretFileError("this process was suspended meanwhile; try again");
          await files.replaceText(path, text);
        }))
    );
    this.#changing = changed.catch(() => {}); // the caller of `change` receives the error
    return changed;
  }

  /** The content of the file; undefined if it does not exist. */
  async #text(): Promise<string | undefined> {
    const { path, files } = this.#options;
    try {
      return await files.readText(path);
    } catch (error) {
      if (readFileErrorCode(error) === "ENOENT" || (error as Error).name === "NotFound") return undefined;
      throw error;
    }
  }

  /** Adds store, file and operation to the message of a failure. */
  async #during<Result>(task: string, run: () => Promise<Result>): Promise<Result> {
    const { store, path } = this.#options;
    try {
      return await run();
    } catch (error) {
      const reason = error instanceof SecretFileError ? error.message : describeFileError(error, path);
      throw new ConnectorError(`${store}: cannot ${task} in "${path}": ${reason}`, undefined, "unreadable");
    }
  }
}

/** Only the error code is exposed, since the runtime's message might contain more than paths. */
function describeFileError(error: unknown, path: string): string {
  const isRead = /read/.test(findDenial(error)?.access ?? "");
  const denied = describeDenial(error, { path: isRead ? path : toFolder(path) }); // lock and temporary file are next to it
  if (denied !== undefined) return denied;
  const code = readFileErrorCode(error) ?? (error instanceof Error ? error.name : undefined);
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: "there is no such folder",
    EACCES: "not permitted",
    EPERM: "not permitted",
    EISDIR: "it is a folder",
    ENOSPC: "the disk is full",
    EROFS: "the disk is read-only",
  };
  return (code === undefined ? undefined : reasons[code]) ?? `it failed${code === undefined ? "" : ` (${code})`}`;
}

function readFileErrorCode(error: unknown): string | undefined {
  const code: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "code") : undefined;
  return typeof code === "string" ? code : undefined;
}
