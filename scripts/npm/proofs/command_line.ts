/**
 * Tests the command line of the package without other dependencies.
 * @module
 */
import { type Running, start } from "../process.ts";
import { must, type Project, type Proof } from "../workshop.ts";

const proxyArguments = ["proxy", "--demo", "--port", "0", "--json"];

const question = JSON.stringify({ model: "chat-completion", messages: [{ role: "user", content: "Hello" }] });

/** A valid configuration, and one with two errors. */
const [sound, faulty] = [`providers: { openai.llm.v1: { api_key: k } }\n`, `pols: {}\nproxy: { port: none }\n`];

/** Sends requests until a response follows a failover. All requests must succeed. */
async function askUntilFailover(url: string): Promise<void> {
  for (let left = 12; left > 0; left--) {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: question,
      signal: AbortSignal.timeout(10_000),
    });
    const { choices } = await response.json();
    must(
      response.status === 200 && choices[0].message.content.startsWith("Hello from"),
      `It answered ${response.status}`,
    );
    if (Number(response.headers.get("x-mesh-fallbacks")) > 0) return;
  }
  throw new Error("No answer came by way of a failover");
}

async function findUrl(proxy: Running): Promise<string> {
  return (await proxy.find(/"url":"([^"]*)"/))[1]!;
}

async function serves(url: string): Promise<boolean> {
  return await fetch(`${url}/live`).then((response) => response.body?.cancel().then(() => true) ?? true, () => false);
}

/** Tests npx, which forwards signals to its shell only; terminals and service managers signal the whole group. */
async function proveNpx(project: Project): Promise<void> {
  const proxy = start(["npx", "modelmesh", ...proxyArguments], { folder: project.folder, limitSeconds: 60 });
  try {
    const url = await findUrl(proxy);
    await askUntilFailover(url);
    proxy.signalAll("SIGTERM");
    await proxy.ended;
    must(!await serves(url), "It still serves after SIGTERM");
  } finally {
    proxy.signalAll("SIGKILL");
  }
}

/**
 * Tests that the demo of the command line serves, and that SIGTERM stops it.
 *
 * @param command The command line.
 * @param folder Working directory, as a path.
 * @throws {Error} When a check fails.
 */
export async function proveDemo(command: readonly string[], folder: string): Promise<void> {
  const proxy = start([...command, ...proxyArguments], { folder, limitSeconds: 60 });
  try {
    await askUntilFailover(await findUrl(proxy));
    proxy.signal("SIGTERM");
    const { code, err } = await proxy.ended;
    must(code === 0, `It ended with ${code}: ${err}`);
  } finally {
    proxy.signalAll("SIGKILL");
  }
}

/** The tests. */
export const commandLine: readonly Proof[] = [
  {
    name: "npx modelmesh proxy --demo serves, fails over, stops",
    prove: async (workshop) => await proveNpx(await workshop.project("empty", [workshop.tarball])),
  },
  {
    name: "modelmesh proxy --demo stops on SIGTERM with code 0",
    async prove(workshop) {
      const project = await workshop.plain();
      await proveDemo([project.program("modelmesh")], project.folder);
    },
  },
  {
    name: "npx modelmesh --help, check of YAML files",
    async prove(workshop) {
      const project = await workshop.plain();
      const { out } = await project.run(["npx", "modelmesh", "--help"]);
      must(out.includes("Usage: modelmesh <command>"), out);
      await project.write("sound.yaml", sound!);
      await project.write("faulty.yaml", faulty!);
      const good = await project.run(["npx", "modelmesh", "check", "sound.yaml"]);
      must(/^sound\.yaml is valid: 1 provider, 0 models .*, 0 pools\n$/.test(good.out), good.out);
      const { folder } = project;
      const bad = await start(["npx", "modelmesh", "check", "faulty.yaml"], { folder }).ended;
      must(bad.code === 1 && bad.err.includes("pols") && bad.err.includes("proxy.port"), `${bad.code}: ${bad.err}`);
    },
  },
];
