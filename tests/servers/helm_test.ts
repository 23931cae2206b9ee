/** The Helm chart in Helm: `helm` on the PATH or in `HELM` (`go install helm.sh/helm/v3/cmd/helm@v3.19.5`). */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  findHelm,
  listValuesFiles,
  manifestFolder,
  renderManifests,
  runHelm,
  toHelmArguments,
} from "../../scripts/chart.ts";

const helm = findHelm();

const impossible: readonly [what: string, values: string, message: string][] = [
  ["a storage without an address", "storage.engine=redis", "needs storage.url"],
  ["two addresses", "storage.engine=redis,storage.url=redis://a,storage.urlVariable=A", "exclude each other"],
  [
    "two storages",
    "storage.engine=redis,storage.url=redis://a,config.storage.connector=a",
    "is decided by storage.engine",
  ],
  ["two delays", "config.proxy.drain_delay=5s", "is decided by drainDelaySeconds"],
  ["credentials in a ConfigMap", "storage.engine=redis,storage.url=redis://a:b@c", "/storage/url"],
  ["a misspelt value", "storage.engin=redis", "engin"],
  [
    "scaling by nothing",
    "autoscaling.enabled=true,autoscaling.requestsInFlight=0,autoscaling.cpuUtilization=0",
    "needs requestsInFlight or cpuUtilization",
  ],
];

if (helm === undefined) {
  describe.skip("The Helm chart: needs helm (go install helm.sh/helm/v3/cmd/helm@v3.19.5)", () => {});
} else {
  describe("The Helm chart", () => {
    for (const name of listValuesFiles()) {
      it(`passes helm lint, and is rendered as in the repository: ${name}`, async () => {
        const { success, output } = await runHelm(helm, [...toHelmArguments("lint", name), "--strict"]);
        assert(success, output);
        const [, ...lines] = (await Deno.readTextFile(`${manifestFolder}/${name}.yaml`)).split("\n");
        assertEquals(lines.join("\n"), await renderManifests(helm, name));
      });
    }
    for (const [what, values, message] of impossible) {
      it(`refuses ${what}`, async () => {
        const { success, errors } = await runHelm(helm, [...toHelmArguments("template", "default"), "--set", values]);
        assertEquals(success, false);
        assertStringIncludes(errors, message);
      });
    }
  });
}
