/**
 * Installs the packages of other contestants, once, into a cache in the system's temporary folder; and builds this
 * project's package for each run.
 * @module
 */
import { output } from "./process.ts";
import { denoCommand, programPath } from "./runtimes.ts";

const temporary = Deno.env.get("TMPDIR") ?? "/tmp";
const cache = `${temporary.replace(/\/$/, "")}/modelmesh-bench`;
const installMs = 300_000;

/** Packages to install. Installed versions are in each folder's `package-lock.json`. */
const wanted = {
  undici: { dependencies: { undici: "^7.16.0" } },
  portkey: {
    dependencies: { "@portkey-ai/gateway": "^1.15.2" },
    overrides: { "@hono/node-server": "1.13.8" }, // with 1.19.19 its streams fail with status 500
  },
  clients: { dependencies: { "openai": "^7.55.0", "ai": "^7.0.0", "@ai-sdk/openai": "^4.0.0" } },
} as const;

const litellm = "litellm[proxy]";

const folders = new Map<string, Promise<string>>();

/** Runs a task once for all callers. */
function once(name: string, make: () => Promise<string>): Promise<string> {
  let folder = folders.get(name);
  if (folder === undefined) folders.set(name, folder = make());
  return folder;
}

/**
 * Returns the folder of installed npm packages.
 *
 * @param name The set of packages.
 * @throws {Error} When npm cannot install them.
 */
export function installed(name: keyof typeof wanted): Promise<string> {
  return once(name, async () => {
    const manifest = JSON.stringify({ private: true, ...wanted[name] });
    const folder = `${cache}/${name}-${fingerprint(manifest)}`;
    if (!await exists(`${folder}/done`)) {
      await Deno.mkdir(folder, { recursive: true });
      await Deno.writeTextFile(`${folder}/package.json`, manifest);
      const options = ["--no-audit", "--no-fund", "--prefer-offline"];
      await output({ command: ["npm", "install", ...options], folder }, installMs);
      await Deno.writeTextFile(`${folder}/done`, "");
    }
    return folder;
  });
}

/**
 * Installs LiteLLM's proxy in a virtual environment.
 *
 * @returns The folder of its executables.
 * @throws {Error} When Python is missing, or pip cannot install it.
 */
export function installedLiteLlm(): Promise<string> {
  return once("litellm", async () => {
    const folder = `${cache}/litellm`;
    if (!await exists(`${folder}/done`)) {
      await output({ command: ["python3", "-m", "venv", folder] }, installMs);
      const quiet = ["--quiet", "--disable-pip-version-check"];
      await output({ command: [`${folder}/bin/pip`, "install", ...quiet, litellm] }, installMs);
      await Deno.writeTextFile(`${folder}/done`, "");
    }
    return `${folder}/bin`;
  });
}

let runFolder: string | undefined;

/** Returns a folder that is removed at the end of the run. */
export async function temporaryFolder(): Promise<string> {
  return runFolder ??= await Deno.makeTempDir({ prefix: "modelmesh-bench-" });
}

/** Removes the temporary folder. */
export async function removeTemporary(): Promise<void> {
  if (runFolder !== undefined) await Deno.remove(runFolder, { recursive: true }).catch(() => {});
}

/**
 * Returns the command line of this project's npm package, packed and installed.
 *
 * @throws {Error} When it cannot be built.
 */
export function ownPackage(): Promise<string> {
  return once("own", async () => {
    const folder = `${await temporaryFolder()}/own`;
    await Deno.mkdir(folder);
    await Deno.writeTextFile(`${folder}/package.json`, '{ "private": true }');
    const command = [...denoCommand(programPath("build.ts")), `${folder}/built`];
    await output({ command, env: { DENO_TLS_CA_STORE: "mozilla,system" } }, installMs);
    const packed = await output({
      command: ["npm", "pack", "--json", "--pack-destination", folder, "./built"],
      folder,
    });
    const name = (JSON.parse(packed) as { filename: string }[])[0]!.filename.replace("@", "").replace("/", "-");
    const options = ["--no-audit", "--no-fund", "--offline"];
    await output({ command: ["npm", "install", ...options, `./${name}`], folder }, installMs);
    return `${folder}/node_modules/@modelmesh/core/modelmesh.cjs`;
  });
}

/** Returns the installed packages and their versions. */
export async function usedVersions(): Promise<string[]> {
  const found: string[] = [];
  for (const [name, folder] of folders) {
    try {
      found.push(...await versionsIn(name, await folder));
    } catch {
      // not installed; its contestants report it
    }
  }
  return found;
}

async function versionsIn(name: string, folder: string): Promise<string[]> {
  if (name === "own") return [];
  if (name === "litellm") {
    const ask = "import importlib.metadata as m; print(m.version('litellm'))";
    return [`litellm ${(await output({ command: [`${folder}/python`, "-c", ask] })).trim()}`];
  }
  const packages = Object.keys(wanted[name as keyof typeof wanted].dependencies);
  return await Promise.all(packages.map(async (specifier) => {
    const text = await Deno.readTextFile(`${folder}/node_modules/${specifier}/package.json`);
    return `${specifier} ${(JSON.parse(text) as { version: string }).version}`;
  }));
}

/** Returns a hash, so that other requirements use another folder. */
function fingerprint(text: string): string {
  let hash = 0;
  for (const letter of text) hash = (hash * 31 + letter.codePointAt(0)!) >>> 0;
  return hash.toString(36);
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}
