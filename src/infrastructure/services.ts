/**
 * The services for files, batches and fine-tuning jobs of one mesh.
 * @module
 */
import { BatchService } from "./batches.ts";
import { FileService } from "./files.ts";
import { FineTuningService } from "./fine_tuning.ts";
import type { InfrastructureMesh } from "./mesh.ts";
import { ObjectRecords } from "./object_records.ts";

/** Polling interval of unfinished batches, ms. */
const pollIntervalMs = 60_000;

/** The services for objects stored at providers. */
export class InfrastructureServices {
  readonly files: FileService;
  readonly batches: BatchService;
  readonly jobs: FineTuningService;

  /** @param mesh The mesh. Its unfinished batches are polled if configured. */
  constructor(mesh: InfrastructureMesh & { onClose(task: () => Promise<void>): void }) {
    const records = mesh.objects.records ??= new ObjectRecords();
    records.use(mesh.storage);
    this.files = new FileService(mesh);
    this.batches = new BatchService(mesh);
    this.jobs = new FineTuningService(mesh);
    if (!isPolling(mesh)) return;
    const stop = mesh.runtime.clock.every(pollIntervalMs, () => this.batches.poll());
    mesh.onClose(() => Promise.resolve(stop()));
  }
}

/** Whether the batches of any model are polled. */
function isPolling({ registry }: Pick<InfrastructureMesh, "registry">): boolean {
  return registry.models.some(({ batch }) => batch?.polling);
}
