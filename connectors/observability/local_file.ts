/**
 * Writes records as JSON lines to a file, rotated by size and by day.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { Observability } from "../../src/contracts/observability.ts";
import type { Clock, Disk, Runtime } from "../../src/contracts/runtime.ts";
import { ConfigError } from "../../src/errors.ts";
import { dayMs } from "../../src/util/windows.ts";
import { localFileDeclaration } from "./declarations.ts";
import { DeliveryQueue } from "./_delivery_queue.ts";

const capacity = 10_000;
const batch = 1_000;

/** Appends records to a file; its declaration documents the attributes. */
export const localFileObservability: Connector<"observability"> = /* @__PURE__ */ Object.assign(
  { create: createFileSink },
  localFileDeclaration,
);

function createFileSink(
  settings: Readonly<Record<string, unknown>>,
  { disk, clock }: Runtime,
): Observability {
  const { attributes } = localFileDeclaration;
  const { path, max_size = attributes.max_size.default, retention = attributes.retention.default } = settings;
  if (typeof path !== "string" || path.trim() === "") throw createFileSinkError("path", "requires the path of a file");
  if (disk === undefined) {
    throw createFileSinkError("connector", "requires file access, which this runtime does not have");
  }
  const file = new RotatedFile(path, { disk, clock, maxBytes: max_size as number, retentionMs: retention as number });
  const queue = new DeliveryQueue<string>({ capacity, batch, deliver: (lines) => file.append(lines) });
  const put = (record: unknown) => queue.add(`${JSON.stringify(record)}\n`);
  return {
    get lost() {
      return queue.lost;
    },
    emit: (record) => put(record),
    log: put,
    trace: put,
    flush(report) {
      report?.records.forEach(put);
      return queue.idle();
    },
  };
}

interface RotatedFileOptions {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly maxBytes: number;
  readonly retentionMs: number;
}

/** An append-only file, rotated to `<path>.<time>` by size and by day. */
class RotatedFile {
  readonly #path: string;
  readonly #options: RotatedFileOptions;
  /** The UTC day of the file's content; undefined until checked. */
  #day: number | undefined;
  /** The known size of the file, bytes. */
  #size = 0;
  /** Whether the file may end with an incomplete line. */
  #endsIncomplete = false;

  constructor(path: string, options: RotatedFileOptions) {
    this.#path = path;
    this.#options = options;
  }

  async append(lines: readonly string[]): Promise<void> {
    const { disk, clock, maxBytes } = this.#options;
    const today = Math.floor(clock.now() / dayMs);
    if (this.#day === undefined) {
      const info = await disk.stat(this.#path);
      this.#day = info === undefined ? today : Math.floor(info.modifiedAt / dayMs);
      this.#size = info?.size ?? 0;
      await this.#unlessFailing(() => this.#removeOld());
    }
    if (this.#day !== today) await this.#unlessFailing(() => this.#rotate());
    this.#day = today;
    await this.#write(lines.join(""));
    if (this.#size >= maxBytes) await this.#unlessFailing(() => this.#rotate());
  }

  /** A full disk may leave an incomplete line: a line break then precedes the next line. */
  async #write(text: string): Promise<void> {
    const { disk } = this.#options;
    try {
      this.#size = await disk.append(this.#path, new TextEncoder().encode(this.#endsIncomplete ? `\n${text}` : text));
      this.#endsIncomplete = false;
    } catch (error) {
      const info = await disk.stat(this.#path).catch(() => undefined);
      this.#endsIncomplete ||= (info?.size ?? 0) > this.#size;
      throw error;
    }
  }

  /** If the folder is read-only, or another program has the file open, records continue in the same file. */
  async #unlessFailing(operation: () => Promise<void>): Promise<void> {
    try {
      await operation();
    } catch {
      // retried with the next rotation
    }
  }

  async #rotate(): Promise<void> {
    const { disk, clock } = this.#options;
    const time = new Date(clock.now()).toISOString().replace(/[-:.]/g, "");
    let name = `${this.#path}.${time}`;
    for (let number = 1; await disk.stat(name) !== undefined; number++) name = `${this.#path}.${time}-${number}`;
    await disk.rename(this.#path, name);
    [this.#size, this.#endsIncomplete] = [0, false];
    await this.#removeOld();
  }

  async #removeOld(): Promise<void> {
    const { disk, clock, retentionMs } = this.#options;
    const [, folder = "", file = ""] = /^(.*[\\/])?([^\\/]+)$/.exec(this.#path) ?? [];
    for (const name of await disk.list(folder === "" ? "." : folder)) {
      if (!name.startsWith(`${file}.`)) continue;
      const time = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z(?:-\d+)?$/.exec(name.slice(file.length + 1));
      if (time === null) continue;
      const [year, month, day, ...rest] = time.slice(1).map(Number) as [number, number, number, ...number[]];
      if (Date.UTC(year, month - 1, day, ...rest) < clock.now() - retentionMs) await disk.remove(folder + name);
    }
  }
}

function createFileSinkError(setting: string, message: string): ConfigError {
  return new ConfigError([{ path: `observability.${setting}`, message: `"mesh.local-file.v1" ${message}` }]);
}
