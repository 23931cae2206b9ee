/**
 * Root directory of the image: Node and its libraries, the package, and nothing else.
 * @module
 */
import { fromFileUrl } from "../npm/files.ts";
import { buildPackage } from "../npm/package.ts";
import type { Image } from "./dockerfile.ts";

/** A process in the root directory. */
export interface InRoot extends AsyncDisposable {
  readonly pid: number;
  /** Its standard error so far. */
  readonly err: string;
  /** Resolves when standard error contains a text. */
  printed(text: string): Promise<void>;
  /** Its exit code. */
  readonly code: Promise<number>;
  kill(signal: Deno.Signal): void;
}

/** The root directory, and how to run programs in it. */
export interface ImageRoot {
  readonly image: Image;
  /** Its path. */
  readonly folder: string;
  /** Starts a program with the image's user and environment. */
  start(command: readonly string[], env?: Readonly<Record<string, string>>): InRoot;
}

async function run(command: string, args: readonly string[], cwd?: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(command, { args: [...args], cwd }).output();
  if (!success) throw new Error(`${command} ${args.join(" ")} failed: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}

/** Creates the root directory as the two stages of the Dockerfile do. */
export async function buildRoot(folder: string, image: Image): Promise<ImageRoot> {
  await buildPackage(new URL(`file://${folder}/package/`));
  const [packed] = JSON.parse(await run("npm", ["pack", "--json"], `${folder}/package`));
  const root = `${folder}/root`;
  const home = `${root}/opt/modelmesh`;
  await Deno.mkdir(home, { recursive: true });
  const flags = ["--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"];
  const tarball = fromFileUrl(new URL(`file://${folder}/package/${packed.filename}`));
  await run("npm", ["install", "--prefix", home, ...flags, tarball, ...image.packages]);
  await copyNode(root);
  const [user = 0, group = 0] = image.user.split(":").map(Number);
  await Deno.mkdir(root + image.volume, { recursive: true });
  await Deno.chmod(root + image.volume, 0o700);
  await Deno.chown(root + image.volume, user, group);
  await Deno.mkdir(`${root}/etc/modelmesh`, { recursive: true });
  await Deno.chmod(folder, 0o755);
  const chroot = (await run("sh", ["-c", "command -v chroot"])).trim();
  return { image, folder: root, start: (command, env = {}) => start(root, image, { chroot, command, env }) };
}

/** Copies Node and its libraries to the same paths. */
async function copyNode(root: string): Promise<void> {
  const node = await Deno.realPath((await run("sh", ["-c", "command -v node"])).trim());
  const libraries = (await run("ldd", [node])).match(/\/\S+(?= \(0x)/g) ?? [];
  for (const path of [node, ...libraries]) {
    const target = root + path;
    await Deno.mkdir(target.slice(0, target.lastIndexOf("/")), { recursive: true });
    await Deno.copyFile(path, target);
  }
  await Deno.mkdir(`${root}/usr/local/bin`, { recursive: true });
  if (node !== "/usr/local/bin/node") await Deno.symlink(node, `${root}/usr/local/bin/node`);
}

interface StartOptions {
  /** Path of `chroot`. */
  readonly chroot: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

function start(
  root: string,
  { env, workdir, user }: Image,
  { chroot, command, env: further }: StartOptions,
): InRoot {
  const variables = { PATH: "/usr/local/bin", ...env, ...further };
  // changes the working directory inside, since `chroot` starts at the root
  const program = ["/usr/local/bin/node", "-e", launcher, workdir, ...command];
  const child = new Deno.Command(chroot, {
    args: [`--userspec=${user}`, "--groups=", root, ...program],
    env: variables,
    clearEnv: true,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  return monitored(child);
}

/** Launcher: changes the working directory and runs the program, as a container engine does. */
const launcher = `
const [folder, command, ...args] = process.argv.slice(1);
process.chdir(folder);
process.argv.splice(1, Infinity, ...args);
if (command !== "node") throw new Error("only node is in this root");
if (args[0] === "-e") (0, eval)(args[1]); else require(args[0]);
`;

function monitored(child: Deno.ChildProcess): InRoot {
  let err = "";
  let isOver = false;
  const reading = (async () => {
    for await (const chunk of child.stderr.pipeThrough(new TextDecoderStream())) err += chunk;
  })();
  const code = child.status.then(async ({ code }) => {
    await reading;
    isOver = true;
    return code;
  });
  return {
    pid: child.pid,
    code,
    get err() {
      return err;
    },
    async printed(text) {
      while (!err.includes(text)) {
        if (isOver) throw new Error(`It ended: ${err}`);
        await new Promise((go) => setTimeout(go, 10));
      }
    },
    kill: (signal) => child.kill(signal),
    async [Symbol.asyncDispose]() {
      if (!isOver) child.kill("SIGKILL");
      await code;
    },
  };
}
