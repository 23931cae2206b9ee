/**
 * Secrets in one file, whatever it is written in.
 * @module
 */
import type { Clock, Disk, FileSystem, Runtime } from "../../src/contracts/runtime.ts";
import type { SecretStore } from "../../src/contracts/secret_store.ts";
import { ConfigError, ConnectorError } from "../../src/errors.ts";
import { withFileLock } from "./_file_lock.ts";
import { SecretFileError } from "./_secret_file_error.ts";

/** How a file holds secrets. */
export interface SecretFormat {
  /** All of them, by name. */
  read(text: string): ReadonlyMap<string, string> | Promise<ReadonlyMap<string, string>>;
  /** The file with one secret more, or with another value. */
  put(text: string | undefined, name: string, value: string): string | Promise<string>;
  /** The file without a secret that is in it. */
  drop(text: string, name: string): string | Promise<string>;
}

/** Which file, and whose. */
interface SecretFileOptions {
  readonly store: string;
  readonly path: string;
  /** Where files are. */
  readonly files: FileSystem;
  /** Moves the lock of a process that was killed. */
  readonly disk: Disk | undefined;
  /** For waiting until another process is done. */
  readonly clock: Clock;
  /** How it holds secrets. */
  readonly format: SecretFormat;
}

/**
 * The file of a store.
 *
 * @param store The connector's id, for messages.
 * @param path As configured.
 * @param runtime Has files.
 * @throws {ConfigError} When the path is none.
 * @throws {ConnectorError} Where there are no files.
 */
export function secretFile(
  store: string,
  path: unknown,
  { files, disk, clock }: Runtime,
): Pick<SecretFileOptions, "path" | "files" | "disk" | "clock"> {
  if (typeof path !== "string" || path.trim() === "" || path.includes("\0")) {
    throw new ConfigError([{ path: "secrets.path", message: `${store} needs the path of its file` }]);
  }
  if (files === undefined) throw new ConnectorError(`${store} needs files, and there are none here`);
  return { path, files, disk, clock };
}

/** A secret store over one file, which is read anew each time and replaced whole or not at all. */
export class FileSecrets implements Required<SecretStore> {
  readonly #options: SecretFileOptions;
  /** What is being read: a start asks for many secrets at once. */
  #reading: Promise<ReadonlyMap<string, string> | undefined> | undefined;
  /** Changes follow one another, or one would undo the other. */
  #changing: Promise<unknown> = Promise.resolve();

  /** @param options Which file, and what is in it. */
  constructor(options: SecretFileOptions) {
    this.#options = options;
  }

  /** A secret of the file. */
  async get(name: string): Promise<string | undefined> {
    const secrets = await this.#secrets(`look up the secret "${name}"`);
    return secrets.get(name);
  }

  /** Their names, sorted. */
  async list(): Promise<readonly string[]> {
    const secrets = await this.#secrets("list secrets");
    return [...secrets.keys()].sort();
  }

  /** Adds or replaces one; a file that is missing is made. */
  set(name: string, value: string): Promise<void> {
    const { format } = this.#options;
    const task = `store the secret "${name}"`;
    return this.#change(task, async (text) => await format.put(text, name, value));
  }

  /** Takes one out. */
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
          if (!await isOurs()) throw new SecretFileError("this process was held up meanwhile; try again");
          await files.replaceText(path, text);
        }))
    );
    this.#changing = changed.catch(() => {}); // its caller gets the error
    return changed;
  }

  /** The file's text; undefined when there is none. */
  async #text(): Promise<string | undefined> {
    const { path, files } = this.#options;
    try {
      return await files.readText(path);
    } catch (error) {
      if (codeOf(error) === "ENOENT" || (error as Error).name === "NotFound") return undefined;
      throw error;
    }
  }

  /** Says of a failure which store, which file and what it was about. */
  async #during<Result>(task: string, run: () => Promise<Result>): Promise<Result> {
    const { store, path } = this.#options;
    try {
      return await run();
    } catch (error) {
      const reason = error instanceof SecretFileError ? error.message : reasonOf(error);
      throw new ConnectorError(`${store}: cannot ${task} in "${path}": ${reason}`, undefined, "unreadable");
    }
  }
}

/** The runtimes' own messages name paths only, but that is not promised: their code is enough. */
function reasonOf(error: unknown): string {
  const code = codeOf(error) ?? (error instanceof Error ? error.name : undefined);
  const known: Readonly<Record<string, string>> = {
    ENOENT: "there is no such folder",
    EACCES: "not permitted",
    EPERM: "not permitted",
    EISDIR: "it is a folder",
    ENOSPC: "the disk is full",
    EROFS: "the disk is read-only",
  };
  return (code === undefined ? undefined : known[code]) ?? `it failed${code === undefined ? "" : ` (${code})`}`;
}

function codeOf(error: unknown): string | undefined {
  const code: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "code") : undefined;
  return typeof code === "string" ? code : undefined;
}
