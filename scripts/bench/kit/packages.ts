/**
 * What others have published, installed once into a cache under the system's temporary folder, and our own package,
 * built from this checkout for this run.
 * @module
 */
import { output } from "./process.ts";
import { denoCommand, programPath } from "./runtimes.ts";

const temporary = Deno.env.get("TMPDIR") ?? "/tmp";
const cache = `${temporary.replace(/\/$/, "")}/modelmesh-bench`;
const installMs = 300_000;

/** What is asked of npm; the versions that were found stand in each folder's `package-lock.json`. */
const wanted = {
  undici: { dependencies: { undici: "^7.16.0" } },
  portkey: {
    dependencies: { "@portkey-ai/gateway": "^1.15.2" },
    overrides: { "@hono/node-server": "1.13.8" }, // with 1.19.19 its streams are answered 500
  },
  clients: { dependencies: { "openai": "^7.55.0", "ai": "^7.0.0", "@ai-sdk/openai": "^4.0.0" } },
} as const;

const litellm = "litellm[proxy]";

const folders = new Map<string, Promise<string>>();

/** Does it once for all callers. */
function once(name: string, make: () => Promise<string>): Promise<string> {
  let folder = folders.get(name);
  if (folder === undefined) folders.set(name, folder = make());
  return folder;
}

/**
 * The folder of packages from npm.
 *
 * @param name Which.
 * @throws {Error} When npm cannot bring them.
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
 * LiteLLM's proxy in a virtual environment.
 *
 * @returns The folder of its programs.
 * @throws {Error} When there is no Python, or pip cannot bring it.
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

/** The folder that goes at the end of the run. */
export async function temporaryFolder(): Promise<string> {
  return runFolder ??= await Deno.makeTempDir({ prefix: "modelmesh-bench-" });
}

/** Removes it. */
export async function removeTemporary(): Promise<void> {
  if (runFolder !== undefined) await Deno.remove(runFolder, { recursive: true }).catch(() => {});
}

/**
 * The command line of our npm package, packed and installed.
 *
 * @throws {Error} When it cannot be built.
 */
export function ownPackage(): Promise<string> {
  return once("own", async () => {
    const folder = `${await temporaryFolder()}/own`;
    await Deno.mkdir(folder);
    await Deno.writeTextFile(`${folder}/package.json`, '{ "private": true }');
    const build = denoCommand(programPath("build.ts")).filter((argument) => argument !== "--no-npm");
    await output({ command: [...build, `${folder}/built`], env: { DENO_TLS_CA_STORE: "mozilla,system" } }, installMs);
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

/** What was installed for this run, with versions. */
export async function usedVersions(): Promise<string[]> {
  const found: string[] = [];
  for (const [name, folder] of folders) {
    try {
      found.push(...await versionsIn(name, await folder));
    } catch {
      // it could not be installed, which its contestants report
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
  return await Promise.all(packages.map(async (one) => {
    const text = await Deno.readTextFile(`${folder}/node_modules/${one}/package.json`);
    return `${one} ${(JSON.parse(text) as { version: string }).version}`;
  }));
}

/** So that other wishes have another folder. */
function fingerprint(text: string): string {
  let hash = 0;
  for (const letter of text) hash = (hash * 31 + letter.codePointAt(0)!) >>> 0;
  return hash.toString(36);
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}
