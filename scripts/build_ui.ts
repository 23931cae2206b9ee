/**
 * Builds the dashboard: `ui/` becomes one page without any further file, packed, in `src/proxy/_ui_page.ts`.
 * @module
 */
import { toBase64 } from "../src/util/base64.ts";
import { digestOfSources, folder, hashSource } from "./_ui_sources.ts";
import { build, stop, transform } from "./npm/esbuild.ts";
import { fromFileUrl, root } from "./npm/files.ts";

const target = new URL("src/proxy/_ui_page.ts", root);

/** The style sheets, in the order of the cascade. */
const sheets = ["style", "layout", "traffic", "decisions", "pools", "playground", "spend", "clients"];

/** The page and the hashes of what is inlined in it, as a Content-Security-Policy names them. */
interface Page {
  readonly html: string;
  readonly scriptHash: string;
  readonly styleHash: string;
}

/** Builds the page from its sources. */
export async function buildPage(): Promise<Page> {
  const template = await Deno.readTextFile(new URL("index.html", folder));
  const script = await bundle();
  const style = await minifiedStyle();
  const html = template.replace(/\n\s*/g, "\n")
    .replace(/\s*\/\*style\*\/\s*/, () => style)
    .replace(/\s*\/\*script\*\/\s*/, () => script);
  return { html, scriptHash: await hashSource(script), styleHash: await hashSource(style) };
}

/** The text of the module that the proxy serves the page from. */
async function moduleText(): Promise<string> {
  const { html, scriptHash, styleHash } = await buildPage();
  const packed = new Blob([html]).stream().pipeThrough(new CompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
  return `// Written by \`deno task ui\` from ui/: not to be edited.
// Its sources: ${await digestOfSources()}

/** What its Content-Security-Policy allows to run and to style. */
export const hashes = {
  script: "${scriptHash}",
  style: "${styleHash}",
} as const;

/** HTML, by gzip, in Base64. */
export const packedPage =
  "${toBase64(bytes)}";
`;
}

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: fromFileUrl(root),
    entryPoints: ["ui/main.ts"],
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    write: false,
    logLevel: "silent", // what fails is thrown
  });
  return outputFiles[0]!.text.trim();
}

async function minifiedStyle(): Promise<string> {
  const own = await Promise.all(sheets.map((name) => Deno.readTextFile(new URL(`${name}.css`, folder))));
  const { code } = await transform(own.join("\n"), { loader: "css", minify: true, target: "es2022" });
  return code.trim();
}

if (import.meta.main) {
  try {
    await Deno.writeTextFile(target, await moduleText());
  } finally {
    await stop();
  }
  const { size } = await Deno.stat(target);
  console.log(`src/proxy/_ui_page.ts: ${size.toLocaleString("en")} bytes`);
}
