/**
 * Simulated AWS Secrets Manager. Signatures (Signature Version 4) are verified by an independent implementation.
 * @module
 */
import { createHash, createHmac } from "node:crypto";
import { page, type SimulatedVendor, startVendor, type VendorRequest } from "./_server.ts";

/** Accepted credentials, and the clock. */
export interface AwsOptions {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly region: string;
  /** Wall clock, ms; signatures are valid for 5 minutes. */
  readonly now: () => number;
}

interface Kept {
  value: string;
  deleted: boolean;
}

/** Starts it, empty. */
export function startAwsSecrets(options: AwsOptions): Promise<SimulatedVendor> {
  const secrets = new Map<string, Kept>();
  return startVendor((request) => {
    const refused = refusal(request, options);
    if (refused !== undefined) return failure(refused);
    const action = request.headers.get("x-amz-target")?.replace(/^secretsmanager\./, "") ?? "";
    return perform(action, request.json(), secrets);
  });
}

function perform(action: string, input: Record<string, unknown>, secrets: Map<string, Kept>): Response {
  if (action === "ListSecrets") {
    const names = [...secrets].filter(([, { deleted }]) => !deleted).map(([Name]) => ({ Name, ARN: `arn:${Name}` }));
    const { items, next } = page(names, input.NextToken);
    return Response.json({ SecretList: items, NextToken: next });
  }
  const name = String(input.SecretId ?? input.Name);
  if (!/^[\w/+=.@-]{1,512}$/.test(name)) return failure("ValidationException");
  const kept = secrets.get(name);
  const value = input.SecretString;
  if (value !== undefined && (typeof value !== "string" || value === "" || value.length > 65_536)) {
    return failure("ValidationException");
  }
  if (action === "CreateSecret") {
    if (kept !== undefined) return failure(kept.deleted ? "InvalidRequestException" : "ResourceExistsException");
    secrets.set(name, { value: String(value), deleted: false });
    return Response.json({ Name: name });
  }
  if (kept === undefined) return failure("ResourceNotFoundException");
  if (action === "DescribeSecret") return Response.json({ Name: name, ...(kept.deleted ? { DeletedDate: 1 } : {}) });
  if (action === "RestoreSecret") return Response.json({ Name: name, ...(kept.deleted = false, {}) });
  if (kept.deleted) return failure("InvalidRequestException");
  if (action === "GetSecretValue") return Response.json({ Name: name, SecretString: kept.value });
  if (action === "PutSecretValue") return Response.json({ Name: name, ...(kept.value = String(value), {}) });
  if (action === "DeleteSecret") return Response.json({ Name: name, DeletionDate: 1, ...(kept.deleted = true, {}) });
  return failure("UnknownOperationException");
}

function failure(type: string): Response {
  return Response.json({ __type: type, Message: "as AWS would say" }, { status: 400 });
}

/** Returns what is wrong with a signature. */
function refusal({ method, url, headers, text }: VendorRequest, options: AwsOptions): string | undefined {
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/;
  const found = pattern.exec(headers.get("authorization") ?? "");
  if (found === null) return "MissingAuthenticationTokenException";
  const [, keyId, day = "", region, service, names = "", signature] = found;
  const time = headers.get("x-amz-date") ?? "";
  const isScoped = region === options.region && service === "secretsmanager" && time.startsWith(day);
  if (keyId !== options.accessKeyId || !isScoped) return "UnrecognizedClientException";
  if ((headers.get("x-amz-security-token") ?? undefined) !== options.sessionToken) return "UnrecognizedClientException";
  const signed = names.split(";");
  if (!["host", "x-amz-date", "x-amz-target"].every((name) => signed.includes(name))) {
    return "InvalidSignatureException";
  }
  if (Math.abs(parseWallTime(time) - options.now()) > 300_000) return "InvalidSignatureException";
  const canonical = [
    method,
    url.pathname,
    "",
    ...signed.map((name) => `${name}:${headers.get(name)?.trim()}`),
    "",
    names,
    createHash("sha256").update(text).digest("hex"),
  ].join("\n");
  const scope = `${day}/${region}/${service}/aws4_request`;
  const toSign = ["AWS4-HMAC-SHA256", time, scope, createHash("sha256").update(canonical).digest("hex")].join("\n");
  let key: Uint8Array | string = `AWS4${options.secretAccessKey}`;
  for (const part of [day, region!, service!, "aws4_request"]) key = createHmac("sha256", key).update(part).digest();
  const expected = createHmac("sha256", key).update(toSign).digest("hex");
  return expected === signature ? undefined : "InvalidSignatureException";
}

function parseWallTime(time: string): number {
  return Date.parse(time.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
}
