/**
 * A PostgreSQL server for a suite, on a free port, in a folder of its own, without waiting for its disk. It runs as an
 * unprivileged user, since it refuses to run as root. Without PostgreSQL, tests that need it are skipped with a message;
 * with `CI` set, they fail.
 * @module
 */
import { type ChildProcess, spawn, spawnSync, type SpawnSyncOptions } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { portForRestarts } from "./ports.ts";

/** Debian installs the programs of a server outside of the path. */
const debian = "/usr/lib/postgresql";

const bin = findPrograms();

/** Whether a PostgreSQL server is installed; `.ci/run` installs it. */
export const hasPostgres: boolean = bin !== undefined;

if (!hasPostgres) {
  const line = "postgres is missing (apt-get install postgresql): what needs a real PostgreSQL IS NOT TESTED";
  if (process.env.CI) throw new Error(line);
  console.error(`\n!!! ${line}\n`);
}

function findPrograms(): string | undefined {
  if (spawnSync("initdb", ["--version"]).status === 0) return "";
  try {
    const [newest] = readdirSync(debian).sort((one, other) => Number(other) - Number(one));
    return newest === undefined ? undefined : `${debian}/${newest}/bin/`;
  } catch {
    return undefined;
  }
}

const cache = process.env.MODELMESH_CACHE;

/** Data of a new server, which `initdb` takes a second to make; undefined outside of a run of `scripts/test.ts`. */
const template = cache === undefined ? undefined : join(cache, "postgres");

/** Password of the superuser `postgres` and of the users that a test creates. */
export const postgresPassword = "hush-hush";

/** Options of a server. */
interface PostgresOptions {
  /** Certificate and key, PEM: connections may be encrypted. */
  readonly tls?: { readonly cert: string; readonly key: string };
}

/** Who runs the server; by default who runs the test. */
interface User {
  readonly uid?: number;
  readonly gid?: number;
}

/** A running PostgreSQL. */
export class TestPostgres implements AsyncDisposable {
  /** Its port, which a restart keeps. */
  readonly port: number;
  readonly #folder: string;
  readonly #user: User;
  #server: ChildProcess | undefined;

  private constructor(port: number, folder: string, user: User) {
    this.port = port;
    this.#folder = folder;
    this.#user = user;
  }

  /** Creates a cluster of databases, and starts its server. */
  static async start({ tls }: PostgresOptions = {}): Promise<TestPostgres> {
    const folder = mkdtempSync(join(tmpdir(), "postgres-"));
    const user: User = process.getuid?.() === 0 ? findUser() : {};
    const postgres = new TestPostgres(await portForRestarts(), folder, user);
    postgres.#own(folder);
    postgres.#createData();
    if (tls !== undefined) {
      postgres.#write(join(postgres.#data, "server.crt"), tls.cert);
      postgres.#write(join(postgres.#data, "server.key"), tls.key);
      postgres.#write(join(postgres.#data, "postgresql.auto.conf"), "ssl = on\n");
    }
    await postgres.start();
    return postgres;
  }

  /** URL for a storage. */
  get url(): string {
    return `postgres://postgres:${postgresPassword}@127.0.0.1:${this.port}/postgres`;
  }

  /** Attributes of a storage. */
  get storage(): { readonly connector: string; readonly url: string } {
    return { connector: "mesh.postgres.v1", url: this.url };
  }

  get #data(): string {
    return join(this.#folder, "data");
  }

  /** Creates the data of a new server, or copies those that another one of this run of the tests has begun with. */
  #createData(): void {
    if (template !== undefined && existsSync(template)) return void copy(template, this.#data);
    const password = join(this.#folder, "password");
    this.#write(password, postgresPassword);
    const args = ["-D", this.#data, "-U", "postgres", "--auth=scram-sha-256", `--pwfile=${password}`];
    const options = { ...this.#user, cwd: this.#folder };
    run(`${bin}initdb`, [...args, "--encoding=UTF8", "--locale=C", "--no-sync"], options);
    if (template === undefined) return;
    mkdirSync(dirname(template), { recursive: true });
    const own = mkdtempSync(`${template}-`);
    copy(this.#data, join(own, "data"));
    try {
      renameSync(join(own, "data"), template);
    } catch {
      // another suite was faster
    }
  }

  /** Starts it, or starts it again with its data. */
  async start(): Promise<void> {
    const settings = ["fsync=off", "max_connections=100", "logging_collector=off", "log_min_messages=log"];
    const args = ["-D", this.#data, "-p", String(this.port), "-h", "127.0.0.1", "-k", this.#folder];
    const server = spawn(`${bin}postgres`, [...args, ...settings.flatMap((setting) => ["-c", setting])], {
      ...this.#user,
      cwd: this.#folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      let reported = "";
      server.stderr!.on("data", (data: Uint8Array) => {
        reported += new TextDecoder().decode(data);
        if (reported.includes("ready to accept connections")) resolve();
      });
      server.on("exit", () => reject(new Error(`postgres did not start: ${reported}`)));
    });
  }

  /** Ends it as a crash does: connections break, and the next start recovers its data. */
  kill(): Promise<void> {
    return this.#end("SIGQUIT");
  }

  async #end(signal: "SIGQUIT" | "SIGINT"): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const ended = new Promise<void>((resolve) => server.on("close", () => resolve()));
    process.kill(server.pid!, "SIGCONT");
    server.kill(signal);
    await ended;
  }

  /** Runs statements as the superuser; returns the rows of the last one, their values separated by `|`. */
  sql(text: string, database = "postgres"): string {
    const args = ["-h", "127.0.0.1", "-p", String(this.port), "-U", "postgres", "-d", database];
    const env = { ...process.env, PGPASSWORD: postgresPassword };
    return run(`${bin}psql`, [...args, "-qAtX", "-v", "ON_ERROR_STOP=1", "-c", text], { env, cwd: "/" }).trim();
  }

  /** Suspends (SIGSTOP) or resumes the processes that serve connections, which stay open and hang. */
  signal(name: "SIGSTOP" | "SIGCONT"): void {
    const children = readFileSync(`/proc/${this.#server!.pid}/task/${this.#server!.pid}/children`, "utf8");
    for (const pid of [...children.trim().split(" "), String(this.#server!.pid)]) {
      try {
        process.kill(Number(pid), name);
      } catch {
        // it has ended meanwhile
      }
    }
  }

  /** Stops it, and removes its data. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end("SIGQUIT");
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #write(path: string, text: string): void {
    writeFileSync(path, text);
    chmodSync(path, 0o600);
    this.#own(path);
  }

  #own(path: string): void {
    const { uid, gid } = this.#user;
    if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
  }
}

/** The user that Debian creates for PostgreSQL, or another without privileges. */
function findUser(): User {
  for (const name of ["postgres", "nobody"]) {
    const [uid, gid] = ["-u", "-g"].map((flag) => spawnSync("id", [flag, name]));
    if (uid!.status === 0) return { uid: Number(String(uid!.stdout)), gid: Number(String(gid!.stdout)) };
  }
  throw new Error("There is no user without privileges for PostgreSQL");
}

function copy(from: string, to: string): void {
  run("cp", ["-a", from, to], {});
}

function run(command: string, args: readonly string[], options: SpawnSyncOptions): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, options);
  if (status === 0) return String(stdout);
  throw new Error(`${command} failed: ${error ?? String(stderr)}`);
}
