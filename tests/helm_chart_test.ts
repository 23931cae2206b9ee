/** The Helm chart: its values and schema, and the manifests that Helm has rendered, which are up to date. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { parse } from "@std/yaml";
import { MeshConfig } from "../mod.ts";
import { readDockerfile } from "../scripts/container/dockerfile.ts";
import { hashChart, listValuesFiles, manifestFolder } from "../scripts/chart.ts";
import { version } from "../src/version.ts";
import { listSchemaProblems } from "./support/schema.ts";

// deno-lint-ignore no-explicit-any -- a document
type Document = any;

const read = (path: string) => Deno.readTextFileSync(new URL(`../${path}`, import.meta.url));
const defaults: Document = parse(read("deploy/helm/values.yaml"));
const schema = JSON.parse(read("deploy/helm/values.schema.json"));
const templates = [...Deno.readDirSync(new URL("../deploy/helm/templates", import.meta.url))]
  .map(({ name }) => ({ name, text: read(`deploy/helm/templates/${name}`) }));

/** The rendered manifests of one of the values files, by kind. */
function manifests(name: string): Record<string, Document> {
  const documents = read(`${manifestFolder}/${name}.yaml`).split(/^---$/m).slice(1).map((text) => parse(text));
  return Object.fromEntries(documents.map((document: Document) => [document.kind, document]));
}

const documentIn = (name: string) => parse(manifests(name).ConfigMap.data["modelmesh.yaml"]) as Document;

/** Dotted paths of values: members of the objects that a schema lists. */
function listPaths(value: Document, properties: Document): string[] {
  return Object.entries(value).flatMap(([key, member]) => {
    const inner = properties[key]?.properties;
    return inner === undefined ? [key] : listPaths(member, inner).map((path) => `${key}.${path}`);
  });
}

/** Dotted paths of values that the templates use: `.Values.a.b`, and `.b` in a block `with .Values.a`. */
function listUsedPaths(): Set<string> {
  const used = new Set<string>();
  for (const { text } of templates) {
    for (const [, path] of text.matchAll(/\.Values\.([\w.]+)/g)) used.add(path!);
    const block = /^\{\{- with \.Values\.(\w+) \}\}$/m.exec(text)?.[1];
    if (block === undefined) continue;
    for (const [, path] of text.matchAll(/[\s(]\.([a-z]\w+)/g)) used.add(`${block}.${path}`);
  }
  return used;
}

describe("The Helm chart", () => {
  it("has the version of the package", () => {
    const { version: own, appVersion }: Document = parse(read("deploy/helm/Chart.yaml"));
    assertEquals([own, appVersion], [version, version]);
  });

  it("has values that its schema accepts, and refuses others", () => {
    assertEquals(listSchemaProblems(schema, defaults), []);
    for (const name of listValuesFiles()) {
      const values: Document = parse(read(`deploy/helm/ci/${name}-values.yaml`));
      assertEquals(listSchemaProblems(schema, { ...defaults, ...values }), [], name);
    }
    const refused: readonly Document[] = [
      { replicas: 2 },
      { existingSecret: "" },
      { storage: { engine: "mysql" } },
      { storage: { engine: "redis", url: "redis://user:password@redis" } },
      { drainDelaySeconds: "10s" },
      { config: "pools: {}" },
      { autoscaling: { ...defaults.autoscaling, minReplicas: 0 } },
      { podDisruptionBudget: { enabled: true, maxUnavailable: 0 } },
    ];
    for (const values of refused) {
      assert(listSchemaProblems(schema, { ...defaults, ...values }).length > 0, JSON.stringify(values));
    }
  });

  it("uses every value, has every value that it uses, and a schema for each", () => {
    const used = listUsedPaths();
    const paths = listPaths(defaults, schema.properties);
    const isUsed = (path: string) => used.has(path) || used.has(path.split(".")[0]!) && !path.startsWith("autoscaling");
    assertEquals(paths.filter((path) => !isUsed(path)), []);
    const roots = new Set([...used].map((path) => path.split(".")[0]!));
    assertEquals([...roots].filter((key) => !(key in defaults)), []);
    assertEquals(Object.keys(schema.properties).filter((key) => key !== "global").sort(), Object.keys(defaults).sort());
  });

  it("has manifests in the repository that are those of its templates", async () => {
    const hash = await hashChart();
    for (const name of listValuesFiles()) {
      const [first] = read(`${manifestFolder}/${name}.yaml`).split("\n");
      assertStringIncludes(first!, hash, `${name}: run "deno task chart"`);
    }
  });

  for (const name of listValuesFiles()) {
    it(`runs without root on a read-only file system, with probes and a grace period that fit: ${name}`, () => {
      const { spec } = manifests(name).Deployment;
      const pod = spec.template.spec;
      const [container] = pod.containers;
      assertEquals([pod.securityContext.runAsNonRoot, pod.securityContext.runAsUser], [true, 1000]);
      assertEquals(container.securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      assertEquals(pod.automountServiceAccountToken, false);
      const { livenessProbe, readinessProbe, startupProbe } = container;
      const probed = [livenessProbe, readinessProbe, startupProbe].map(({ httpGet }) => httpGet.path);
      assertEquals(probed, ["/live", "/ready", "/live"]);
      const hasOwnDocument = name === "document";
      const drain = hasOwnDocument
        ? Number(container.lifecycle.preStop.exec.command[1])
        : parseInt(documentIn(name).proxy.drain_delay);
      assertEquals(pod.terminationGracePeriodSeconds, drain + 40, "open responses have 30 s, and flushes 10 s");
      assertEquals(spec.selector.matchLabels, manifests(name).Service.spec.selector);
      const { workdir, cmd } = readDockerfile(read("Dockerfile"));
      assert(container.volumeMounts.some(({ mountPath }: Document) => mountPath === workdir));
      assertEquals(container.args.slice(0, 3), cmd.slice(0, 3));
    });
  }

  it("writes a document that the proxy accepts, with the storage that the values choose and no secret", () => {
    assertEquals(documentIn("redis").storage, {
      connector: "redis.redis.v1",
      url: "${secrets:REDIS_URL}",
      on_unavailable: "closed",
    });
    assertEquals(documentIn("postgres").storage, {
      connector: "mesh.postgres.v1",
      url: "postgres://postgres.data:5432/modelmesh?sslmode=verify-full",
      username: "modelmesh",
      password: "${secrets:PGPASSWORD}",
    });
    assertEquals(documentIn("redis").proxy, {
      max_concurrent: 500,
      drain_delay: "15s",
      tls: { cert: "/etc/modelmesh/tls/tls.crt", key: "/etc/modelmesh/tls/tls.key" },
    });
    for (const name of ["default", "redis"]) MeshConfig.parse(documentIn(name));
  });

  it("scales by requests in flight, and by CPU where the metrics API does not have them", () => {
    const metrics = (name: string) => manifests(name).HorizontalPodAutoscaler.spec.metrics;
    assertEquals(metrics("redis").map(({ type }: Document) => type), ["Pods", "Resource"]);
    assertEquals(metrics("redis")[0].pods.metric.name, "modelmesh_requests_in_flight");
    assertStringIncludes(read("src/observe/metric_families.ts"), '"modelmesh_requests_in_flight"');
    assertEquals(metrics("postgres").map(({ type }: Document) => type), ["Pods"]);
    assertEquals(manifests("redis").Deployment.spec.replicas, undefined);
    assertEquals(manifests("default").HorizontalPodAutoscaler, undefined);
  });

  it("takes secrets by reference, and writes what is optional only where it is asked for", () => {
    assertEquals(manifests("redis").Deployment.spec.template.spec.containers[0].envFrom, [
      { secretRef: { name: "gateway-keys" } },
      { configMapRef: { name: "gateway-variables" } },
    ]);
    const { ServiceAccount, PodDisruptionBudget, Ingress, NetworkPolicy, PodMonitor } = manifests("redis");
    assertEquals(Object.keys(ServiceAccount.metadata.annotations), ["eks.amazonaws.com/role-arn"]);
    assertEquals(PodDisruptionBudget.spec.maxUnavailable, 1);
    assertEquals(Ingress.spec.rules[0].host, "ai.example.com");
    assertEquals(NetworkPolicy.spec.policyTypes, ["Ingress", "Egress"]);
    assertEquals(PodMonitor.spec.podMetricsEndpoints[0].authorization.credentials, {
      name: "gateway-keys",
      key: "MODELMESH_TOKEN",
    });
    assertEquals(Object.keys(manifests("default")).sort(), [
      "ConfigMap",
      "Deployment",
      "PodDisruptionBudget",
      "Service",
      "ServiceAccount",
    ]);
    assertEquals(Object.keys(manifests("document")).sort(), ["Deployment", "PodDisruptionBudget", "Service"]);
  });
});
