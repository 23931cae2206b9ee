/**
 * The Helm chart: lints it, and renders it with each of `deploy/helm/ci/*-values.yaml` into `tests/fixtures/helm`, which the
 * tests of the gate read, since they do without Helm. Run it after a change of the chart: `deno task chart`. Helm is `HELM` or
 * on the PATH: `go install helm.sh/helm/v3/cmd/helm@v3.19.5`.
 * @module
 */
import { version } from "../src/version.ts";

const root = new URL("../", import.meta.url);
const chart = "deploy/helm";

/** Folder of the rendered manifests. */
export const manifestFolder = "tests/fixtures/helm";

/** Reads a file of this repository. */
function read(path: string): Promise<string> {
  return Deno.readTextFile(new URL(path, root));
}

/** Names of the values files in `deploy/helm/ci`, without their ending. */
export function listValuesFiles(): readonly string[] {
  const names = [...Deno.readDirSync(new URL(`${chart}/ci`, root))].map(({ name }) => name);
  return names.map((name) => name.replace("-values.yaml", "")).sort();
}

/** SHA-256 of what manifests depend on, except the version. */
export async function hashChart(): Promise<string> {
  const templates = [...Deno.readDirSync(new URL(`${chart}/templates`, root))].map(({ name }) => `templates/${name}`);
  const values = listValuesFiles().map((name) => `ci/${name}-values.yaml`);
  const files = [...templates, ...values, "values.yaml"].sort();
  const contents = await Promise.all(files.map(async (file) => `${file}\n${await read(`${chart}/${file}`)}`));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(contents.join("\n")));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The command of Helm; undefined if it is not installed. */
export function findHelm(): string | undefined {
  const folders = (Deno.env.get("PATH") ?? "").split(":").map((folder) => `${folder}/helm`);
  return [Deno.env.get("HELM") ?? "", ...folders].find((path) => {
    try {
      return path !== "" && Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  });
}

/** Runs Helm in the root of the repository. */
export async function runHelm(
  helm: string,
  args: readonly string[],
): Promise<{ readonly success: boolean; readonly output: string; readonly errors: string }> {
  const command = new Deno.Command(helm, { args: [...args], cwd: root, stdin: "null" });
  const { success, stdout, stderr } = await command.output();
  const decoder = new TextDecoder();
  return { success, output: decoder.decode(stdout), errors: decoder.decode(stderr) };
}

/** Arguments of Helm for one of the values files. */
export function toHelmArguments(command: "lint" | "template", name: string): readonly string[] {
  const release = command === "template" ? ["demo"] : [];
  return [command, ...release, chart, "--values", `${chart}/ci/${name}-values.yaml`];
}

/** The manifests that Helm renders, with a placeholder for the version. */
export async function renderManifests(helm: string, name: string): Promise<string> {
  const { success, output, errors } = await runHelm(helm, toHelmArguments("template", name));
  if (!success) throw new Error(`helm template: ${errors}`);
  return output.replaceAll(version, "VERSION");
}

if (import.meta.main) {
  const helm = findHelm();
  if (helm === undefined) throw new Error("Helm is not installed: go install helm.sh/helm/v3/cmd/helm@v3.19.5");
  const hash = await hashChart();
  for (const name of listValuesFiles()) {
    const { success, output, errors } = await runHelm(helm, toHelmArguments("lint", name));
    if (!success) throw new Error(`helm lint: ${output}${errors}`);
    const manifests = `# rendered by "deno task chart" from ${hash}\n${await renderManifests(helm, name)}`;
    await Deno.writeTextFile(new URL(`${manifestFolder}/${name}.yaml`, root), manifests);
  }
}
