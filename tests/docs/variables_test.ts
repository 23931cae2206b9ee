/** The variables that the source reads are those that pages name. */
import { assert, assertEquals } from "@std/assert";

const root = new URL("../../", import.meta.url);

/** How variables are called; other words in capitals are vendors' statuses and reasons. */
const variable =
  /"([A-Z][A-Z0-9]*_(?:API_KEY|BASE_URL|HOST|TOKEN|REGION|ENDPOINT|URL|CACHE|KEY|KEY_ID|SESSION_TOKEN|PASSPHRASE|PROXY|CERTS|CERT_FILE|CERT|NAME|PROJECT|ACCOUNT_ID|VAULT|VERSION|COLOR|BEDROCK))"/g;

/** Between a process and its own workers. */
const internal = ["MODELMESH_WORKER_TOKEN"];

async function* sources(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(new URL(folder, root))) {
    if (isDirectory) yield* sources(`${folder}${name}/`);
    else if (name.endsWith(".ts")) yield await Deno.readTextFile(new URL(`${folder}${name}`, root));
  }
}

async function readSources(folder: string): Promise<string> {
  return (await Array.fromAsync(sources(folder))).join("\n").replaceAll(/^\s*(?:\*|\/\/).*$/gm, ""); // no comments
}

async function pages(): Promise<string> {
  const names = (await Array.fromAsync(Deno.readDir(new URL("docs/", root)))).map(({ name }) => `docs/${name}`);
  const paths = ["README.md", ...names.filter((name) => name.endsWith(".md"))];
  return (await Promise.all(paths.map((path) => Deno.readTextFile(new URL(path, root))))).join("\n");
}

Deno.test("every variable that the source reads is on a page", async () => {
  const source = await readSources("src/") + await readSources("connectors/");
  const read = new Set([...source.matchAll(variable)].map(([, name]) => name!));
  assert(read.size > 60, `only ${read.size} were found`);
  const text = await pages();
  const isNamed = (name: string) => new RegExp(`\\b${name}\\b`).test(text) || name.endsWith("_BASE_URL");
  assertEquals([...read].filter((name) => !internal.includes(name) && !isNamed(name)), []);
});

Deno.test("every variable of README's table is read by the source, or by Deno itself", async () => {
  const readme = await Deno.readTextFile(new URL("README.md", root));
  const [table = ""] = /<b>Environment variables<\/b>.*?<\/details>/s.exec(readme) ?? [];
  const rows = table.split("\n").filter((line) => line.startsWith("| `")).map((line) => line.split(" | ")[0]!);
  const named = rows.flatMap((row) => [...row.matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map(([, name]) => name!));
  assert(named.length > 15, String(named));
  const source = await readSources("src/") + await readSources("connectors/");
  const ofDeno = ["DENO_TLS_CA_STORE"];
  assertEquals(named.filter((name) => !source.includes(name) && !ofDeno.includes(name)), []);
});
