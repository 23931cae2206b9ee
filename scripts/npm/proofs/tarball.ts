/**
 * Tests the content of the tarball.
 * @module
 */
import { entries } from "../bundle.ts";
import { root } from "../files.ts";
import { must, type Project, type Proof } from "../workshop.ts";

/** Patterns of allowed files. */
const allowed = [
  /^(?:LICENSE|THIRD_PARTY_LICENSES|package\.json|modelmesh\.cjs)$/,
  /^(?:(?:README|CHANGELOG|ARCHITECTURE|CONTRIBUTING|SECURITY)\.md|docs\/(?:[\w/-]+\.(?:md|svg)|schema\.json))$/,
  /^dist\/(?:(?:browser|chunks|cli)\/)?[\w-]+\.js(?:\.map)?$/,
  new RegExp(`^types/(?:${entries.join("|")}|(?:src|connectors|browser)/[\\w/]+)\\.d\\.ts$`),
];

async function* listPackedFiles(folder: string, prefix = ""): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(`${folder}/${prefix}`)) {
    if (isDirectory) yield* listPackedFiles(folder, `${prefix}${name}/`);
    else yield `${prefix}${name}`;
  }
}

/** Checks that a source map refers to nothing outside of the package, and contains its sources. */
function checkMap(path: string, text: string): void {
  const { sources, sourcesContent } = JSON.parse(text) as { sources: string[]; sourcesContent?: string[] };
  must(sources.length === (sourcesContent?.length ?? 0), `${path} lacks the text of its sources`);
  for (const source of sources) {
    const url = new URL(source, `file:///package/${path}`).href;
    must(/^(?:\.\.\/)+\w/.test(source) && url.startsWith("file:///package/"), `${path} names ${source}`);
    must(!url.startsWith("file:///package/tests/"), `${path} has a test: ${source}`);
  }
}

async function check(project: Project): Promise<void> {
  const folder = `${project.folder}/node_modules/@modelmesh/core`;
  const machine = decodeURIComponent(root.pathname);
  for await (const path of listPackedFiles(folder)) {
    must(allowed.some((pattern) => pattern.test(path)), `${path} should not be in the package`);
    const text = await Deno.readTextFile(`${folder}/${path}`);
    must(!text.includes(machine), `${path} names a folder of this machine`);
    if (path.endsWith(".map")) checkMap(path, text);
    if (/^dist\/.*\.js$/.test(path)) {
      must(!/^\s*(?:import|export)\b[^;]*["']node:|\bimport\(\s*["']node:/m.test(text), `${path} imports of Node's`);
    }
  }
  const { dependencies, devDependencies, scripts } = JSON.parse(await Deno.readTextFile(`${folder}/package.json`));
  must((dependencies ?? devDependencies ?? scripts) === undefined, "The package has dependencies or scripts");
}

/** The tests. */
export const tarball: readonly Proof[] = [{
  name: "the tarball holds scripts, declarations, maps without paths of this machine, and no more",
  prove: async (workshop) => await check(await workshop.plain()),
}];
