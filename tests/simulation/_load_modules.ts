/**
 * Loads what the product loads on demand. The fake clock does not wait for the file system: where a module loads slowly,
 * simulated hours pass meanwhile.
 * @module
 */
const root = new URL("../../", import.meta.url);

let loading: Promise<unknown> | undefined;

/** Loads every module of the product, once. */
export async function loadModules(): Promise<void> {
  await (loading ??= Promise.all([...listModules("src/"), ...listModules("connectors/")].map(load)));
}

function load(path: string): Promise<unknown> {
  return import(new URL(path, root).href);
}

function* listModules(folder: string): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(new URL(folder, root))) {
    if (isDirectory) yield* listModules(`${folder}${name}/`);
    else if (/(?<!\.d)\.ts$/.test(name)) yield folder + name;
  }
}
