/** What JSR gets: the sources, published to a registry on loopback. */
import { assertEquals } from "@std/assert";
import { fromFileUrl, root } from "../../scripts/npm/files.ts";
import { run } from "../../scripts/npm/process.ts";
import { makeFolder } from "../support/_library.ts";

/** A registry that has no version of the package, and takes the first one. */
async function publish(): Promise<Uint8Array<ArrayBuffer>> {
  const uploaded = Promise.withResolvers<Uint8Array<ArrayBuffer>>();
  const handler = async (request: Request): Promise<Response> => {
    const isVersion = new URL(request.url).pathname.includes("/versions/");
    if (!isVersion) return Response.json({ scope: "modelmesh", name: "core", latestVersion: null });
    if (request.method !== "POST") {
      return Response.json({ code: "packageVersionNotFound", message: "" }, { status: 404 });
    }
    uploaded.resolve(await request.bytes());
    return Response.json({ id: "1", status: "success", error: null });
  };
  await using registry = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, handler);
  const options = ["--allow-dirty", "--no-check", "--no-provenance", "--token=any"];
  const env = { JSR_URL: `http://127.0.0.1:${registry.addr.port}` };
  await run([Deno.execPath(), "publish", ...options], { folder: fromFileUrl(root), env });
  return await uploaded.promise;
}

async function* listFiles(folder: string, path = ""): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(`${folder}/${path}`)) {
    if (isDirectory) yield* listFiles(folder, `${path}${name}/`);
    else yield path + name;
  }
}

/** The specifiers that a module imports, statically or dynamically, relative ones left out. */
async function listPackages(module: string): Promise<string[]> {
  const { out } = await run([
    Deno.execPath(),
    "info",
    "--json",
    "--no-config",
    "--no-lock",
    "--no-npm",
    "--no-remote",
    module,
  ], { folder: "/" });
  const { modules } = JSON.parse(out) as {
    modules: { specifier: string; dependencies?: { specifier: string }[] }[];
  };
  return modules.filter(({ specifier }) => specifier.startsWith("file:"))
    .flatMap(({ dependencies = [] }) => dependencies.map(({ specifier }) => specifier))
    .filter((specifier) => !/^\.\.?\//.test(specifier));
}

Deno.test("JSR gets the sources, which name packages as a program that imports them can resolve them", async () => {
  await using folder = await makeFolder();
  await Deno.writeFile(`${folder.path}/package.tgz`, await publish());
  await run(["tar", "xzf", "package.tgz"], { folder: folder.path });
  const files = await Array.fromAsync(listFiles(folder.path));
  const { exports } = JSON.parse(await Deno.readTextFile(new URL("deno.json", root)));
  const entries = Object.values<string>(exports).map((path) => path.slice("./".length));
  assertEquals([...entries, "README.md", "LICENSE", "docs/schema.json"].filter((path) => !files.includes(path)), []);
  const expected =
    /^(browser|connectors|docs|src|scripts\/std\/(cli|dotenv|http|yaml))\/|^[^/]+\.(ts|md|json|tgz)$|^LICENSE$/;
  assertEquals(files.filter((path) => !expected.test(path) || path.includes("_test.")), []);
  const named = new Set((await Promise.all(entries.map((path) => listPackages(`${folder.path}/${path}`)))).flat());
  assertEquals([...named].filter((name) => !/^(node:|npm:(@[^/]+\/)?[^@/]+@\d|jsr:)/.test(name)), []);
  assertEquals([...named].filter((name) => name.startsWith("jsr:")).sort(), [
    "jsr:@std/cli@^1.0.0/parse-args",
    "jsr:@std/dotenv@^0.225.8/stringify",
    "jsr:@std/http@^1.0.0/etag",
    "jsr:@std/http@^1.0.0/negotiation",
    "jsr:@std/yaml@^1.0.0",
  ]);
});
