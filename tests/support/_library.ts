/**
 * Clients over scripted providers, temporary files, and programs in child processes.
 * @module
 */
import { assert } from "@std/assert";
import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import {
  type ChatCompletion,
  type ChatMessage,
  create,
  type CreateOptions,
  type MeshClient,
  type MeshEvent,
  type RoutingRecord,
} from "../../mod.ts";
import { type FakeClock, fakeClock } from "../../src/runtime/test.ts";
import { programCommand } from "./_programs.ts";
import { happens, patienceMs } from "./patience.ts";
import { testConfig, type TestProxyOptions } from "./proxy.ts";
import type { ReceivedRequest } from "./upstream.ts";

export { type FakeClock, fakeClock };

/** The shortest conversation. */
export const messages: ChatMessage[] = [{ role: "user", content: "Hi" }];

/** The key of a provider that {@linkcode environment} makes. */
export function toVendorKey(vendor: string): string {
  return `key-of-${vendor}-0123456789`;
}

/**
 * Variables by which hosted providers are found at addresses on loopback.
 *
 * @param addresses URLs by vendor, as in `OPENAI_API_KEY`.
 */
export function environment(addresses: Readonly<Record<string, string>>): Record<string, string> {
  const pairs = Object.entries(addresses).flatMap(([vendor, url]) => {
    const prefix = vendor.toUpperCase();
    return [[`${prefix}_API_KEY`, toVendorKey(vendor)], [`${prefix}_BASE_URL`, url]];
  });
  return Object.fromEntries(pairs);
}

/** A client over a pool `chat` of scripted providers, on a clock that skips every wait. */
export interface TestClient extends AsyncDisposable {
  readonly client: MeshClient;
  readonly clock: FakeClock;
  /** Every event and routing decision, in order. */
  readonly records: (MeshEvent | RoutingRecord)[];
}

/** What a {@linkcode TestClient} is made of. */
export interface TestClientOptions extends Omit<TestProxyOptions, "tokens"> {
  /** Options of `create`. */
  readonly options?: CreateOptions;
}

/** Makes a client of the configuration that test proxies have. */
export function clientOver(
  { options, clock = fakeClock({ skipSleeps: true }), ...facts }: TestClientOptions,
): TestClient {
  const records: (MeshEvent | RoutingRecord)[] = [];
  const client = create({
    config: testConfig(facts),
    clock,
    random: () => 0.5,
    on: (record) => records.push(record),
    ...options,
  });
  return { client, clock, records, [Symbol.asyncDispose]: () => client.close() };
}

/**
 * Fails unless the provider sees the connection of a call close.
 *
 * @param request The call, as its provider received it.
 */
export async function assertClosesAtOnce(request: Pick<ReceivedRequest, "closed"> | undefined): Promise<void> {
  assert(request !== undefined, "the provider was not called");
  await happens("the provider's connection closes", request.closed);
}

/** Returns the text of a completion. */
export function getText(answer: ChatCompletion): string | null | undefined {
  return answer.choices[0]?.message.content;
}

/** A folder for one test. */
export interface TestFolder extends AsyncDisposable {
  readonly path: string;
  /** Writes a file and returns its path. */
  write(name: string, text: string): Promise<string>;
  /** The names of what is in it. */
  list(): Promise<string[]>;
}

/** Makes a temporary folder, which is removed after the test. */
export async function makeFolder(): Promise<TestFolder> {
  const path = await mkdtemp(join(tmpdir(), "modelmesh-test-"));
  return {
    path,
    async write(name, text) {
      const file = join(path, name);
      await writeFile(file, text);
      return file;
    },
    list: () => readdir(path),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true }),
  };
}

/** How a program ended. */
export interface ProgramEnd {
  /** Exit code; -1 when it was stopped after a timeout. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a program that imports the library in a separate process.
 *
 * @param source Its source code, where `LIBRARY` stands for the library's URL.
 * @param folder Where it runs.
 * @param env Its environment: no other variable is set.
 * @param heapMb What its heap may grow to, MB.
 */
export function runProgram(
  source: string,
  folder: TestFolder,
  env: Record<string, string>,
  heapMb?: number,
): Promise<ProgramEnd> {
  const [command, ...args] = programCommand(source, heapMb);
  const { PATH = "", HOME = "", DENO_DIR } = process.env;
  const own = { PATH, HOME, ...(DENO_DIR === undefined ? {} : { DENO_DIR }), ...env };
  return new Promise((resolve) => {
    const options = { cwd: folder.path, env: own, timeout: 5 * patienceMs }; // some of them work for a minute
    execFile(command, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
      resolve({ code, stdout, stderr });
    });
  });
}
