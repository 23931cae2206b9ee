/** Workflows and what a release checks before it publishes. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { parse } from "@std/yaml";
import { releaseProblems } from "../../scripts/release.ts";

const root = new URL("../../", import.meta.url);
const read = (path: string) => Deno.readTextFile(new URL(path, root));

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly "working-directory"?: string;
}

interface Job {
  readonly uses?: string;
  readonly needs?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly "timeout-minutes"?: number;
  readonly steps?: readonly Step[];
}

interface Workflow {
  readonly on: Readonly<Record<string, { readonly tags?: readonly string[] } | null>>;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

async function workflow(name: string): Promise<Workflow> {
  return parse(await read(`.github/workflows/${name}.yml`)) as unknown as Workflow;
}

const changelog = "# Changelog\n\n## 1.2.3\n\n- All.\n";

Deno.test("releaseProblems() takes a tag that deno.json and the change log agree with", () => {
  assertEquals(releaseProblems({ tag: "v1.2.3", version: "1.2.3", changelog }), []);
  const unreleased = changelog.replace("1.2.3", "1.2.3 (unreleased)");
  assertEquals(releaseProblems({ version: "1.2.3", changelog: unreleased }), []);
});

Deno.test("releaseProblems() names every place that has another version", () => {
  const problems = (tag: string, version: string, log = changelog) => releaseProblems({ tag, version, changelog: log });
  assertEquals(problems("v1.2.4", "1.2.3"), ['The tag is "v1.2.4", and deno.json says 1.2.3']);
  assertEquals(problems("1.2.3", "1.2.3"), ['The tag is "1.2.3", and deno.json says 1.2.3']);
  assertEquals(problems("v1.3.0", "1.3.0"), ['CHANGELOG.md begins with "1.2.3", and deno.json says 1.3.0']);
  assertEquals(problems("v1.2", "1.2").length, 2);
  assertEquals(problems("v1.2.3", "1.2.3", changelog.replace("1.2.3", "1.2.3 (unreleased)")), [
    "CHANGELOG.md calls 1.2.3 unreleased",
  ]);
});

Deno.test("this version could be released once the change log says so", async () => {
  const { version } = JSON.parse(await read("deno.json")) as { version: string };
  assertEquals(releaseProblems({ version, changelog: await read("CHANGELOG.md") }), []);
});

Deno.test("workflows pin their actions, have limits, and may read alone unless they say what for", async () => {
  for (const name of ["ci", "nightly", "release"]) {
    const { permissions, jobs } = await workflow(name);
    assertEquals(permissions, { contents: "read" });
    for (const job of Object.values(jobs)) {
      if (job.uses !== undefined) continue;
      assert(job["timeout-minutes"]! <= 180);
      for (const { uses } of job.steps!) if (uses !== undefined) assertMatch(uses, /@[0-9a-f]{40}$/);
    }
  }
});

Deno.test("a tag is published after the gate and the dry run, to both registries, signed", async () => {
  const { on, jobs } = await workflow("release");
  assertEquals([Object.keys(on), on.push?.tags], [["push"], ["v*"]]);
  assertEquals(Object.keys(jobs), ["gate", "publish"]);
  assertEquals([jobs.gate!.uses, jobs.publish!.needs], ["./.github/workflows/ci.yml", "gate"]);
  assertEquals(jobs.publish!.permissions, { contents: "read", "id-token": "write" });
  const commands = jobs.publish!.steps!.flatMap(({ run }) => run ?? []);
  assertMatch(commands[0]!, /^npx --yes deno@\S+ task release "--tag=\$GITHUB_REF_NAME"$/);
  assertMatch(commands[1]!, /^npx --yes deno@\S+ publish$/);
  assertEquals(commands[2], "npm publish --provenance --access public"); // what built it has named the repository
  assertEquals(jobs.publish!.steps!.flatMap((step) => step["working-directory"] ?? []), ["npm"]);
});

Deno.test("workflows, .ci/run and CONTRIBUTING.md name one version of Deno, and tasks that are there", async () => {
  const { tasks } = JSON.parse(await read("deno.json")) as { tasks: Readonly<Record<string, unknown>> };
  const texts = await Promise.all(
    [
      ".github/workflows/nightly.yml",
      ".github/workflows/release.yml",
      ".ci/run",
      "CONTRIBUTING.md",
      "README.md",
      "examples/README.md",
    ].map(read),
  );
  const found = texts.join("\n");
  assertEquals([...new Set(found.match(/deno@[\d.]+\d/g))].length, 1);
  const named = [...found.matchAll(/\bdeno@[\d.]+\d task ([\w:]+)/g)].map(([, task]) => task!);
  assertEquals(named.filter((task) => !(task in tasks)), []);
  const { jobs } = await workflow("ci");
  assert(jobs.gate!.steps!.some(({ run }) => run === ".ci/run"));
  const { jobs: nightly } = await workflow("nightly");
  assert(nightly.nightly!.steps!.some(({ run }) => run?.endsWith(" task test:nightly")));
});
